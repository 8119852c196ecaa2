"""Every sampler against its published algorithm: the same model function, the same noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.nodes.sampling.k_diffusion import imported, sampling
from vinode.graph.diffusion import DiffusionModel, NoiseSchedule, Prediction
from vinode.graph.values import ModelPart
from vinode.nodes.algorithms.sampling.arrays import Floats
from vinode.nodes.algorithms.sampling.levels import levels_of
from vinode.nodes.algorithms.sampling.normal import Generator
from vinode.nodes.algorithms.sampling.samplers import sample
from vinode.nodes.algorithms.sampling.schedule import sigmas_for
from vinode.nodes.algorithms.sampling.way import Way

# diffusers' schedulers hand tensors to NumPy in a way that NumPy warns of.
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:__array__:DeprecationWarning")]

SHAPE = (2, 4, 8, 8)
TORCH, DIFFUSERS = partial(imported, "torch"), partial(imported, "diffusers")


def model_of(prediction: Prediction = "epsilon", zero_snr: bool = False) -> DiffusionModel:
    """Give a handle whose IR is never opened: only its noise levels matter here."""
    part = ModelPart("none", __file__, "", 0)  # type: ignore[arg-type]
    return DiffusionModel(part, "sd1", prediction, NoiseSchedule(zero_snr=zero_snr))


def curved(x: Any, sigma: float, tanh: Callable[[Any], Any]) -> Any:
    """Denoise by a smooth function that is neither linear nor the same in every level."""
    scale = math.sqrt(sigma**2 + 1)
    return tanh(x / scale * (1 + 0.3 * math.sin(sigma))) * 0.9 + 0.05 * x / (1 + sigma)


class Noises:
    """The same noise for ours and theirs, stretch by stretch."""

    def __init__(self) -> None:
        self.generator = Generator(77)

    def __call__(self, sigma: float = 0, following: float = 0) -> Floats:
        """Draw the next."""
        return self.generator.normal(*SHAPE)

    def as_tensor(self, sigma: object, following: object) -> Any:
        """Draw the next, for theirs."""
        return TORCH().from_numpy(self())


REFERENCES = {
    "euler": "sample_euler",
    "euler_ancestral": "sample_euler_ancestral",
    "heun": "sample_heun",
    "dpm_2": "sample_dpm_2",
    "dpm_2_ancestral": "sample_dpm_2_ancestral",
    "dpmpp_2s_ancestral": "sample_dpmpp_2s_ancestral",
    "dpmpp_sde": "sample_dpmpp_sde",
    "dpmpp_2m": "sample_dpmpp_2m",
    "dpmpp_2m_sde": "sample_dpmpp_2m_sde",
    "dpmpp_3m_sde": "sample_dpmpp_3m_sde",
    "lms": "sample_lms",
}
MODELS = [("epsilon", False), ("v_prediction", False), ("v_prediction", True)]


def begun(sigmas: Floats, double: bool = False) -> Floats:
    """Give noise of the first level. With zero SNR that is 4518, and float32 costs three digits."""
    noise = Generator(1).normal(*SHAPE) * float(sigmas[0])
    return noise.astype(np.float64) if double else noise


def ours(name: str, sigmas: Floats, double: bool = False) -> Floats:
    """Sample with our code."""

    def denoise(x: Floats, sigma: float) -> Floats:
        answer: Floats = curved(x, sigma, np.tanh)
        return answer

    levels = tuple(float(sigma) for sigma in sigmas)
    return sample(name, begun(sigmas, double), Way(levels, denoise, Noises()))


@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.parametrize("scheduler", ["karras", "normal", "simple"])
@pytest.mark.parametrize(("prediction", "zero_snr"), MODELS)
def test_samplers_of_k_diffusion(
    name: str, scheduler: str, prediction: Prediction, zero_snr: bool
) -> None:
    """To 1e-4 of the picture's deviation. lms: without the last step, which ours takes at once."""
    levels = levels_of(model_of(prediction, zero_snr))
    sigmas = sigmas_for(scheduler, name, levels, 12)
    if name == "lms":
        sigmas = sigmas[:-1]
    given = ours(name, sigmas, zero_snr)

    def denoise(x: Any, sigma: Any, **options: Any) -> Any:
        return curved(x, float(sigma[0]), TORCH().tanh)

    x = TORCH().from_numpy(begun(sigmas, zero_snr))
    noises = Noises()
    options: dict[str, Any] = {"disable": True}
    if "ancestral" in name or "sde" in name:
        options["noise_sampler"] = noises.as_tensor
    published = getattr(sampling(), REFERENCES[name])
    expected = published(
        denoise, x, TORCH().from_numpy(sigmas.astype(x.numpy().dtype)), **options
    ).numpy()
    assert np.abs(given - expected).max() < 1e-4 * expected.std()


