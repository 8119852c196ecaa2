"""A latent as a small picture, without a decoder."""

from __future__ import annotations

import numpy as np

from vinode.graph.values import Image
from vinode.nodes.algorithms.sampling.arrays import Floats

# Red, green and blue of each channel of Stable Diffusion's latents, as fitted by the community to
# what its decoder gives: a linear map that is right to the eye.
_RED_GREEN_BLUE = np.array(
    [[0.3512, 0.2297, 0.3227], [0.3250, 0.4974, 0.2350], [-0.2829, 0.1762, 0.2721],
     [-0.2120, -0.2616, -0.7177]],
    np.float32,
)  # fmt: skip

_MOST = 1000.0  # far beyond any latent


def preview(clean: Floats, family: str) -> Image:
    """Show the first latent of a batch as a picture of a pixel a cell.

    clean   (B, C, h, w) float32, times the model's factor: deviation about 1
    family  "sd1" and "sd2" have known colours; of others the first three channels are shown
    """
    # Where a model overflowed, there is still something to show.
    latent = np.clip(np.nan_to_num(clean[0]), -_MOST, _MOST)
    if family in ("sd1", "sd2") and len(latent) == len(_RED_GREEN_BLUE):
        colours = np.einsum("chw,ck->hwk", latent, _RED_GREEN_BLUE)
    else:
        first = latent[np.arange(3) % len(latent)].transpose(1, 2, 0)
        colours = first / max(float(np.abs(first).max()), 1e-6)
    pixels = np.clip((colours + 1) * 127.5, 0, 255)
    return Image(pixels.astype(np.uint8)[np.newaxis])
