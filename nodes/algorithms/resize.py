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

Method: TypeAlias = Literal["nearest-exact", "bilinear", "area", "bicubic", "lanczos"]

# Places and weights, both (taps, new): new pixel i is the sum of old[places[:, i]] * weights[:, i].
Taps: TypeAlias = tuple[NDArray[np.intp], NDArray[np.float32]]

_STRIP_VALUES = 128 * 1024


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
        rows, columns = _nearest(old_height, height), _nearest(old_width, width)
        return pixels.take(rows, axis=1).take(columns, axis=2)
    resized = np.empty((batch, height, width, channels), pixels.dtype)
    for source, target in zip(pixels, resized, strict=True):
        if method == "lanczos":
            target[...] = _lanczos(source, width, height)
        else:
            _by_taps(source, target, method)
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


def _nearest(old: int, new: int) -> NDArray[np.intp]:
    places = np.arange(new, dtype=np.int64)
    return ((2 * places + 1) * old // (2 * new)).astype(np.intp)


def _linear(old: int, new: int) -> Taps:
    centre = np.maximum((np.arange(new) + 0.5) * (old / new) - 0.5, 0.0)
    first = np.floor(centre)
    part = centre - first
    return _taps(first, [0, 1], [1 - part, part], old)


def _cubic(old: int, new: int) -> Taps:
    centre = (np.arange(new) + 0.5) * (old / new) - 0.5
    first = np.floor(centre)
    part = centre - first
    weights = [_keys(part + 1), _keys(part), _keys(1 - part), _keys(2 - part)]
    return _taps(first, [-1, 0, 1, 2], weights, old)


def _keys(distance: NDArray[Any], a: float = -0.75) -> NDArray[Any]:
    """Give Keys' cubic convolution weight at a distance of 0..2 pixels."""
    x = distance
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    weight: NDArray[Any] = np.where(x <= 1, near, far)
    return weight


def _taps(
    first: NDArray[np.float64], steps: list[int], weights: list[NDArray[Any]], old: int
) -> Taps:
    places = np.stack([first + step for step in steps]).clip(0, old - 1)  # (taps, new)
    return places.astype(np.intp), np.stack(weights).astype(np.float32)


def _area(old: int, new: int) -> Taps:
    places = np.arange(new, dtype=np.int64)
    first = places * old // new
    last = -(-(places + 1) * old // new)  # one past the last pixel touched
    counts = last - first
    steps = np.arange(int(counts.max()))[:, None]  # (taps, 1)
    weights: NDArray[Any] = (steps < counts) / counts
    return np.minimum(first + steps, old - 1).astype(np.intp), weights.astype(np.float32)


_TAPS = {"bilinear": _linear, "bicubic": _cubic, "area": _area}


def _by_taps(source: NDArray[Any], target: NDArray[Any], method: str) -> None:
    """Resize one picture (H, W, C) as a weighted sum of neighbours, rows before columns.

    A strip of rows at a time: it stays in the processor's cache, and no whole picture in float32
    stands beside an 8-bit one.
    """
    height, width, channels = target.shape
    taps = _TAPS[method]
    rows = None if height == source.shape[0] else taps(source.shape[0], height)
    columns = None if width == source.shape[1] else taps(source.shape[1], width)
    step = max(1, _STRIP_VALUES // (channels * max(width, source.shape[1])))
    for start in range(0, height, step):
        here = slice(start, start + step)
        if rows:
            strip = _sum_of_taps(source, (rows[0][:, here], rows[1][:, here]), axis=0)
        else:
            strip = source[here].astype(np.float32)
        if columns:
            strip = _sum_of_taps(strip, columns, axis=1)
        target[here] = _as_dtype(strip, target.dtype)


def _sum_of_taps(values: NDArray[Any], taps: Taps, axis: int) -> NDArray[np.float32]:
    shape = (-1, 1, 1) if axis == 0 else (1, -1, 1)
    total: NDArray[np.float32] | None = None
    for places, weights in zip(*taps, strict=True):
        term: NDArray[np.float32] = np.take(values, places, axis=axis) * weights.reshape(shape)
        total = term if total is None else np.add(total, term, out=total)
    assert total is not None, "every method has at least one tap"
    return total


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
