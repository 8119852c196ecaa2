"""Latents made, resized, cut, turned and repeated, with their masks and noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.graph.engine import Nodes
from tests.nodes.shelf import with_shelf
from vinode.graph.diffusion import Latent
from vinode.graph.errors import NodeError
from vinode.nodes import latent as latent_nodes
from vinode.nodes.latent import (
    empty_latent_image,
    latent_crop,
    latent_flip,
    latent_from_batch,
    latent_rotate,
    latent_upscale,
    latent_upscale_by,
    repeat_latent_batch,
    set_latent_noise_mask,
)

F32 = NDArray[np.float32]
TURNS = ("none", "90 degrees", "180 degrees", "270 degrees")
FLIPS = ("x-axis: vertically", "y-axis: horizontally")


def places(batch: int = 1, height: int = 12, width: int = 16) -> Latent:
    """Make latents whose channels tell picture, row, column; the mask tells row and column."""
    grid = np.indices((batch, height, width)).astype(np.float32)
    samples = np.stack([*grid, grid.sum(0)], axis=1)
    mask = (grid[1] / 64 + grid[2] / 4096).astype(np.float32).repeat(8, 1).repeat(8, 2)
    return Latent(samples, mask)


def rows_of(latent: Latent) -> list[int]:
    """Give which picture of the first batch each one is."""
    return [int(value) for value in latent.samples[:, 0, 0, 0]]


def assert_mask_follows(latent: Latent) -> None:
    """The mask in a cell tells the row and column that the samples there tell."""
    assert latent.noise_mask is not None
    told = latent.samples[:, 1] / 64 + latent.samples[:, 2] / 4096
    np.testing.assert_allclose(latent.noise_mask, told.repeat(8, 1).repeat(8, 2), atol=1e-6)


def test_latents_of_nothing() -> None:
    """Zeros, an eighth of the pictures' sides."""
    latent = empty_latent_image(640, 520, 3)
    assert (latent.samples.shape, latent.scale) == ((3, 4, 65, 80), 8)
    assert not latent.samples.any()
    assert latent.noise_mask is None
    assert latent.indices is None


SIZES = [
    ((0, 0), (12, 16)),
    ((256, 256), (32, 32)),
    ((256, 0), (24, 32)),
    ((0, 192), (24, 32)),
    ((8, 8), (8, 8)),
    ((0, 8), (8, 10)),
]


@pytest.mark.parametrize(("wanted", "made"), SIZES)
def test_latents_are_resized(wanted: tuple[int, int], made: tuple[int, int]) -> None:
    """To pixels; 0 keeps proportions, both 0 all; no side under 64 pixels."""
    latent = latent_upscale(places(), "bilinear", *wanted)
    assert latent.samples.shape[2:] == made
    assert latent.noise_mask is not None


def test_proportions_are_cut_to_first() -> None:
    """As much on both sides, of the mask as well; the middle is then the middle."""
    latent = latent_upscale(places(), "nearest-exact", 96, 96, "center")
    assert latent.samples.shape[2:] == (12, 12)
    assert latent.samples[0, 2, 0].tolist() == list(range(2, 14))
    assert_mask_follows(latent)
    assert latent_upscale(places(), "nearest-exact", 96, 96).samples[0, 2, 0, 0] == 0


@pytest.mark.parametrize(("factor", "size"), [(1.5, (18, 24)), (0.01, (1, 1)), (2.0, (24, 32))])
def test_latents_are_resized_by_a_factor(factor: float, size: tuple[int, int]) -> None:
    """Rounded to cells, one at least."""
    assert latent_upscale_by(places(), "area", factor).samples.shape[2:] == size


def test_values_are_not_clipped() -> None:
    """Latents go far beyond 0..1, and bicubic beyond its neighbours."""
    samples = np.zeros((1, 4, 4, 4), np.float32)
    samples[..., 2:] = 50
    resized = latent_upscale_by(Latent(samples), "bicubic", 4).samples
    assert resized.max() > 51
    assert resized.min() < -1


def test_too_large_is_one_sentence() -> None:
    """Not a machine without memory."""
    with pytest.raises(NodeError, match="longer than 16384 pixels"):
        latent_upscale_by(empty_latent_image(4096, 64), "area", 8)
    with pytest.raises(NodeError, match="need more than 1024 MiB"):
        empty_latent_image(16384, 16384, 4096)
    with pytest.raises(NodeError, match="need more than 1024 MiB"):
        repeat_latent_batch(empty_latent_image(4096, 4096, 8), 64)


CUTS = [
    ((64, 64, 16, 8), (1, 2, 8, 8)),
    ((512, 512, 0, 0), (0, 0, 12, 16)),
    ((512, 64, 8000, 8000), (4, 8, 8, 8)),
]


@pytest.mark.parametrize(("asked", "kept"), CUTS)
def test_a_rectangle_is_cut_out(
    asked: tuple[int, int, int, int], kept: tuple[int, int, int, int]
) -> None:
    """With its mask; what lies outside is moved in or left out."""
    latent = latent_crop(places(2), *asked)
    top, left, height, width = kept
    assert latent.samples.shape == (2, 4, height, width)
    assert latent.samples[1, :3, 0, 0].tolist() == [1, top, left]
    assert_mask_follows(latent)


def test_a_mask_of_another_size_is_cut_as_the_samples() -> None:
    """It is fitted to the pixels first."""
    mask = np.zeros((1, 6, 8), np.float32)
    mask[:, 3:] = 1
    latent = latent_crop(Latent(places().samples, mask), 64, 64, 0, 4 * 8)
    assert latent.noise_mask is not None
    assert latent.noise_mask.shape == (1, 64, 64)
    assert latent.noise_mask[0, :, 0].round().tolist() == [0] * 16 + [1] * 48


