"""Masks for inpainting: grown by some pixels, and used to take what is painted anew out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vinode.nodes.algorithms.resize import resize

F32 = NDArray[np.float32]


def fit_mask(mask: F32, height: int, width: int) -> F32:
    """Give a mask (B, h, w) the size of a picture, (B, height, width), pixels."""
    return resize(mask[..., None], width, height, "bilinear")[..., 0].astype(np.float32)


def grow(mask: F32, pixels: int) -> F32:
    """Let the parts that are on reach further.

    mask     (B, H, W) float32 0..1, rounded to on and off first
    pixels   width of the square brush that goes over it; 0 and 1 leave it as it is
    returns  (B, H, W) float32, 0 or 1
    """
    on = np.round(mask)
    if pixels <= 1:
        return on
    before = -(-(pixels - 1) // 2)  # an even brush reaches one pixel further up and left
    after = pixels - 1 - before
    for axis in (1, 2):
        around = [(0, 0)] * 3
        around[axis] = (before, after)
        padded = np.pad(on, around)
        on = np.lib.stride_tricks.sliding_window_view(padded, pixels, axis).max(-1)
    return np.ascontiguousarray(on)


def blank(pixels: F32, mask: F32) -> F32:
    """Paint mid grey where a mask is on.

    pixels   (B, H, W, 3) float32 0..1
    mask     (B or 1, H, W) float32, rounded to on and off
    """
    kept = 1 - np.round(mask)[..., None]
    return np.asarray((pixels - 0.5) * kept + 0.5, np.float32)
