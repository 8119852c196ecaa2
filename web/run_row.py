"""A row of the queue's table as a Run."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any, cast

from vinode.web.runs import Ended, Run

FIELDS = (
    "seq, id, state, number, client_id, prompt, extra_data, targets, options, accepted, started,"
    " ended, tries, outputs, messages, report"
)
# Without the texts that may be megabytes: for lists of many runs.
LISTED = FIELDS.replace("report", "''")
LIGHT = LISTED.replace("prompt, extra_data", "'', '{}'").replace("messages", "'[]'")
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


def ended_with_server(id: str, tries: int) -> Ended:
    """Give the end of a run in whose midst the server has ended too often."""
    said = f"the server ended {tries} times while this ran; it is not begun again"
    data = {"prompt_id": id, "exception_message": said, "exception_type": "ServerEnded"}
    message = ["execution_error", {**data, "timestamp": int(time.time() * 1000)}]
    return Ended("failed", messages=json.dumps([message]))
