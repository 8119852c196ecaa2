"""Samplers and noise levels as values of their own, for SamplerCustom."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from vinode.graph.diffusion import DiffusionModel, Sampler, Sigmas
from vinode.graph.node import node
from vinode.graph.ports import Range
from vinode.nodes.algorithms.sampling import schedule
from vinode.nodes.algorithms.sampling.levels import levels_of
from vinode.nodes.algorithms.sampling.samplers import SamplerName
from vinode.nodes.algorithms.sampling.schedule import SchedulerName

Steps = Annotated[int, Range(1, 10_000)]
Sigma = Annotated[float, Range(0, 5000, step=0.01)]


class Split(NamedTuple):
    """Two ways, one after the other; both have the level where they meet."""

    high_sigmas: Sigmas
    low_sigmas: Sigmas


@node("KSamplerSelect", category="sampling/custom/samplers", known=True)
def ksampler_select(sampler_name: SamplerName = "euler") -> Sampler:
    """Choose a sampler.

    sampler_name  dpmpp_2m is good for most; those with "ancestral" or "sde" add noise on their way
    """
    return Sampler(sampler_name)


@node("BasicScheduler", category="sampling/custom/schedulers", known=True)
def basic_scheduler(
    model: DiffusionModel,
    scheduler: SchedulerName = "normal",
    steps: Steps = 20,
    denoise: Annotated[float, Range(0, 1, step=0.01)] = 1.0,
) -> Sigmas:
    """Give the noise levels of a scheduler for a model.

    model      whose levels they are
    scheduler  how the steps are spread
    steps      how many
    denoise    below 1: only the last part of a longer way, to change a picture that is there
    """
    return schedule.sigmas_for(scheduler, "", levels_of(model), steps, denoise)


@node("KarrasScheduler", category="sampling/custom/schedulers", known=True)
def karras_scheduler(
    steps: Steps = 20,
    sigma_max: Sigma = 14.614642,
    sigma_min: Sigma = 0.0291675,
    rho: Annotated[float, Range(0.01, 100, step=0.01)] = 7.0,
) -> Sigmas:
    """Give noise levels that are spread evenly in their rho-th root.

    steps                 how many
    sigma_max, sigma_min  first and last level before 0
    rho                   larger spends more steps on little noise
    """
    return np.array(schedule.karras(max(sigma_min, 1e-6), sigma_max, steps, rho), np.float32)


@node("ExponentialScheduler", category="sampling/custom/schedulers", known=True)
def exponential_scheduler(
    steps: Steps = 20, sigma_max: Sigma = 14.614642, sigma_min: Sigma = 0.0291675
) -> Sigmas:
    """Give noise levels that are spread evenly in their logarithm.

    steps                 how many
    sigma_max, sigma_min  first and last level before 0
    """
    low, high = max(sigma_min, 1e-6), max(sigma_max, 1e-6)
    return np.array(schedule.exponential(low, high, steps), np.float32)


@node("SplitSigmas", category="sampling/custom/sigmas", known=True)
def split_sigmas(sigmas: Sigmas, step: Annotated[int, Range(0, 10_000)] = 0) -> Split:
    """Cut a way in two, for two samplers.

    sigmas       the levels
    step         steps of the first part
    high_sigmas  the first part
    low_sigmas   the rest, from the level where the first part ends
    """
    return Split(sigmas[: step + 1].copy(), sigmas[step:].copy())


@node("FlipSigmas", category="sampling/custom/sigmas", known=True)
def flip_sigmas(sigmas: Sigmas) -> Sigmas:
    """Turn a way around, from picture to noise.

    sigmas  the levels
    """
    if len(sigmas) == 0:
        return sigmas
    turned = sigmas[::-1].copy()
    turned[0] = turned[0] or 1e-4  # no noise at all is no level to begin with
    return turned
