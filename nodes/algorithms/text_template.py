"""Fill a text template with values: plain names only, and nothing that grows without bound."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping

from vinode.graph.describe import describe
from vinode.graph.errors import NodeError, short
from vinode.nodes.algorithms.limits import MAX_TEXT

# Fill and align, sign, #, 0, width, grouping, precision, type: of 3 digits at most each.
_SPEC = re.compile(r"([^{}]?[<>=^])?[+\- ]?#?0?\d{0,3}[,_]?(\.\d{1,3})?[a-zA-Z%]?")
_MAX_LENGTH = MAX_TEXT


def fill_template(template: str, values: Mapping[str, object]) -> str:
    """Put values where the template names them in braces.

    A name may be followed by a format spec, never by a dot, a bracket or a conversion: a template
    comes from a workflow that somebody else wrote, and must not look inside of objects.

    >>> fill_template("{a:03} of {b}", {"a": 7, "b": "ten"})
    '007 of ten'
    """
    pieces: list[str] = []
    length = 0
    for literal, name, spec, conversion in _parts(template):
        value = "" if name is None else _shown(name, spec or "", conversion, values)
        pieces += (literal, value)
        length += len(literal) + len(value)
        if length > _MAX_LENGTH:
            raise NodeError(f"the text would be longer than {_MAX_LENGTH} characters")
    return "".join(pieces)


def _parts(template: str) -> list[tuple[str, str | None, str | None, str | None]]:
    try:
        return list(string.Formatter().parse(template))
    except ValueError as error:
        fix = "write {{ for a brace that is meant as such"
        raise NodeError(f"a brace in the template has no partner ({error})", fix=fix) from error


def _shown(name: str, spec: str, conversion: str | None, values: Mapping[str, object]) -> str:
    allowed = ", ".join(f"{{{known}}}" for known in values)
    if name not in values or conversion:
        given = "{" + name + (f"!{conversion}" if conversion else "") + "}"
        raise NodeError(f"the template may name {allowed} only", short(given), "drop the rest")
    if not _SPEC.fullmatch(spec):
        fix = "write it like {a:05} or {a:.2f}"
        raise NodeError(f"the format of {{{name}}} is not one", short(spec), fix)
    value = values[name]
    if value is None:
        fix = f"connect {name}, or take it out of the template"
        raise NodeError(f"the template names {{{name}}}, which has no value", fix=fix)
    shown = value if isinstance(value, str | int | float) else describe(value)
    try:
        return format(shown, spec)
    except (ValueError, OverflowError) as error:
        raise NodeError(f"{{{name}}} cannot be shown like that: {error}", short(spec)) from error
