"""A detector's model -> one that takes the picture as it is and gives outputs with stable names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from vinode.converters.cards import Card
from vinode.converters.ir import Arrays
from vinode.graph.errors import Fault, ModelError, nearest, short

if TYPE_CHECKING:  # no cycle is hidden here: importing OpenVINO takes a quarter of a second
    import openvino as ov


@dataclass(frozen=True, slots=True)
class Family:
    """How the models of a family are fed and what they give.

    scale, mean  a pixel 0..255 becomes pixel / scale - mean
    outputs      size of an output's last axis -> its name
    """

    scale: float
    mean: float
    outputs: Mapping[int, str]


# Boxes with six points of the face, 16 numbers an anchor; one logit an anchor.
FAMILIES: Mapping[str, Family] = {"blazeface": Family(127.5, 1.0, {16: "boxes", 1: "logits"})}


def check_options(card: Card) -> Family:
    """Give the family of a detector; ModelError where card or options are wrong."""
    place = f"model {card.name!r}"
    family = FAMILIES.get(card.family)
    if family is None:
        close = nearest(card.family, FAMILIES)
        fix = f"did you mean {close!r}?" if close else f"known: {', '.join(FAMILIES)}"
        raise ModelError(Fault(place, "unknown family of detectors", short(card.family), fix))
    size = cast(object, card.options.get("input"))
    strides = cast(object, card.options.get("strides"))
    if not isinstance(size, int) or not 8 <= size <= 4096 or not _are_strides(strides, size):
        fix = "give input (pixels) and strides, [[pixels, anchors in a cell], ...]"
        raise ModelError(Fault(place, "the detector's options are wrong", short(card.options), fix))
    if not card.labels:
        raise ModelError(Fault(place, "a detector needs a label for each class", fix="add labels"))
    return family


def _are_strides(value: object, size: int) -> bool:
    if not isinstance(value, list | tuple) or not value:
        return False
    rows = cast(list[Any], value)
    for row in rows:
        if not isinstance(row, list | tuple) or len(cast(list[Any], row)) != 2:
            return False
        stride, count = cast(list[Any], row)
        if not isinstance(stride, int) or not isinstance(count, int):
            return False
        if stride < 1 or size % stride or not 1 <= count <= 64:
            return False
    return True


def prepare(model: ov.Model, card: Card) -> tuple[ov.Model, list[str]]:
    """Build preprocessing and names into the model; gives it with lines for the log.

    The model then takes `image` (1, S, S, 3) uint8 0..255 and gives `boxes` and `logits`.
    """
    import openvino as ov
    from openvino.preprocess import PrePostProcessor

    family, size = check_options(card), int(card.options["input"])
    wanted = [1, size, size, 3]
    shapes = [port.partial_shape for port in model.inputs]
    if len(shapes) != 1 or not shapes[0].compatible(ov.PartialShape(wanted)):
        problem = f"the model does not take one picture {wanted}"
        raise ModelError(Fault(f"model {card.name!r}", problem, str(shapes), code="model-refused"))
    model.reshape(wanted)
    steps = PrePostProcessor(model)
    steps.input().tensor().set_element_type(ov.Type.u8).set_layout(ov.Layout("NHWC"))
    steps.input().model().set_layout(ov.Layout("NHWC"))
    convert = steps.input().preprocess().convert_element_type(ov.Type.f32)
    convert.scale(family.scale).mean(family.mean)
    log = [line.strip() for line in str(steps).splitlines() if line.strip()]
    model = steps.build()
    model.input().get_tensor().set_names({"image"})
    _name_outputs(model, card, family)
    return model, log


def source_feed(card: Card) -> Any:
    """Give the function that prepares a picture outside the model, as `prepare` does inside it."""
    family = check_options(card)

    def feed(given: Arrays) -> Arrays:
        pixels = given["image"].astype(np.float32)
        return {"image": pixels / np.float32(family.scale) - np.float32(family.mean)}

    return feed


def _name_outputs(model: ov.Model, card: Card, family: Family) -> None:
    anchors = anchor_count(card.options)
    named: set[str] = set()
    for port in model.outputs:
        shape = [int(size) for size in port.shape]
        name = family.outputs.get(shape[-1], "")
        if not name or shape[:-1] != [1, anchors] or name in named:
            problem = f"{anchors} anchors follow from the strides, but an output is another"
            fault = Fault(f"model {card.name!r}", problem, str(shape), code="model-refused")
            raise ModelError(fault)
        named.add(name)
        port.get_tensor().set_names({name})
    missing = set(family.outputs.values()) - named
    if missing:
        problem = f"the model has no output for {', '.join(sorted(missing))}"
        raise ModelError(Fault(f"model {card.name!r}", problem, code="model-refused"))


def anchor_count(options: Mapping[str, Any]) -> int:
    """Count the anchors of a detector: cells of each stride times anchors in a cell."""
    size = int(options["input"])
    return sum((size // stride) ** 2 * count for stride, count in options["strides"])
