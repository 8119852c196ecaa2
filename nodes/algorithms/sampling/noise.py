"""The noise of a seed: what a picture begins with, and what samplers add on their way."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from vinode.nodes.algorithms.sampling.arrays import Floats
from vinode.nodes.algorithms.sampling.normal import Generator

MAX_INDEX = 4096  # of a picture in its batch: all noise before it is drawn and thrown away


def initial(
    seed: int, shape: tuple[int, int, int, int], indices: tuple[int, ...] | None = None
) -> Floats:
    """Give the noise that a batch begins with, as ComfyUI draws it.

    shape    (B, C, h, w)
    indices  (B) which noise of the seed each picture gets; None: the batch is drawn at once
    """
    if indices is None:
        return Generator(seed).normal(*shape)
    generator = Generator(seed)
    drawn: dict[int, Floats] = {}
    for index in range(max(indices) + 1):
        noise = generator.normal(1, *shape[1:])
        if index in indices:
            drawn[index] = noise
    return np.concatenate([drawn[index] for index in indices])


def begin(latent: Floats, noise: Floats, sigma: float, largest: float) -> Floats:
    """Give what sampling begins with: the latent with noise of the first level.

    At the model's last level the picture counts for nothing, and sqrt(1 + sigma^2) is the deviation
    that the model was shown there.
    """
    full = sigma >= largest or math.isclose(sigma, largest, rel_tol=1e-5)
    return latent + noise * (math.sqrt(1 + sigma**2) if full else sigma)


class NoiseSource(Protocol):
    """Gives the noise that a sampler adds between two levels, of the latent's shape, variance 1."""

    def __call__(self, sigma: float, following: float) -> Floats:
        """Give the noise of the stretch from one level to a lower one."""
        ...


class Ancestral:
    """Noise drawn anew for each stretch, from a generator of the seed after the picture's.

    So does ComfyUI on a CPU, lest it is the noise again that the picture began with. On a GPU it
    draws with the GPU's own generator, from the seed itself: such pictures are of another noise.
    """

    def __init__(self, seed: int, shape: tuple[int, ...]) -> None:
        self._generator, self._shape = Generator(seed + 1), shape

    def __call__(self, sigma: float, following: float) -> Floats:
        """Draw the next noise; the levels do not matter."""
        return self._generator.normal(*self._shape)
