"""What may travel along a wire, and which kinds fit which."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value: what may travel along a wire.

    name      as ComfyUI writes it: IMAGE, MASK, INT, ...
    about     shape, dtype, range and unit, in words
    colour    of the wire, #rrggbb
    python    type that a value must be an instance of
    is_model  a handle that is compiled where it is used: such a node runs on a device's lane
    problem   says what is wrong with a value of the right type, or None
    """

    name: str
    about: str
    colour: str = "#9aa0a6"
    python: type[Any] | tuple[type[Any], ...] = object
    is_model: bool = False
    problem: Callable[[Any], str | None] | None = None


ANY = Kind("*", "anything", "#9aa0a6")
INT = Kind("INT", "whole number, exact to 2^64-1", "#5fb3b3", int)
FLOAT = Kind("FLOAT", "number", "#7fb069", (float, int))
STRING = Kind("STRING", "text", "#d4a373", str)
BOOLEAN = Kind("BOOLEAN", "true or false", "#c77dff", bool)
COMBO = Kind("COMBO", "one of a list of names", "#b5b5b5", str)

# A value of the first may be given where the second is asked for; it is checked when it arrives.
_WIDER = {("INT", "FLOAT"), ("STRING", "COMBO"), ("COMBO", "STRING")}


def fits(given: Kind, wanted: Kind) -> bool:
    """Say whether an output of one kind may be linked to an input of another.

    >>> fits(INT, FLOAT), fits(FLOAT, INT), fits(ANY, INT)
    (True, False, True)
    """
    if given.name == wanted.name or ANY.name in (given.name, wanted.name):
        return True
    return (given.name, wanted.name) in _WIDER


def value_problem(value: object, kind: Kind) -> str | None:
    """Say what is wrong with a value that arrived on a wire of this kind, or None."""
    if kind is ANY:
        return None
    is_number_kind = kind is INT or kind is FLOAT
    if not isinstance(value, kind.python) or (is_number_kind and isinstance(value, bool)):
        return f"expected {kind.name}, got {type(value).__name__}"
    return kind.problem(value) if kind.problem else None
