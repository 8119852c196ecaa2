"""Resize batches of pictures the way the torch-based editors do, without torch.

Saved workflows must give the pictures they gave before, so each method keeps its meaning there:
pixel centres are aligned (no corner alignment), `bilinear` and `bicubic` (a = -0.75) take 2 and 4
neighbours whatever the factor, `area` averages every pixel that a cell touches, `nearest-exact`
takes the pixel under the centre. Shrinking a lot is the job of `area` or `lanczos`; the other three
skip pixels. `lanczos` is Pillow's, but keeps float pictures in float where others go to 8 bits.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import PIL.Image
from numpy.typing import NDArray

from vinode.nodes.algorithms.limits import check_size
from vinode.nodes.algorithms.taps import nearest, strips

Method: TypeAlias = Literal["nearest-exact", "bilinear", "area", "bicubic", "lanczos"]


def resize(pixels: NDArray[Any], width: int, height: int, method: Method) -> NDArray[Any]:
    """Resize every picture of a batch.

    pixels         (B, H, W, C) uint8 0..255 or float32 0..1; C is 1 to 4
    width, height  pixels, at least 1
    returns        (B, height, width, C), the dtype of `pixels`
    """
    batch, old_height, old_width, channels = pixels.shape
    if (old_height, old_width) == (height, width):
        return pixels
    check_size(batch, height, width)
    if method == "nearest-exact":
        below = nearest(old_height, height)
        return pixels.take(below, axis=1).take(nearest(old_width, width), axis=2)
    resized = np.empty((batch, height, width, channels), pixels.dtype)
    for source, target in zip(pixels, resized, strict=True):
        if method == "lanczos":
            target[...] = _lanczos(source, width, height)
        else:
            for rows, strip in strips(source, width, height, method):
                target[rows] = _as_dtype(strip, pixels.dtype)
    return resized


def fit_size(old: tuple[int, int], width: int, height: int) -> tuple[int, int]:
    """Fill in a width or height of 0 so that the shape is kept.

    old      (width, height) of the picture, pixels
    returns  (width, height)

    >>> fit_size((300, 200), 0, 100)
    (150, 100)
    """
    old_width, old_height = old
    if width == 0 and height == 0:
        return old
    if width == 0:
        return max(1, round(old_width * height / old_height)), height
    if height == 0:
        return width, max(1, round(old_height * width / old_width))
    return width, height


def crop_to_shape(pixels: NDArray[Any], width: int, height: int) -> NDArray[Any]:
    """Cut both sides off evenly until the pictures have the proportions of width to height.

    pixels   (B, H, W, C)
    returns  (B, h, w, C), a view
    """
    old_height, old_width = pixels.shape[1:3]
    left = top = 0
    if old_width * height > width * old_height:
        left = round((old_width - old_height * width / height) / 2)
    else:
        top = round((old_height - old_width * height / width) / 2)
    left, top = min(left, (old_width - 1) // 2), min(top, (old_height - 1) // 2)
    return pixels[:, top : old_height - top, left : old_width - left]


def fill(pixels: NDArray[Any], width: int, height: int, method: Method) -> NDArray[Any]:
    """Cut to the proportions of width to height, then resize."""
    return resize(crop_to_shape(pixels, width, height), width, height, method)


def _as_dtype(values: NDArray[np.float32], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Bring overshoot back into range; 8-bit values are rounded to nearest."""
    if dtype == np.uint8:
        return np.rint(values).clip(0, 255).astype(np.uint8)
    return values.clip(0, 1)


def _lanczos(source: NDArray[Any], width: int, height: int) -> NDArray[Any]:
    """Resize one picture (H, W, C) with Pillow; transparent pixels do not bleed their colour."""
    size = (width, height)
    channels = source.shape[2]
    if source.dtype == np.uint8 and channels == 3:
        picture = PIL.Image.fromarray(np.ascontiguousarray(source))
        return np.asarray(picture.resize(size, PIL.Image.Resampling.LANCZOS))
    values = source.astype(np.float32)
    if channels == 4:  # Pillow's own way loses colours of 8-bit pixels that are nearly transparent
        values[..., :3] *= values[..., 3:]
    planes = [PIL.Image.fromarray(np.ascontiguousarray(values[..., c])) for c in range(channels)]
    resized = np.stack(
        [np.asarray(plane.resize(size, PIL.Image.Resampling.LANCZOS)) for plane in planes], -1
    )
    if channels == 4:
        alpha = resized[..., 3:]
        np.divide(resized[..., :3], alpha, out=resized[..., :3], where=alpha > 0)
    return _as_dtype(resized, source.dtype)
