"""Laws of non-maximum suppression."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from vinode.graph.values import Boxes
from vinode.nodes.algorithms.nms import non_max_suppression

ROW = st.tuples(
    st.tuples(st.integers(0, 12), st.integers(0, 12), st.integers(0, 8), st.integers(0, 8)),
    st.integers(0, 4),  # few different scores, so that there are ties
    st.integers(0, 1),  # class
    st.integers(0, 1),  # picture
)
THRESHOLD = st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9, 1.0])


@st.composite
def found(draw: st.DrawFn) -> Boxes:
    """Draw boxes that overlap a lot, empty ones among them."""
    rows = draw(st.lists(ROW, max_size=14))
    corners = [(x, y, x + w, y + h) for (x, y, w, h), _, _, _ in rows]
    return Boxes(
        np.array(corners, np.float32).reshape(-1, 4),
        np.array([score / 4 for _, score, _, _ in rows], np.float32),
        np.array([kind for _, _, kind, _ in rows], np.int64),
        np.array([image for _, _, _, image in rows], np.int64),
        ("a", "b"),
    )


def nms(boxes: Boxes, iou: float, score: float, limit: int) -> NDArray[np.int64]:
    """Call the function with the fields of the boxes."""
    fields = (boxes.boxes, boxes.scores, boxes.classes, boxes.images)
    return non_max_suppression(*fields, iou, score, limit)


def iou_of(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    """Give the intersection over union of two boxes, one number at a time."""
    wide = min(float(a[2]), float(b[2])) - max(float(a[0]), float(b[0]))
    high = min(float(a[3]), float(b[3])) - max(float(a[1]), float(b[1]))
    shared = max(wide, 0.0) * max(high, 0.0)
    areas = [float(c[2] - c[0]) * float(c[3] - c[1]) for c in (a, b)]
    union = sum(areas) - shared
    return shared / union if union > 0 else 0.0


def slow(boxes: Boxes, iou: float, score: float, limit: int) -> list[int]:
    """Go through the boxes, best first, and keep what no kept one covers."""
    order = sorted(range(len(boxes)), key=lambda row: (-float(boxes.scores[row]), row))
    kept: list[int] = []
    for row in order:
        same_image = [other for other in kept if boxes.images[other] == boxes.images[row]]
        rivals = [other for other in same_image if boxes.classes[other] == boxes.classes[row]]
        covered = any(iou_of(boxes.boxes[row], boxes.boxes[other]) > iou for other in rivals)
        if boxes.scores[row] >= score and not covered and len(same_image) < limit:
            kept.append(row)
    return kept


@given(found(), THRESHOLD, THRESHOLD, st.integers(1, 5))
def test_it_is_what_a_slow_loop_finds(boxes: Boxes, iou: float, score: float, limit: int) -> None:
    """Rows, order and ties alike."""
    assert nms(boxes, iou, score, limit).tolist() == slow(boxes, iou, score, limit)


@given(found(), THRESHOLD)
def test_kept_boxes_do_not_overlap(boxes: Boxes, iou: float) -> None:
    """Within one picture and class."""
    kept = boxes.take(nms(boxes, iou, 0, 300))
    for i in range(len(kept)):
        for j in range(i):
            same = kept.classes[i] == kept.classes[j] and kept.images[i] == kept.images[j]
            assert not same or iou_of(kept.boxes[i], kept.boxes[j]) <= iou


@given(found(), THRESHOLD, THRESHOLD, st.integers(1, 5))
def test_twice_is_once(boxes: Boxes, iou: float, score: float, limit: int) -> None:
    """A second pass keeps all, in the same order."""
    kept = boxes.take(nms(boxes, iou, score, limit))
    assert nms(kept, iou, score, limit).tolist() == list(range(len(kept)))


@given(found(), THRESHOLD, st.integers(1, 5))
def test_best_first_and_not_more_than_asked(boxes: Boxes, iou: float, limit: int) -> None:
    """In each picture."""
    kept = boxes.take(nms(boxes, iou, 0.25, limit))
    assert (np.diff(kept.scores) <= 0).all()
    assert (kept.scores >= 0.25).all()
    assert all((kept.images == image).sum() <= limit for image in (0, 1))
