"""Bodies of requests, read within bounds and checked field by field."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from aiohttp import web

from vinode.graph.errors import Fault, VinodeError, nearest, short
from vinode.graph.strict_json import Json, load_json

MAX_JSON = 32 * 2**20
_SMALL = 64 * 1024  # bytes that are parsed at once; more would let other clients wait
_PATIENCE = 60.0  # seconds for a JSON body to arrive

Shape: TypeAlias = Literal[
    "text", "whole number", "number", "true or false", "list of texts", "object", "anything"
]


class BadRequest(VinodeError):
    """A request that cannot be understood, in one sentence. `status` is that of the answer."""

    def __init__(self, fault: Fault, status: int = 400) -> None:
        super().__init__(fault)
        self.status = status


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a body: its shape, and what a schema tells of it.

    maximum  largest number, or length of a text or a list
    """

    shape: Shape
    about: str = ""
    required: bool = False
    minimum: float | None = None
    maximum: float | None = None


Fields: TypeAlias = Mapping[str, Field]


async def read_bytes(request: web.Request, limit: int = MAX_JSON) -> bytes:
    """Read a whole body; BadRequest where it is too large or takes too long to arrive."""
    length = request.content_length
    if length is not None and length > limit:
        raise _too_large(limit)
    chunks: list[bytes] = []
    total = 0
    try:
        async with asyncio.timeout(_PATIENCE):
            async for chunk in request.content.iter_any():
                total += len(chunk)
                if total > limit:
                    raise _too_large(limit)
                chunks.append(chunk)
    except TimeoutError:
        fault = Fault("body", f"it did not arrive within {_PATIENCE:.0f} s", code="too-slow")
        raise BadRequest(fault, 408) from None
    return b"".join(chunks)


def _too_large(limit: int) -> BadRequest:
    problem = f"it has more than {limit // 2**20} MB"
    return BadRequest(Fault("body", problem, fix="send less", code="too-large"), 413)


async def read_json(request: web.Request, limit: int = MAX_JSON) -> Json:
    """Read a body of JSON; an empty one is None. WorkflowError says what is no JSON."""
    text = await read_bytes(request, limit)
    if not text.strip():
        return None
    if len(text) <= _SMALL:
        return load_json(text, "body")
    return await asyncio.to_thread(load_json, text, "body")


async def read_object(request: web.Request, fields: Fields | None = None) -> dict[str, Json]:
    """Read a body that is an object with these fields; an empty body is an empty object.

    fields  what may stand in it; None leaves that to the caller
    """
    value = await read_json(request)
    if not isinstance(value, dict | None):
        raise BadRequest(Fault("body", "expected an object", short(value), "write {...}"))
    found = cast(dict[str, Json], value or {})
    if fields is not None:
        check_fields(found, fields)
    return found


def check_fields(found: Mapping[str, Json], fields: Fields, lenient: bool = False) -> None:
    """Check the fields of an object; BadRequest names the first that is wrong.

    lenient  fields that are not known are ignored
    """
    for name, value in found.items():
        known = fields.get(name)
        if known is None and not lenient:
            close = nearest(name, fields)
            fix = f"did you mean {close}?" if close else f"known are {', '.join(fields) or 'none'}"
            raise BadRequest(Fault(f"body, {short(name)[1:-1]}", "no such field", fix=fix))
        if known is not None and (problem := field_problem(value, known)):
            raise BadRequest(Fault(f"body, {name}", problem, short(value)))
    for name, known in fields.items():
        if known.required and name not in found:
            raise BadRequest(Fault(f"body, {name}", "must be given", fix=known.about))


def _is_whole(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_texts(value: Json) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, str) for item in cast(list[object], value)
    )


_IS: Mapping[Shape, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "whole number": _is_whole,
    "number": lambda value: _is_whole(value) or isinstance(value, float),
    "true or false": lambda value: isinstance(value, bool),
    "list of texts": _is_texts,
    "object": lambda value: isinstance(value, dict),
    "anything": lambda value: True,
}


def field_problem(value: Json, known: Field) -> str:
    """Say what is wrong with a field's value, or ""."""
    if not _IS[known.shape](value):
        return f"expected {known.shape}"
    if isinstance(value, bool):
        return ""
    sized = isinstance(value, str | list)
    size = len(cast(str, value)) if sized else value if isinstance(value, int | float) else 0
    what = "letters" if isinstance(value, str) else "items" if sized else ""
    if known.maximum is not None and size > known.maximum:
        return f"expected at most {known.maximum:.0f} {what}".rstrip()
    if known.minimum is not None and size < known.minimum:
        return f"expected at least {known.minimum:.0f} {what}".rstrip()
    return ""


def whole_query(request: web.Request, name: str, default: int, least: int, most: int) -> int:
    """Read a whole number from the query, brought between its limits; BadRequest for no number."""
    text = request.query.get(name, "")
    if not text:
        return default
    try:
        value = int(text) if len(text) <= 30 else int("none")
    except ValueError:
        raise BadRequest(Fault(f"query, {name}", "expected a whole number", short(text))) from None
    return max(least, min(most, value))


def is_yes(text: str | None) -> bool:
    """Read a switch of a query or a form, as clients write it."""
    return text is not None and text.lower() in ("true", "1", "yes", "on")
