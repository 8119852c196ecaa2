"""ImageCompositeMasked: where the source lands, what is cut off, and what the mask does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.nodes.noise import flat, images
from vinode.graph.values import Image
from vinode.nodes.image import image_composite_masked


@given(images(), images(), st.integers(-7, 7), st.integers(-7, 7), st.booleans())
def test_pasting_through_a_black_mask_changes_nothing(
    below: Image, above: Image, x: int, y: int, resize_source: bool
) -> None:
    """Whatever the sizes, batches and channels."""
    mask = np.zeros((1, 3, 2), np.float32)
    pasted = image_composite_masked(below, above, x, y, resize_source, mask)
    np.testing.assert_allclose(pasted.as_float(), below.as_float(), atol=1e-6)


@given(images(), images(), st.integers(-7, 7), st.integers(-7, 7))
def test_a_white_mask_pastes_as_no_mask_does(below: Image, above: Image, x: int, y: int) -> None:
    """The two ways to paste everything agree."""
    mask = np.ones((2, 4, 4), np.float32)
    masked = image_composite_masked(below, above, x, y, mask=mask)
    whole = image_composite_masked(below, above, x, y)
    assert whole.shape == below.shape
    np.testing.assert_allclose(masked.as_float(), whole.as_float(), atol=1e-6)


def paste(x: int, y: int, mask: NDArray[np.float32] | None = None) -> list[list[float]]:
    """Paste a white 2 × 2 picture onto a black 3 × 3 one and give one channel."""
    pasted = image_composite_masked(flat(0.0, 3, 3), flat(1.0, 2, 2), x, y, mask=mask)
    found: list[list[float]] = pasted.pixels[0, :, :, 0].tolist()
    return found


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (0, 0, [[1, 1, 0], [1, 1, 0], [0, 0, 0]]),
        (2, 1, [[0, 0, 0], [0, 0, 1], [0, 0, 1]]),
        (-1, -1, [[1, 0, 0], [0, 0, 0], [0, 0, 0]]),
        (3, 0, [[0, 0, 0], [0, 0, 0], [0, 0, 0]]),
        (0, -2, [[0, 0, 0], [0, 0, 0], [0, 0, 0]]),
    ],
)
def test_what_lies_outside_is_cut_off(x: int, y: int, expected: list[list[float]]) -> None:
    """With a mask and without."""
    assert paste(x, y) == expected
    assert paste(x, y, np.ones((1, 2, 2), np.float32)) == expected


def test_a_mask_lies_over_the_source() -> None:
    """It moves with it, and is cut with it."""
    mask = np.array([[[1, 0], [0, 0.5]]], np.float32)
    assert paste(1, 1, mask) == [[0, 0, 0], [0, 1, 0], [0, 0, 0.5]]
    assert paste(-1, -1, mask) == [[0.5, 0, 0], [0, 0, 0], [0, 0, 0]]


def test_resize_source_covers_the_destination() -> None:
    """One pixel is stretched over all."""
    pasted = image_composite_masked(flat(0.0, 3, 5), flat(1.0, 1, 1), resize_source=True)
    assert pasted.pixels.min() == 1


def test_a_shorter_source_and_mask_start_again() -> None:
    """The third picture gets the first source and the first mask."""
    source = Image(np.array([0.2, 0.4], np.float32).repeat(3).reshape(2, 1, 1, 3))
    pasted = image_composite_masked(flat(0.0, 1, 1, batch=3), source)
    np.testing.assert_allclose(pasted.pixels[:, 0, 0, 0], [0.2, 0.4, 0.2])
    mask = np.array([1, 0], np.float32).reshape(2, 1, 1)
    pasted = image_composite_masked(flat(0.0, 1, 1, batch=3), flat(1.0, 1, 1), mask=mask)
    assert pasted.pixels[:, 0, 0, 0].tolist() == [1, 0, 1]
