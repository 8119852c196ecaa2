"""The Brownian path of a seed: what it promises, recorded numbers, and torchsde's own."""

from __future__ import annotations

import hashlib
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.nodes.sampling.k_diffusion import imported, sampling
from vinode.nodes.algorithms.sampling.arrays import Floats
from vinode.nodes.algorithms.sampling.brownian import BrownianTree
from vinode.nodes.algorithms.sampling.samplers import noise_source
from vinode.nodes.algorithms.sampling.schedule import karras

SIGMAS = np.array(karras(0.0292, 14.6146, 9), np.float32).tolist()
SHAPE = (1, 4, 16, 16)
SEEDS = [0, 7, 2**32 + 3, 2**64 - 1]

# The first half of the sha256 of the bytes of k-diffusion's BrownianTreeNoiseSampler, torchsde
# 0.2.6 and torch 2.13.0, for SHAPE and SIGMAS, from the third level to the fourth.
RECORDED = {
    0: "1c36a2bae2ad17e79c42f06161890237",
    7: "8c751e9eddea3904c5e873bd09b9c3dd",
    4294967299: "1083b9dcc305e73819cfb638e0d9fade",
    18446744073709551615: "19b3d2f8fd2b2ab2a35abfe3f43c8e6c",
}


@pytest.mark.parametrize("seed", RECORDED)
def test_noise_is_what_torchsde_recorded(seed: int) -> None:
    """Bit for bit, on any machine."""
    noise = BrownianTree(seed, SHAPE, SIGMAS)(SIGMAS[2], SIGMAS[3])
    assert hashlib.sha256(noise.astype("<f4").tobytes()).hexdigest()[:32] == RECORDED[seed]


# torchsde rounds the ends of its range, so that the first level lies beside it.
@pytest.mark.filterwarnings("ignore:Should have t:UserWarning")
@pytest.mark.torch
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("shape", [SHAPE, (2, 4, 9, 7), (1, 4, 1, 3)])
def test_noise_is_torchsdes(seed: int, shape: tuple[int, ...]) -> None:
    """Of each step and its first half, as dpmpp_sde asks for it."""
    torch = imported("torch")
    theirs = sampling().BrownianTreeNoiseSampler(
        torch.zeros(shape), torch.tensor(SIGMAS[-2]), torch.tensor(SIGMAS[0]), seed=seed
    )
    ours = BrownianTree(seed, shape, SIGMAS)
    for sigma, following in itertools.pairwise(SIGMAS[:-1]):
        middle = float(np.float32(np.sqrt(sigma * following)))
        for end in (middle, following):
            expected = theirs(torch.tensor(sigma), torch.tensor(end)).numpy()
            assert np.array_equal(ours(sigma, end), expected)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.floats(0.03, 14.6), min_size=3, max_size=3, unique=True))
def test_parts_make_up_the_whole(places: list[float]) -> None:
    """The change over a stretch is the sum of those over its parts."""
    low, middle, high = sorted(places)
    path = BrownianTree(3, SHAPE, SIGMAS)

    def change(start: float, end: float) -> Floats:
        noise: Floats = path(start, end) * (start - end) ** 0.5
        return noise

    parts = change(high, middle) + change(middle, low)
    np.testing.assert_allclose(parts, change(high, low), atol=1e-4)


def test_what_is_asked_does_not_change_the_path() -> None:
    """Neither the order of questions nor those in between, however many."""
    asked, fresh = BrownianTree(5, SHAPE, SIGMAS), BrownianTree(5, SHAPE, SIGMAS)
    for level in np.linspace(14, 0.1, 40):
        asked(float(level), 0.05)
    assert np.array_equal(asked(9.0, 4.0), fresh(9.0, 4.0))
    assert np.array_equal(fresh(4.0, 9.0), -fresh(9.0, 4.0))


def test_stretches_have_variance_1_and_know_nothing_of_each_other() -> None:
    """The two halves of a step."""
    path = BrownianTree(11, (1, 4, 64, 64), SIGMAS)
    first, second = path(9.0, 4.0), path(4.0, 1.0)
    for noise in (first, second):
        assert float(noise.std()) == pytest.approx(1, abs=0.02)
        assert abs(float(noise.mean())) < 0.02
    assert abs(float((first * second).mean())) < 0.03


def test_sde_samplers_get_the_path_of_their_way() -> None:
    """Its ends are the first level and the last above 0, so that it is the one of ComfyUI."""
    source = noise_source("dpmpp_2m_sde", 7, SHAPE, SIGMAS)
    expected = BrownianTree(7, SHAPE, SIGMAS[:-1])(SIGMAS[0], SIGMAS[1])
    assert np.array_equal(source(SIGMAS[0], SIGMAS[1]), expected)
