"""A picture of any shape -> a square of a given size, its aspect kept; and the way back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Picture


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a picture lies in the square: a point p of it is at p * scale + offset.

    scale   (x, y) pixels of the square for a pixel of the picture
    offset  (x, y) pixels of the square
    """

    scale: tuple[float, float]
    offset: tuple[int, int]


def letterbox(picture: NDArray[np.uint8], size: int) -> tuple[NDArray[np.uint8], Placed]:
    """Fit a picture into the middle of a black square.

    picture  (H, W, C) uint8  0..255; of C only the first three, RGB, are used
    size     S, side of the square, pixels
    returns  (S, S, 3) uint8  and where the picture lies in it
    """
    height, width = picture.shape[:2]
    longest = max(height, width)
    # A picture of one row still needs a row in the square.
    wide, high = (max(1, round(side * size / longest)) for side in (width, height))
    # Pillow's bilinear weighs all pixels that fall on one, so small pictures have no aliasing.
    small = Picture.fromarray(np.ascontiguousarray(picture[..., :3])).resize(
        (wide, high), Picture.Resampling.BILINEAR
    )
    left, top = (size - wide) // 2, (size - high) // 2
    square = np.zeros((size, size, 3), np.uint8)
    square[top : top + high, left : left + wide] = np.asarray(small)
    return square, Placed((wide / width, high / height), (left, top))


def to_picture(
    boxes: NDArray[np.float32], placed: Placed, height: int, width: int
) -> NDArray[np.float32]:
    """Map boxes of the square back to the picture and clip them to it.

    boxes    (N, 4) float32  x0 y0 x1 y1, pixels of the square
    returns  (N, 4) float32  x0 y0 x1 y1, pixels of the picture; 0..W, 0..H
    """
    offset = np.array([*placed.offset, *placed.offset], np.float32)
    scale = np.array([*placed.scale, *placed.scale], np.float32)
    limits = np.array([width, height, width, height], np.float32)
    mapped: NDArray[np.float32] = np.clip((boxes - offset) / scale, np.float32(0), limits)
    return mapped