def published_unipc(sigmas: Floats, x: Floats) -> Floats:
    """Sample with diffusers' UniPC, which has its own way to name levels."""
    scheduler = DIFFUSERS().UniPCMultistepScheduler(
        beta_start=0.00085,
        beta_end=0.012,
        beta_schedule="scaled_linear",
        solver_order=3,
        solver_type="bh1",
        prediction_type="sample",
        final_sigmas_type="zero",
    )
    scheduler.set_timesteps(len(sigmas) - 1)
    scheduler.sigmas = TORCH().from_numpy(np.append(sigmas[:-1], np.float32(1e-3)))
    latent = TORCH().from_numpy(x)
    for step, timestep in enumerate(scheduler.timesteps):
        sigma = float(sigmas[step])
        clean = curved(latent * math.sqrt(1 + sigma**2), sigma, TORCH().tanh)
        latent = scheduler.step(clean, timestep, latent).prev_sample
    answer: Floats = latent.numpy() * math.sqrt(1 + 1e-6)
    return answer


@pytest.mark.parametrize("steps", [3, 4, 12])
def test_unipc_of_diffusers(steps: int) -> None:
    """Order 3, lower at both ends."""
    sigmas = sigmas_for("karras", "euler", levels_of(model_of()), steps)
    x = Generator(1).normal(*SHAPE) * float(sigmas[0])
    expected = published_unipc(sigmas, x / math.sqrt(1 + float(sigmas[0]) ** 2))
    given = ours("uni_pc", sigmas)
    assert np.abs(given - expected).max() < 1e-4 * expected.std()


def test_ddpm_of_diffusers() -> None:
    """All 1000 steps' posterior, here every 50th."""
    scheduler = DIFFUSERS().DDPMScheduler(
        beta_start=0.00085,
        beta_end=0.012,
        beta_schedule="scaled_linear",
        prediction_type="sample",
        clip_sample=False,
        variance_type="fixed_small",
        timestep_spacing="linspace",
    )
    kept = scheduler.alphas_cumprod.numpy()
    timesteps = np.arange(950, -1, -50)
    sigmas = np.append(np.sqrt((1 - kept[timesteps]) / kept[timesteps]), 0).astype(np.float32)
    given = ours("ddpm", sigmas)
    noises = Noises()
    x = Generator(1).normal(*SHAPE) * float(sigmas[0]) / math.sqrt(1 + float(sigmas[0]) ** 2)
    latent = TORCH().from_numpy(x.astype(np.float32))
    for step, timestep in enumerate(timesteps):
        sigma, following = float(sigmas[step]), float(sigmas[step + 1])
        clean = curved(latent * math.sqrt(1 + sigma**2), sigma, TORCH().tanh)
        latent = posterior(latent, clean, sigma, following)
        if following > 0:
            before = timesteps[step + 1]
            variance = (
                (1 - kept[before]) / (1 - kept[timestep]) * (1 - kept[timestep] / kept[before])
            )
            latent = latent + TORCH().from_numpy(noises()) * math.sqrt(variance)
    assert np.abs(given - latent.numpy()).max() < 1e-4 * float(latent.std())


def posterior(latent: Any, clean: Any, sigma: float, following: float) -> Any:
    """Give the mean of Ho et al. 2020, equation 7, for steps that may be several at once."""
    kept, kept_before = 1 / (1 + sigma**2), 1 / (1 + following**2)
    alpha = kept / kept_before
    of_clean = math.sqrt(kept_before) * (1 - alpha) / (1 - kept)
    of_latent = math.sqrt(alpha) * (1 - kept_before) / (1 - kept)
    return of_clean * clean + of_latent * latent


def test_lcm_of_diffusers() -> None:
    """Multistep consistency sampling: the clean latent, and noise to the next level."""
    scheduler = DIFFUSERS().LCMScheduler(
        beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear",
        prediction_type="sample", original_inference_steps=50,
    )  # fmt: skip
    scheduler.set_timesteps(4)
    kept = scheduler.alphas_cumprod.numpy()
    timesteps = scheduler.timesteps.numpy()
    sigmas = np.append(np.sqrt((1 - kept[timesteps]) / kept[timesteps]), 0).astype(np.float32)
    given = ours("lcm", sigmas)
    noises = Noises()
    x = Generator(1).normal(*SHAPE) * float(sigmas[0])
    for step in range(4):
        sigma, following = float(sigmas[step]), float(sigmas[step + 1])
        x = curved(TORCH().from_numpy(np.asarray(x, np.float32)), sigma, TORCH().tanh).numpy()
        if following > 0:
            x = x + noises() * following
    assert np.abs(given - x).max() < 1e-4 * float(x.std())