@pytest.mark.parametrize("flip", FLIPS)
def test_latents_are_mirrored(flip: Any) -> None:
    """The mask too; twice changes nothing."""
    latent = latent_flip(places(), flip)
    axis = FLIPS.index(flip) + 1
    assert latent.samples[0, axis, 0, 0] == (11, 15)[axis - 1]
    assert_mask_follows(latent)
    assert (latent_flip(latent, flip).samples == places().samples).all()


@pytest.mark.parametrize("turn", TURNS)
def test_latents_are_turned_clockwise(turn: Any) -> None:
    """What was at the top is at the right after 90 degrees."""
    latent = latent_rotate(places(), turn)
    corners = {"none": (0, 0), "90 degrees": (11, 0), "180 degrees": (11, 15)}
    assert tuple(latent.samples[0, 1:3, 0, 0]) == corners.get(turn, (0, 15))
    assert_mask_follows(latent)


@given(st.integers(0, 3), st.integers(0, 3))
def test_turns_add_up(one: int, other: int) -> None:
    """Two turns are one; four quarters are none."""
    twice = latent_rotate(latent_rotate(places(), TURNS[one]), TURNS[other])  # type: ignore[arg-type]
    once = latent_rotate(places(), TURNS[(one + other) % 4])  # type: ignore[arg-type]
    assert (twice.samples == once.samples).all()


TAKEN = [((0, 1), [0]), ((1, 2), [1, 2]), ((2, 64), [2, 3]), ((63, 64), [3])]


@pytest.mark.parametrize(("asked", "rows"), TAKEN)
def test_some_of_a_batch_are_taken(asked: tuple[int, int], rows: list[int]) -> None:
    """With their masks, and with the noise they had."""
    latent = latent_from_batch(places(4), *asked)
    assert rows_of(latent) == rows
    assert latent.indices == tuple(rows)
    assert_mask_follows(latent)


def test_a_mask_for_all_stays_one() -> None:
    """Masks that are fewer than pictures go round; one is for each."""
    samples = places(4).samples
    masks = np.arange(2, dtype=np.float32).reshape(2, 1, 1) * np.ones((1, 4, 4), np.float32)
    single, two = Latent(samples, masks[:1]), Latent(samples, masks)
    for changed in (latent_from_batch(single, 1, 3), repeat_latent_batch(single, 2)):
        assert changed.noise_mask is not None
        assert changed.noise_mask.shape == (1, 4, 4)
    taken, repeated = latent_from_batch(two, 1, 3), repeat_latent_batch(two, 2)
    assert taken.noise_mask is not None
    assert repeated.noise_mask is not None
    assert taken.noise_mask[:, 0, 0].tolist() == [1, 0, 1]
    assert repeated.noise_mask[:, 0, 0].tolist() == [0, 1, 0, 1] * 2


def test_a_batch_is_repeated() -> None:
    """The whole one behind itself, each copy with noise of its own."""
    latent = repeat_latent_batch(places(2), 3)
    assert rows_of(latent) == [0, 1] * 3
    assert latent.indices is None
    assert_mask_follows(latent)
    taken = latent_from_batch(places(8), 3, 2)
    assert repeat_latent_batch(taken, 3).indices == (3, 4, 5, 6, 7, 8)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=6, unique=True), st.integers(1, 5))
def test_no_two_pictures_of_a_repeated_batch_share_noise(indices: list[int], amount: int) -> None:
    """Whatever the indices were; the first copy keeps its own."""
    latent = Latent(np.zeros((len(indices), 4, 1, 1), np.float32), indices=tuple(indices))
    repeated = repeat_latent_batch(latent, amount).indices
    assert repeated is not None
    assert len(set(repeated)) == len(repeated) == len(indices) * amount
    assert list(repeated[: len(indices)]) == indices


def test_a_mask_is_set() -> None:
    """In place of the one before."""
    mask = np.ones((1, 5, 7), np.float32)
    latent = set_latent_noise_mask(places(), mask)
    assert latent.noise_mask is mask


def test_latents_travel_through_the_engine() -> None:
    """Made, turned and cut by a workflow as it would be saved."""
    nodes: Nodes = {
        "1": ("EmptyLatentImage", {"width": 128, "height": 64, "batch_size": 2}),
        "2": ("SetLatentNoiseMask", {"samples": ["1", 0], "mask": ["m", 0]}),
        "3": ("LatentRotate", {"samples": ["2", 0], "rotation": "90 degrees"}),
        "4": ("LatentUpscaleBy", {"samples": ["3", 0], "upscale_method": "bislerp"}),
        "5": ("RepeatLatentBatch", {"samples": ["4", 0], "amount": 2}),
        "m": ("ShelfMask", {}),
    }
    mask = np.linspace(0, 1, 64 * 128, dtype=np.float32).reshape(1, 64, 128)
    ran = with_shelf(latent_nodes, mask=mask).run(nodes, ["5"])
    assert ran.outcome.status == "done", ran.outcome.faults
    value = ran.value("5")
    assert isinstance(value, Latent)
    assert value.samples.shape == (4, 4, 24, 12)
    assert value.noise_mask is not None
    assert value.noise_mask.shape == (1, 128, 64)
    assert value.noise_mask[0, 0, 0] == mask[0, 63, 0]
