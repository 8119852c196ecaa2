"""The header of a safetensors file: names, types and shapes of its tensors; no tensor is read."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from vinode.converters.files import disk_errors
from vinode.converters.formats import recognise, refusal

Shape: TypeAlias = tuple[int, ...]
Shapes: TypeAlias = Mapping[str, Shape]

FLOATS = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "F8_E4M3": 1, "F8_E5M2": 1}  # bytes


@dataclass(frozen=True, slots=True)
class Header:
    """What a safetensors file says of itself.

    types     name -> "F16", "BF16", ...
    metadata  what its writer noted, text to text
    start     where the tensors' bytes begin
    """

    path: Path
    shapes: Shapes
    types: Mapping[str, str]
    offsets: Mapping[str, tuple[int, int]]
    metadata: Mapping[str, str]
    start: int

    def below(self, prefix: str) -> Shapes:
        """Give the shapes of the tensors whose names begin with a prefix, without it."""
        size = len(prefix)
        return {name[size:]: s for name, s in self.shapes.items() if name.startswith(prefix)}

    def vector(self, name: str) -> NDArray[np.float32]:
        """Read one small tensor."""
        begin, end = self.offsets[name]
        with self.path.open("rb") as file:
            file.seek(self.start + begin)
            raw = file.read(end - begin)
        kind = self.types[name]
        if kind == "BF16":  # the upper half of a float32
            return (np.frombuffer(raw, "<u2").astype(np.uint32) << 16).view(np.float32)
        plain = {"F64": "<f8", "F32": "<f4", "F16": "<f2"}.get(kind)
        return np.frombuffer(raw, plain).astype(np.float32) if plain else np.zeros(0, np.float32)


def read_header(path: Path) -> Header:
    """Read the header; ModelError in one sentence where the file is no whole safetensors file."""
    kind = recognise(path)
    if kind != "safetensors":
        raise refusal(path, f"this is a file of the format {kind}", "give a .safetensors file")
    with disk_errors(path), path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        rows = cast(dict[str, dict[str, Any]], json.loads(file.read(length)))
    noted = rows.pop("__metadata__", {})
    try:
        shapes = {name: tuple(int(size) for size in row["shape"]) for name, row in rows.items()}
        types = {name: str(row["dtype"]) for name, row in rows.items()}
        offsets = {name: (int(a), int(b)) for name, (a, b) in _offsets(rows)}
        for name, stored in types.items():
            begin, end = offsets[name]
            if stored in FLOATS and math.prod(shapes[name]) * FLOATS[stored] != end - begin:
                raise ValueError(name)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        problem = "the safetensors file is cut off or damaged"
        raise refusal(path, problem, "download it again") from error
    return Header(path, shapes, types, offsets, noted, 8 + length)


def _offsets(rows: Mapping[str, dict[str, Any]]) -> list[tuple[str, tuple[Any, Any]]]:
    return [(name, (row["data_offsets"][0], row["data_offsets"][1])) for name, row in rows.items()]
