"""From predictions to clean latents: models that predict exactly what they should."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vinode.graph.diffusion import DiffusionModel, NoiseSchedule, Prediction, Prompt
from vinode.graph.errors import NodeError
from vinode.graph.values import ModelPart
from vinode.nodes.algorithms.sampling.arrays import Floats
from vinode.nodes.algorithms.sampling.guidance import Denoiser, Guidance, Kept, together
from vinode.nodes.algorithms.sampling.levels import levels_of
from vinode.nodes.algorithms.sampling.normal import Generator

SHAPE = (2, 4, 8, 8)
NOISE, CLEAN = Generator(1).normal(*SHAPE), Generator(2).normal(*SHAPE)
PLAIN = DiffusionModel(ModelPart("none", Path(), "", 0), "sd1")


def prompt(value: float, tokens: int = 77, **options: Any) -> Prompt:
    """Give a prompt all of whose numbers are one."""
    return Prompt(np.full((1, tokens, 3), value, np.float32), options)


class Model:
    """Predicts the truth, times the prompt's number; remembers what it was given."""

    def __init__(self, prediction: Prediction, sigma: float) -> None:
        kept = 1 / math.sqrt(1 + sigma**2)
        velocity = NOISE * kept - CLEAN * (sigma * kept)
        self.truth: Floats = NOISE if prediction == "epsilon" else velocity
        self.given: list[tuple[Floats, float, list[Floats]]] = []

    def __call__(
        self, samples: Floats, timestep: float, contexts: Sequence[Floats]
    ) -> list[Floats]:
        """Answer for each prompt."""
        self.given.append((samples, timestep, list(contexts)))
        return [self.truth * float(context.mean()) for context in contexts]


def denoiser(model: Model, handle: DiffusionModel, scale: float = 1.0, **more: Any) -> Denoiser:
    """Give a denoiser with the prompts 1, the truth, and 0."""
    guidance = Guidance((prompt(1),), (prompt(0),), scale, handle.rescale)
    return Denoiser(handle, levels_of(handle), model, guidance, **more)


@pytest.mark.parametrize("prediction", ["epsilon", "v_prediction"])
@pytest.mark.parametrize("zero_snr", [False, True])
@pytest.mark.parametrize("step", [0, 500, 998])
def test_true_predictions_give_the_clean_latent(
    prediction: Prediction, zero_snr: bool, step: int
) -> None:
    """And the model is given a latent of variance 1 if the picture's is, and the timestep."""
    handle = replace(PLAIN, prediction=prediction, schedule=NoiseSchedule(zero_snr=zero_snr))
    sigma = levels_of(handle).sigma(step)
    model = Model(prediction, sigma)
    given = denoiser(model, handle)(CLEAN + NOISE * sigma, sigma)
    np.testing.assert_allclose(given, CLEAN, atol=2e-6 * (1 + sigma))
    ((samples, timestep, contexts),) = model.given
    assert timestep == step
    assert len(contexts) == 1
    assert float(samples.std()) == pytest.approx(1, abs=0.1)


def test_v_prediction_keeps_its_digits_where_all_is_noise() -> None:
    """At sigma 4518 epsilon loses three digits; v gives the picture almost directly."""
    handle = replace(PLAIN, prediction="v_prediction", schedule=NoiseSchedule(zero_snr=True))
    sigma = levels_of(handle).largest
    given = denoiser(Model("v_prediction", sigma), handle)(CLEAN + NOISE * sigma, sigma)
    np.testing.assert_allclose(given, CLEAN, atol=1e-3)


def test_a_scale_of_1_leaves_the_negative_prompt_out() -> None:
    """Exactly 1; any other asks for both in one go, and goes beyond."""
    sigma = 2.0
    x = CLEAN + NOISE * sigma
    single, both = Model("epsilon", sigma), Model("epsilon", sigma)
    alone = denoiser(single, PLAIN)(x, sigma)
    guided = denoiser(both, PLAIN, 3.0)(x, sigma)
    assert [len(contexts) for _, _, contexts in single.given + both.given] == [1, 2]
    np.testing.assert_allclose(guided, x + 3 * (alone - x), atol=1e-5)


def test_a_scale_of_0_leaves_the_positive_prompt_out() -> None:
    """The same as both would give; where the deviation is rescaled both are needed."""
    sigma, x = 2.0, CLEAN + NOISE * 2
    model = Model("epsilon", sigma)
    given = denoiser(model, PLAIN, 0.0)(x, sigma)
    denoiser(model, replace(PLAIN, rescale=0.5), 0.0)(x, sigma)
    assert [len(contexts) for _, _, contexts in model.given] == [1, 2]
    np.testing.assert_allclose(given, x - 0 * NOISE, atol=1e-6)


