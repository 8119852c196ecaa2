"""Messages between server and worker over a pipe: JSON and bytes, each with its length before."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import Mapping
from typing import BinaryIO, cast

from vinode.graph.errors import short
from vinode.graph.strict_json import Json

_HEAD = struct.Struct(">II")
_MOST = 2**30  # bytes of a part; a longer one is no frame but something that strayed into the pipe


_write = json.JSONEncoder(default=short, allow_nan=False, separators=(",", ":")).encode


class BrokenFrame(Exception):
    """What came over the pipe is no message of ours."""


def dump(value: Json) -> str:
    """Write JSON, in ASCII, of any value: JSON knows no NaN, and what is none becomes a text."""
    try:
        return _write(value)
    except ValueError:  # NaN, or a cycle: it is another's value, and the message has to arrive
        return json.dumps(_plain(value, 0), default=short)


def pack(message: Json, blob: bytes = b"") -> bytes:
    """Write a message."""
    body = dump(message).encode("ascii")
    return b"".join((_HEAD.pack(len(body), len(blob)), body, blob))


def read(file: BinaryIO) -> tuple[Json, bytes] | None:
    """Wait for a message; None where the other end has gone."""
    head = file.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    size, more = _sizes(head)
    body, blob = file.read(size), file.read(more)
    return None if len(blob) < more or len(body) < size else (json.loads(body), blob)


async def read_async(stream: asyncio.StreamReader) -> tuple[Json, bytes] | None:
    """Wait for a message; None where the other end has gone."""
    try:
        size, more = _sizes(await stream.readexactly(_HEAD.size))
        body = await stream.readexactly(size)
        blob = await stream.readexactly(more) if more else b""
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    try:
        return json.loads(body), blob
    except ValueError as error:
        raise BrokenFrame(str(error)) from None


def _sizes(head: bytes) -> tuple[int, int]:
    size, more = _HEAD.unpack(head)
    if size > _MOST or more > _MOST:
        raise BrokenFrame(f"a message of {size} and {more} bytes")
    return size, more


def _plain(value: Json, depth: int) -> Json:
    """Make JSON of anything: numbers that JSON lacks become null."""
    if depth > 50:
        return None
    if isinstance(value, dict):
        given = cast(Mapping[Json, Json], value)
        return {str(key): _plain(inner, depth + 1) for key, inner in given.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner, depth + 1) for inner in cast(tuple[Json, ...], value)]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value if isinstance(value, str | int | float | bool | None) else short(value)
