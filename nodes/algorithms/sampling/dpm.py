"""DPM-Solver++ and its kin, which step in lambda = -log(sigma).

Lu et al. 2022, arXiv:2211.01095 (DPM-Solver++), in the form and under the names of k-diffusion.
"""

from __future__ import annotations

import math

import numpy as np

from vinode.nodes.algorithms.sampling.arrays import Floats
from vinode.nodes.algorithms.sampling.way import Way, ancestral, slope


def _exact(x: Floats, clean: Floats, sigma: float, following: float) -> Floats:
    """Go to another level as if the clean latent were known: exact for a linear denoiser."""
    ratio = following / sigma
    return x * ratio + clean * (1 - ratio)


def dpmpp_2s_ancestral(x: Floats, way: Way) -> Floats:
    """Take the clean latent halfway, single step, with noise."""
    for step, sigma, following in way.steps():
        clean = way.look(step, x, sigma)
        down, up = ancestral(sigma, following, way.option("eta"))
        if down == 0:
            x = x + slope(x, clean, sigma) * (down - sigma)
        else:
            middle = math.sqrt(sigma * down)
            halfway = _exact(x, clean, sigma, middle)
            x = _exact(x, way.denoise(halfway, middle), sigma, down)
        if following > 0:
            x = x + way.noise(sigma, following) * (up * way.option("s_noise"))
    return x


def dpmpp_sde(x: Floats, way: Way) -> Floats:
    """Take the clean latent halfway, with noise on both halves."""
    eta, strength = way.option("eta"), way.option("s_noise")
    share = way.option("r", 0.5)
    for step, sigma, following in way.steps():
        clean = way.look(step, x, sigma)
        if following == 0:
            x = x + slope(x, clean, sigma) * (following - sigma)
            continue
        middle = math.exp((1 - share) * math.log(sigma) + share * math.log(following))
        down, up = ancestral(sigma, middle, eta)
        halfway = _exact(x, clean, sigma, down)
        halfway = halfway + way.noise(sigma, middle) * (strength * up)
        second = way.denoise(halfway, middle)
        down, up = ancestral(sigma, following, eta)
        weight = 1 / (2 * share)
        x = _exact(x, (1 - weight) * clean + weight * second, sigma, down)
        x = x + way.noise(sigma, following) * (strength * up)
    return x


def dpmpp_2m(x: Floats, way: Way) -> Floats:
    """Extrapolate the clean latent from two steps."""
    before: Floats | None = None
    last = 0.0
    for step, sigma, following in way.steps():
        clean = way.look(step, x, sigma)
        guess = clean
        if before is not None and following > 0:
            ratio = last / math.log(sigma / following)
            guess = clean * (1 + 1 / (2 * ratio)) - before * (1 / (2 * ratio))
        x = _exact(x, guess, sigma, following)
        if following > 0:
            last = math.log(sigma / following)
        before = clean
    return x


def dpmpp_2m_sde(x: Floats, way: Way) -> Floats:
    """Extrapolate the clean latent from two steps, with noise; midpoint form."""
    eta = way.option("eta")
    before: Floats | None = None
    last = 0.0
    for step, sigma, following in way.steps():
        clean = way.look(step, x, sigma)
        if following == 0:
            x = clean
            continue
        stride = math.log(sigma / following)
        gain = -math.expm1(-stride * (1 + eta))
        shrink = following / sigma * math.exp(-eta * stride)
        x = x * shrink + clean * gain
        if before is not None:
            x = x + (clean - before) * (0.5 * gain * stride / last)
        x = _with_noise(x, sigma, following, eta, stride, way)
        before, last = clean, stride
    return x


def dpmpp_3m_sde(x: Floats, way: Way) -> Floats:
    """Extrapolate the clean latent from three steps, with noise."""
    eta = way.option("eta")
    past: list[
        tuple[Floats, float]
    ] = []  # clean latent and stride of the steps before, newest first
    for step, sigma, following in way.steps():
        clean = way.look(step, x, sigma)
        if following == 0:
            x = clean
            continue
        stride = math.log(sigma / following)
        reach = stride * (1 + eta)
        x = x * math.exp(-reach) + clean * (-math.expm1(-reach))
        x = x + _curved(clean, past, stride, reach)
        x = _with_noise(x, sigma, following, eta, stride, way)
        past = [(clean, stride), *past[:1]]
    return x


def _curved(clean: Floats, past: list[tuple[Floats, float]], stride: float, reach: float) -> Floats:
    """Give what first and second differences of the clean latent add to a step."""
    second = math.expm1(-reach) / reach + 1
    if not past:
        return np.zeros_like(clean)
    near = past[0][1] / stride
    first = (clean - past[0][0]) / near
    if len(past) == 1:
        return first * second
    far = past[1][1] / stride
    older = (past[0][0] - past[1][0]) / far
    bend = (first - older) / (near + far)
    first = first + bend * near
    third = second / reach - 0.5
    return first * second - bend * third


def _with_noise(
    x: Floats, sigma: float, following: float, eta: float, stride: float, way: Way
) -> Floats:
    if not eta:
        return x
    deviation = following * math.sqrt(-math.expm1(-2 * stride * eta)) * way.option("s_noise")
    return x + way.noise(sigma, following) * deviation
