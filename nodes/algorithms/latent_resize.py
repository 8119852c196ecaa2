"""Resize latents: as pictures are, but with values of any size, and along arcs."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vinode.nodes.algorithms.taps import linear, nearest, strips

F32 = NDArray[np.float32]
LatentMethod: TypeAlias = Literal["nearest-exact", "bilinear", "area", "bicubic", "bislerp"]

_PARALLEL = 1e-5  # nearer than this to the cosine of 0° or 180°, an arc is not told from a line


def resize_latent(samples: F32, width: int, height: int, method: LatentMethod) -> F32:
    """Resize every latent of a batch.

    samples        (B, C, h, w) float32
    width, height  cells, at least 1
    method         bislerp turns the channels' vector of a cell into that of the next one on an
                   arc and blends its length, so that values do not fade between cells
    returns        (B, C, height, width)
    """
    batch, channels, old_height, old_width = samples.shape
    if (old_height, old_width) == (height, width):
        return samples
    if method == "nearest-exact":
        below = nearest(old_height, height)
        return samples.take(below, axis=2).take(nearest(old_width, width), axis=3)
    resized = np.empty((batch, channels, height, width), np.float32)
    for source, target in zip(samples, resized, strict=True):
        if method == "bislerp":
            target[...] = _along_arcs(_along_arcs(source, width, 2), height, 1)
            continue
        for rows, strip in strips(source.transpose(1, 2, 0), width, height, method):
            target[:, rows] = strip.transpose(2, 0, 1)
    return resized


def _along_arcs(source: F32, new: int, axis: int) -> F32:
    """Resize one latent (C, h, w) along one axis."""
    old = source.shape[axis]
    if old == new:
        return source
    places, weights = linear(old, new)
    ratio = weights[1].reshape((1, -1, 1) if axis == 1 else (1, 1, -1))
    return _slerp(np.take(source, places[0], axis), np.take(source, places[1], axis), ratio)


def _slerp(start: F32, end: F32, ratio: F32) -> F32:
    """Interpolate between vectors on an arc: Shoemake 1985, "Animating rotation with quaternions".

    start, end  (C, h, w) vectors along the first axis, of any length, which is blended
    ratio       0 start .. 1 end
    returns     (C, h, w); start itself where both point one way, on a line where they are opposite
    """
    lengths = [np.sqrt(np.square(side).sum(0, keepdims=True)) for side in (start, end)]
    units = [
        np.divide(side, length, out=np.zeros_like(side), where=length > 0)
        for side, length in zip((start, end), lengths, strict=True)
    ]
    cosine = (units[0] * units[1]).sum(0, keepdims=True)
    same, opposite = cosine > 1 - _PARALLEL, cosine < _PARALLEL - 1
    angle = np.arccos(np.where(same | opposite, 0.5, cosine))
    rest = 1 - ratio
    arc = (np.sin(rest * angle) * units[0] + np.sin(ratio * angle) * units[1]) / np.sin(angle)
    arc *= lengths[0] * rest + lengths[1] * ratio
    mixed = np.where(opposite, start * rest + end * ratio, arc)
    return np.where(same, start, mixed).astype(np.float32)
