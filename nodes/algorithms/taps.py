"""Resample along rows and columns as weighted sums of neighbours, the way torch does.

Pixel centres are aligned (no corner alignment); `bilinear` and `bicubic` (a = -0.75, Keys 1981)
take 2 and 4 neighbours whatever the factor, `area` averages every pixel that a cell touches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

TapMethod: TypeAlias = Literal["bilinear", "area", "bicubic"]

# Places and weights, both (taps, new): new pixel i is the sum of old[places[:, i]] * weights[:, i].
Taps: TypeAlias = tuple[NDArray[np.intp], NDArray[np.float32]]

_STRIP_VALUES = 128 * 1024


def strips(
    source: NDArray[Any], width: int, height: int, method: TapMethod
) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """Resize one picture, rows before columns, a strip of rows at a time.

    A strip stays in the processor's cache, and no whole picture in float32 stands beside an 8-bit
    one.
    source         (H, W, C) of any number type
    width, height  new size
    returns        rows of the new picture, and their values (rows, width, C) float32, not clipped
    """
    taps = _TAPS[method]
    old_height, old_width, channels = source.shape
    rows = None if height == old_height else taps(old_height, height)
    columns = None if width == old_width else taps(old_width, width)
    step = max(1, _STRIP_VALUES // (channels * max(width, old_width)))
    for start in range(0, height, step):
        here = slice(start, start + step)
        if rows:
            strip = _sum_of_taps(source, (rows[0][:, here], rows[1][:, here]), axis=0)
        else:
            strip = source[here].astype(np.float32)
        yield here, _sum_of_taps(strip, columns, axis=1) if columns else strip


def nearest(old: int, new: int) -> NDArray[np.intp]:
    """Give the old pixel under the centre of each new one."""
    places = np.arange(new, dtype=np.int64)
    return ((2 * places + 1) * old // (2 * new)).astype(np.intp)


def _centres(old: int, new: int) -> NDArray[np.float64]:
    """Give where the centre of each new pixel lies in the old row, counted from its first centre.

    To the precision of float32, as torch has it: a few ten-thousandths of a pixel, which shows
    where neighbours differ much.
    """
    factor = np.float64(np.float32(old) / np.float32(new))
    centres = (np.arange(new) + 0.5) * factor - 0.5
    return centres.astype(np.float32).astype(np.float64)


def linear(old: int, new: int) -> Taps:
    """Weigh the two neighbours of each new pixel's centre."""
    centre = np.maximum(_centres(old, new), 0)
    first = np.floor(centre)
    part = centre - first
    return _taps(first, [0, 1], [1 - part, part], old)


def _cubic(old: int, new: int) -> Taps:
    centre = _centres(old, new)
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


_TAPS = {"bilinear": linear, "bicubic": _cubic, "area": _area}


def _sum_of_taps(values: NDArray[Any], taps: Taps, axis: int) -> NDArray[np.float32]:
    shape = (-1, 1, 1) if axis == 0 else (1, -1, 1)
    total: NDArray[np.float32] | None = None
    for places, weights in zip(*taps, strict=True):
        term: NDArray[np.float32] = np.take(values, places, axis=axis) * weights.reshape(shape)
        total = term if total is None else np.add(total, term, out=total)
    assert total is not None, "every method has at least one tap"
    return total
