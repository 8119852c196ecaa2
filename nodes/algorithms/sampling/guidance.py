"""From a model's prediction to the clean latent that samplers ask for, guided by prompts.

The model takes c_in * x and the timestep, and predicts the noise e, or v = sqrt(a) e - sqrt(1-a) x0
(Salimans and Ho 2022, arXiv:2202.00512); both give x0. Classifier-free guidance (Ho and Salimans
2022, arXiv:2207.12598) goes from the negative prompt's x0 towards and beyond the positive's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from vinode.graph.diffusion import DiffusionModel, Prompt
from vinode.graph.errors import NodeError
from vinode.nodes.algorithms.resize import resize
from vinode.nodes.algorithms.sampling.arrays import Floats
from vinode.nodes.algorithms.sampling.levels import Levels

_DATA = 0.5  # deviation of the data, as latent consistency models are distilled
_GREY = (0.8223, -0.6876, 0.6364, 0.1380)  # what Stable Diffusion's encoder makes of a grey picture


class Predict(Protocol):
    """Runs the model for several prompts on one latent."""

    def __call__(
        self, samples: Floats, timestep: float, contexts: Sequence[Floats]
    ) -> list[Floats]:
        """Give a prediction (B, C, h, w) for each context (B, T, D), all on the same samples."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Guidance:
    """Prompts and how strongly they are followed.

    positive, negative  prompts; the predictions of several are averaged
    scale               1 follows the positive prompt alone, 0 the negative one; both cost half
    rescale             0..1, how far the deviation is brought back to the positive's
    """

    positive: Sequence[Prompt]
    negative: Sequence[Prompt]
    scale: float
    rescale: float = 0.0

    @property
    def alone(self) -> bool:
        """Tell whether the positive prompt is all that counts: exact, not an approximation."""
        return self.scale == 1.0 or not self.negative

    @property
    def opposed(self) -> bool:
        """Tell whether the negative prompt is all that counts; rescaling needs the positive one."""
        return self.scale == 0.0 and bool(self.negative) and not self.rescale

    @property
    def asked(self) -> tuple[Prompt, ...]:
        """Give the prompts that the model is asked for: the positive ones first."""
        if self.opposed:
            return tuple(self.negative)
        return (*self.positive, *(() if self.alone else self.negative))


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """What is to stay of a picture.

    latent  (B, C, h, w) float32, times the model's factor
    noise   (B, C, h, w) float32, that the latent began with
    mask    (B or 1, 1, h, w) float32 0..1; 1 is painted anew
    """

    latent: Floats
    noise: Floats
    mask: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Denoiser:
    """Gives the clean latent for (x, sigma): what a sampler calls."""

    model: DiffusionModel
    levels: Levels
    predict: Predict
    guidance: Guidance
    kept: Kept | None = None

    def __call__(self, x: Floats, sigma: float) -> Floats:
        """Denoise x (B, C, h, w) of level sigma."""
        kept = self.kept
        if kept is None:
            return self._guided(x, sigma)
        old = kept.latent + kept.noise * sigma
        clean = self._guided(x * kept.mask + old * (1 - kept.mask), sigma)
        return clean * kept.mask + kept.latent * (1 - kept.mask)

    def _guided(self, x: Floats, sigma: float) -> Floats:
        guidance = self.guidance
        clean = self._cleaned(x, sigma, guidance.asked)
        if guidance.alone or guidance.opposed:
            return _mean(clean)
        count = len(guidance.positive)
        positive, other = _mean(clean[:count]), _mean(clean[count:])
        guided = other + (positive - other) * guidance.scale
        if not guidance.rescale:
            return guided
        return _rescaled(x, sigma, positive, guided, guidance.rescale)

    def _cleaned(self, x: Floats, sigma: float, prompts: Sequence[Prompt]) -> list[Floats]:
        root = math.sqrt(sigma**2 + 1)
        scaled = x / root
        timestep = self.levels.timestep(sigma)
        given = with_picture(scaled, self.model, self._picture(self.guidance.positive[0].options))
        contexts = together([prompt.embeddings for prompt in prompts], len(x))
        predictions = self.predict(given, timestep, contexts)
        return [self._clean(x, sigma, timestep, answer) for answer in predictions]

    def _picture(self, options: Mapping[str, Any]) -> tuple[Floats, Floats] | None:
        """Give what an inpainting model sees: the prompt's picture and mask, or what is kept."""
        picture, mask = options.get("concat_latent"), options.get("concat_mask")
        if picture is not None and mask is not None:
            return picture * self.model.latent_factor, mask
        return None if self.kept is None else (self.kept.latent, self.kept.mask)

    def _clean(self, x: Floats, sigma: float, timestep: float, answer: Floats) -> Floats:
        if self.model.prediction == "v_prediction":
            share = 1 / (sigma**2 + 1)
            clean = x * share - answer * (sigma * math.sqrt(share))
        else:
            clean = x - answer * sigma
        if not self.model.distilled_steps:
            return clean
        # Luo et al. 2023, arXiv:2310.04378, equation 9, with the time scaled by 10 as published.
        scaled = timestep * 10
        skip = _DATA**2 / (scaled**2 + _DATA**2)
        out = scaled / math.sqrt(scaled**2 + _DATA**2)
        return clean * out + x * skip


