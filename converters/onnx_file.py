"""An ONNX file's outline, read without its tensors: is it whole, and which files belong to it.

Field numbers are those of onnx.proto3: ModelProto.graph 7 and opset_import 8; GraphProto.node 1 and
initializer 5; NodeProto.attribute 5; AttributeProto.t 5, g 6, tensors 10 and graphs 11;
TensorProto.external_data 13, whose entries are key 1 and value 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias

_TOP_FIELDS = {*range(1, 9), 14, 20, 25, 26}  # of a ModelProto
_GRAPH, _OPSETS, _EXTERNAL = 7, 8, 13
_NUMBER, _DOUBLE, _BYTES, _FLOAT = 0, 1, 2, 5  # wire types
_NAME_LIMIT = 4096  # bytes of a file's name

_Inside: TypeAlias = Mapping[int, "_Inside"]
_TENSOR: _Inside = {_EXTERNAL: {}}
_GRAPHS: dict[int, _Inside] = {5: _TENSOR}
_ATTRIBUTE: _Inside = {5: _TENSOR, 6: _GRAPHS, 10: _TENSOR, 11: _GRAPHS}
_GRAPHS[1] = {5: _ATTRIBUTE}


@dataclass(frozen=True, slots=True)
class _Field:
    """A field as it lies in the file: its number, and its content at [start, end)."""

    number: int
    start: int
    end: int


def is_whole(file: BinaryIO, size: int) -> bool:
    """Walk over the outermost fields: they must end where the file ends."""
    seen: set[int] = set()
    try:
        for field in _fields(file, 0, size):
            if field.number not in _TOP_FIELDS:
                return False
            seen.add(field.number)
    except ValueError:
        return False
    return {_GRAPH, _OPSETS} <= seen  # else it is cut between two fields


def external_files(path: Path) -> frozenset[str]:
    """Name the files that hold weights of this one, as it names them; ValueError where damaged."""
    names: set[str] = set()
    with path.open("rb") as file:
        waiting: list[tuple[_Field, _Inside]] = [
            (_Field(0, 0, path.stat().st_size), {_GRAPH: _GRAPHS})
        ]
        while waiting:
            outer, inside = waiting.pop()
            for field in _fields(file, outer.start, outer.end):
                if field.number == _EXTERNAL and inside is _TENSOR:
                    key, value = _entry(file, field)
                    if key == "location":
                        names.add(value)
                elif field.number in inside:
                    waiting.append((field, inside[field.number]))
    return frozenset(names)


def _fields(file: BinaryIO, start: int, end: int) -> Iterator[_Field]:
    place = start
    while place < end:
        file.seek(place)
        tag, length = _varint(file), 0
        wire = tag & 7
        if wire in (_NUMBER, _BYTES):
            length = _varint(file)  # of a plain number: the number itself
        begin = file.tell()
        width = {_NUMBER: 0, _BYTES: length, _DOUBLE: 8, _FLOAT: 4}.get(wire)
        if width is None or begin + width > end:
            raise ValueError("a field is cut off")
        place = begin + width
        yield _Field(tag >> 3, begin, place)


def _entry(file: BinaryIO, field: _Field) -> tuple[str, str]:
    texts = {1: "", 2: ""}
    for part in _fields(file, field.start, field.end):
        if part.number in texts and part.end - part.start <= _NAME_LIMIT:
            file.seek(part.start)
            texts[part.number] = file.read(part.end - part.start).decode("utf-8", "replace")
    return texts[1], texts[2]


def _varint(file: BinaryIO) -> int:
    value = 0
    for shift in range(0, 70, 7):
        byte = file.read(1)
        if not byte:
            break
        value |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return value
    raise ValueError("a number is cut off")
