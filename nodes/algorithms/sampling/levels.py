"""The noise levels that a model was trained with: sigma <-> timestep.

sigma is the deviation of the noise in x = x0 + sigma * e. A model trained with
x_t = sqrt(a_t) x0 + sqrt(1 - a_t) e (Ho et al. 2020, arXiv:2006.11239) has
sigma_t = sqrt((1 - a_t) / a_t) after a division by sqrt(a_t).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vinode.graph.diffusion import DiffusionModel, NoiseSchedule

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """Noise levels, rising, and the timesteps they belong to.

    sigmas  (N) float32
    stride  timesteps from one level to the next: 1, or more for a distilled model
    """

    sigmas: F32
    stride: int = 1

    @property
    def smallest(self) -> float:
        """Give the least noise that the model knows."""
        return float(self.sigmas[0])

    @property
    def largest(self) -> float:
        """Give the most noise that the model knows."""
        return float(self.sigmas[-1])

    def timestep(self, sigma: float) -> float:
        """Give the timestep whose level is nearest in the logarithm, as the model takes it."""
        distance = np.abs(np.log(np.float32(max(sigma, 1e-10))) - np.log(self.sigmas))
        return float(int(distance.argmin()) * self.stride + self.stride - 1)

    def sigma(self, timestep: float) -> float:
        """Give the level of a timestep; between two, the logarithm is interpolated."""
        place = (timestep - (self.stride - 1)) / self.stride
        place = min(max(place, 0.0), len(self.sigmas) - 1.0)
        low = int(place)
        high = min(low + 1, len(self.sigmas) - 1)
        share = place - low
        logs = np.log(self.sigmas[[low, high]].astype(np.float64))
        return float(np.exp((1 - share) * logs[0] + share * logs[1]))


def levels_of(model: DiffusionModel) -> Levels:
    """Give a model's noise levels; a distilled one knows only those it was distilled to."""
    sigmas = sigmas_of(alphas(model.schedule))
    if not model.distilled_steps:
        return Levels(sigmas)
    stride = len(sigmas) // model.distilled_steps
    return Levels(sigmas[stride - 1 :: stride], stride)


def alphas(schedule: NoiseSchedule) -> F64:
    """Give what is left of the picture's variance at each timestep: (steps) float64, falling."""
    start, end = schedule.beta_start, schedule.beta_end
    if schedule.beta_schedule == "scaled_linear":
        betas: F64 = np.linspace(start**0.5, end**0.5, schedule.steps, dtype=np.float64) ** 2
    else:
        betas = np.linspace(start, end, schedule.steps, dtype=np.float64)
    kept: F64 = np.cumprod(1 - betas, dtype=np.float64)
    return _without_signal(kept) if schedule.zero_snr else kept


def _without_signal(kept: F64) -> F64:
    """Shift and stretch so that the last step is noise alone: Lin et al. 2023, algorithm 1.

    The very last is set to 4.8973451890853435e-08, as finite levels need it: sigma is 4518.
    """
    roots = np.sqrt(kept)
    roots = (roots - roots[-1]) * roots[0] / (roots[0] - roots[-1])
    squares: F64 = np.square(roots)
    squares[-1] = 4.8973451890853435e-08
    return squares


def sigmas_of(kept: F64) -> F32:
    """Give sigma at each timestep: (steps) float32, rising."""
    return np.sqrt((1 - kept) / kept).astype(np.float32)
