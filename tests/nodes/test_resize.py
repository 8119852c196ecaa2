"""Resizing: known numbers of each method, and what holds for all of them."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from vinode.graph.errors import NodeError
from vinode.nodes.algorithms.limits import MAX_SIDE
from vinode.nodes.algorithms.resize import Method, crop_to_shape, fill, fit_size, resize

METHODS: tuple[Method, ...] = get_args(Method)


def row(values: list[float]) -> NDArray[np.float32]:
    """Make one picture of one row with one channel."""
    return np.array(values, np.float32).reshape(1, 1, -1, 1)


# The numbers are those of the ONNX standard's own examples and of torch's documentation.
@pytest.mark.parametrize(
    ("method", "given", "width", "expected"),
    [
        ("bilinear", [0.0, 0.25, 0.5, 0.75], 8, [0, 1, 3, 5, 7, 9, 11, 12]),
        ("bilinear", [0.0, 0.1, 0.2, 0.9], 2, [0.8, 8.8]),
        ("area", [0.1, 0.2, 0.3], 2, [2.4, 4.0]),
        ("area", [0.0, 0.5, 0.5, 1.0], 1, [8]),
        ("nearest-exact", [0.0, 0.25, 0.5, 0.75, 1.0], 2, [4, 12]),
        ("nearest-exact", [0.0, 1.0], 4, [0, 0, 16, 16]),
    ],
)
def test_known_rows(method: Method, given: list[float], width: int, expected: list[float]) -> None:
    """Sixteenths of the result for a row of pixels."""
    found = resize(row(given), width, 1, method)
    np.testing.assert_allclose(found.ravel() * 16, expected, atol=1e-5)


def test_bicubic_is_the_standard_cubic_with_three_quarters() -> None:
    """First row of the ONNX standard's example for a 4 × 4 picture of 1 to 16, doubled."""
    picture = np.arange(1, 17, dtype=np.float32).reshape(1, 4, 4, 1) / 32
    expected = [
        0.47265625, 0.76953125, 1.24609375, 1.875, 2.28125, 2.91015625, 3.38671875, 3.68359375
    ]  # fmt: skip
    np.testing.assert_allclose(resize(picture, 8, 8, "bicubic")[0, 0, :, 0] * 32, expected, 1e-5)


@pytest.mark.parametrize("method", METHODS)
@given(
    seed=st.integers(0, 99),
    size=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    new=st.tuples(st.integers(1, 20), st.integers(1, 20)),
    channels=st.sampled_from([3, 4]),
)
def test_8_bit_and_float_pictures_agree(
    method: Method, seed: int, size: tuple[int, int], new: tuple[int, int], channels: int
) -> None:
    """Shape and type are kept, and both types show the same picture to two levels of 255.

    The noise is of middle greys: Pillow's 8-bit lanczos cuts overshoot off between its two passes.
    """
    shape = (2, *size, channels)
    pixels = np.random.default_rng(seed).integers(80, 176, shape, dtype=np.uint8)
    pixels[..., 3:] = 255
    coarse = resize(pixels, *new, method)
    fine = resize(np.multiply(pixels, 1 / 255, dtype=np.float32), *new, method)
    assert coarse.shape == fine.shape == (2, new[1], new[0], channels)
    assert (coarse.dtype.name, fine.dtype.name) == ("uint8", "float32")
    assert fine.min() >= 0
    assert fine.max() <= 1
    np.testing.assert_allclose(coarse / 255, fine, atol=2.01 / 255)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_one_colour_stays_one_colour(method: Method, dtype: type[Any]) -> None:
    """Weights add up to one, at the edges too."""
    value = 77 if dtype == np.uint8 else 0.3
    pixels = np.full((1, 5, 7, 4), value, dtype)
    found = resize(pixels, 3, 11, method)
    np.testing.assert_allclose(found, np.full((1, 11, 3, 4), value), rtol=1e-5)


def test_strips_join_without_a_seam() -> None:
    """A picture of many strips equals the same picture made of halves that overlap none."""
    ramp = np.linspace(0, 1, 3000, dtype=np.float32)
    pixels = np.broadcast_to(ramp[None, :, None, None], (1, 3000, 100, 3))
    found = resize(pixels, 150, 6000, "bilinear")
    assert np.diff(found[0, :, 0, 0]).min() >= 0
    np.testing.assert_allclose(np.diff(found[0, 1:-1, 0, 0]), 1 / 2999 / 2, atol=1e-6)


def test_lanczos_does_not_bleed_the_colour_of_transparent_pixels() -> None:
    """Green under full transparency leaves no green at the edge."""
    pixels = np.zeros((1, 4, 8, 4), np.float32)
    pixels[:, :, :4] = (1, 0, 0, 1)
    pixels[:, :, 4:] = (0, 1, 0, 0)
    assert resize(pixels, 4, 2, "lanczos")[..., 1].max() == 0


@pytest.mark.parametrize(
    ("width", "height", "expected"),
    [(0, 0, (300, 200)), (0, 100, (150, 100)), (3, 0, (3, 2)), (5, 6, (5, 6)), (1, 0, (1, 1))],
)
def test_zero_keeps_the_proportions(width: int, height: int, expected: tuple[int, int]) -> None:
    """A side of 0 follows from the other, and is never 0."""
    assert fit_size((300, 200), width, height) == expected


@given(st.tuples(*[st.integers(1, 40)] * 4))
def test_a_centre_crop_has_the_proportions_and_something_in_it(
    sizes: tuple[int, int, int, int],
) -> None:
    """One side is whole, the other is as near as two pixels allow."""
    old_width, old_height, width, height = sizes
    cut = crop_to_shape(np.zeros((1, old_height, old_width, 3), np.uint8), width, height)
    new_height, new_width = cut.shape[1:3]
    assert new_height == old_height or new_width == old_width
    assert new_height > 0
    assert new_width > 0
    assert new_width >= min(old_width, old_height * width / height) - 2
    assert new_height >= min(old_height, old_width * height / width) - 2


def test_fill_cuts_the_middle() -> None:
    """Of a wide picture the middle remains."""
    pixels = row([0.0, 0.0, 1.0, 1.0, 0.0, 0.0])
    assert fill(pixels, 1, 1, "area").ravel() == [1]


@pytest.mark.parametrize(("batch", "side"), [(1, MAX_SIDE + 1), (3, MAX_SIDE)])
def test_a_result_without_end_is_refused(batch: int, side: int) -> None:
    """The sentence says what would have been made."""
    with pytest.raises(NodeError, match=str(side)):
        resize(np.zeros((batch, 1, 1, 3), np.uint8), side, side, "bilinear")
