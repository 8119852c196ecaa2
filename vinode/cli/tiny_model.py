"""A model of a few operations, made on the spot: for tests of a device, without a download."""

# OpenVINO's stubs leave half of each operation untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportGeneralTypeIssues=false

from __future__ import annotations

from pathlib import Path

import numpy as np

SIZE, CHANNELS, CLASSES = 32, 8, 10


def save_tiny_model(path: Path) -> Path:
    """Write convolution, ReLU, pooling and a matrix product as IR in float32; returns the .xml.

    x        (1, 3, 32, 32) float32
    returns  y (1, 10) float32
    """
    import openvino as ov
    from openvino import opset13 as op

    random = np.random.default_rng(7)
    kernel = random.normal(0, 0.2, (CHANNELS, 3, 3, 3)).astype(np.float32)
    matrix = random.normal(0, 0.2, (CHANNELS, CLASSES)).astype(np.float32)
    x = op.parameter([1, 3, SIZE, SIZE], np.float32, name="x")
    x.output(0).get_tensor().set_names({"x"})
    seen = op.relu(op.convolution(x, op.constant(kernel), [1, 1], [1, 1], [1, 1], [1, 1]))
    pooled = op.avg_pool(seen, [SIZE, SIZE], [0, 0], [0, 0], [SIZE, SIZE], False)  # (1, 8, 1, 1)
    row = op.reshape(pooled, op.constant(np.array([1, CHANNELS], np.int64)), False)
    y = op.matmul(row, op.constant(matrix), False, False)
    y.output(0).get_tensor().set_names({"y"})
    path.parent.mkdir(parents=True, exist_ok=True)
    ov.save_model(ov.Model([y], [x], "tiny"), path, compress_to_fp16=False)
    return path
