"""Noise levels and the ways through them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.nodes.sampling.k_diffusion import imported, sampling
from vinode.graph.diffusion import DiffusionModel, NoiseSchedule
from vinode.graph.values import ModelPart
from vinode.nodes.algorithms.sampling.beta import beta_quantile
from vinode.nodes.algorithms.sampling.levels import Levels, alphas, levels_of
from vinode.nodes.algorithms.sampling.schedule import SCHEDULERS, schedule, sigmas_for, stretch


def levels(zero_snr: bool = False, distilled: int = 0) -> Levels:
    """Give the levels of Stable Diffusion's schedule."""
    part = ModelPart("none", Path(), "", 0)
    given = NoiseSchedule(zero_snr=zero_snr)
    return levels_of(DiffusionModel(part, "sd1", schedule=given, distilled_steps=distilled))


def test_the_levels_of_stable_diffusion_are_as_published() -> None:
    """0.0292 to 14.6146, over 1000 timesteps."""
    given = levels()
    assert len(given.sigmas) == 1000
    assert (round(given.smallest, 4), round(given.largest, 4)) == (0.0292, 14.6146)
    assert given.timestep(given.largest) == 999
    assert given.timestep(given.smallest) == 0


@pytest.mark.parametrize("distilled", [0, 50])
def test_timestep_and_level_belong_together(distilled: int) -> None:
    """For every level; of a distilled model only each 20th timestep is known."""
    given = levels(distilled=distilled)
    steps = [given.timestep(float(sigma)) for sigma in given.sigmas]
    stride = 1000 // distilled if distilled else 1
    assert steps == [float(step) for step in range(stride - 1, 1000, stride)]
    back = [given.sigma(step) for step in steps]
    np.testing.assert_allclose(back, given.sigmas, rtol=1e-6)


def test_zero_snr_ends_in_noise_alone() -> None:
    """And begins where the schedule began."""
    plain, ended = alphas(NoiseSchedule()), alphas(NoiseSchedule(zero_snr=True))
    assert ended[-1] == pytest.approx(0, abs=1e-7)
    assert ended[0] == pytest.approx(plain[0], abs=1e-9)
    assert round(levels(zero_snr=True).largest) == 4519


@pytest.mark.parametrize("name", SCHEDULERS)
@pytest.mark.parametrize("steps", [1, 2, 7, 20, 50])
def test_each_way_falls_to_nothing(name: str, steps: int) -> None:
    """From the model's last level; ddim_uniform may begin a little lower."""
    given = levels()
    sigmas = schedule(name, given, steps)
    assert sigmas.dtype == np.float32
    assert sigmas[-1] == 0
    assert (np.diff(sigmas) < 0).all()
    assert len(sigmas) - 1 in (steps, steps + 1 if name == "ddim_uniform" else steps)
    if name != "ddim_uniform":
        assert sigmas[0] == pytest.approx(given.largest, rel=1e-5)


def test_denoise_takes_the_end_of_a_longer_way() -> None:
    """Half the noise for 10 steps: the last 10 of 20."""
    given = levels()
    half = sigmas_for("normal", "euler", given, 10, 0.5)
    assert np.array_equal(half, sigmas_for("normal", "euler", given, 20)[-11:])
    assert len(sigmas_for("normal", "euler", given, 10, 0.0)) == 0


def test_samplers_that_look_between_levels_leave_the_last_but_one_out() -> None:
    """They get a step more instead."""
    given = levels()
    longer = sigmas_for("karras", "euler", given, 11)
    assert np.array_equal(sigmas_for("karras", "dpm_2", given, 10), np.delete(longer, -2))


@pytest.mark.parametrize(
    ("start", "end", "leave", "expected"),
    [
        (0, 10_000, False, [4, 3, 2, 1, 0]),
        (0, 2, True, [4, 3, 2]),
        (0, 2, False, [4, 3, 0]),
        (1, 3, True, [3, 2, 1]),
        (4, 10, False, []),
        (9, 10, False, []),
    ],
)
def test_a_stretch_of_a_way(start: int, end: int, leave: bool, expected: list[float]) -> None:
    """KSamplerAdvanced's start and end; without leftover noise it ends in 0."""
    whole = np.array([4, 3, 2, 1, 0], np.float32)
    assert stretch(whole, start, end, leave).tolist() == expected


@pytest.mark.torch
def test_ways_of_k_diffusion() -> None:
    """The two that it names."""
    published, given = sampling(), levels()
    for name, function in (("karras", "get_sigmas_karras"), ("exponential", None)):
        if function:
            expected = getattr(published, function)(20, given.smallest, given.largest)
        else:
            expected = published.get_sigmas_exponential(20, given.smallest, given.largest)
        np.testing.assert_allclose(schedule(name, given, 20), expected.numpy(), rtol=1e-5)


@pytest.mark.torch
def test_quantiles_are_scipys() -> None:
    """Over the whole range."""
    stats = imported("scipy.stats")
    shares = np.linspace(0, 1, 41)
    for a, b in ((0.6, 0.6), (2.0, 5.0), (1.0, 1.0)):
        np.testing.assert_allclose(
            beta_quantile(shares, a, b), stats.beta.ppf(shares, a, b), atol=1e-9
        )
