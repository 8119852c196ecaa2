"""The values themselves: images, masks, boxes and handles of models. All are read-only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from vinode.graph.kinds import Kind

Pixels: TypeAlias = NDArray[np.uint8] | NDArray[np.float32]


def read_only(array: NDArray[Any]) -> None:
    """Forbid writing: one array may be the input of many nodes."""
    array.flags.writeable = False


def all_read_only(value: object) -> None:
    """Forbid writing to every array in a value: in lists, tuples and mappings, however deep."""
    waiting, seen = [value], set[int]()
    while waiting:
        found = waiting.pop()
        if isinstance(found, np.ndarray):
            read_only(cast(NDArray[Any], found))
        elif id(found) in seen:
            continue
        elif isinstance(found, Mapping):
            seen.add(id(cast(object, found)))
            waiting += cast(Mapping[object, object], found).values()
        elif isinstance(found, list | tuple):
            seen.add(id(cast(object, found)))
            waiting += cast(Iterable[object], found)


@dataclass(frozen=True, slots=True, eq=False)
class Image:
    """A batch of pictures, kept in the type they came in and converted only where a node asks.

    pixels  (B, H, W, C) uint8 0..255 or float32 0..1; C is 3 (RGB) or 4 (RGBA), sRGB as in files
    """

    pixels: Pixels

    kind: ClassVar[Kind]

    def __post_init__(self) -> None:
        shape, dtype = self.pixels.shape, self.pixels.dtype
        if len(shape) != 4 or shape[3] not in (3, 4) or 0 in shape:
            raise ValueError(f"an image is (B, H, W, 3 or 4), none of them 0; got {shape}")
        if dtype.name not in ("uint8", "float32"):
            raise ValueError(f"an image is uint8 or float32; got {dtype}")
        read_only(self.pixels)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Give (B, H, W, C)."""
        batch, height, width, channels = self.pixels.shape
        return batch, height, width, channels

    def as_float(self) -> NDArray[np.float32]:
        """Give the pixels as (B, H, W, C) float32 0..1, without a copy where they are already."""
        if self.pixels.dtype == np.float32:
            return self.pixels.view(np.float32)
        return np.multiply(self.pixels, np.float32(1 / 255), dtype=np.float32)

    def as_uint8(self) -> NDArray[np.uint8]:
        """Give the pixels as (B, H, W, C) uint8 0..255, rounded to nearest, NaN as 0."""
        if self.pixels.dtype == np.uint8:
            return self.pixels.view(np.uint8)
        finite = np.nan_to_num(self.as_float(), nan=0.0, posinf=1.0, neginf=0.0)
        scaled: NDArray[np.float32] = np.rint(finite * np.float32(255))
        return np.clip(scaled, 0, 255).astype(np.uint8)


Image.kind = Kind(
    "IMAGE",
    "(B, H, W, C) uint8 0..255 or float32 0..1, RGB or RGBA",
    "#64b5f6",
    Image,
)


def _mask_problem(mask: NDArray[np.float32]) -> str | None:
    if mask.ndim != 3 or mask.dtype != np.float32:
        return f"a mask is (B, H, W) float32; got {mask.shape} {mask.dtype}"
    return None


MASK = Kind("MASK", "(B, H, W) float32 0..1", "#81c784", np.ndarray, problem=_mask_problem)
Mask: TypeAlias = Annotated[NDArray[np.float32], MASK]


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """Things found in a batch of pictures, a row each.

    boxes    (N, 4) float32  x0 y0 x1 y1, pixels of the picture, x1 >= x0, y1 >= y0
    scores   (N,)   float32  0..1
    classes  (N,)   int64    index into labels
    images   (N,)   int64    which picture of the batch
    labels   names of the classes
    """

    boxes: NDArray[np.float32]
    scores: NDArray[np.float32]
    classes: NDArray[np.int64]
    images: NDArray[np.int64]
    labels: tuple[str, ...]

    kind: ClassVar[Kind]

    def __post_init__(self) -> None:
        rows = len(self.scores)
        given = [self.boxes.shape, self.scores.shape, self.classes.shape, self.images.shape]
        if given != [(rows, 4), (rows,), (rows,), (rows,)]:
            raise ValueError(f"boxes are (N, 4), (N,), (N,), (N,); got {given}")
        for array in (self.boxes, self.scores, self.classes, self.images):
            read_only(array)

    def __len__(self) -> int:
        return len(self.scores)

    def take(self, rows: NDArray[np.int64]) -> Boxes:
        """Give the boxes of these rows, in this order."""
        return Boxes(
            self.boxes[rows], self.scores[rows], self.classes[rows], self.images[rows], self.labels
        )


Boxes.kind = Kind(
    "BOXES",
    "boxes (N, 4) x0 y0 x1 y1 in pixels; scores (N,) 0..1; classes (N,); images (N,); labels",
    "#ffb74d",
    Boxes,
)


@dataclass(frozen=True, slots=True)
class ModelPart:
    """One IR in the model store, not yet compiled.

    name    for people: "face-short-range"
    xml     the IR; its weights stand beside it as .bin
    digest  content address of the artifact, hex
    bytes   size of the weights
    """

    name: str
    xml: Path
    digest: str
    bytes: int


@dataclass(frozen=True, slots=True)
class PartUse:
    """How a node uses a part: what its `parts` hook tells before a run.

    shapes  input -> dimensions, as the node gives them to `Context.infer` or `Context.open`;
            -1 where one is known only in the run
    calls   inferences each time that the node runs; steps of a sampler, pictures of a batch
    """

    part: ModelPart
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    calls: int = 1


@dataclass(frozen=True, slots=True)
class Detector:
    """A detector's handle: which IR, and how its outputs are read.

    family    which decoder reads the outputs: "blazeface"
    options   what the decoder needs: strides, anchors per cell, input size in pixels
    """

    part: ModelPart
    family: str
    labels: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)

    kind: ClassVar[Kind]


Detector.kind = Kind("DETECTOR", "a detector's IR and decoder", "#e57373", Detector, is_model=True)
