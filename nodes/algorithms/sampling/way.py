"""What every sampler is given: the denoiser, a source of noise, and whom to tell of each step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from vinode.nodes.algorithms.sampling.arrays import Floats
from vinode.nodes.algorithms.sampling.noise import NoiseSource

Denoise: TypeAlias = Callable[
    [Floats, float], Floats
]  # (x, sigma) -> the clean latent, as far as known
Tell: TypeAlias = Callable[[int, Floats], None]


def untold(step: int, denoised: Floats) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Way:
    """The way from noise to picture.

    sigmas   levels, falling; 0 at the end unless noise is to be left
    denoise  x (B, C, h, w) float32 and its level -> x0 of the same shape
    noise    for samplers that add some
    tell     called with the step's number, from 0, and x0 once it is known
    options  "eta", "s_noise", "order": as k-diffusion names them
    """

    sigmas: tuple[float, ...]
    denoise: Denoise
    noise: NoiseSource
    tell: Tell = untold
    options: Mapping[str, float] = field(default_factory=dict[str, float])

    def steps(self) -> Iterator[tuple[int, float, float]]:
        """Go through the steps: number, level, next level."""
        for step in range(len(self.sigmas) - 1):
            yield step, self.sigmas[step], self.sigmas[step + 1]

    def look(self, step: int, x: Floats, sigma: float) -> Floats:
        """Denoise at the begin of a step, and tell of it."""
        clean = self.denoise(x, sigma)
        self.tell(step, clean)
        return clean

    def option(self, name: str, default: float = 1.0) -> float:
        """Give an option of the sampler."""
        return float(self.options.get(name, default))


def slope(x: Floats, clean: Floats, sigma: float) -> Floats:
    """Give dx/dsigma of the probability flow: Karras et al. 2022, equation 1."""
    return (x - clean) / sigma


def ancestral(sigma: float, following: float, eta: float) -> tuple[float, float]:
    """Split a step into one without noise, down to the first level, and noise of the second."""
    if not eta:
        return following, 0.0
    added = eta * math.sqrt(following**2 * (sigma**2 - following**2) / sigma**2)
    up = min(following, added)
    return math.sqrt(following**2 - up**2), up
