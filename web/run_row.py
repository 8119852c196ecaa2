"""A row of the queue's table as a Run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from vinode.web.runs import Run

FIELDS = (
    "seq, id, state, number, client_id, prompt, extra_data, targets, options, accepted, started,"
    " ended, tries, outputs, messages, report"
)
# Without the texts that may be megabytes: for lists of many runs.
LIGHT = FIELDS.replace("prompt, extra_data", "'', '{}'").replace("messages, report", "'[]', ''")
_TARGETS, _OPTIONS = 7, 8


def run_of(row: Sequence[Any]) -> Run:
    """Make the run of a row whose columns are FIELDS or LIGHT."""
    values: list[Any] = list(row)
    values[_TARGETS] = tuple(cast(list[str], json.loads(row[_TARGETS])))
    values[_OPTIONS] = json.loads(row[_OPTIONS])
    return Run(*values)


def whole(text: str) -> str:
    """Replace halves of letters, which JSON can say and UTF-8 cannot.

    >>> whole("a\\ud83d")
    'a?'
    """
    return text.encode("utf-8", "replace").decode()
