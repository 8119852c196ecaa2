"""Tiny real models: an IR, an ONNX file written by hand, and a detector that finds bright spots."""

# OpenVINO's stubs leave half of each operation untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportGeneralTypeIssues=false

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import openvino as ov
from openvino import opset13 as op

STRIDES = [[8, 2]]
SIZE = 32  # of the detector's input, pixels


def save_ir(folder: Path, name: str = "tiny", seed: int = 0) -> Path:
    """Write an IR that takes x (1, 4) and gives relu(x @ W) (1, 3); returns the .xml."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = np.random.default_rng(seed).normal(size=(4, 3)).astype(np.float32)
    x = op.parameter([1, 4], np.float32, name="x")
    x.output(0).get_tensor().set_names({"x"})
    y = op.relu(op.matmul(x, op.constant(weights), False, False))
    y.output(0).get_tensor().set_names({"y"})
    path = folder / f"{name}.xml"
    ov.save_model(ov.Model([y], [x], name), path, compress_to_fp16=False)
    return path


def save_detector(folder: Path) -> Path:
    """Write a detector of bright 8 x 8 cells; two anchors a cell, both give the cell itself.

    input    (1, 32, 32, 3) float32 -1..1
    returns  the .xml; boxes (1, 32, 16) and logits (1, 32, 1): 12 x mean brightness of the cell
    """
    folder.mkdir(parents=True, exist_ok=True)
    x = op.parameter([1, SIZE, SIZE, 3], np.float32, name="input")
    planes = op.transpose(x, op.constant(np.array([0, 3, 1, 2], np.int64)))
    means = op.avg_pool(planes, [8, 8], [0, 0], [0, 0], [8, 8], False)  # (1, 3, 4, 4)
    cells = op.reduce_mean(means, op.constant(np.array([1], np.int64)), False)
    column = op.reshape(cells, op.constant(np.array([1, 16, 1], np.int64)), False)
    twice = op.concat([column, column], 2)
    factor = op.constant(np.full((1, 1, 1), 12, np.float32))
    shape = op.constant(np.array([1, 32, 1], np.int64))
    logits = op.reshape(op.multiply(twice, factor), shape, False)
    row = np.zeros((1, 32, 16), np.float32)
    row[..., 2:4] = 8
    nothing = op.multiply(logits, op.constant(np.zeros((1, 1, 1), np.float32)))
    boxes = op.add(nothing, op.constant(row))
    path = folder / "bright.xml"
    ov.save_model(ov.Model([boxes, logits], [x], "bright"), path, compress_to_fp16=False)
    return path


def save_onnx(path: Path) -> Path:
    """Write an ONNX file with one Relu of (1, 4), field by field."""
    dims = b"".join(_field(1, _number(1, size)) for size in (1, 4))
    kind = _field(2, _field(1, _number(1, 1) + _field(2, dims)))

    def value(name: str) -> bytes:
        return _field(1, name.encode()) + kind

    relu = _field(1, b"x") + _field(2, b"y") + _field(4, b"Relu")
    graph = _field(1, relu) + _field(2, b"g") + _field(11, value("x")) + _field(12, value("y"))
    opset = _field(1, b"") + _number(2, 13)
    path.write_bytes(_number(1, 8) + _field(7, graph) + _field(8, opset))
    return path


def save_onnx_with_weights(path: Path, weights: str, content: bytes) -> Path:
    """Write an ONNX file with one Add of (1, 4), whose second operand is the file `weights`."""
    dims = b"".join(_field(1, _number(1, size)) for size in (1, 4))
    kind = _field(2, _field(1, _number(1, 1) + _field(2, dims)))
    ports = _field(11, _field(1, b"x") + kind) + _field(12, _field(1, b"y") + kind)
    location = _field(1, b"location") + _field(2, weights.encode())
    added = _number(1, 1) + _number(1, 4) + _number(2, 1) + _field(8, b"w") + _field(13, location)
    added += _number(14, 1)  # data_location: elsewhere
    add = _field(1, b"x") + _field(1, b"w") + _field(2, b"y") + _field(4, b"Add")
    graph = _field(1, add) + _field(2, b"g") + _field(5, added) + ports
    opset = _field(1, b"") + _number(2, 13)
    path.write_bytes(_number(1, 8) + _field(7, graph) + _field(8, opset))
    path.with_name(Path(weights).name).write_bytes(content)
    return path


def save_safetensors(path: Path) -> Path:
    """Write one float32 tensor of four numbers."""
    row = {"w": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}
    header = json.dumps(row).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(16))
    return path


def _number(field: int, value: int) -> bytes:
    return bytes([field << 3, value])


def _field(field: int, content: bytes) -> bytes:
    size = len(content)
    assert size < 2**14
    length = [size] if size < 128 else [size & 127 | 128, size >> 7]
    return bytes([field << 3 | 2, *length]) + content
