"""Which noise levels a sampler goes through: schedulers under ComfyUI's names."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from vinode.nodes.algorithms.sampling.beta import beta_quantile
from vinode.nodes.algorithms.sampling.levels import Levels

F32 = NDArray[np.float32]

SchedulerName: TypeAlias = Literal[
    "normal", "karras", "exponential", "sgm_uniform", "simple", "ddim_uniform", "beta"
]
SCHEDULERS: tuple[str, ...] = get_args(SchedulerName)

# These look at a level between two of the schedule, so its last but one would cost a call for
# next to nothing: they get one step more, without it.
_WITHOUT_PENULTIMATE = ("dpm_2", "dpm_2_ancestral", "uni_pc")
_NOTHING = 1e-5  # a level below this is taken as no noise


def schedule(name: str, levels: Levels, steps: int) -> F32:
    """Give the noise levels of `steps` steps: (steps + 1) float32, falling to 0.

    "beta" and "ddim_uniform" may give fewer or more where the model's own levels do not suffice.
    """
    return np.array(_BY_NAME[name](levels, steps), np.float32)


def sigmas_for(
    scheduler: str, sampler: str, levels: Levels, steps: int, denoise: float = 1.0
) -> F32:
    """Give the levels a sampler goes through; with denoise < 1 the last `steps` of a longer way.

    denoise  0..1; 0 gives no levels
    """
    if denoise <= 0:
        return np.empty(0, np.float32)
    whole = steps if denoise > 0.9999 else int(steps / denoise)
    if sampler in _WITHOUT_PENULTIMATE:
        levels_given = schedule(scheduler, levels, whole + 1)
        levels_given = np.delete(levels_given, -2)
    else:
        levels_given = schedule(scheduler, levels, whole)
    return levels_given if denoise > 0.9999 else levels_given[-(steps + 1) :]


def stretch(sigmas: F32, start: int, end: int, leave_noise: bool) -> F32:
    """Cut a way to the steps from `start` to `end`; without `leave_noise` it ends in 0."""
    cut = sigmas[: end + 1].copy() if end < len(sigmas) - 1 else sigmas.copy()
    if len(cut) and not leave_noise:
        cut[-1] = 0
    return cut[start:] if start < len(cut) - 1 else cut[:0]


def karras(smallest: float, largest: float, steps: int, rho: float = 7.0) -> list[float]:
    """Even steps in sigma^(1/rho): Karras et al. 2022, equation 5."""
    ends = largest ** (1 / rho), smallest ** (1 / rho)
    ramp = np.linspace(0, 1, steps)
    return [*((ends[0] + ramp * (ends[1] - ends[0])) ** rho).tolist(), 0.0]


def exponential(smallest: float, largest: float, steps: int) -> list[float]:
    """Even steps in the logarithm of sigma."""
    return [*np.exp(np.linspace(math.log(largest), math.log(smallest), steps)).tolist(), 0.0]


def _normal(levels: Levels, steps: int) -> list[float]:
    first, last = levels.timestep(levels.largest), levels.timestep(levels.smallest)
    if levels.sigma(last) < _NOTHING:
        return [levels.sigma(t) for t in np.linspace(first, last, steps + 1)]
    return [*(levels.sigma(t) for t in np.linspace(first, last, steps)), 0.0]


def _sgm_uniform(levels: Levels, steps: int) -> list[float]:
    first, last = levels.timestep(levels.largest), levels.timestep(levels.smallest)
    return [*(levels.sigma(t) for t in np.linspace(first, last, steps + 1)[:-1]), 0.0]


def _simple(levels: Levels, steps: int) -> list[float]:
    stride = len(levels.sigmas) / steps
    return [*(float(levels.sigmas[-(1 + int(i * stride))]) for i in range(steps)), 0.0]


def _ddim_uniform(levels: Levels, steps: int) -> list[float]:
    falls_to_nothing = levels.sigmas[1] < _NOTHING
    stride = max(len(levels.sigmas) // (steps + 1 if falls_to_nothing else steps), 1)
    rising = levels.sigmas[1::stride].tolist()
    return (rising if falls_to_nothing else [0.0, *rising])[::-1]


def _beta(levels: Levels, steps: int, a: float = 0.6, b: float = 0.6) -> list[float]:
    """Steps at the quantiles of a beta distribution: Lee et al. 2024, arXiv:2407.12173."""
    shares = 1 - np.linspace(0, 1, steps, endpoint=False)
    places = np.rint(beta_quantile(shares, a, b) * (len(levels.sigmas) - 1)).astype(int)
    kept = np.append(True, places[1:] != places[:-1])
    return [*levels.sigmas[places[kept]].tolist(), 0.0]


def _karras(levels: Levels, steps: int) -> list[float]:
    return karras(levels.smallest, levels.largest, steps)


def _exponential(levels: Levels, steps: int) -> list[float]:
    return exponential(levels.smallest, levels.largest, steps)


_BY_NAME: Mapping[str, Callable[[Levels, int], list[float]]] = {
    "normal": _normal,
    "karras": _karras,
    "exponential": _exponential,
    "sgm_uniform": _sgm_uniform,
    "simple": _simple,
    "ddim_uniform": _ddim_uniform,
    "beta": _beta,
}
