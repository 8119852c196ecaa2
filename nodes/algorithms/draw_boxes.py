"""Boxes with labels, drawn on a copy of a picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Picture
from PIL import ImageDraw, ImageFont

from vinode.graph.values import Pixels

BLACK, WHITE = (0, 0, 0, 255), (255, 255, 255, 255)


def draw_boxes(
    picture: Pixels,
    boxes: NDArray[np.int64],
    labels: Sequence[str],
    line_width: int,
    colour: tuple[int, int, int],
) -> Pixels:
    """Draw on a copy; pixels that no line or letter covers stay exactly as they are.

    picture     (H, W, 3 or 4) uint8 0..255 or float32 0..1
    boxes       (N, 4) int64  x0 y0 x1 y1, pixels, inside the picture, x1 > x0 and y1 > y0
    labels      one for each box, empty to write none
    line_width  pixels, towards the inside of the box
    returns     as `picture`
    """
    height, width, channels = picture.shape
    layer = Picture.new("RGBA", (width, height))
    draw = ImageDraw.Draw(layer)
    opaque = (*colour, 255)
    # The worst first, so that the best label is the one on top.
    rows = [tuple(int(side) for side in box) for box in boxes]
    for (x0, y0, x1, y1), label in reversed(list(zip(rows, labels, strict=True))):
        draw.rectangle((x0, y0, x1 - 1, y1 - 1), outline=opaque, width=line_width)
        if label:
            _write(draw, (x0, y0), label, max(10, min(width, height) // 32), opaque, width)
    drawn = np.asarray(layer)
    covered = drawn[..., 3] > 0
    result = picture.copy()
    if result.dtype == np.uint8:
        result[covered] = drawn[covered][:, :channels]
    else:
        result[covered] = drawn[covered][:, :channels] / np.float32(255)
    return result


def _write(
    draw: ImageDraw.ImageDraw,
    corner: tuple[int, int],
    label: str,
    size: int,
    colour: tuple[int, int, int, int],
    width: int,
) -> None:
    """Write above the box, or inside it where there is no room; never out of the picture."""
    font = ImageFont.load_default(size)
    left, top, right, bottom = draw.textbbox((0, 0), label, font=font)
    wide, high = int(right - left) + 4, int(bottom - top) + 4
    x = max(0, min(corner[0], width - wide))
    y = corner[1] - high if corner[1] >= high else corner[1]
    draw.rectangle((x, y, x + wide - 1, y + high - 1), fill=colour)
    # Letters are read best in black on what is light: the eye's weights of red, green, blue.
    is_light = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2] > 140
    draw.text((x + 2 - left, y + 2 - top), label, fill=BLACK if is_light else WHITE, font=font)
