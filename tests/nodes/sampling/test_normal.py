"""torch's noise for a seed: recorded numbers, and torch itself where it is installed."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from tests.nodes.sampling.k_diffusion import imported
from vinode.nodes.algorithms.sampling.noise import Ancestral, initial
from vinode.nodes.algorithms.sampling.normal import Generator

SEEDS = [0, 1, 42, 2**32 - 1, 2**32 + 7, 123456789012345, 2**64 - 1]
SHAPES = [(1,), (15,), (16,), (17,), (31,), (1, 4, 9, 7), (2, 4, 64, 64)]

# The first half of the sha256 of the bytes of
# torch.randn((1, 4, 64, 64), generator=torch.Generator().manual_seed(seed)), by
# torch 2.13.0 on an x86-64 with AVX-512.
RECORDED = {
    0: "24efac55b39e95b2d74d8fb5b3a8e8a8",
    1: "e3a63ffe8c41d8927973056980b6ef12",
    42: "e97f3de04c7c6ba86354db4402b91d44",
    4294967295: "9cd9e22a6fa43e2b77ccdaca07858b02",
    4294967303: "e0236a3fd3aea2d52159dbbb9c363da7",
    123456789012345: "a1c8798f19a9f05561d80d2164d39eee",
    18446744073709551615: "9cd9e22a6fa43e2b77ccdaca07858b02",
}


@pytest.mark.parametrize("seed", RECORDED)
def test_noise_is_what_torch_recorded(seed: int) -> None:
    """Bit for bit, on any machine."""
    noise = Generator(seed).normal(1, 4, 64, 64)
    assert hashlib.sha256(noise.astype("<f4").tobytes()).hexdigest()[:32] == RECORDED[seed]


def test_first_numbers_are_what_torch_gives() -> None:
    """As anybody may look up who has torch: torch.manual_seed(42); torch.randn(4)."""
    few = Generator(42).normal(4)
    np.testing.assert_allclose(few, [0.3367, 0.1288, 0.2345, 0.2303], atol=1e-4)


@pytest.mark.torch
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_noise_is_torchs(seed: int, shape: tuple[int, ...]) -> None:
    """Whole blocks of 16, a rest, and the slow path of fewer."""
    torch = imported("torch")
    expected = torch.randn(shape, generator=torch.Generator().manual_seed(seed)).numpy()
    assert np.array_equal(Generator(seed).normal(*shape), expected)


@pytest.mark.torch
def test_a_stream_goes_on_as_torchs() -> None:
    """Also from the slow path to the fast one and back: the kept second number waits."""
    torch = imported("torch")
    theirs, ours = torch.Generator().manual_seed(5), Generator(5)
    for shape in [(3,), (20,), (2,), (2,), (64, 64)]:
        assert np.array_equal(ours.normal(*shape), torch.randn(shape, generator=theirs).numpy())


def test_noise_has_its_mean_and_deviation() -> None:
    """A million numbers."""
    noise = Generator(9).normal(4, 4, 256, 256)
    assert abs(float(noise.mean())) < 0.004
    assert abs(float(noise.std()) - 1) < 0.004


def test_each_picture_of_a_batch_keeps_its_noise() -> None:
    """By its index: the third of a batch alone is what it was within the batch."""
    alone = initial(7, (1, 4, 8, 8), (2,))
    several = initial(7, (4, 4, 8, 8), (0, 2, 2, 1))
    assert np.array_equal(several[1], alone[0])
    assert np.array_equal(several[1], several[2])
    assert not np.array_equal(several[0], several[1])


def test_ancestral_noise_is_of_the_next_seed() -> None:
    """So that it is not the noise that the picture began with."""
    shape = (1, 4, 8, 8)
    assert np.array_equal(Ancestral(7, shape)(2.0, 1.0), Generator(8).normal(*shape))
