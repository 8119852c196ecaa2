"""Samplers of the first diffusion models, and that of latent consistency models."""

from __future__ import annotations

import math

from vinode.nodes.algorithms.sampling.arrays import Floats
from vinode.nodes.algorithms.sampling.way import Way, slope


def ddpm(x: Floats, way: Way) -> Floats:
    """Draw each step from the posterior: Ho et al. 2020, arXiv:2006.11239, equations 6 and 7."""
    for step, sigma, following in way.steps():
        error = slope(x, way.look(step, x, sigma), sigma)
        kept, kept_next = 1 / (sigma**2 + 1), 1 / (following**2 + 1)
        alpha = kept / kept_next
        scaled = x / math.sqrt(1 + sigma**2)
        scaled = scaled - error * ((1 - alpha) / math.sqrt(1 - kept))
        x = scaled * (1 / math.sqrt(alpha))
        if following > 0:
            spread = math.sqrt((1 - alpha) * (1 - kept_next) / (1 - kept))
            x = x + way.noise(sigma, following) * spread
            x = x * math.sqrt(1 + following**2)
    return x


def lcm(x: Floats, way: Way) -> Floats:
    """Go to the end at once, and back up with new noise: Luo et al. 2023, arXiv:2310.04378."""
    for step, sigma, following in way.steps():
        x = way.look(step, x, sigma)
        if following > 0:
            x = x + way.noise(sigma, following) * following
    return x
