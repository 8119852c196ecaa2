"""Mask nodes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vinode.graph.errors import NodeError
from vinode.graph.kinds import value_problem
from vinode.graph.values import MASK, Image
from vinode.nodes.mask import image_to_mask, invert_mask, mask_to_image


@given(st.integers(0, 99), st.integers(1, 3), st.integers(1, 4), st.integers(1, 4))
def test_a_mask_survives_being_a_picture(seed: int, batch: int, height: int, width: int) -> None:
    """Every colour channel of the picture is the mask, and inverting twice changes nothing."""
    mask = np.random.default_rng(seed).random((batch, height, width), dtype=np.float32)
    picture = mask_to_image(mask)
    assert picture.shape == (batch, height, width, 3)
    np.testing.assert_array_equal(image_to_mask(picture, "red"), mask)
    np.testing.assert_array_equal(image_to_mask(picture, "blue"), mask)
    np.testing.assert_allclose(invert_mask(invert_mask(mask)), mask, atol=1e-6)
    assert value_problem(invert_mask(mask), MASK) is None


@pytest.mark.parametrize(
    ("channel", "expected"), [("red", 0.2), ("green", 0.4), ("blue", 0.6), ("alpha", 0.8)]
)
def test_each_channel_can_be_taken(channel: str, expected: float) -> None:
    """Of 8-bit pictures too."""
    pixels = np.array([51, 102, 153, 204], np.uint8).reshape(1, 1, 1, 4)
    mask = image_to_mask(Image(pixels), channel)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert value_problem(mask, MASK) is None
    np.testing.assert_allclose(mask, [[[expected]]], atol=1e-6)


def test_a_missing_alpha_channel_is_said() -> None:
    """Rather than a mask that is on everywhere."""
    with pytest.raises(NodeError, match="no alpha channel"):
        image_to_mask(Image(np.zeros((1, 1, 1, 3), np.uint8)), "alpha")
