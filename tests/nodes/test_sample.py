"""Samplers through the engine, on a model whose answers are exact."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.graph.engine import Nodes, Ran
from tests.nodes.shelf import with_shelf
from tests.nodes.small_diffusion import gaussian_unet
from vinode.graph.diffusion import Conditioning, Latent, Prediction, Prompt
from vinode.graph.events import NodeProgress
from vinode.graph.pool import Pool
from vinode.nodes import latent as latent_nodes
from vinode.nodes import model_patches, sample, sigmas

SHELF: dict[str, tuple[str, dict[str, Any]]] = {
    "model": ("ShelfModel", {}),
    "yes": ("ShelfConditioning", {"name": "positive"}),
    "no": ("ShelfConditioning", {"name": "negative"}),
    "latent": ("ShelfLatent", {}),
}
LINKS: dict[str, Any] = {
    "model": ["model", 0],
    "positive": ["yes", 0],
    "negative": ["no", 0],
    "latent_image": ["latent", 0],
}


def prompt(mean: float, tokens: int = 77, width: int = 8) -> Conditioning:
    """Give a prompt whose picture is of this mean."""
    return Conditioning((Prompt(np.full((1, tokens, width), mean, np.float32)),))


def zeros(*shape: int) -> Latent:
    """Give an empty latent."""
    return Latent(np.zeros(shape, np.float32))


def run(nodes: Nodes, folder: Path, **given: Any) -> Ran:
    """Run the node `x`."""
    values: dict[str, Any] = {
        "model": given.get("model") or gaussian_unet(folder),
        "positive": prompt(1.0),
        "negative": prompt(-1.0),
        "latent": zeros(1, 4, 16, 16),
        **given,
    }
    modules = (latent_nodes, model_patches, sample, sigmas)
    engine = with_shelf(*modules, **values)
    engine.precision = "f32"  # CPUs with bf16 would else round the timestep to it
    return engine.run({**SHELF, **nodes}, ["x"], devices=dict.fromkeys(nodes, "CPU"))


def latent_of(ran: Ran, slot: int = 0) -> Latent:
    """Give what `x` drew."""
    assert ran.outcome.status == "done", ran.outcome.faults
    value = ran.value("x", slot)
    assert isinstance(value, Latent)
    return value


def ksampler(**inputs: Any) -> Nodes:
    """Give a KSampler of 20 steps as the node `x`."""
    defaults: dict[str, Any] = {"seed": 5, "steps": 20, "cfg": 1.0, "scheduler": "karras"}
    return {"x": ("KSampler", {**LINKS, **defaults, **inputs})}


@pytest.mark.parametrize("prediction", ["epsilon", "v_prediction"])
@pytest.mark.parametrize("cfg", [1.0, 2.0])
def test_pictures_are_what_the_prompts_say(
    tmp_path: Path, prediction: Prediction, cfg: float
) -> None:
    """Mean 1 with the positive prompt alone, 3 with guidance of 2 away from -1; deviation 1."""
    model = gaussian_unet(tmp_path, prediction)
    drawn = latent_of(run(ksampler(cfg=cfg), tmp_path, model=model))
    values = drawn.samples * np.float32(model.latent_factor)
    assert float(values.mean()) == pytest.approx(1 if cfg == 1 else 3, abs=0.2)
    assert float(values.std()) == pytest.approx(1, abs=0.15)


def test_a_seed_of_64_bits_draws_the_same_again(tmp_path: Path) -> None:
    """And another seed another picture."""
    seeds = (2**64 - 1, 2**64 - 1, 7)
    first, second, other = (latent_of(run(ksampler(seed=seed), tmp_path)).samples for seed in seeds)
    assert np.array_equal(first, second)
    assert not np.allclose(first, other)


def test_halves_apart_give_the_same_picture(tmp_path: Path) -> None:
    """As on an NPU: a call a prompt and picture, instead of one for all."""
    values = {"latent": zeros(2, 4, 8, 8)}
    engine_values = {**values, "model": gaussian_unet(tmp_path)}
    together = latent_of(run(ksampler(cfg=3.0), tmp_path, **engine_values))
    modules = (latent_nodes, sample)
    engine = with_shelf(*modules, **engine_values, positive=prompt(1.0), negative=prompt(-1.0))
    engine.pool, engine.precision = Pool(simulate=True), "f32"
    ran = engine.run({**SHELF, **ksampler(cfg=3.0)}, ["x"], devices={"x": "NPUSIM_CPU"})
    np.testing.assert_allclose(latent_of(ran).samples, together.samples, atol=1e-4)


def test_denoise_keeps_of_a_picture(tmp_path: Path) -> None:
    """Less noise, nearer to what it was; none at all gives it back."""
    old = Latent(np.full((1, 4, 16, 16), 20.0, np.float32))
    distances = [
        float(
            np.abs(
                latent_of(run(ksampler(denoise=share), tmp_path, latent=old)).samples - 20
            ).mean()
        )
        for share in (0.0, 0.2, 0.6, 1.0)
    ]
    assert distances[0] == 0
    assert distances == sorted(distances)


def test_what_is_masked_out_stays(tmp_path: Path) -> None:
    """To the bit of float32; the rest is drawn anew."""
    mask = np.zeros((1, 16, 16), np.float32)
    mask[:, :, 8:] = 1
    old = Latent(np.full((1, 4, 16, 16), 3.0, np.float32), mask)
    drawn = latent_of(run(ksampler(), tmp_path, latent=old))
    np.testing.assert_allclose(drawn.samples[..., :8], 3.0, atol=1e-5)
    assert float(drawn.samples[..., 8:].std()) > 1
    assert drawn.noise_mask is not None


def test_pictures_of_a_batch_keep_their_noise(tmp_path: Path) -> None:
    """Number 2 of a batch alone is what it was in a batch of three, given their indices."""
    several = Latent(np.zeros((3, 4, 8, 8), np.float32), indices=(0, 1, 2))
    alone = Latent(np.zeros((1, 4, 8, 8), np.float32), indices=(2,))
    first = latent_of(run(ksampler(), tmp_path, latent=several)).samples[2]
    second = latent_of(run(ksampler(), tmp_path, latent=alone)).samples[0]
    np.testing.assert_allclose(first, second, atol=1e-4)


def test_a_way_in_two_parts_is_the_whole(tmp_path: Path) -> None:
    """The first leaves the noise, the second adds none."""
    whole = latent_of(run(ksampler(cfg=2.0), tmp_path))
    shared: dict[str, Any] = {
        **LINKS,
        "noise_seed": 5,
        "steps": 20,
        "cfg": 2.0,
        "scheduler": "karras",
    }
    first = {**shared, "end_at_step": 8, "return_with_leftover_noise": "enable"}
    second = {**shared, "add_noise": "disable", "start_at_step": 8, "latent_image": ["a", 0]}
    nodes: Nodes = {"a": ("KSamplerAdvanced", first), "x": ("KSamplerAdvanced", second)}
    np.testing.assert_allclose(latent_of(run(nodes, tmp_path)).samples, whole.samples, atol=1e-4)


def test_the_custom_sampler_is_the_plain_one(tmp_path: Path) -> None:
    """With the same levels; its second output is the clean latent."""
    plain = latent_of(run(ksampler(cfg=2.0, scheduler="normal"), tmp_path))
    custom = {
        **LINKS,
        "noise_seed": 5,
        "cfg": 2.0,
        "sampler": ["how", 0],
        "sigmas": ["way", 0],
    }
    nodes: Nodes = {
        "how": ("KSamplerSelect", {"sampler_name": "euler"}),
        "way": ("BasicScheduler", {"model": ["model", 0], "scheduler": "normal", "steps": 20}),
        "x": ("SamplerCustom", custom),
    }
    ran = run(nodes, tmp_path)
    assert np.array_equal(latent_of(ran).samples, plain.samples)
    np.testing.assert_allclose(latent_of(ran, 1).samples, plain.samples, atol=1e-4)


def test_an_empty_latent_of_another_family_is_made_anew(tmp_path: Path) -> None:
    """EmptyLatentImage knows no model: 8 pixels a cell becomes 4."""
    model = replace(gaussian_unet(tmp_path), scale=4)
    drawn = latent_of(run(ksampler(), tmp_path, model=model, latent=zeros(1, 4, 8, 8)))
    assert (drawn.samples.shape, drawn.scale) == ((1, 4, 16, 16), 4)


def test_an_inpainting_model_is_given_the_picture(tmp_path: Path) -> None:
    """Nine channels: latent, mask, emptied picture; without a picture all is painted."""
    model = gaussian_unet(tmp_path, in_channels=9)
    options = {
        "concat_latent": np.ones((1, 4, 16, 16), np.float32),
        "concat_mask": np.ones((1, 1, 128, 128), np.float32),
    }
    filled = Conditioning((Prompt(np.ones((1, 77, 8), np.float32), options),))
    for given in (filled, prompt(1.0)):
        drawn = latent_of(run(ksampler(), tmp_path, model=model, positive=given))
        assert drawn.samples.shape == (1, 4, 16, 16)


def test_prompts_of_several_lengths_fit_together(tmp_path: Path) -> None:
    """77 and 154 tokens; a mean over a context twice is the mean over it once."""
    drawn = latent_of(run(ksampler(cfg=2.0), tmp_path, positive=prompt(1.0, tokens=154)))
    plain = latent_of(run(ksampler(cfg=2.0), tmp_path))
    np.testing.assert_allclose(drawn.samples, plain.samples, atol=1e-3)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "prompts of another model": (
        {"positive": prompt(1.0, width=16)},
        "takes prompts of width 8",
    ),
    "a picture of another family": (
        {"latent": Latent(np.ones((1, 16, 8, 8), np.float32))},
        "draws latents of 4 channels",
    ),
    "no prompt at all": ({"positive": Conditioning(())}, "no positive prompt"),
    "an index beyond all batches": (
        {"latent": Latent(np.zeros((1, 4, 8, 8), np.float32), indices=(10**9,))},
        "at most 4096 noises",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_fit_is_one_sentence(tmp_path: Path, case: str) -> None:
    """With the fix; nothing is compiled for it."""
    values, sentence = WRONG[case]
    (fault,) = run(ksampler(), tmp_path, **values).outcome.faults
    assert sentence in fault.problem
    assert fault.fix


def test_each_step_is_told_with_a_picture(tmp_path: Path) -> None:
    """A small one, of a pixel a cell; the last as well."""
    told = run(ksampler(steps=3), tmp_path).of(NodeProgress)
    assert told[-1].done == told[-1].total == 3
    assert told[-1].preview is not None
    assert told[-1].preview.shape == (1, 16, 16, 3)
