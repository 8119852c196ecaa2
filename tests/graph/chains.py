"""Chains of operations as tiny models, for tests of what really ran where."""

# OpenVINO's stubs leave half of each operation untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportGeneralTypeIssues=false

from __future__ import annotations

import hashlib
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
from openvino import opset13 as op

from vinode.graph.compiled import Usage
from vinode.graph.context import Phase
from vinode.graph.devices import parse_hint
from vinode.graph.pool import Inference, Pool
from vinode.graph.values import ModelPart

CHANNELS, SIZE = 4, 16
SHAPE = (1, CHANNELS, SIZE, SIZE)
TENSOR_BYTES = 4 * CHANNELS * SIZE * SIZE  # of what goes from one operation to the next, float32


def chain(*steps: str, shape: tuple[int, ...] = SHAPE) -> ov.Model:
    """Make a model of operations one after the other: "conv", "sin", "relu" ...

    x  (1, C, H, W) float32 -> y, the same; operation i has the name of its step and i: "conv0"
    """
    x = op.parameter(list(shape), np.float32, name="x")
    x.output(0).get_tensor().set_names({"x"})
    y: Any = x
    for index, step in enumerate(steps):
        if step == "conv":
            random = np.random.default_rng(index)
            kernel = random.normal(0, 0.2, (shape[1], shape[1], 3, 3)).astype(np.float32)
            y = op.convolution(y, op.constant(kernel), [1, 1], [1, 1], [1, 1], [1, 1])
        else:
            y = getattr(op, step)(y)
        y.set_friendly_name(f"{step}{index}")
    y.output(0).get_tensor().set_names({"y"})
    return ov.Model([y], [x], "chain")


def saved(model: ov.Model, folder: Path, name: str = "chain") -> ModelPart:
    """Save a model as a part of a store."""
    path = folder / f"{name}.xml"
    ov.save_model(model, path, compress_to_fp16=False)
    content = path.read_bytes() + path.with_suffix(".bin").read_bytes()
    size = path.with_suffix(".bin").stat().st_size
    return ModelPart(name, path, hashlib.sha256(content).hexdigest(), size)


def picture(shape: tuple[int, ...] = SHAPE) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Make an input, the same each time."""
    return np.random.default_rng(5).standard_normal(shape).astype(np.float32)


def untimed(phase: Phase) -> AbstractContextManager[None]:
    """Time nothing."""
    return nullcontext()


def go_on() -> None:
    """Never cancel."""


def used(pool: Pool, part: ModelPart, hint: str, user: Usage | None = None) -> Inference:
    """Run a part once."""
    return pool.infer(part, {"x": picture()}, parse_hint(hint, ""), untimed, go_on, user)
