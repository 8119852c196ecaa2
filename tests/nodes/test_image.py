"""Image nodes: known results, and laws that hold for any picture."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.nodes.noise import flat, images
from vinode.graph.errors import NodeError
from vinode.graph.values import Image
from vinode.nodes.algorithms.composite import BlendMode
from vinode.nodes.algorithms.resize import Method
from vinode.nodes.image import (
    empty_image,
    image_batch,
    image_blend,
    image_crop,
    image_from_batch,
    image_invert,
    image_pad_for_outpaint,
    image_scale,
    image_scale_by,
    repeat_image_batch,
)


def same(first: Image, second: Image) -> None:
    """Compare pictures exactly, type and all."""
    assert first.pixels.dtype == second.pixels.dtype
    np.testing.assert_array_equal(first.pixels, second.pixels)


@given(images())
def test_inverting_twice_changes_nothing(image: Image) -> None:
    """A negative of a negative is the picture; alpha is never touched."""
    once = image_invert(image)
    twice = image_invert(once)
    np.testing.assert_allclose(twice.pixels, image.pixels, atol=1e-6)
    np.testing.assert_array_equal(once.pixels[..., 3:], image.pixels[..., 3:])
    np.testing.assert_allclose(once.as_float()[..., :3], 1 - image.as_float()[..., :3], atol=1e-6)


@given(images(), st.tuples(*[st.integers(0, 5)] * 4))
def test_cropping_the_border_off_gives_the_picture_back(
    image: Image, border: tuple[int, int, int, int]
) -> None:
    """Padding changes nothing inside."""
    left, top, right, bottom = border
    _, height, width, _ = image.shape
    padded = image_pad_for_outpaint(image, left, top, right, bottom, feathering=1)
    assert padded.image.shape[1:3] == padded.mask.shape[1:]
    assert padded.image.shape[1:3] == (height + top + bottom, width + left + right)
    same(image_crop(padded.image, width, height, left, top), image)
    outside = padded.mask.copy()
    outside[:, top : top + height, left : left + width] = 1
    assert outside.min() == 1


@given(images(), st.sampled_from(get_args(Method)), st.sampled_from(["disabled", "center"]))
def test_scaling_to_the_same_size_changes_nothing(image: Image, method: Any, crop: Any) -> None:
    """Neither does a width and height of 0, nor a factor of 1."""
    _, height, width, _ = image.shape
    same(image_scale(image, method, width, height, crop), image)
    same(image_scale(image, method, 0, 0, crop), image)
    same(image_scale_by(image, method, 1.0), image)


@given(images(), st.integers(1, 3))
def test_a_repeated_batch_can_be_taken_apart(image: Image, amount: int) -> None:
    """Each stretch of the result is the batch."""
    repeated = repeat_image_batch(image, amount)
    batch = image.shape[0]
    assert repeated.shape == (batch * amount, *image.shape[1:])
    for start in range(0, batch * amount, batch):
        same(image_from_batch(repeated, start, batch), image)


@given(images())
def test_a_batch_of_two_can_be_taken_apart(image: Image) -> None:
    """The second stands behind the first."""
    batch = image.shape[0]
    both = image_batch(image, image_invert(image))
    same(image_from_batch(both, 0, batch), image)
    same(image_from_batch(both, batch, batch), image_invert(image))


@given(images(), images(), st.sampled_from(get_args(BlendMode)))
def test_blending_nothing_in_changes_nothing(first: Image, second: Image, mode: BlendMode) -> None:
    """A factor of 0 shows the first picture, for any other."""
    blended = image_blend(first, second, 0.0, mode)
    expected = first.as_float()[np.arange(blended.shape[0]) % first.shape[0]]
    np.testing.assert_allclose(blended.pixels, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("mode", "below", "above", "expected"),
    [
        ("normal", 0.25, 0.75, 0.75),
        ("multiply", 0.5, 0.5, 0.25),
        ("screen", 0.5, 0.5, 0.75),
        ("overlay", 0.25, 0.5, 0.25),
        ("overlay", 0.75, 0.5, 0.75),
        ("soft_light", 0.5, 0.25, 0.375),
        ("soft_light", 0.25, 1.0, 0.5),
        ("soft_light", 0.125, 1.0, 0.34375),
        ("difference", 0.75, 0.25, 0.5),
        ("difference", 0.25, 0.75, 0.0),
    ],
)
def test_blend_modes(mode: BlendMode, below: float, above: float, expected: float) -> None:
    """Known pixels of every mode."""
    blended = image_blend(flat(below), flat(above), 1.0, mode)
    np.testing.assert_allclose(blended.pixels, np.full(blended.shape, expected), atol=1e-6)


def test_the_blend_factor_mixes() -> None:
    """A quarter of the product, three quarters of the first."""
    blended = image_blend(flat(0.5), flat(0.5), 0.25, "multiply")
    np.testing.assert_allclose(blended.pixels, np.full(blended.shape, 0.4375), atol=1e-6)


def test_blend_fits_the_second_to_the_first() -> None:
    """Size and channels are those of the first, the longer batch wins."""
    blended = image_blend(flat(0.0, 4, 4), flat(1.0, 9, 5, channels=4, batch=3), 0.25)
    assert blended.shape == (3, 4, 4, 3)
    np.testing.assert_allclose(blended.pixels, np.full((3, 4, 4, 3), 0.25), atol=1e-6)


def test_scale_keeps_8_bit_pictures_8_bit_and_the_proportions() -> None:
    """A height of 0 follows from the width."""
    image = empty_image(6, 4)
    assert image_scale(image, "area", 3, 0).shape == (1, 2, 3, 3)
    assert image_scale(image, "lanczos", 3, 2).pixels.dtype == np.uint8
    assert image_scale_by(image, "bilinear", 0.01).shape == (1, 1, 1, 3)
    assert image_scale_by(image, "bilinear", 1.5).shape == (1, 6, 9, 3)


def test_scale_crops_the_middle_when_asked() -> None:
    """Stretched the edge is there, cropped it is not."""
    pixels = np.zeros((1, 2, 4, 3), np.float32)
    pixels[:, :, 1:3] = 1
    assert image_scale(Image(pixels), "area", 2, 2, "center").pixels.min() == 1
    assert image_scale(Image(pixels), "area", 2, 2, "disabled").pixels.max() == 0.5


@pytest.mark.parametrize(
    ("width", "height", "x", "y", "shape"),
    [(2, 2, 0, 0, (2, 2)), (9, 9, 1, 1, (3, 5)), (1, 1, 99, 99, (1, 1))],
)
def test_crop_stays_inside(width: int, height: int, x: int, y: int, shape: tuple[int, int]) -> None:
    """At least one pixel is always left."""
    assert image_crop(empty_image(6, 4), width, height, x, y).shape[1:3] == shape


def test_the_border_is_grey_and_its_mask_fades_into_the_picture() -> None:
    """Feathering is quadratic, and only at sides that were padded."""
    padded = image_pad_for_outpaint(flat(0.0, 9, 9, 4), left=1, feathering=4)
    assert padded.image.pixels[0, 0, 0].tolist() == [0.5, 0.5, 0.5, 1]
    expected = [1, 1, 9 / 16, 4 / 16, 1 / 16, 0, 0, 0, 0, 0]
    assert padded.mask.shape == (1, 9, 10)
    for line in padded.mask[0]:
        np.testing.assert_allclose(line, expected, atol=1e-6)


def test_feathering_wider_than_the_picture_is_left_out() -> None:
    """As there is no middle to fade to."""
    padded = image_pad_for_outpaint(flat(0.0, 4, 9), left=1, feathering=2)
    assert padded.mask[0, 0].tolist() == [1] + [0] * 9


def test_padding_below_the_middle_distance_counts_from_the_far_edge() -> None:
    """The last row before a lower border is one pixel away from it."""
    padded = image_pad_for_outpaint(flat(0.0, 9, 9), bottom=2, feathering=2)
    np.testing.assert_allclose(padded.mask[0, :, 0], [0] * 8 + [0.25, 1, 1], atol=1e-6)


def test_batches_of_different_kinds_are_made_alike() -> None:
    """Size, type and alpha are brought together without loss."""
    first = Image(np.full((1, 2, 2, 3), 51, np.uint8))
    both = image_batch(first, flat(1.0, 8, 4, channels=4))
    assert both.shape == (2, 2, 2, 4)
    np.testing.assert_allclose(both.pixels[0, 0, 0], [0.2, 0.2, 0.2, 1], atol=1e-6)
    assert both.pixels[1].min() == 1


@pytest.mark.parametrize(
    ("index", "length", "expected"), [(0, 1, [0]), (1, 9, [1, 2]), (9, 9, [2]), (0, 2, [0, 1])]
)
def test_from_batch_stays_inside(index: int, length: int, expected: list[int]) -> None:
    """Past the end there is the last picture."""
    image = Image(np.arange(3, dtype=np.uint8).repeat(3).reshape(3, 1, 1, 3))
    assert image_from_batch(image, index, length).pixels[:, 0, 0, 0].tolist() == expected


def test_an_empty_image_has_its_colour() -> None:
    """Red is the high byte."""
    image = empty_image(2, 1, 3, 0x0A14FF)
    assert image.shape == (3, 1, 2, 3)
    assert image.pixels[2, 0, 1].tolist() == [10, 20, 255]


def test_too_many_pixels_are_refused_before_they_are_made() -> None:
    """Each node that makes pictures larger or more says so in a sentence."""
    tall = Image(np.zeros((1, 16384, 1, 3), np.uint8))
    with pytest.raises(NodeError, match="pixels together"):
        empty_image(16384, 16384, 4096)
    with pytest.raises(NodeError, match="longer than 16384"):
        image_pad_for_outpaint(tall, top=1)
    with pytest.raises(NodeError, match="pixels together"):
        repeat_image_batch(Image(np.zeros((9, 16384, 1, 3), np.uint8)), 4096)