def _mean(clean: Sequence[Floats]) -> Floats:
    mean: Floats = np.mean(clean, axis=0) if len(clean) > 1 else clean[0]
    return mean


def _rescaled(x: Floats, sigma: float, positive: Floats, guided: Floats, share: float) -> Floats:
    """Bring the deviation of the guided v back to the positive's: Lin et al. 2023, section 3.4.

    arXiv:2305.08891; as RescaleCFG does it, on v whatever the model predicts.
    """
    root = math.sqrt(sigma**2 + 1)
    base = x / (sigma**2 + 1)

    def to_v(clean: Floats) -> Floats:
        return (base - clean) * (root / sigma)

    v, v_positive = to_v(guided), to_v(positive)
    axes = (1, 2, 3)
    back: Floats = v * (
        v_positive.std(axes, keepdims=True, ddof=1) / v.std(axes, keepdims=True, ddof=1)
    )
    mixed: Floats = back * share + v * (1 - share)
    return base - mixed * (sigma / root)


def together(contexts: Sequence[Floats], batch: int) -> list[Floats]:
    """Give contexts one length, so that they fit into one call, and a row for each picture.

    Short ones are repeated to the least common multiple of the lengths, which changes no answer:
    attention over a context twice is attention over it once.

    contexts  each (1 or B, T, D) float32
    """
    length = shared_length(contexts)
    return [
        np.tile(_rows(context, batch), (1, length // context.shape[1], 1)) for context in contexts
    ]


def shared_length(contexts: Sequence[Floats]) -> int:
    """Give the length that contexts get before a call, tokens."""
    return math.lcm(*(context.shape[1] for context in contexts))


def _rows(values: Floats, batch: int) -> Floats:
    if len(values) == batch:
        return values
    repeats = -(-batch // len(values))
    rows: Floats = np.concatenate([values] * repeats)[:batch]
    return rows


def with_picture(
    scaled: Floats, model: DiffusionModel, given: tuple[Floats, Floats] | None
) -> Floats:
    """Add to the latent what an inpainting model is also given: the mask and the emptied picture.

    scaled   (B, C, h, w) float32
    given    picture (1 or B, C, h, w), times the model's factor, and mask (1 or B, 1, H, W) 0..1 of
             any size; None: all is to be painted, so the mask is 1 and the picture grey
    returns  (B, in_channels, h, w); the mask is 0 or 1, as these models are trained
    """
    batch, channels, height, width = scaled.shape
    missing = model.in_channels - channels
    if missing <= 0:
        return scaled
    extra = np.zeros((batch, missing, height, width), np.float32)
    if given is None:
        extra[:, 0] = 1
        if missing == 1 + len(_GREY):
            extra[:, 1:] = np.array(_GREY, np.float32)[:, None, None]
    else:
        picture, mask = given
        _check_picture(picture, (missing - 1, height, width))
        extra[:, :1] = _rows(np.rint(fit(mask, height, width)), batch)
        extra[:, 1:] = _rows(picture, batch)
    return np.concatenate([scaled, extra], axis=1)


def _check_picture(picture: Floats, shape: tuple[int, int, int]) -> None:
    if picture.shape[1:] != shape:
        problem = f"the picture to fill has to have the size of the latent, {shape}"
        fix = "take latent and prompts from the same InpaintModelConditioning"
        raise NodeError(problem, str(picture.shape[1:]), fix)


def fit(mask: Floats, height: int, width: int) -> Floats:
    """Give a mask (B, 1, H, W) the size of a latent, (B, 1, height, width), bilinearly."""
    if mask.shape[2:] == (height, width):
        return mask
    fitted: Floats = resize(mask.transpose(0, 2, 3, 1), width, height, "bilinear")
    return fitted.transpose(0, 3, 1, 2)
