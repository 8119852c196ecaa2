"""Samplers that follow the slope: Euler, Heun, midpoint and linear multistep.

Karras et al. 2022, arXiv:2206.00364; linear multistep: Adams and Bashforth, for uneven steps.
"""

from __future__ import annotations

import math

import numpy as np

from vinode.nodes.algorithms.sampling.arrays import Floats
from vinode.nodes.algorithms.sampling.way import Way, ancestral, slope


def euler(x: Floats, way: Way) -> Floats:
    """Take each step along the slope at its begin."""
    for step, sigma, following in way.steps():
        clean = way.look(step, x, sigma)
        x = x + slope(x, clean, sigma) * (following - sigma)
    return x


def euler_ancestral(x: Floats, way: Way) -> Floats:
    """Go further down than the step, and add noise up to it."""
    for step, sigma, following in way.steps():
        clean = way.look(step, x, sigma)
        down, up = ancestral(sigma, following, way.option("eta"))
        if down == 0:
            x = clean
            continue
        x = x + slope(x, clean, sigma) * (down - sigma)
        x = x + way.noise(sigma, following) * (up * way.option("s_noise"))
    return x


def heun(x: Floats, way: Way) -> Floats:
    """Average the slopes at begin and end of each step; the last one is Euler's."""
    for step, sigma, following in way.steps():
        first = slope(x, way.look(step, x, sigma), sigma)
        ahead = x + first * (following - sigma)
        if following == 0:
            x = ahead
            continue
        second = slope(ahead, way.denoise(ahead, following), following)
        x = x + (first + second) * ((following - sigma) / 2)
    return x


def dpm_2(x: Floats, way: Way) -> Floats:
    """Take the slope halfway, in the logarithm of the level."""
    for step, sigma, following in way.steps():
        first = slope(x, way.look(step, x, sigma), sigma)
        x = _by_midpoint(x, first, sigma, following, way)
    return x


def dpm_2_ancestral(x: Floats, way: Way) -> Floats:
    """Take the slope halfway to a lower level, and add noise up to the step's."""
    for step, sigma, following in way.steps():
        first = slope(x, way.look(step, x, sigma), sigma)
        down, up = ancestral(sigma, following, way.option("eta"))
        x = _by_midpoint(x, first, sigma, down, way)
        if down > 0:
            x = x + way.noise(sigma, following) * (up * way.option("s_noise"))
    return x


def _by_midpoint(x: Floats, first: Floats, sigma: float, following: float, way: Way) -> Floats:
    if following == 0:
        return x + first * (following - sigma)
    middle = math.sqrt(sigma * following)
    halfway = x + first * (middle - sigma)
    second = slope(halfway, way.denoise(halfway, middle), middle)
    return x + second * (following - sigma)


def lms(x: Floats, way: Way) -> Floats:
    """Extrapolate the slopes of up to four steps by a polynomial."""
    slopes: list[Floats] = []
    order = int(way.option("order", 4))
    for step, sigma, following in way.steps():
        clean = way.look(step, x, sigma)
        slopes = [slope(x, clean, sigma), *slopes[: order - 1]]
        if following == 0:
            x = clean
            continue
        places = way.sigmas[step::-1][: len(slopes)]
        weights = _adams_bashforth(places, sigma, following)
        x = x + sum(
            (past * weight for past, weight in zip(slopes, weights, strict=True)),
            0,
        )
    return x


def _adams_bashforth(places: tuple[float, ...], start: float, end: float) -> list[float]:
    """Integrate from start to end the Lagrange polynomials that are 1 at one place each."""
    weights: list[float] = []
    for place in places:
        others = [other for other in places if other != place]
        # Around `start`, so that the powers of large levels do not cancel each other.
        basis = np.polynomial.Polynomial([1.0])
        for other in others:
            basis *= np.polynomial.Polynomial([start - other, 1.0])
        scale = math.prod(place - other for other in others)
        area = basis.integ()
        weights.append(float(area(end - start)) / scale)
    return weights
