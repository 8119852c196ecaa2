"""Samplers under ComfyUI's names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias, get_args

from vinode.nodes.algorithms.sampling import discrete, dpm, euler, unipc
from vinode.nodes.algorithms.sampling.arrays import Floats
from vinode.nodes.algorithms.sampling.brownian import BrownianTree
from vinode.nodes.algorithms.sampling.noise import Ancestral, NoiseSource
from vinode.nodes.algorithms.sampling.way import Way

SamplerName: TypeAlias = Literal[
    "euler", "euler_ancestral", "heun", "dpm_2", "dpm_2_ancestral", "lms", "dpmpp_2s_ancestral",
    "dpmpp_sde", "dpmpp_2m", "dpmpp_2m_sde", "dpmpp_3m_sde", "ddim", "ddpm", "lcm", "uni_pc",
]  # fmt: skip
SAMPLERS: tuple[str, ...] = get_args(SamplerName)

_BY_NAME: Mapping[str, Callable[[Floats, Way], Floats]] = {
    "euler": euler.euler,
    "euler_ancestral": euler.euler_ancestral,
    "heun": euler.heun,
    "dpm_2": euler.dpm_2,
    "dpm_2_ancestral": euler.dpm_2_ancestral,
    "lms": euler.lms,
    "dpmpp_2s_ancestral": dpm.dpmpp_2s_ancestral,
    "dpmpp_sde": dpm.dpmpp_sde,
    "dpmpp_2m": dpm.dpmpp_2m,
    "dpmpp_2m_sde": dpm.dpmpp_2m_sde,
    "dpmpp_3m_sde": dpm.dpmpp_3m_sde,
    # Without noise of its own it is Euler's step: Song et al. 2020, arXiv:2010.02502, section 4.3.
    "ddim": euler.euler,
    "ddpm": discrete.ddpm,
    "lcm": discrete.lcm,
    "uni_pc": unipc.uni_pc,
}
_ON_A_PATH = ("dpmpp_sde", "dpmpp_2m_sde", "dpmpp_3m_sde")
_TWICE = ("heun", "dpm_2", "dpm_2_ancestral", "dpmpp_2s_ancestral", "dpmpp_sde")


def sample(name: str, x: Floats, way: Way) -> Floats:
    """Take x, a latent with noise of the first level, along its way; gives it at the last level."""
    if len(way.sigmas) < 2:
        return x
    return _BY_NAME[name](x, way)


def noise_source(
    name: str, seed: int, shape: tuple[int, ...], sigmas: Sequence[float]
) -> NoiseSource:
    """Give the noise that a sampler adds, as ComfyUI draws it; the SDE's is that of one path.

    sigmas  the levels of the way
    """
    return BrownianTree(seed, shape, sigmas) if name in _ON_A_PATH else Ancestral(seed, shape)


def calls(name: str, sigmas: Floats) -> int:
    """Count the times that a sampler asks the denoiser on its way."""
    steps = max(0, len(sigmas) - 1)
    if name not in _TWICE or not steps:
        return steps
    return 2 * steps - int(sigmas[-1] == 0)
