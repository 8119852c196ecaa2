"""UniPC: a predictor and corrector of the same order, at one call a step.

Zhao et al. 2023, arXiv:2302.04867, algorithm 2 in the form that predicts the clean latent, with
B(h) = h, "bh1". Times are levels sigma; alpha = 1 / sqrt(1 + sigma^2) and lambda = -log(sigma).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vinode.nodes.algorithms.sampling.arrays import Floats
from vinode.nodes.algorithms.sampling.way import Way

_LAST = 1e-3  # the level that stands for 0, whose lambda is infinite


@dataclass(frozen=True, slots=True)
class _Past:
    """A level that was passed, and the clean latent there."""

    sigma: float
    clean: Floats


def uni_pc(x: Floats, way: Way) -> Floats:
    """Predict with up to three levels; correct each prediction once its clean latent is known."""
    levels = list(way.sigmas)
    if len(levels) < 2:
        return x
    if levels[-1] == 0:
        levels[-1] = _LAST
    steps = len(levels) - 1
    most = max(1, min(3, steps - 1))
    # Here x is scaled as the model was trained: alpha (x0 + sigma e).
    scaled = x * _alpha(levels[0])
    past = [_Past(levels[0], _clean(way, 0, scaled, levels[0]))]
    for step in range(1, steps + 1):
        order = min(most, step, steps + 1 - step)
        sigma = levels[step]
        guess, base = _predicted(scaled, past, sigma, order)
        if step == steps:
            scaled = guess
            break
        clean = _clean(way, step, guess, sigma)
        scaled = _corrected(base, past, sigma, order, clean)
        past = [_Past(sigma, clean), *past[: most - 1]]
    return scaled / _alpha(levels[-1])


def _clean(way: Way, step: int, scaled: Floats, sigma: float) -> Floats:
    return way.look(step, scaled / _alpha(sigma), sigma)


def _alpha(sigma: float) -> float:
    return 1 / math.sqrt(1 + sigma**2)


def _predicted(
    scaled: Floats, past: list[_Past], sigma: float, order: int
) -> tuple[Floats, Floats]:
    """Give the prediction at a level, and its part without differences."""
    now = past[0]
    width, alpha = -math.log(sigma / now.sigma), _alpha(sigma)
    spread = sigma * alpha, now.sigma * _alpha(now.sigma)
    shrink = spread[0] / spread[1]
    base = scaled * shrink - now.clean * (alpha * math.expm1(-width))
    ratios, differences = _differences(past, width, order)
    if not differences:
        return base, base
    # Of the second order the published code takes 1/2 for its only weight.
    matrix, right = _equations([*ratios, 1.0], width)
    weights = [0.5] if order == 2 else np.linalg.solve(matrix[:-1, :-1], right[:-1])
    return base + _weighted(differences, weights) * (alpha * width), base


def _corrected(base: Floats, past: list[_Past], sigma: float, order: int, clean: Floats) -> Floats:
    """Give what the prediction would have been with the clean latent that it led to."""
    width, alpha = -math.log(sigma / past[0].sigma), _alpha(sigma)
    ratios, differences = _differences(past, width, order)
    matrix, right = _equations([*ratios, 1.0], width)
    weights = [0.5] if order == 1 else np.linalg.solve(matrix, right)
    change = _weighted([*differences, clean - past[0].clean], weights)
    return base + change * (alpha * width)


def _differences(past: list[_Past], width: float, order: int) -> tuple[list[float], list[Floats]]:
    """Give the places of older levels, in widths of this step, and slopes to them."""
    now = past[0]
    ratios = [-math.log(older.sigma / now.sigma) / width for older in past[1:order]]
    slopes: list[Floats] = [
        (older.clean - now.clean) / ratio
        for older, ratio in zip(past[1:order], ratios, strict=True)
    ]
    return ratios, slopes


def _equations(
    ratios: list[float], width: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give the linear system of the weights: the paper's R_p(h) and phi(h), for h = -width."""
    h = -width
    rows: list[list[float]] = []
    right: list[float] = []
    phi, factorial = math.expm1(h) / h - 1, 1.0
    for power in range(1, len(ratios) + 1):
        rows.append([ratio ** (power - 1) for ratio in ratios])
        right.append(phi * factorial / h)
        factorial *= power + 1
        phi = phi / h - 1 / factorial
    return np.array(rows), np.array(right)


def _weighted(slopes: list[Floats], weights: Sequence[float] | Floats) -> Floats:
    total = np.zeros_like(slopes[0])
    for values, weight in zip(slopes, weights, strict=True):
        total = total + values * float(weight)
    return total
