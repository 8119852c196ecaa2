"""Whole samplings, from prediction to picture, against diffusers' schedulers step by step.

The same function stands for the UNet and the same seed for the noise; the schedulers work in their
own space (variance preserving, except Euler's) and know nothing of denoisers or guidance.

    ours           theirs                    predictions
    euler          EulerDiscreteScheduler    epsilon, v, v with zero SNR
    ddim           DDIMScheduler             epsilon, v, v with zero SNR
    ddpm           DDPMScheduler             epsilon, v, v with zero SNR
    dpmpp_2m       DPMSolverMultistep        epsilon, v
    dpmpp_2m_sde   DPMSolverMultistep        epsilon, v
    uni_pc         UniPCMultistepScheduler   epsilon, v
    lcm            LCMScheduler              epsilon, with the boundary conditions
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.nodes.sampling.k_diffusion import imported
from vinode.graph.diffusion import DiffusionModel, NoiseSchedule, Prediction, Prompt
from vinode.graph.values import ModelPart
from vinode.nodes.algorithms.sampling.arrays import Floats
from vinode.nodes.algorithms.sampling.guidance import Denoiser, Guidance
from vinode.nodes.algorithms.sampling.levels import alphas, levels_of
from vinode.nodes.algorithms.sampling.normal import Generator
from vinode.nodes.algorithms.sampling.samplers import sample
from vinode.nodes.algorithms.sampling.way import Way

# diffusers' schedulers hand tensors to NumPy in a way that NumPy warns of.
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:__array__:DeprecationWarning")]

SHAPE = (2, 4, 8, 8)
SEED = 77
PROMPTS = (Prompt(np.zeros((1, 77, 1), np.float32)),)
BETAS = {"beta_start": 0.00085, "beta_end": 0.012, "beta_schedule": "scaled_linear"}
CASES: list[tuple[Prediction, bool]] = [
    ("epsilon", False),
    ("v_prediction", False),
    ("v_prediction", True),
]


def unet(x: Any, timestep: float, tanh: Any) -> Any:
    """Predict by a smooth function that no solver finds easy."""
    return 0.8 * tanh(x * (1 + 0.3 * math.sin(timestep / 100))) + 0.1 * x


@dataclass(frozen=True, slots=True)
class Case:
    """A model and the timesteps that are gone through; after the last comes the picture."""

    model: DiffusionModel
    timesteps: tuple[int, ...]

    @property
    def sigmas(self) -> Floats:
        """Give their levels, and 0."""
        kept = alphas(self.model.schedule)[list(self.timesteps)]
        return np.append(np.sqrt((1 - kept) / kept), 0).astype(np.float32)


def case(
    timesteps: Sequence[int],
    prediction: Prediction = "epsilon",
    zero_snr: bool = False,
    distilled: int = 0,
) -> Case:
    """Give a case; the model's IR is never opened."""
    part, schedule = ModelPart("none", Path(), "", 0), NoiseSchedule(zero_snr=zero_snr)
    model = DiffusionModel(part, "sd1", prediction, schedule, distilled_steps=distilled)
    return Case(model, tuple(int(step) for step in timesteps))


def ours(name: str, given: Case) -> Floats:
    """Sample with our code, from a prediction on."""

    def predict(samples: Floats, timestep: float, contexts: Sequence[Floats]) -> list[Floats]:
        return [np.asarray(unet(samples, timestep, np.tanh), np.float32)]

    generator = Generator(SEED)

    def noise(sigma: float, following: float) -> Floats:
        return generator.normal(*SHAPE)

    levels = levels_of(given.model)
    denoiser = Denoiser(given.model, levels, predict, Guidance(PROMPTS, (), 1.0))
    sigmas = tuple(float(sigma) for sigma in given.sigmas)
    x: Floats = Generator(1).normal(*SHAPE) * np.float32(math.sqrt(1 + sigmas[0] ** 2))
    return sample(name, x, Way(sigmas, denoiser, noise))


def theirs(scheduler: Any, given: Case, **options: Any) -> Floats:
    """Sample with a scheduler of diffusers that has its timesteps already."""
    torch = imported("torch")
    x = torch.from_numpy(Generator(1).normal(*SHAPE)) * scheduler.init_noise_sigma
    for step, timestep in enumerate(scheduler.timesteps):
        scaled = scheduler.scale_model_input(x, timestep)
        answer = unet(scaled, float(given.timesteps[step]), torch.tanh)
        x = scheduler.step(answer, timestep, x, **options).prev_sample
    result: Floats = x.numpy()
    return result


def seeded() -> dict[str, Any]:
    """Give the generator whose noise ours is to the bit."""
    return {"generator": imported("torch").Generator().manual_seed(SEED)}


def scheduler_of(name: str, given: Case, **options: Any) -> Any:
    """Make one with the model's own levels; diffusers' zero SNR ends in a level of its own."""
    torch = imported("torch")
    scheduler = getattr(imported("diffusers"), name)(
        **BETAS, prediction_type=given.model.prediction, **options
    )
    scheduler.alphas_cumprod = torch.from_numpy(alphas(given.model.schedule))
    return scheduler


