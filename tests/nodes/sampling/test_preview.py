"""Previews of latents."""

from __future__ import annotations

import numpy as np
import pytest

from vinode.nodes.algorithms.sampling.normal import Generator
from vinode.nodes.algorithms.sampling.preview import preview

# What Stable Diffusion's encoder makes of a grey picture, times the model's factor.
GREY = np.array([0.8223, -0.6876, 0.6364, 0.1380], np.float32)


def test_a_grey_latent_is_shown_as_grey() -> None:
    """Near the middle, in all three colours; a rough fit may be off by a tenth or two."""
    latent = np.broadcast_to(GREY[None, :, None, None], (1, 4, 3, 2)).copy()
    pixels = preview(latent, "sd1").pixels.astype(np.float32)
    assert pixels.shape == (1, 3, 2, 3)
    assert (np.abs(pixels - 127.5) < 50).all()


def test_the_first_of_a_batch_is_shown_a_pixel_a_cell() -> None:
    """As bytes, the same for the same latent."""
    batch = Generator(1).normal(3, 4, 5, 7)
    shown = preview(batch, "sd1")
    assert shown.pixels.shape == (1, 5, 7, 3)
    assert shown.pixels.dtype == np.uint8
    assert np.array_equal(shown.pixels, preview(batch[:1], "sd1").pixels)


@pytest.mark.parametrize("channels", [1, 3, 4, 16])
def test_unknown_families_are_shown_too(channels: int) -> None:
    """Something of the picture, whatever the channels."""
    latent = Generator(2).normal(1, channels, 6, 6) * 5
    pixels = preview(latent, "unheard of").pixels
    assert pixels.shape == (1, 6, 6, 3)
    assert float(pixels.std()) > 20


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0, 1e38])
@pytest.mark.parametrize("family", ["sd1", "other"])
def test_broken_latents_break_no_preview(value: float, family: str) -> None:
    """A model that overflows is seen, not stumbled over."""
    latent = np.full((1, 4, 2, 2), value, np.float32)
    assert preview(latent, family).pixels.shape == (1, 2, 2, 3)
