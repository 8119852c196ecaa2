"""Non-maximum suppression: of boxes that show one thing, the best is kept."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def overlap(box: NDArray[np.float64], boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the intersection over union of one box with many.

    box      (4,)   float64  x0 y0 x1 y1
    boxes    (N, 4) float64
    returns  (N,)   float64  0..1; 0 where both are empty
    """
    sides = np.minimum(box[2:], boxes[:, 2:]) - np.maximum(box[:2], boxes[:, :2])
    shared = np.prod(np.maximum(sides, 0), axis=1)
    areas = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    union = np.prod(box[2:] - box[:2]) + areas - shared
    shares: NDArray[np.float64] = np.zeros_like(shared)
    np.divide(shared, union, out=shares, where=union > 0)
    return shares


def non_max_suppression(
    boxes: NDArray[np.float32],
    scores: NDArray[np.float32],
    classes: NDArray[np.int64],
    images: NDArray[np.int64],
    iou_threshold: float,
    score_threshold: float,
    max_boxes: int,
) -> NDArray[np.int64]:
    """Keep the best of every group of boxes of one class and picture that overlap.

    boxes            (N, 4) float32  x0 y0 x1 y1, pixels
    scores           (N,)   float32  0..1
    classes, images  (N,)   int64
    iou_threshold    boxes that share more than this with a better one are dropped, 0..1
    score_threshold  boxes with a lower score are dropped, 0..1
    max_boxes        how many are kept in a picture
    returns          (K,)   int64  rows to keep, best first; of equal scores the first row first
    """
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] >= score_threshold]
    corners = boxes.astype(np.float64)  # so that a box as large as another is never larger
    kept: list[NDArray[np.int64]] = []
    for image in np.unique(images[order]):
        rows = order[images[order] == image]
        best: list[np.int64] = []
        while rows.size and len(best) < max_boxes:
            first, rows = rows[0], rows[1:]
            best.append(first)
            apart = overlap(corners[first], corners[rows]) <= iou_threshold
            rows = rows[apart | (classes[rows] != classes[first])]
        kept.append(np.array(best, np.int64))
    if not kept:
        return np.zeros(0, np.int64)
    chosen = np.sort(np.concatenate(kept))
    return chosen[np.argsort(-scores[chosen], kind="stable")]
