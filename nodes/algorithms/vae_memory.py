"""How much of a picture a VAE does at once."""

from __future__ import annotations

import psutil

# Bytes of activations for a pixel of Stable Diffusion's decoder in float32 on the CPU: the growth
# of the process in an inference, 3,194 at 256² and 3,178 at 512²; 1,639 and 1,610 in bfloat16.
BYTES_PER_PIXEL = 3_200
_SHARE = 0.6  # of the memory that is free, so that the rest of the system goes on
_TILE = 512  # pixels of a tile's side


def tile_for(height: int, width: int, scale: int, free: int | None = None) -> int:
    """Give a tile's side in cells of the latent: the whole picture where memory does for it.

    height, width  cells of the latent; scale: pixels of a cell
    free           bytes that may be used; None: what the system has

    >>> tile_for(64, 64, 8, free=8 * 2**30), tile_for(256, 256, 8, free=8 * 2**30)
    (64, 64)
    """
    if free is None:
        free = int(psutil.virtual_memory().available)
    needed = height * width * scale**2 * BYTES_PER_PIXEL
    if needed <= free * _SHARE:
        return max(height, width)
    return min(max(height, width), max(1, _TILE // scale))
