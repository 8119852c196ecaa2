"""A node's docstring: sentences for people, then a table with a row for each input and output."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable

from vinode.graph.errors import DeclarationError, Fault, nearest

_ROW = re.compile(r"^(\w+(?:, ?\w+)*)(?: {2,}|\t)(\S.*)$")


def read(
    function: Callable[..., object], known: Iterable[str], place: str
) -> tuple[str, dict[str, str]]:
    """Split a docstring into its sentences and its table: name, two spaces, text.

    A row that names no input or output is a sentence, unless it looks like a mistyped name: that
    is refused. A single letter names an axis and is never taken for one.
    """
    names_known = {"returns", *known}
    summary: list[str] = []
    rows: dict[str, str] = {}
    names: list[str] = []
    for line in (inspect.getdoc(function) or "").splitlines():
        row = _ROW.match(line)
        words = [name.strip() for name in row[1].split(",")] if row else []
        names_here = [name for name in words if _is_known(name, names_known, place)]
        if row and names_here:
            names = names_here
            rows.update(dict.fromkeys(names, row[2]))
        elif names and line.startswith(" "):
            rows.update({name: f"{rows[name]} {line.strip()}" for name in names})
        else:
            names = []
            summary.append(line)
    return "\n".join(summary).strip(), rows


def _is_known(name: str, known: set[str], place: str) -> bool:
    close = nearest(name, known)
    if name not in known and close and len(name) > 1:
        problem = f"{name!r} is no input or output"
        fix = f"did you mean {close!r}?"
        raise DeclarationError(Fault(f"{place}, docstring", problem, fix=fix, code="declaration"))
    return name in known
