"""Errors that say place, problem, what was given, and the fix."""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterable
from dataclasses import dataclass

_shortener = reprlib.Repr()
_shortener.maxlevel, _shortener.maxlist, _shortener.maxtuple, _shortener.maxdict = 2, 4, 4, 3
_shortener.maxstring = _shortener.maxother = 60
_LONGEST, _MOST = 200, 5000  # letters of a name, and names, between which the nearest is sought


def short(value: object) -> str:
    """Show any value in a few words: errors quote what was given, however large it is.

    >>> short("x" * 500)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxxxxxxxxxxxx'"
    >>> short(10**5000)
    'an integer of 16610 bits'
    """
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 256:
        return f"an integer of {value.bit_length()} bits"
    try:
        return _shortener.repr(value)
    except Exception:  # somebody else's __repr__: any error is its own, and we are reporting one
        return f"a {type(value).__name__}"


def nearest(name: str, known: Iterable[str]) -> str:
    """Give the known name closest to a mistyped one, or "" where none is close.

    >>> nearest("ImageScal", ["ImageScale", "LoadImage"])
    'ImageScale'
    """
    by_lower = {candidate.lower(): candidate for candidate in known}
    lower = name.lower()
    if lower in by_lower:
        return by_lower[lower]
    # Comparing is slow: nobody mistypes a name of a page, and a hostile file has very many names.
    if len(name) > _LONGEST or len(by_lower) > _MOST:
        return ""
    close = difflib.get_close_matches(lower, by_lower, n=1, cutoff=0.6)
    return by_lower[close[0]] if close else ""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong, with the place to fix it.

    >>> print(Fault("node 4 (ImageScale), input width", "must be 0 to 16384", "'two'", "use 512"))
    node 4 (ImageScale), input width: must be 0 to 16384; got 'two'; use 512
    """

    place: str
    problem: str
    got: str = ""
    fix: str = ""
    code: str = "invalid"
    node: str = ""

    def __str__(self) -> str:
        got = f"; got {self.got}" if self.got else ""
        fix = f"; {self.fix}" if self.fix else ""
        return f"{self.place}: {self.problem}{got}{fix}"


class VinodeError(Exception):
    """Anything vinode refuses, as one or more faults."""

    def __init__(self, *faults: Fault) -> None:
        super().__init__(*faults)
        self.faults = faults

    def __str__(self) -> str:
        return "\n".join(str(fault) for fault in self.faults)


class WorkflowError(VinodeError):
    """A workflow that cannot run; every fault found is in it."""


class DeclarationError(VinodeError):
    """A node whose declaration is wrong: the author's mistake, found when its pack is loaded."""


class ModelError(VinodeError):
    """A model that cannot be had: missing, damaged, refused, or its source does not answer."""


class DeviceError(VinodeError):
    """A device that was asked for with `!` and cannot do the work."""


class NodeError(VinodeError):
    """What a node raises to refuse its inputs; the engine adds which node it was.

    >>> print(NodeError("width is larger than the image", got="900", fix="use at most 512"))
    the node: width is larger than the image; got 900; use at most 512
    """

    def __init__(self, problem: str, got: str = "", fix: str = "") -> None:
        super().__init__(Fault("the node", problem, got, fix, code="node-refused"))


class Cancelled(Exception):
    """The run was cancelled; raised inside a node by progress, by checks and by inference."""
