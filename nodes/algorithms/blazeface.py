"""Outputs of a BlazeFace detector -> boxes: anchors on grids, offsets from them, one logit each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def anchors(size: int, strides: Sequence[tuple[int, int]]) -> NDArray[np.float32]:
    """Give the centres that boxes are told from, in the order of the model's rows.

    size     S, side of the model's square input, pixels
    strides  (pixels, anchors in a cell) of each grid, the finest first
    returns  (A, 2) float32  x y, pixels of the square
    """
    grids: list[NDArray[np.float32]] = []
    for stride, count in strides:
        middle = (np.arange(size // stride, dtype=np.float32) + np.float32(0.5)) * stride
        y, x = np.meshgrid(middle, middle, indexing="ij")
        cells = np.stack([x.ravel(), y.ravel()], axis=1).astype(np.float32)
        grids.append(np.repeat(cells, count, axis=0))
    return np.concatenate(grids)


def decode(
    boxes: NDArray[np.float32],
    logits: NDArray[np.float32],
    centres: NDArray[np.float32],
    threshold: float,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Decode what the model says about one picture; the six points of a face are left out.

    boxes      (A, 16) float32  dx dy w h, then six points; pixels of the square
    logits     (A,)    float32
    centres    (A, 2)  float32  of the anchors
    threshold  0..1, rows with a lower score are left out, as are those that are no numbers
    returns    (N, 4)  float32  x0 y0 x1 y1, pixels of the square; (N,) float32 scores 0..1
    """
    # Beyond 80 the exponential leaves float32, and the score is 0 or 1 anyway.
    scores = 1 / (1 + np.exp(-np.clip(logits, -80, 80)))
    finite = np.isfinite(boxes[:, :4]).all(axis=1)
    (rows,) = np.nonzero((scores >= threshold) & finite)
    middle = centres[rows] + boxes[rows, :2]
    half = np.maximum(boxes[rows, 2:4], 0) / 2
    corners = np.concatenate([middle - half, middle + half], axis=1)
    return corners.astype(np.float32), scores[rows].astype(np.float32)
