"""How much of a picture a VAE does at once."""

from __future__ import annotations

import psutil

# Bytes of activations for a pixel of Stable Diffusion's decoder in float32: measured at 512² as
# the growth of the process over the weights; other autoencoders need less.
BYTES_PER_PIXEL = 8_700
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
