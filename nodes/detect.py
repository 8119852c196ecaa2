"""Find things in pictures: detect them, keep the best boxes, draw them, cut them out."""

from __future__ import annotations

from typing import Annotated, Any, cast

import numpy as np
from numpy.typing import NDArray
from PIL import ImageColor

from vinode.converters.convert import ensure, missing, ready, recipe_of
from vinode.converters.library import detector_names, digest_of, is_here
from vinode.converters.store import Store
from vinode.graph.context import Blocked, Context, Folders
from vinode.graph.errors import Fault, ModelError, NodeError, short
from vinode.graph.node import node
from vinode.graph.ports import Choices, Range
from vinode.graph.values import Boxes, Detector, Image, PartUse
from vinode.nodes.algorithms import blazeface
from vinode.nodes.algorithms.draw_boxes import draw_boxes as draw
from vinode.nodes.algorithms.letterbox import letterbox, to_picture
from vinode.nodes.algorithms.nms import non_max_suppression

SHOWN = 1000  # rows handed to whoever watches: more help nobody and slow the browser

Score = Annotated[float, Range(0, 1, step=0.01)]


def _names(folders: Folders) -> list[str]:
    return detector_names(Store(folders.models))


def _fault(model_name: str | None, folders: Folders) -> Fault | None:
    """Say before the run that a model is missing; a linked name is looked at when it is there."""
    if model_name is None:
        return None
    store = Store(folders.models)
    try:
        card = store.card(model_name)
        recipe_of(card)
    except ModelError as error:
        return error.faults[0]
    return None if is_here(store, card) else missing(card).faults[0]


def _artifact(model_name: str | None, folders: Folders) -> str:
    """Depend on the model's content and place: another model of the same name is another result."""
    cards = Store(folders.models).cards()
    chosen = [card for name, card in cards.items() if model_name in (None, name)]
    digests = sorted(digest_of(card) for card in chosen if card.kind == "detector")
    return f"{' '.join(digests)} in {folders.models}"


def _handle(model_name: str | None, folders: Folders) -> Detector | None:
    """Give the handle before the run; a model that is pulled but not converted is converted."""
    if model_name is None:
        return None
    store = Store(folders.models)
    card = store.card(model_name)
    return Detector(ensure(store, model_name), card.family, card.labels, card.options)


def _uses(detector: Detector | None) -> list[PartUse] | None:
    """Tell what is run for a picture: the detector at its own size, whatever the picture's is."""
    if detector is None:
        return None
    size = int(detector.options["input"])
    return [PartUse(detector.part, {"image": (1, size, size, 3)})]


@node("DetectorLoader", category="loaders", check=_fault, fingerprint=_artifact, known=_handle)
def detector_loader(
    context: Context,
    model_name: Annotated[str, Choices(_names)] = "face-short-range",
) -> Detector:
    """Load a detector from the model store; it is converted to OpenVINO IR where it is not yet.

    model_name  known and added models; `vinode models list` shows them
    """

    def progress(step: str, done: int, total: int) -> None:
        context.check_cancelled()

    store = Store(context.folders.models)
    card = store.card(model_name)
    part = ready(store, card)
    if part is None:
        with context.phase("convert"):
            part = ensure(store, model_name, progress)
    return Detector(part, card.family, card.labels, card.options)


@node("DetectObjects", category="detect", parts=_uses)
def detect_objects(
    detector: Detector, image: Image, context: Context, threshold: Score = 0.5
) -> Boxes:
    """Find things in each picture of a batch. Boxes of one thing overlap: suppress them next.

    detector   from DetectorLoader
    image      pictures of any size; each is scaled to the detector's input, aspect kept
    threshold  boxes with a lower score are left out
    returns    boxes in pixels of the picture, clipped to it
    """
    if detector.family != "blazeface":
        fix = "load a detector with DetectorLoader"
        problem = "the outputs of this family of detectors cannot be read"
        raise NodeError(problem, detector.family, fix)
    strides = cast("list[tuple[int, int]]", detector.options["strides"])
    size = int(detector.options["input"])
    centres = blazeface.anchors(size, strides)
    batch, height, width, _ = image.shape
    found: list[tuple[NDArray[np.float32], NDArray[np.float32]]] = []
    for index in range(batch):
        picture = Image(image.pixels[index : index + 1]).as_uint8()[0]
        square, placed = letterbox(picture, size)
        answer = context.infer(detector.part, {"image": square[np.newaxis]})
        boxes, scores = blazeface.decode(
            answer["boxes"][0], answer["logits"][0, :, 0], centres, threshold
        )
        boxes = to_picture(boxes, placed, height, width)
        inside = (boxes[:, 2] > boxes[:, 0]) & (boxes[:, 3] > boxes[:, 1])
        found.append((boxes[inside], scores[inside]))
        context.progress(index + 1, batch)
    result = _together(found, detector.labels)
    show_boxes(result, context)
    return result


@node("NonMaxSuppression", category="detect")
def non_max_suppression_node(
    boxes: Boxes,
    context: Context,
    iou_threshold: Score = 0.3,
    score_threshold: Score = 0.5,
    max_boxes: Annotated[int, Range(1, 100_000)] = 300,
) -> Boxes:
    """Of boxes that show the same thing, keep the best; each picture and class for itself.

    boxes            from DetectObjects
    iou_threshold    boxes that share more than this with a better one are dropped
    score_threshold  boxes with a lower score are dropped
    max_boxes        how many are kept in a picture
    returns          best first
    """
    rows = non_max_suppression(
        boxes.boxes,
        boxes.scores,
        boxes.classes,
        boxes.images,
        iou_threshold,
        score_threshold,
        max_boxes,
    )
    kept = boxes.take(rows)
    show_boxes(kept, context)
    return kept