def test_prompts_are_averaged() -> None:
    """Of 1 and 3 comes what 2 would give."""
    sigma = 2.0
    x = CLEAN + NOISE * sigma
    several = Guidance((prompt(1), prompt(3)), (), 5.0)
    given = Denoiser(PLAIN, levels_of(PLAIN), Model("epsilon", sigma), several)(x, sigma)
    np.testing.assert_allclose(given, x - 2 * sigma * NOISE, atol=1e-5)


def test_rescaling_brings_the_deviation_back() -> None:
    """All of it with 1: v then deviates as the positive's; Lin et al. 2023, equation 15 and 16."""
    sigma = 3.0
    x, root = CLEAN + NOISE * sigma, math.sqrt(1 + sigma**2)

    def velocity(rescale: float, scale: float) -> Floats:
        handle = replace(PLAIN, prediction="v_prediction", rescale=rescale)
        guidance = Guidance((prompt(1),), (prompt(-0.5),), scale, rescale)
        model = Model("v_prediction", sigma)
        clean = Denoiser(handle, levels_of(handle), model, guidance)(x, sigma)
        return (x / root**2 - clean) * (root / sigma)

    positive, strong = velocity(0, 1.0).std((1, 2, 3)), velocity(0, 7.0).std((1, 2, 3))
    assert (strong > 5 * positive).all()
    np.testing.assert_allclose(velocity(1, 7.0).std((1, 2, 3)), positive, rtol=1e-4)
    half = velocity(0.5, 7.0).std((1, 2, 3))
    np.testing.assert_allclose(half, (positive + strong) / 2, rtol=1e-4)


def test_contexts_get_one_length_by_repeating() -> None:
    """To the least common multiple, 462 of 154 and 231; and a row a picture."""
    rows = np.arange(154, dtype=np.float32)[None, :, None]
    short, long = together([rows, np.ones((2, 231, 1), np.float32)], 2)
    assert short.shape == long.shape == (2, 462, 1)
    assert np.array_equal(short[1, :, 0], np.tile(np.arange(154), 3))


def test_what_is_kept_stays_and_is_shown_with_its_noise() -> None:
    """Where the mask is 0 the model sees the old picture with the first noise."""
    sigma = 2.0
    mask = np.zeros((1, 1, 8, 8), np.float32)
    mask[..., 4:] = 1
    old = Kept(CLEAN + 5, NOISE, mask)
    model = Model("epsilon", sigma)
    given = denoiser(model, PLAIN, kept=old)(np.full(SHAPE, 9, np.float32), sigma)
    np.testing.assert_allclose(given[..., :4], old.latent[..., :4], atol=1e-6)
    assert float(np.abs(given[..., 4:] - old.latent[..., 4:]).min()) > 0
    shown = model.given[0][0] * math.sqrt(1 + sigma**2)
    np.testing.assert_allclose(shown[..., :4], (old.latent + NOISE * sigma)[..., :4], atol=1e-5)
    np.testing.assert_allclose(shown[..., 4:], 9, atol=1e-5)


INPAINTING = replace(PLAIN, in_channels=9)


def shown(options: dict[str, Any], **more: Any) -> Floats:
    """Give mask and picture that an inpainting model is given."""
    model = Model("epsilon", 2.0)
    guidance = Guidance((prompt(1, **options),), (), 1.0)
    Denoiser(INPAINTING, levels_of(INPAINTING), model, guidance, **more)(CLEAN, 2.0)
    return model.given[0][0][:, 4:]


def test_an_inpainting_model_sees_mask_and_picture() -> None:
    """The mask in cells, 0 or 1; the picture times the model's factor."""
    mask = np.full((1, 1, 64, 64), 0.3, np.float32)
    mask[:, :, 32:] = 0.7
    picture = np.ones((1, 4, 8, 8), np.float32)
    extra = shown({"concat_latent": picture, "concat_mask": mask})
    assert (extra[:, 0, :4] == 0).all()
    assert (extra[:, 0, 4:] == 1).all()
    np.testing.assert_allclose(extra[:, 1:], INPAINTING.latent_factor, rtol=1e-6)


def test_an_inpainting_model_sees_what_is_kept() -> None:
    """A latent's noise mask, where the prompt has no picture; else all is to be painted."""
    mask = np.zeros((2, 1, 8, 8), np.float32)
    mask[..., 4:] = 0.8
    extra = shown({}, kept=Kept(CLEAN, NOISE, mask))
    assert np.array_equal(extra[:, :1], np.rint(mask))
    assert np.array_equal(extra[:, 1:], CLEAN)
    grey = shown({})
    assert (grey[:, 0] == 1).all()
    assert grey[0, 1:, 0, 0] == pytest.approx([0.8223, -0.6876, 0.6364, 0.138])


def test_a_picture_of_another_size_is_refused() -> None:
    """In one sentence with a fix."""
    options = {
        "concat_latent": np.ones((1, 4, 16, 8), np.float32),
        "concat_mask": np.ones((1, 1, 64, 64), np.float32),
    }
    with pytest.raises(NodeError, match=r"size of the latent, \(4, 8, 8\); got \(4, 16, 8\)"):
        shown(options)
