"""Samplers: from noise, or from a picture with noise, to a picture that the prompts describe."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal, NamedTuple

import numpy as np

from vinode.graph.context import Context
from vinode.graph.diffusion import Conditioning, DiffusionModel, Latent, Sampler, Sigmas
from vinode.graph.node import node
from vinode.graph.ports import Range, Seed
from vinode.graph.values import PartUse
from vinode.nodes.algorithms.sampling.drawing import How, Order, draw, fitting, uses
from vinode.nodes.algorithms.sampling.levels import levels_of
from vinode.nodes.algorithms.sampling.samplers import SamplerName
from vinode.nodes.algorithms.sampling.schedule import SchedulerName, sigmas_for, stretch

Steps = Annotated[int, Range(1, 10_000)]
Scale = Annotated[float, Range(0, 100, step=0.1)]
Amount = Annotated[float, Range(0, 1, step=0.01)]


class Denoised(NamedTuple):
    """What was drawn, and the clean latent as far as it was known at the end."""

    output: Latent
    denoised_output: Latent


def _same_size(model: DiffusionModel | None, latent_image: Latent | None) -> Latent | None:
    """Tell before the run which size the latent will have, for the nodes behind."""
    if model is None or latent_image is None:
        return None
    latent = fitting(latent_image, model)
    return replace(latent, samples=np.zeros_like(latent.samples))


def _uses(
    model: DiffusionModel | None,
    positive: Conditioning | None,
    negative: Conditioning | None,
    latent_image: Latent | None,
    steps: int | None,
    cfg: float | None,
    sampler_name: str | None,
    scheduler: str | None,
    denoise: float | None,
) -> list[PartUse] | None:
    """Tell how the model will be called: steps times prompts."""
    if model is None or positive is None or negative is None or latent_image is None:
        return None
    if steps is None or cfg is None or sampler_name is None or scheduler is None or denoise is None:
        return None
    sigmas = sigmas_for(scheduler, sampler_name, levels_of(model), steps, denoise)
    order = Order(model, positive, negative, latent_image, How(sampler_name, sigmas, 0, cfg))
    return uses(order, apart=True)


@node("KSampler", category="sampling", known=_same_size, parts=_uses)
def ksampler(
    model: DiffusionModel,
    context: Context,
    seed: Annotated[int, Seed()] = 0,
    steps: Steps = 20,
    cfg: Scale = 8.0,
    sampler_name: SamplerName = "euler",
    scheduler: SchedulerName = "normal",
    *,
    positive: Conditioning,
    negative: Conditioning,
    latent_image: Latent,
    denoise: Amount = 1.0,
) -> Latent:
    """Draw what the prompts describe.

    model         which draws
    seed          of the noise: the same seed gives the same picture
    steps         more cost time, and change less and less
    cfg           how strongly the prompts are followed; 1 leaves the negative one out, at half cost
    sampler_name  how the noise is taken away
    scheduler     how the steps are spread
    positive      what the picture should show
    negative      what it should not
    latent_image  what to begin with: an empty latent, or an encoded picture
    denoise       1 draws anew; less keeps that much of the picture
    """
    sigmas = sigmas_for(scheduler, sampler_name, levels_of(model), steps, denoise)
    order = Order(model, positive, negative, latent_image, How(sampler_name, sigmas, seed, cfg))
    return draw(context, order).latent


def _advanced_uses(
    model: DiffusionModel | None,
    positive: Conditioning | None,
    negative: Conditioning | None,
    latent_image: Latent | None,
    steps: int | None,
    cfg: float | None,
    sampler_name: str | None,
    scheduler: str | None,
    start_at_step: int | None,
    end_at_step: int | None,
) -> list[PartUse] | None:
    """Tell how the model will be called: the steps of its part of the way times prompts."""
    if model is None or positive is None or negative is None or latent_image is None:
        return None
    if steps is None or cfg is None or sampler_name is None or scheduler is None:
        return None
    if start_at_step is None or end_at_step is None:
        return None
    whole = sigmas_for(scheduler, sampler_name, levels_of(model), steps)
    sigmas = stretch(whole, start_at_step, end_at_step, False)
    order = Order(model, positive, negative, latent_image, How(sampler_name, sigmas, 0, cfg))
    return uses(order, apart=True)


@node(
    "KSamplerAdvanced",
    category="sampling",
    title="KSampler (Advanced)",
    known=_same_size,
    parts=_advanced_uses,
)
def ksampler_advanced(
    model: DiffusionModel,
    context: Context,
    add_noise: Literal["enable", "disable"] = "enable",
    noise_seed: Annotated[int, Seed()] = 0,
    steps: Steps = 20,
    cfg: Scale = 8.0,
    sampler_name: SamplerName = "euler",
    scheduler: SchedulerName = "normal",
    *,
    positive: Conditioning,
    negative: Conditioning,
    latent_image: Latent,
    start_at_step: Annotated[int, Range(0, 10_000)] = 0,
    end_at_step: Annotated[int, Range(0, 10_000)] = 10_000,
    return_with_leftover_noise: Literal["disable", "enable"] = "disable",
) -> Latent:
    """Draw a part of the way, to go on with another sampler or model.

    model                       which draws
    add_noise                   disable where the latent has its noise already
    noise_seed                  of the noise
    steps                       of the whole way
    cfg                         how strongly the prompts are followed
    sampler_name                how the noise is taken away
    scheduler                   how the steps are spread
    positive, negative          what the picture should show, and what not
    latent_image                what to begin with
    start_at_step, end_at_step  the part of the way that is gone
    return_with_leftover_noise  enable to leave the noise of the last level in
    """
    whole = sigmas_for(scheduler, sampler_name, levels_of(model), steps)
    leave = return_with_leftover_noise == "enable"
    sigmas = stretch(whole, start_at_step, end_at_step, leave)
    how = How(sampler_name, sigmas, noise_seed, cfg, add_noise == "enable")
    return draw(context, Order(model, positive, negative, latent_image, how)).latent


def _custom_size(
    model: DiffusionModel | None, latent_image: Latent | None
) -> tuple[Latent, Latent] | None:
    latent = _same_size(model, latent_image)
    return None if latent is None else (latent, latent)


def _custom_uses(
    model: DiffusionModel | None,
    positive: Conditioning | None,
    negative: Conditioning | None,
    latent_image: Latent | None,
    cfg: float | None,
    sampler: Sampler | None,
    sigmas: Sigmas | None,
) -> list[PartUse] | None:
    """Tell how the model will be called: levels times prompts."""
    if model is None or positive is None or negative is None or latent_image is None:
        return None
    if cfg is None or sampler is None or sigmas is None:
        return None
    order = Order(model, positive, negative, latent_image, How(sampler.name, sigmas, 0, cfg))
    return uses(order, apart=True)


@node(
    "SamplerCustom",
    category="sampling/custom",
    known=_custom_size,
    parts=_custom_uses,
)
def sampler_custom(
    model: DiffusionModel,
    context: Context,
    add_noise: bool = True,
    noise_seed: Annotated[int, Seed()] = 0,
    cfg: Scale = 8.0,
    *,
    positive: Conditioning,
    negative: Conditioning,
    sampler: Sampler,
    sigmas: Sigmas,
    latent_image: Latent,
) -> Denoised:
    """Draw along noise levels that other nodes give.

    model               which draws
    add_noise           off where the latent has its noise already
    noise_seed          of the noise
    cfg                 how strongly the prompts are followed
    positive, negative  what the picture should show, and what not
    sampler             from KSamplerSelect
    sigmas              noise levels, falling
    latent_image        what to begin with
    output              the latent at the last level
    denoised_output     the clean latent, as far as it was known there
    """
    options = tuple(sampler.options.items())
    how = How(sampler.name, sigmas, noise_seed, cfg, add_noise, options)
    drawn = draw(context, Order(model, positive, negative, latent_image, how))
    return Denoised(drawn.latent, drawn.clean)