def _colour_fault(colour: str | None, folders: Folders) -> Fault | None:
    """Say before the run that a text names no colour."""
    if colour is None or _is_colour(colour):
        return None
    fix = 'write "#ff3b30" or "red"'
    return Fault("input colour", "this is no colour", short(colour), fix, code="bad-value")


def _is_colour(text: str) -> bool:
    try:
        ImageColor.getrgb(text)
    except ValueError:
        return False
    return True


@node("DrawBoxes", category="detect", check=_colour_fault)
def draw_boxes(
    image: Image,
    boxes: Boxes,
    context: Context,
    line_width: Annotated[int, Range(0, 64, "pixels")] = 0,
    labels: bool = True,
    colour: str = "#ff3b30",
) -> Image:
    """Draw boxes on a copy of the pictures, with label and score.

    image       the pictures that the boxes were found in
    boxes       in pixels of these pictures
    line_width  pixels; 0 fits it to the size of the picture
    labels      write label and score above each box
    colour      as in CSS: #rrggbb, or a name
    """
    try:
        red, green, blue, *_ = ImageColor.getrgb(colour)
    except ValueError as error:
        raise NodeError("this is no colour", repr(colour), 'write "#ff3b30" or "red"') from error
    corners = _whole_pixels(boxes, image, 0)
    pixels: NDArray[Any] = image.pixels.copy()
    for index in np.unique(boxes.images):
        (rows,) = np.nonzero(boxes.images == index)
        texts = [_label(boxes, int(row)) if labels else "" for row in rows]
        pixels[index] = draw(
            image.pixels[index],
            corners[rows],
            texts,
            line_width or _fitting(image),
            (red, green, blue),
        )
    show_boxes(boxes, context)
    return Image(pixels)


@node("CropBoxes", category="detect")
def crop_boxes(
    image: Image, boxes: Boxes, margin: Annotated[int, Range(0, 8192, "pixels")] = 0
) -> list[Image] | Blocked:
    """Cut each box out of its picture; where there is none, nodes that need a picture are not run.

    image    the pictures that the boxes were found in
    boxes    in pixels of these pictures
    margin   added on each side, as far as the picture goes
    returns  a picture for each box, in the order of the boxes
    """
    if not len(boxes):
        return Blocked("no boxes to cut out: nothing was found in the picture")
    corners = _whole_pixels(boxes, image, margin)
    crops: list[Image] = []
    for index, (x0, y0, x1, y1) in zip(boxes.images, corners, strict=True):
        # A copy, so that a small crop does not keep the whole batch in memory.
        crops.append(Image(image.pixels[index : index + 1, y0:y1, x0:x1].copy()))
    return crops


def _fitting(image: Image) -> int:
    """Give a line width, pixels, that shows when the picture is fitted to a screen."""
    return max(2, round(max(image.shape[1:3]) / 250))


def show_boxes(boxes: Boxes, context: Context) -> None:
    """Hand the boxes to whoever watches: browser and report; the first 1000 of them."""
    rows = range(min(len(boxes), SHOWN))
    context.show(
        "boxes",
        [
            {
                "box": [round(float(side), 2) for side in boxes.boxes[row]],
                "score": round(float(boxes.scores[row]), 4),
                "label": _name(boxes, row),
                "image": int(boxes.images[row]),
            }
            for row in rows
        ],
    )


def _name(boxes: Boxes, row: int) -> str:
    index = int(boxes.classes[row])
    return boxes.labels[index] if 0 <= index < len(boxes.labels) else f"class {index}"


def _label(boxes: Boxes, row: int) -> str:
    return f"{_name(boxes, row)} {float(boxes.scores[row]):.2f}"


def _together(
    found: list[tuple[NDArray[np.float32], NDArray[np.float32]]], labels: tuple[str, ...]
) -> Boxes:
    counts = [len(scores) for _, scores in found]
    return Boxes(
        np.concatenate([boxes for boxes, _ in found]).reshape(-1, 4),
        np.concatenate([scores for _, scores in found]),
        np.zeros(sum(counts), np.int64),
        np.repeat(np.arange(len(found), dtype=np.int64), counts),
        labels,
    )


def _whole_pixels(boxes: Boxes, image: Image, margin: int) -> NDArray[np.int64]:
    """Round boxes outwards to whole pixels: at least one pixel, and inside the picture.

    returns  (N, 4) int64  x0 y0 x1 y1, x1 and y1 not included
    """
    batch, height, width, _ = image.shape
    if len(boxes) and not 0 <= boxes.images.min() <= boxes.images.max() < batch:
        fix = "give the pictures that the boxes were found in"
        problem = f"the boxes are of more than the {batch} pictures of this batch"
        raise NodeError(problem, f"picture {boxes.images.max()}", fix)
    limits = np.array([width, height], np.float64)
    corners = np.nan_to_num(boxes.boxes.astype(np.float64))
    low = np.clip(np.floor(corners[:, :2]) - margin, 0, limits - 1)
    high = np.clip(np.ceil(corners[:, 2:]) + margin, low + 1, limits)
    return np.concatenate([low, high], axis=1).astype(np.int64)
