"""The Brownian path of a seed over the noise levels, number for number as torchsde's tree has it.

ComfyUI takes the noise of its SDE samplers from `torchsde.BrownianTree`, kept on the CPU, so that a
seed has one path on every device. The tree (Li et al. 2020, arXiv:2001.01328, section 4): the
range is halved again and again, the path's change over a half given that over the whole is a
Brownian bridge's, and each node has a seed of its own. What is asked does not change the path.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vinode.nodes.algorithms.sampling.arrays import Floats
from vinode.nodes.algorithms.sampling.normal import Generator

_DIGITS = 6  # places are rounded to: the tolerance of 1e-6
_POOL = 24  # words of the pool that seeds are mixed in
_KEPT = 64  # changes that are kept, more than lie on the way to both ends of a stretch


@dataclass(frozen=True, slots=True)
class _Node:
    """A stretch of the range: node `key`, counted from the left, of those halved `depth` times."""

    start: float
    end: float
    key: int = 0
    depth: int = 0

    @property
    def middle(self) -> float:
        """Give where it is halved."""
        return _rounded(0.5 * (self.end + self.start))

    def halves(self) -> tuple[_Node, _Node]:
        """Give the left and the right half."""
        middle, key, depth = self.middle, 2 * self.key, self.depth + 1
        return _Node(self.start, middle, key, depth), _Node(middle, self.end, key + 1, depth)

    def inside(self, start: float, end: float) -> list[_Node]:
        """Give the largest nodes that make up a stretch of this one, from the left."""
        if (start, end) == (self.start, self.end):
            return [self]
        left, right = self.halves()
        if end <= left.end:
            return left.inside(start, end)
        if start >= left.end:
            return right.inside(start, end)
        return [*left.inside(start, left.end), *right.inside(left.end, end)]


class BrownianTree:
    """Noise of a Brownian path over the levels: that of overlapping stretches belongs together.

    sigmas  the levels to come: the path reaches from the least above 0 to the largest
    """

    def __init__(self, seed: int, shape: tuple[int, ...], sigmas: Sequence[float]) -> None:
        known = [float(sigma) for sigma in sigmas if sigma > 0] or [1.0]
        self._seed, self._shape = seed, shape
        self._top = _Node(_rounded(min(known)), _rounded(max(known)))
        self._whole = self._normal() * math.sqrt(max(known) - min(known))
        self._changes: dict[_Node, Floats] = {}  # of left halves' parents, the latest last

    def __call__(self, sigma: float, following: float) -> Floats:
        """Give the path's change from one level to another over the root of their distance."""
        start, end = sorted(self._place(level) for level in (sigma, following))
        if start == end:
            return np.zeros(self._shape, np.float32)
        change = self._change(start, end)
        sign = -1 if following < sigma else 1
        return change * sign / math.sqrt(abs(sigma - following))

    def _place(self, level: float) -> float:
        return min(max(_rounded(level), self._top.start), self._top.end)

    def _change(self, start: float, end: float) -> Floats:
        parts = [self._of(node) for node in self._top.inside(start, end)]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total

    def _of(self, node: _Node) -> Floats:
        """Give the path's change over a node, going down to it from the top."""
        at, change = self._top, self._whole
        while at != node:
            left, right = at.halves()
            change_left = self._left(at, change)
            goes_left = node.key >> node.depth - left.depth == left.key
            at, change = (left, change_left) if goes_left else (right, change - change_left)
        return change

    def _left(self, node: _Node, change: Floats) -> Floats:
        """Give the change over the left half, from that over the whole."""
        known = self._changes.pop(node, None)
        if known is None:
            share = 1 / (node.end - node.start)
            before, after = node.middle - node.start, node.end - node.middle
            deviation = math.sqrt(before * after * share)
            noise = self._normal((node.key, node.depth))
            known = before * change * share + deviation * noise
        self._changes[node] = known
        if len(self._changes) > _KEPT:
            del self._changes[next(iter(self._changes))]
        return known

    def _normal(self, key: tuple[int, ...] = ()) -> Floats:
        sequence = np.random.SeedSequence(self._seed, spawn_key=key, pool_size=_POOL)
        return Generator(int(sequence.generate_state(1)[0])).normal(*self._shape)


def _rounded(place: float) -> float:
    return round(place, _DIGITS)
