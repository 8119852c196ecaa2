"""A model that finds bright things, and answers next to nothing where there are none."""

# OpenVINO's stubs leave half of each operation untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportGeneralTypeIssues=false

from __future__ import annotations

from pathlib import Path

import numpy as np
import openvino as ov
from openvino import opset13 as op


def finder(size: int = 48, threshold: float = 9.7) -> ov.Model:
    """Make a model whose weights half precision misses by a twentieth of what they give together.

    x  (1, 3, size, size) float32, -1..1 -> y  (1, 1, size, size), 0..1
    """
    x = op.parameter([1, 3, size, size], np.float32, name="x")
    x.output(0).get_tensor().set_names({"x"})
    # 40.2675 is 40.28125 in half precision: the small difference of large weights suffers.
    kernel = np.full((1, 6, 9, 9), 40.2675, np.float32)
    kernel[:, 3:] = -40
    twice = op.concat([x, x], 1)
    bright = op.convolution(twice, op.constant(kernel), [1, 1], [4, 4], [4, 4], [1, 1])
    shift = op.constant(np.full((1, 1, 1, 1), threshold, np.float32))
    y = op.sigmoid(op.subtract(bright, shift))
    y.output(0).get_tensor().set_names({"y"})
    return ov.Model([y], [x], "finder")


def save_finder(path: Path, threshold: float = 9.7) -> Path:
    """Write it with whole weights."""
    path.parent.mkdir(parents=True, exist_ok=True)
    ov.save_model(finder(threshold=threshold), path, compress_to_fp16=False)
    return path
