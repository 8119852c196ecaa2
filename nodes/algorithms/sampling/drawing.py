"""One sampling from begin to end: latent and prompts in, latent out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vinode.graph.context import Context
from vinode.graph.diffusion import Conditioning, DiffusionModel, Latent, Prompt
from vinode.graph.errors import NodeError
from vinode.graph.values import PartUse
from vinode.nodes.algorithms.sampling.arrays import Floats
from vinode.nodes.algorithms.sampling.guidance import (
    Denoiser,
    Guidance,
    Kept,
    fit,
    shared_length,
)
from vinode.nodes.algorithms.sampling.levels import levels_of
from vinode.nodes.algorithms.sampling.noise import MAX_INDEX, begin, initial
from vinode.nodes.algorithms.sampling.normal import Generator
from vinode.nodes.algorithms.sampling.preview import preview
from vinode.nodes.algorithms.sampling.samplers import calls, noise_source, sample
from vinode.nodes.algorithms.sampling.unet import Unet, calls_of, shapes_of
from vinode.nodes.algorithms.sampling.way import Way

_OTHER_NOISE = 1  # added to the seed: what ddim puts into the kept part of a picture, as ComfyUI


@dataclass(frozen=True, slots=True, eq=False)
class How:
    """How something is drawn.

    sampler  by name
    sigmas   (N) float32, falling
    scale    how strongly the prompts are followed
    noise    whether noise is added at the begin; without it the latent has it already
    options  of the sampler
    """

    sampler: str
    sigmas: Floats
    seed: int
    scale: float
    noise: bool = True
    options: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """What is to be drawn, and how."""

    model: DiffusionModel
    positive: Conditioning
    negative: Conditioning
    latent: Latent
    how: How


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """What was drawn: at the last level, and the clean latent as far as it was known there."""

    latent: Latent
    clean: Latent


def draw(context: Context, order: Order) -> Drawn:
    """Sample; tells of each step, with a preview, and may be cancelled between two."""
    model = order.model
    latent = fitting(order.latent, model)
    if len(order.how.sigmas) < 2:
        return Drawn(latent, latent)
    _check_prompts(order)
    given: Floats = latent.samples * np.float32(model.latent_factor)
    levels = levels_of(model)
    noise = _noise(order, latent)
    sigmas = tuple(float(sigma) for sigma in order.how.sigmas)
    denoiser = Denoiser(
        model,
        levels,
        Unet(context, model, apart=context.prefers_single(model.unet)),
        _guidance(order),
        _kept(order, latent, given, noise),
    )
    last: list[Floats] = [given]
    context.progress(0, len(sigmas) - 1)

    def tell(step: int, clean: Floats) -> None:
        last[0] = clean
        context.progress(step + 1, len(sigmas) - 1, preview(clean, model.family))

    source = noise_source(order.how.sampler, order.how.seed, given.shape, sigmas)
    way = Way(sigmas, denoiser, source, tell, dict(order.how.options))
    x = begin(given, noise, sigmas[0], levels.largest)
    result = sample(order.how.sampler, x.astype(np.float32), way)
    return Drawn(_latent(latent, result, model), _latent(latent, last[0], model))


def fitting(latent: Latent, model: DiffusionModel) -> Latent:
    """Give a latent of the model's own kind; an empty one is made anew, another is refused."""
    batch, channels, height, width = latent.samples.shape
    if channels == model.latent_channels and latent.scale == model.scale:
        return latent
    if latent.samples.any():
        problem = f"the model draws latents of {model.latent_channels} channels and a cell of"
        fix = "encode the picture with the VAE that belongs to the model"
        got = f"{channels} channels and a cell of {latent.scale} pixels"
        raise NodeError(f"{problem} {model.scale} pixels", got, fix)
    height = max(1, height * latent.scale // model.scale)
    width = max(1, width * latent.scale // model.scale)
    empty = np.zeros((batch, model.latent_channels, height, width), np.float32)
    return replace(latent, samples=empty, scale=model.scale)


def uses(order: Order, apart: bool) -> list[PartUse]:
    """Tell before the run how the model will be called."""
    latent = fitting(order.latent, order.model)
    prompts = _guidance(order).asked
    batch, _, height, width = latent.samples.shape
    how = calls_of(batch, max(1, len(prompts)), apart)
    tokens = shared_length([prompt.embeddings for prompt in prompts])
    shapes = shapes_of(order.model, how, height, width, tokens)
    looks = calls(order.how.sampler, order.how.sigmas)
    return [PartUse(order.model.unet, shapes, how.count * looks)] if looks and prompts else []


def _guidance(order: Order) -> Guidance:
    positive, negative = order.positive.prompts, order.negative.prompts
    return Guidance(positive, negative, order.how.scale, order.model.rescale)


def _check_prompts(order: Order) -> None:
    for name, given in (("positive", order.positive), ("negative", order.negative)):
        if not given.prompts and name == "positive":
            raise NodeError("there is no positive prompt", fix="encode one, an empty one too")
        _check_width(name, given.prompts, order.model)


def _check_width(name: str, prompts: Sequence[Prompt], model: DiffusionModel) -> None:
    for prompt in prompts:
        width = prompt.embeddings.shape[2]
        if width != model.context_width:
            problem = f"the model takes prompts of width {model.context_width}"
            fix = "encode it with the CLIP of the same checkpoint"
            raise NodeError(problem, f"{name}: {width}", fix)


def _noise(order: Order, latent: Latent) -> Floats:
    batch, channels, height, width = latent.samples.shape
    shape = batch, channels, height, width
    if not order.how.noise:
        return np.zeros(shape, np.float32)
    indices = latent.indices
    if indices is not None and max(indices) > MAX_INDEX:
        fix = "take pictures from the begin of the batch"
        raise NodeError(f"a batch has at most {MAX_INDEX} noises", str(max(indices)), fix)
    return initial(order.how.seed, shape, indices)


def _kept(order: Order, latent: Latent, given: Floats, noise: Floats) -> Kept | None:
    if latent.noise_mask is None:
        return None
    mask = fit(latent.noise_mask[:, None], *given.shape[2:])
    if order.how.sampler == "ddim":
        noise = Generator(order.how.seed + _OTHER_NOISE).normal(*given.shape)
    repeats = -(-len(given) // len(mask))
    return Kept(given, noise, np.concatenate([mask] * repeats)[: len(given)])


def _latent(given: Latent, samples: Floats, model: DiffusionModel) -> Latent:
    values = (samples / model.latent_factor).astype(np.float32)
    return replace(given, samples=values)
