"""Detection on pictures whose bright spots are known, with a real model that finds them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import pytest
from numpy.typing import NDArray

from tests.converters.models import SIZE, STRIDES, save_detector
from tests.nodes.context import CallContext, folders_below
from vinode.converters.library import add_model
from vinode.converters.store import Store
from vinode.graph.context import Blocked
from vinode.graph.errors import Cancelled, ModelError, NodeError
from vinode.graph.node import call_hook
from vinode.graph.values import Boxes, Detector, Image, ModelPart
from vinode.nodes.detect import (
    crop_boxes,
    detect_objects,
    detector_loader,
    draw_boxes,
    non_max_suppression_node,
)


def infer(part: ModelPart, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.float32]]:
    """Run a part on the CPU."""
    compiled = ov.Core().compile_model(str(part.xml), "CPU")
    answers = compiled(dict(inputs))
    return {port.any_name: np.array(answers[port]) for port in compiled.outputs}


@pytest.fixture
def context(tmp_path: Path) -> CallContext:
    """Make a context whose store knows the detector of bright spots."""
    made = CallContext(folders_below(tmp_path), infer=infer)
    options = {"input": SIZE, "strides": STRIDES}
    store, model = Store(made.folders.models), save_detector(tmp_path)
    add_model(store, model, "bright", "detector", "blazeface", ["spot"], options)
    return made


@pytest.fixture
def bright(context: CallContext) -> Detector:
    """Load the detector of bright spots."""
    return detector_loader(context, "bright")


def spots(height: int, width: int, *cells: tuple[int, int, int, int]) -> NDArray[np.uint8]:
    """Make a black picture (H, W, 3) with white rectangles x0 y0 x1 y1."""
    picture = np.zeros((height, width, 3), np.uint8)
    for x0, y0, x1, y1 in cells:
        picture[y0:y1, x0:x1] = 255
    return picture


def boxes_of(*rows: tuple[float, float, float, float], images: list[int] | None = None) -> Boxes:
    """Make boxes with falling scores."""
    return Boxes(
        np.array(rows, np.float32).reshape(-1, 4),
        np.linspace(1, 0.5, len(rows), dtype=np.float32),
        np.zeros(len(rows), np.int64),
        np.array(images if images is not None else [0] * len(rows), np.int64),
        ("spot",),
    )


PICTURES: dict[str, tuple[int, int, tuple[int, int, int, int]]] = {
    "as large as the input": (32, 32, (8, 16, 16, 24)),
    "twice": (64, 64, (16, 32, 32, 48)),
    "wide, bars above and below": (64, 128, (32, 32, 64, 64)),
    "tall, bars left and right": (128, 64, (0, 96, 32, 128)),
    "small": (16, 16, (4, 0, 8, 4)),
}


@pytest.mark.parametrize("case", PICTURES)
def test_boxes_come_back_in_pixels_of_the_picture(
    case: str, bright: Detector, context: CallContext
) -> None:
    """Whatever its shape: to the pixel, as the cell lies on the grid."""
    height, width, cell = PICTURES[case]
    image = Image(spots(height, width, cell)[np.newaxis])
    found = detect_objects(bright, image, context)
    assert found.labels == ("spot",)
    assert len(found) == 2  # both anchors of the cell: overlapping boxes are the next node's
    kept = non_max_suppression_node(found, context)
    assert kept.boxes.tolist() == [list(map(float, cell))]
    assert kept.scores[0] > 0.99


def test_each_picture_of_a_batch_has_its_own(bright: Detector, context: CallContext) -> None:
    """And the progress counts pictures."""
    batch = np.stack([spots(32, 32), spots(32, 32, (0, 0, 8, 8)), spots(32, 32, (24, 24, 32, 32))])
    kept = non_max_suppression_node(detect_objects(bright, Image(batch), context), context)
    assert sorted(zip(kept.images.tolist(), kept.boxes[:, 0].tolist(), strict=True)) == [
        (1, 0.0),
        (2, 24.0),
    ]
    assert context.told == [(1, 3), (2, 3), (3, 3)]


def test_the_type_and_alpha_of_a_picture_do_not_matter(
    bright: Detector, context: CallContext
) -> None:
    """Float pictures are those with 0..1, and alpha is no colour."""
    picture = spots(32, 32, (8, 8, 16, 16))
    alpha = np.concatenate([picture, np.zeros((32, 32, 1), np.uint8)], axis=2)
    images = [
        Image(picture[np.newaxis].copy()),
        Image(picture[np.newaxis].astype(np.float32) / np.float32(255)),
        Image(alpha[np.newaxis]),
    ]
    results = [detect_objects(bright, image, context).boxes.tolist() for image in images]
    assert results[0] == results[1] == results[2] != []


def test_one_row_of_pixels_is_a_picture(bright: Detector, context: CallContext) -> None:
    """Boxes stay inside it."""
    found = detect_objects(bright, Image(spots(1, 4000, (0, 0, 4000, 1))[np.newaxis]), context, 0)
    assert (found.boxes >= 0).all()
    assert (found.boxes <= [4000, 1, 4000, 1]).all()
    assert (found.boxes[:, 2:] > found.boxes[:, :2]).all()


def test_nothing_found_is_no_failure(bright: Detector, context: CallContext) -> None:
    """Boxes may be none, all the way down."""
    image = Image(spots(32, 32)[np.newaxis])
    none = non_max_suppression_node(detect_objects(bright, image, context), context)
    assert len(none) == 0
    assert np.array_equal(draw_boxes(image, none, context).pixels, image.pixels)
    blocked = crop_boxes(image, none)
    assert isinstance(blocked, Blocked)
    assert blocked.message.startswith("no boxes")
    assert context.shown == [("boxes", [])] * 3


def test_boxes_are_shown_to_whoever_watches(bright: Detector, context: CallContext) -> None:
    """As JSON values."""
    image = Image(spots(32, 32, (8, 16, 16, 24))[np.newaxis])
    context.shown.clear()
    non_max_suppression_node(detect_objects(bright, image, context), context)
    (_, raw), (name, kept) = context.shown
    row = {"box": [8.0, 16.0, 16.0, 24.0], "score": 1.0, "label": "spot", "image": 0}
    assert (name, kept, len(raw)) == ("boxes", [row], 2)


def test_a_cancelled_run_stops_after_a_picture(bright: Detector, context: CallContext) -> None:
    """Not at the end of the batch."""
    context.cancelled = True
    with pytest.raises(Cancelled):
        detect_objects(bright, Image(np.zeros((9, 8, 8, 3), np.uint8)), context)
    assert context.told == []


def test_the_loader_converts_once(context: CallContext) -> None:
    """And says that it does; then the artifact is there."""
    first = detector_loader(context, "bright")
    assert context.phases == ["convert"]
    second = detector_loader(context, "bright")
    assert context.phases == ["convert"]
    assert first == second
    assert (first.family, first.labels) == ("blazeface", ("spot",))


def test_a_missing_model_is_told_before_the_run(context: CallContext) -> None:
    """With the command that fetches it."""
    assert detector_loader.check is not None
    fault = call_hook(detector_loader.check, {"model_name": "face-short-range"}, context.folders)
    assert (fault.code, fault.got) == ("model-missing", "face-short-range")
    assert "vinode models pull face-short-range" in fault.fix
    assert call_hook(detector_loader.check, {"model_name": "bright"}, context.folders) is None
    assert call_hook(detector_loader.check, {}, context.folders) is None
    fault = call_hook(detector_loader.check, {"model_name": "brigth"}, context.folders)
    assert fault.fix == "did you mean 'bright'?"
    with pytest.raises(ModelError, match="--pull"):
        detector_loader(context, "face-short-range")


def test_the_loader_offers_known_and_added_detectors(context: CallContext) -> None:
    """Pulled or not: choosing one is how a model is found."""
    choices = detector_loader.inputs[0].choices
    assert choices is not None
    names = choices.names(context.folders)
    assert {"bright", "face-short-range"} <= set(names)
    assert names == sorted(names)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("channels", [3, 4])
def test_only_lines_and_letters_are_drawn(
    dtype: type[Any], channels: int, context: CallContext
) -> None:
    """All other pixels are exactly the same, and the given picture is not touched."""
    pixels = np.random.default_rng(0).integers(0, 256, (2, 40, 60, channels)).astype(np.uint8)
    image = Image(pixels if dtype is np.uint8 else pixels.astype(np.float32) / np.float32(255))
    before = image.pixels.copy()
    drawn = draw_boxes(
        image, boxes_of((10, 12, 30, 34), images=[1]), context, line_width=2, labels=False
    )
    assert np.array_equal(image.pixels, before)
    assert drawn.pixels.dtype == dtype
    changed = (drawn.pixels != before).any(axis=3)
    line = np.zeros((2, 40, 60), bool)
    line[1, 12:34, 10:30] = True
    line[1, 14:32, 12:28] = False
    assert np.array_equal(changed, line)
    red = [255, 59, 48, 255][:channels]
    assert (drawn.as_uint8()[line] == red).all()


def test_a_label_is_written_inside_the_picture(context: CallContext) -> None:
    """Also for a box in its corner, and for boxes that leave it."""
    image = Image(np.zeros((1, 64, 64, 3), np.uint8))
    for box in [(0, 0, 20, 20), (50, 50, 64, 64), (-9, -9, 900, 900), (70, 70, 90, 90)]:
        with_label = draw_boxes(image, boxes_of(box), context, colour="white")
        without = draw_boxes(image, boxes_of(box), context, labels=False, colour="white")
        assert (with_label.pixels != without.pixels).any()


def test_wrong_colour_and_wrong_picture_are_refused(context: CallContext) -> None:
    """One sentence each."""
    image = Image(np.zeros((1, 8, 8, 3), np.uint8))
    with pytest.raises(NodeError, match="this is no colour; got 'blood'"):
        draw_boxes(image, boxes_of((1, 1, 4, 4)), context, colour="blood")
    elsewhere = boxes_of((1, 1, 4, 4), images=[1])
    with pytest.raises(NodeError, match="more than the 1 pictures"):
        draw_boxes(image, elsewhere, context)
    with pytest.raises(NodeError, match="more than the 1 pictures"):
        crop_boxes(image, elsewhere)


def test_crops_are_cut_where_the_boxes_are() -> None:
    """In the order of the boxes, from their own picture, with a margin as far as there is room."""
    pixels = np.random.default_rng(0).integers(0, 256, (2, 20, 30, 3)).astype(np.uint8)
    boxes = boxes_of((4, 5, 10, 12), (0.6, 0.2, 3.2, 2.0), images=[1, 0])
    crops = crop_boxes(Image(pixels), boxes)
    assert isinstance(crops, list)
    assert np.array_equal(crops[0].pixels, pixels[1:2, 5:12, 4:10])
    assert np.array_equal(crops[1].pixels, pixels[0:1, 0:2, 0:4])
    wide = crop_boxes(Image(pixels), boxes, margin=3)
    assert isinstance(wide, list)
    assert np.array_equal(wide[0].pixels, pixels[1:2, 2:15, 1:13])
    assert np.array_equal(wide[1].pixels, pixels[0:1, 0:5, 0:7])


@pytest.mark.parametrize(
    "box",
    [
        (5, 5, 5, 5),
        (100, 100, 200, 200),
        (-50, -50, -20, -20),
        (7.9, 7.9, 8, 8),
        (float("nan"), 0, float("nan"), 1),
        (float("-inf"), 0, float("inf"), 8),
    ],
)
def test_every_crop_has_a_pixel(box: tuple[float, float, float, float]) -> None:
    """A box of another picture, or an empty one, is no reason to fail."""
    crops = crop_boxes(Image(np.zeros((1, 8, 8, 3), np.uint8)), boxes_of(box))
    assert isinstance(crops, list)
    assert crops[0].shape[1] >= 1
    assert crops[0].shape[2] >= 1
