"""Inputs and outputs of a node type, and what may stand in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vinode.graph.context import Folders
from vinode.graph.errors import nearest
from vinode.graph.kinds import BOOLEAN, COMBO, FLOAT, INT, STRING, Kind

_SPELLED = 12  # names of a list that an error spells out


class Required:
    """Stands where an input has no default."""

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED = Required()


@dataclass(frozen=True, slots=True)
class Range:
    """Limits of a number, both included; `unit` for people ("pixels", "s"), `step` for widgets."""

    minimum: float
    maximum: float
    unit: str = ""
    step: float | None = None

    def __str__(self) -> str:
        # 0 and 0.0 are one: Python's typing may give the one where another node wrote the other.
        low, high = (
            int(end) if isinstance(end, float) and end.is_integer() else end
            for end in (self.minimum, self.maximum)
        )
        return f"{low} to {high} {self.unit}".rstrip()


@dataclass(frozen=True, slots=True)
class Text:
    """How a text is entered."""

    multiline: bool = False
    placeholder: str = ""


@dataclass(frozen=True, slots=True)
class Choices:
    """Names offered for a text that depend on what is there: files, models.

    names   lists them, given the folders
    closed  nothing else is accepted
    upload  a picture may be dropped there
    """

    names: Callable[[Folders], Sequence[str]]
    closed: bool = True
    upload: bool = False


@dataclass(frozen=True, slots=True)
class Seed:
    """A whole number 0 to 2^64-1 for which the editor offers fixed, random, increment."""


SEED_RANGE = Range(0, 2**64 - 1)


@dataclass(frozen=True, slots=True)
class Input:
    """One input, as the signature declares it.

    many      the parameter is a list: the node gets all values of the wire at once
    nullable  None is accepted: the wire or widget may be left out
    options   names of a closed list known from the signature
    """

    name: str
    kind: Kind
    default: object = REQUIRED
    nullable: bool = False
    lazy: bool = False
    many: bool = False
    options: tuple[str, ...] | None = None
    choices: Choices | None = None
    range: Range | None = None
    text: Text | None = None
    seed: bool = False
    help: str = ""

    @property
    def required(self) -> bool:
        """Say whether a workflow must give this input."""
        return self.default is REQUIRED

    @property
    def is_widget(self) -> bool:
        """Say whether a constant may stand here, or only a wire."""
        return self.kind.name in ("INT", "FLOAT", "STRING", "BOOLEAN", "COMBO", "*")


@dataclass(frozen=True, slots=True)
class Output:
    """One output. `many`: the node returns a list, whose items travel one by one."""

    name: str
    kind: Kind
    many: bool = False
    help: str = ""


def constant_problem(declared: Input, value: object) -> str | None:
    """Say why a value may not stand in this input, or None. A None value is judged elsewhere."""
    kind = declared.kind
    if kind in (INT, FLOAT):
        if isinstance(value, bool) or not isinstance(value, kind.python):
            return f"expected {kind.name}"
        assert isinstance(value, int | float)
        if isinstance(value, float) and not math.isfinite(value):
            return "expected a finite number"
        limits = declared.range
        if limits and not limits.minimum <= value <= limits.maximum:
            return f"expected {limits}"
    elif kind is BOOLEAN and not isinstance(value, bool):
        return "expected true or false"
    elif kind in (STRING, COMBO) and not isinstance(value, str):
        return "expected text"
    if declared.options is not None and value not in declared.options:
        close = nearest(str(value), declared.options)
        hint = f"; did you mean {close!r}?" if close else ""
        return f"expected one of {', '.join(declared.options)}{hint}"
    return None


def choice_problem(declared: Input, value: object, folders: Folders) -> str | None:
    """Say why a text is none of the names that a closed list offers, or None.

    A name that leads out of a folder is none of them. Raises what the author's listing raises.
    """
    choices = declared.choices
    if choices is None or not choices.closed or not isinstance(value, str):
        return None
    names = choices.names(folders)
    if value in names:
        return None
    close = nearest(value, names)
    hint = f"; did you mean {close!r}?" if close else ""
    several = f"one of {', '.join(names)}" if len(names) <= _SPELLED else "one of those offered"
    return f"expected {several}{hint}" if names else "expected one of those offered; there are none"
