"""Do a large picture in overlapping tiles, faded into each other where they overlap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_LEAST = 1e-6  # weight of a tile's edge: a cell that no other tile covers still has a value


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile of the source: its upper left corner and size, in the source's own cells."""

    top: int
    left: int
    height: int
    width: int


def tile_starts(length: int, size: int, overlap: int) -> list[int]:
    """Place tiles along a side: all of one size, so that one compiled shape serves all of them.

    length   of the side; size: of a tile; overlap: at least this much of two neighbours
    returns  first cell of each tile; the last ends where the side ends

    >>> tile_starts(100, 64, 16), tile_starts(64, 64, 16)
    ([0, 36], [0])
    """
    if length <= size:
        return [0]
    step = max(1, size - overlap)
    count = -(-(length - size) // step) + 1
    return [round(index * (length - size) / (count - 1)) for index in range(count)]


def cut(height: int, width: int, size: int, overlap: int) -> list[Tile]:
    """Cut a source into tiles of at most `size` each way, row by row."""
    tile_height, tile_width = min(size, height), min(size, width)
    return [
        Tile(top, left, tile_height, tile_width)
        for top in tile_starts(height, tile_height, overlap)
        for left in tile_starts(width, tile_width, overlap)
    ]


class Blend:
    """Collects finished tiles; where two share cells, one fades into the other.

    Near its cut edges a tile is wrong, since it did not see beyond them: so the outer 3/8 of what
    is shared count next to nothing, and the fade is in the middle. The weights of all tiles over a
    cell are divided out at the end, so a constant stays exact.
    """

    def __init__(self, height: int, width: int, channels: int, overlap: int) -> None:
        self._sum = np.zeros((height, width, channels), np.float32)
        self._weight = np.zeros((height, width, 1), np.float32)
        self._overlap = overlap

    def add(self, top: int, left: int, tile: NDArray[np.float32]) -> None:
        """Add a tile (h, w, channels) at its place in the result."""
        height, width = tile.shape[:2]
        total_height, total_width = self._sum.shape[:2]
        rows = _fade(height, self._overlap, top > 0, top + height < total_height)
        columns = _fade(width, self._overlap, left > 0, left + width < total_width)
        weight = (rows[:, None] * columns[None, :])[..., None]
        place = np.s_[top : top + height, left : left + width]
        self._sum[place] += tile * weight
        self._weight[place] += weight

    def result(self) -> NDArray[np.float32]:
        """Give the whole (height, width, channels)."""
        return self._sum / self._weight


def _fade(length: int, overlap: int, before: bool, after: bool) -> NDArray[np.float32]:
    """Give weights along a side of a tile, 0..1 and never 0."""
    overlap = min(overlap, length)
    weights = np.ones(length, np.float32)
    middle = (np.arange(overlap, dtype=np.float32) + 0.5) / max(overlap, 1)
    rising = np.clip((middle - 3 / 8) * 4, _LEAST, 1)
    if before:
        weights[:overlap] *= rising
    if after:
        weights[length - overlap :] *= rising[::-1]
    return weights