def check(name: str, given: Case, expected: Floats) -> None:
    """Compare, to 1e-4 of the picture's deviation."""
    answer = ours(name, given)
    assert float(expected.std()) > 0.1
    assert float(np.abs(answer - expected).max()) < 1e-4 * float(expected.std())


TRAILING = range(999, 0, -50)


@pytest.mark.parametrize(("prediction", "zero_snr"), CASES)
def test_ddim(prediction: Prediction, zero_snr: bool) -> None:
    """From the last timestep on, as zero SNR needs it."""
    given = case(TRAILING, prediction, zero_snr)
    scheduler = scheduler_of("DDIMScheduler", given, clip_sample=False, timestep_spacing="trailing")
    scheduler.set_timesteps(20)
    assert scheduler.timesteps.tolist() == list(given.timesteps)
    check("ddim", given, theirs(scheduler, given))


@pytest.mark.parametrize(("prediction", "zero_snr"), CASES)
def test_ddpm(prediction: Prediction, zero_snr: bool) -> None:
    """With the noise of the same seed."""
    given = case(TRAILING, prediction, zero_snr)
    scheduler = scheduler_of("DDPMScheduler", given, clip_sample=False, timestep_spacing="trailing")
    scheduler.set_timesteps(20)
    check("ddpm", given, theirs(scheduler, given, **seeded()))


@pytest.mark.parametrize(("prediction", "zero_snr"), CASES)
def test_euler(prediction: Prediction, zero_snr: bool) -> None:
    """At the same levels; "leading" begins with a variance of 1 + sigma^2, as ours does."""
    given = case(TRAILING, prediction, zero_snr)
    scheduler = scheduler_of("EulerDiscreteScheduler", given, timestep_spacing="leading")
    scheduler.set_timesteps(20)
    _set_sigmas(scheduler, given)
    scheduler.timesteps = scheduler.timesteps.float()  # whole ones are refused as indices
    check("euler", given, theirs(scheduler, given))


def _set_sigmas(scheduler: Any, given: Case) -> None:
    torch = imported("torch")
    scheduler.sigmas = torch.from_numpy(given.sigmas)
    scheduler.timesteps = torch.tensor(given.timesteps)


@pytest.mark.parametrize("prediction", ["epsilon", "v_prediction"])
@pytest.mark.parametrize(
    ("name", "algorithm"), [("dpmpp_2m", "dpmsolver++"), ("dpmpp_2m_sde", "sde-dpmsolver++")]
)
def test_dpm_solver(name: str, algorithm: str, prediction: Prediction) -> None:
    """The last step is of the first order, in both."""
    given = case(TRAILING, prediction)
    scheduler = scheduler_of(
        "DPMSolverMultistepScheduler",
        given,
        algorithm_type=algorithm,
        euler_at_final=True,
        final_sigmas_type="zero",
    )
    scheduler.set_timesteps(20)
    _set_sigmas(scheduler, given)
    options = seeded() if "sde" in name else {}
    check(name, given, theirs(scheduler, given, **options))


@pytest.mark.parametrize("prediction", ["epsilon", "v_prediction"])
def test_uni_pc(prediction: Prediction) -> None:
    """Of the third order, with B(h) = h; 0.001 stands for the last level."""
    given = case(TRAILING, prediction)
    scheduler = scheduler_of(
        "UniPCMultistepScheduler",
        given,
        solver_order=3,
        solver_type="bh1",
        final_sigmas_type="zero",
    )
    scheduler.set_timesteps(20)
    _set_sigmas(scheduler, given)
    scheduler.sigmas[-1] = 1e-3
    check("uni_pc", given, theirs(scheduler, given))


@pytest.mark.parametrize("steps", [1, 4, 8])
def test_lcm(steps: int) -> None:
    """Of a model distilled to 50 steps."""
    made = imported("diffusers").LCMScheduler(**BETAS, original_inference_steps=50)
    made.set_timesteps(steps)
    given = case(made.timesteps.tolist(), distilled=50)
    check("lcm", given, theirs(made, given, **seeded()))


@pytest.mark.parametrize("beta_schedule", ["scaled_linear", "linear"])
def test_levels(beta_schedule: Any) -> None:
    """As trained; with zero SNR all but the last, which each sets to a little above nothing."""
    options = {**BETAS, "beta_schedule": beta_schedule}
    made = imported("diffusers").DDPMScheduler
    for zero_snr in (False, True):
        expected = made(**options, rescale_betas_zero_snr=zero_snr).alphas_cumprod.numpy()
        given = alphas(NoiseSchedule(beta_schedule=beta_schedule, zero_snr=zero_snr))
        np.testing.assert_allclose(given[:-1], expected[:-1], rtol=1e-3 if zero_snr else 1e-4)
        np.testing.assert_allclose(given, expected, atol=3e-6)
