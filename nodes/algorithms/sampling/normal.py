"""torch's normal numbers for a seed, bit for bit, in NumPy.

A picture follows from its seed only if its noise is what it was where the workflow was made:
torch's generator on the CPU (`torch.manual_seed(seed)`, `torch.randn(..., dtype=float32)`).

- Random bits: MT19937 (Matsumoto and Nishimura 1998), seeded with the low 32 bits of the seed.
- Sixteen numbers and more: 24 bits make a uniform number; each 16 of them, as two halves of 8,
  become 16 normal numbers by Box and Muller (1958). Where the count is no multiple of 16, the last
  16 are drawn anew. log, sin and cos are the polynomials of the Cephes library in float32, with a
  fused multiply-add where torch's build for AVX2 and AVX-512 fuses: each step rounds as there.
- Fewer: 53 bits and float64, two normal numbers from two uniform ones.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from vinode.nodes.algorithms.sampling.arrays import Floats

_f = np.float32
_LOG = (
    7.0376836292e-2,
    -1.1514610310e-1,
    1.1676998740e-1,
    -1.2420140846e-1,
    1.4249322787e-1,
    -1.6668057665e-1,
    2.0000714765e-1,
    -2.4999993993e-1,
    3.3333331174e-1,
)
_LOG_2 = (-2.12194440e-4, 0.693359375)  # their sum is log(2)
_COS = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
_SIN = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_QUARTER_PI = (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)  # minus pi / 4


class Generator:
    """A stream of normal numbers.

    seed  0..2^64-1; torch uses the low 32 bits
    """

    def __init__(self, seed: int) -> None:
        self._bits = np.random.MT19937()
        self._bits._legacy_seeding(seed & 0xFFFFFFFF)  # pyright: ignore  # init_genrand
        self._kept: float | None = None  # of the slow path: the second number of a pair

    def normal(self, *shape: int) -> NDArray[np.float32]:
        """Draw an array of this shape, float32, mean 0 and deviation 1."""
        count = math.prod(shape)
        if count < 16:
            return np.array([self._one() for _ in range(count)], np.float32).reshape(shape)
        numbers = self._uniform(count)
        whole = count // 16 * 16
        drawn = np.empty(count, np.float32)
        drawn[:whole] = _box_muller(numbers[:whole])
        if whole < count:
            drawn[-16:] = _box_muller(self._uniform(16))
        return drawn.reshape(shape)

    def _uniform(self, count: int) -> Floats:
        """Draw numbers in [0, 1) of 24 bits."""
        bits = self._bits.random_raw(count).astype(np.uint32)
        return (bits & np.uint32(0xFFFFFF)).astype(np.float32) * _f(2**-24)

    def _one(self) -> float:
        if self._kept is not None:
            kept, self._kept = self._kept, None
            return kept
        angle = 2 * math.pi * self._uniform_double()
        radius = math.sqrt(-2 * math.log1p(-self._uniform_double()))
        self._kept = radius * math.sin(angle)
        return radius * math.cos(angle)

    def _uniform_double(self) -> float:
        high, low = (int(word) for word in self._bits.random_raw(2))
        return ((high << 32 | low) & ((1 << 53) - 1)) * 2**-53


def _box_muller(numbers: Floats) -> Floats:
    """Turn uniform numbers (16 n), in [0, 1), into as many normal ones."""
    halves = numbers.reshape(-1, 2, 8)
    radius = np.sqrt(_f(-2) * _log(_f(1) - halves[:, 0]))
    sine, cosine = _sine_and_cosine(_f(2 * np.pi) * halves[:, 1])
    return np.stack([radius * cosine, radius * sine], axis=1).reshape(-1)


def _fused(a: Floats, b: Floats | np.float32, c: Floats | np.float32) -> Floats:
    """Give a * b + c, rounded once: the product of two float32 is exact in float64."""
    return (a.astype(np.float64) * b + c).astype(np.float32)


def _log(x: Floats) -> Floats:
    """Give the natural logarithm, x in (0, 1]."""
    mantissa, exponent = np.frexp(x)
    low = mantissa < _f(math.sqrt(0.5))
    e = (exponent - low).astype(np.float32)
    m = mantissa - _f(1) + np.where(low, mantissa, _f(0))
    square = m * m
    y = np.full_like(m, _LOG[0])
    for factor in _LOG[1:]:
        y = _fused(y, m, _f(factor))
    y = _fused(y * m, square, e * _f(_LOG_2[0]))
    y = y - square * _f(0.5)
    return _fused(e, _f(_LOG_2[1]), m + y)


def _sine_and_cosine(x: Floats) -> tuple[Floats, Floats]:
    """Give both, x in [0, 2 pi)."""
    octant = (x * _f(4 / np.pi)).astype(np.int32)
    octant = octant + 1 & ~1
    turns = octant.astype(np.float32)
    for part in _QUARTER_PI:
        x = _fused(turns, _f(part), x)
    square = x * x
    c = np.full_like(x, _COS[0])
    for factor in _COS[1:]:
        c = _fused(c, square, _f(factor))
    c = _fused(c * square, square, -(square * _f(0.5))) + _f(1)
    s = np.full_like(x, _SIN[0])
    for factor in _SIN[1:]:
        s = _fused(s, square, _f(factor))
    s = _fused(s * square, x, x)
    swapped = (octant & 2) != 0
    sine, cosine = np.where(swapped, c, s), np.where(swapped, s, c)
    sine = np.where(octant & 4, -sine, sine)
    return sine, np.where(~(octant - 2) & 4, -cosine, cosine)
