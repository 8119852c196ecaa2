"""The values on wires: read-only, refused when malformed, converted without loss."""

from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vinode.graph.values import Boxes, Detector, Image, ModelPart


def floats(*numbers: float) -> Image:
    """Make a picture of one row whose red channel is these."""
    pixels = np.zeros((1, 1, len(numbers), 3), np.float32)
    pixels[0, 0, :, 0] = numbers
    return Image(pixels)


def boxes(rows: int = 2) -> Boxes:
    """Make boxes 0, 1, 2, ... of one class."""
    corners = np.arange(rows * 4, dtype=np.float32).reshape(rows, 4)
    numbers = np.zeros(rows, np.int64)
    return Boxes(corners, np.ones(rows, np.float32), numbers, numbers.copy(), ("thing",))


@pytest.mark.parametrize(
    "shape", [(2, 2, 3), (1, 2, 2, 1), (1, 2, 2, 2), (1, 2, 2, 5), (0, 2, 2, 3), (1, 0, 2, 3)]
)
def test_a_picture_of_the_wrong_shape_is_refused(shape: tuple[int, ...]) -> None:
    """The message says what a picture is and what was given."""
    with pytest.raises(ValueError, match=r"\(B, H, W, 3 or 4\), none of them 0; got \("):
        Image(np.zeros(shape, np.uint8))


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int32, np.bool_])
def test_a_picture_of_another_type_is_refused(dtype: Any) -> None:
    """Silent conversion would hide a copy of every picture."""
    with pytest.raises(ValueError, match="uint8 or float32; got"):
        Image(cast("Any", np.zeros((1, 1, 1, 3), dtype)))


def test_nobody_can_write_into_a_value() -> None:
    """One array is the input of many nodes."""
    picture, found = floats(0.5), boxes()
    for array in (picture.pixels, picture.as_float(), found.boxes, found.scores, found.images):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(FrozenInstanceError):
        picture.pixels = picture.pixels  # type: ignore[misc]


def test_a_picture_is_not_copied_where_its_type_is_right() -> None:
    """Pictures are large."""
    real, whole = floats(0.5), Image(np.zeros((1, 1, 1, 3), np.uint8))
    assert np.shares_memory(real.as_float(), real.pixels)
    assert np.shares_memory(whole.as_uint8(), whole.pixels)


def test_all_256_values_survive_the_way_through_float() -> None:
    """0 is 0, 255 is 1, and back again nothing has changed."""
    whole = Image(np.arange(256, dtype=np.uint8).reshape(1, 16, 16, 1).repeat(3, axis=3))
    real = whole.as_float()
    assert (real.min(), real.max()) == (0, 1)
    assert np.array_equal(Image(real).as_uint8(), whole.pixels)


def test_what_is_no_number_becomes_black_and_white() -> None:
    """Clipped, rounded to nearest, NaN is 0; no warning of numpy reaches the user."""
    odd = floats(-1, 2, np.nan, np.inf, -np.inf, 0.5, 1 / 255, 0.4 / 255)
    assert odd.as_uint8()[0, 0, :, 0].tolist() == [0, 255, 0, 255, 0, 128, 1, 0]


@given(st.floats(0, 1, width=32))
def test_rounding_is_to_the_nearest(value: float) -> None:
    """Never further than half a step from what was given."""
    assert abs(int(floats(value).as_uint8()[0, 0, 0, 0]) - value * 255) <= 0.5 + 1e-4


def test_boxes_of_uneven_length_are_refused() -> None:
    """A row is one thing, in all four arrays."""
    good = boxes()
    with pytest.raises(ValueError, match=r"boxes are \(N, 4\)"):
        Boxes(good.boxes[:1], good.scores, good.classes, good.images, good.labels)


@given(st.lists(st.integers(0, 4), max_size=6))
def test_taking_rows_keeps_them_together(rows: list[int]) -> None:
    """In the order asked for."""
    taken = boxes(5).take(np.array(rows, np.int64))
    assert len(taken) == len(rows)
    assert taken.boxes[:, 0].tolist() == [4 * row for row in rows]


def test_a_detector_may_be_a_key() -> None:
    """Its options are no part of the hash, and still of equality."""
    part = ModelPart("face", Path("face.xml"), "ab", 5)
    one, other = Detector(part, "blazeface", ("face",)), Detector(part, "blazeface", ("face",))
    assert hash(one) == hash(other)
    assert one == other != Detector(part, "blazeface", ("face",), {"input": 128})
