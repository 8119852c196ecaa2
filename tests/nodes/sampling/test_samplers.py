"""Samplers on data whose exact answer is known: every cell N(mean, deviation^2)."""

from __future__ import annotations

import doctest
import math

import numpy as np
import pytest

from vinode.nodes.algorithms import sampling as package
from vinode.nodes.algorithms.sampling.arrays import Floats
from vinode.nodes.algorithms.sampling.noise import NoiseSource
from vinode.nodes.algorithms.sampling.normal import Generator
from vinode.nodes.algorithms.sampling.samplers import SAMPLERS, calls, noise_source, sample
from vinode.nodes.algorithms.sampling.schedule import karras
from vinode.nodes.algorithms.sampling.way import Way

MEAN, DEVIATION = 0.3, 0.5
SHAPE = (4, 4, 32, 32)
WITHOUT_NOISE = ["euler", "ddim", "heun", "dpm_2", "lms", "dpmpp_2m", "uni_pc"]
WITH_NOISE = [name for name in SAMPLERS if name not in (*WITHOUT_NOISE, "lcm")]


def denoise(x: Floats, sigma: float) -> Floats:
    """Give the mean of x0 for x: the exact answer for such data."""
    share = DEVIATION**2 / (DEVIATION**2 + sigma**2)
    return MEAN + (x - MEAN) * share


def ended(name: str, steps: int, noise: NoiseSource | None = None) -> tuple[Floats, Floats]:
    """Sample; gives what it began with too."""
    levels = tuple(karras(0.03, 14.6, steps))
    x = Generator(1).normal(*SHAPE) * levels[0]
    given = noise or noise_source(name, 1, SHAPE, levels)
    return x, sample(name, x, Way(levels, denoise, given))


def error(name: str, steps: int) -> float:
    """Give the largest distance from the exact solution of the probability flow."""
    x, given = ended(name, steps)
    start = math.sqrt(DEVIATION**2 + 14.6**2)
    exact = MEAN + (x - MEAN) * (DEVIATION / start)
    return float(np.abs(given - exact).max())


@pytest.mark.parametrize("name", WITHOUT_NOISE)
def test_more_steps_come_nearer_to_the_exact_answer(name: str) -> None:
    """Twice the steps, half the error and less; uni_pc's ends are of the first order only."""
    few, many = error(name, 20), error(name, 40)
    assert many < few * {"euler": 0.6, "ddim": 0.6, "uni_pc": 0.8}.get(name, 0.45)
    assert many < 0.1


ORDERS = {"euler": 1, "ddim": 1, "heun": 2, "dpm_2": 2, "dpmpp_2m": 1.9, "lms": 2.5, "uni_pc": 2}


@pytest.mark.parametrize("name", WITHOUT_NOISE)
def test_errors_fall_with_the_order(name: str) -> None:
    """Between two levels, in float64; several steps of lower order at the begin cost some of it."""
    errors: list[float] = []
    for steps in (128, 256):
        levels = tuple(np.geomspace(8, 0.2, steps + 1).tolist())
        x = Generator(1).normal(1, 4, 8, 8).astype(np.float64) * levels[0]
        way = Way(levels, denoise, noise_source(name, 1, x.shape, levels))
        deviations = [math.hypot(DEVIATION, level) for level in (levels[-1], levels[0])]
        exact = MEAN + (x - MEAN) * (deviations[0] / deviations[1])
        errors.append(float(np.abs(sample(name, x, way) - exact).max()))
    assert math.log2(errors[0] / errors[1]) > ORDERS[name] - 0.05


def test_the_example_of_the_package_runs() -> None:
    """As written in its docstring."""
    results = doctest.testmod(package)
    assert results.attempted > 5
    assert results.failed == 0


@pytest.mark.parametrize("name", WITH_NOISE)
def test_noise_on_the_way_keeps_the_distribution(name: str) -> None:
    """Mean and deviation of the data, after 60 steps."""
    _, given = ended(name, 60)
    assert float(given.mean()) == pytest.approx(MEAN, abs=0.03)
    assert float(given.std()) == pytest.approx(DEVIATION, abs=0.05)


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_seed_gives_the_same_picture_and_float32(name: str) -> None:
    """Twice."""
    (_, first), (_, second) = ended(name, 6), ended(name, 6)
    assert np.array_equal(first, second)
    assert first.dtype == np.float32
    assert np.isfinite(first).all()


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("levels", [(), (3.0,), (3.0, 0.0), (5.0, 3.0, 1.0)])
def test_short_ways_and_ways_that_leave_noise(name: str, levels: tuple[float, ...]) -> None:
    """Nothing to do gives x itself; each step is told of, and the calls are those foretold."""
    asked: list[float] = []
    told: list[int] = []

    def counted(x: Floats, sigma: float) -> Floats:
        asked.append(sigma)
        return denoise(x, sigma)

    def tell(step: int, clean: Floats) -> None:
        told.append(step)

    x = Generator(1).normal(1, 4, 4, 4)
    way = Way(levels, counted, noise_source(name, 1, x.shape, levels), tell)
    given = sample(name, x, way)
    assert np.array_equal(given, x) is (len(levels) < 2)
    assert len(asked) == calls(name, np.array(levels, np.float32))
    assert told == list(range(max(0, len(levels) - 1)))
    assert np.isfinite(given).all()
