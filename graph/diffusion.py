"""The values of latent diffusion: latents, conditioning, sigmas, and handles of its models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vinode.graph.kinds import Kind
from vinode.graph.values import ModelPart, read_only

F32: TypeAlias = NDArray[np.float32]
Prediction: TypeAlias = Literal["epsilon", "v_prediction"]
BetaSchedule: TypeAlias = Literal["scaled_linear", "linear"]


@dataclass(frozen=True, slots=True, eq=False)
class Latent:
    """A batch of compressed pictures, as a VAE gives them (not yet times the model's factor).

    samples     (B, C, h, w) float32
    noise_mask  (B or 1, H, W) float32 0..1, of any size; 1: sampled anew, 0: kept; None: all anew
    indices     (B) which noise of the seed each picture gets; None: 0, 1, 2, ...
    scale       pixels of the picture that a cell is wide and high: 8 for Stable Diffusion
    """

    samples: F32
    noise_mask: F32 | None = None
    indices: tuple[int, ...] | None = None
    scale: int = 8

    kind: ClassVar[Kind]

    def __post_init__(self) -> None:
        shape, dtype = self.samples.shape, self.samples.dtype
        if len(shape) != 4 or 0 in shape or dtype != np.float32:
            raise ValueError(
                f"a latent is (B, C, h, w) float32, none of them 0; got {shape} {dtype}"
            )
        mask = self.noise_mask
        if mask is not None and (mask.ndim != 3 or mask.dtype != np.float32 or 0 in mask.shape):
            raise ValueError(f"a noise mask is (B, H, W) float32; got {mask.shape} {mask.dtype}")
        if self.indices is not None and len(self.indices) != shape[0]:
            raise ValueError(f"one noise index a picture, {shape[0]}; got {len(self.indices)}")
        for array in (self.samples, mask):
            if array is not None:
                read_only(array)


Latent.kind = Kind("LATENT", "samples (B, C, h, w) float32; a noise mask", "#ff9cf9", Latent)


@dataclass(frozen=True, slots=True, eq=False)
class Prompt:
    """One encoded text and how it is used.

    embeddings  (B, T, D) float32; T is a multiple of 77 for CLIP
    options     "pooled" (B, P) float32; "concat_latent" (B, C, h, w) and "concat_mask" (B, 1, H, W)
                of inpainting models; names as in ComfyUI
    """

    embeddings: F32
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, eq=False)
class Conditioning:
    """What a picture should show: prompts whose predictions are averaged."""

    prompts: tuple[Prompt, ...]

    kind: ClassVar[Kind]

    def __post_init__(self) -> None:
        for prompt in self.prompts:
            shape, dtype = prompt.embeddings.shape, prompt.embeddings.dtype
            if len(shape) != 3 or dtype != np.float32:
                raise ValueError(f"embeddings are (B, T, D) float32; got {shape} {dtype}")
            read_only(prompt.embeddings)
            for value in prompt.options.values():
                if isinstance(value, np.ndarray):
                    read_only(value)  # pyright: ignore[reportUnknownArgumentType]


Conditioning.kind = Kind(
    "CONDITIONING", "prompts: embeddings (B, T, D) float32, and options", "#ffa931", Conditioning
)


@dataclass(frozen=True, slots=True)
class NoiseSchedule:
    """How noise grows over the steps that a model was trained with.

    Ho et al. 2020, arXiv:2006.11239; scaled_linear: linear in the square root (Rombach et al.
    2021, arXiv:2112.10752).
    zero_snr: the last step is pure noise (Lin et al. 2023, arXiv:2305.08891).
    """

    beta_start: float = 0.00085
    beta_end: float = 0.012
    beta_schedule: BetaSchedule = "scaled_linear"
    steps: int = 1000
    zero_snr: bool = False


@dataclass(frozen=True, slots=True)
class DiffusionModel:
    """A denoising UNet's handle: its IR and what its answers mean.

    unet            takes `sample` (B, C, h, w) f32, `time` (time_width) f32 as `time_waves` gives
                    it, and `context` (B, T, D) f32; gives `prediction` (B, latent_channels, h, w)
                    f32
    family          "sd1", "sd2", ...
    in_channels     of sample: 4, or 9 of an inpainting model (latent, mask, masked latent)
    context_width   D
    time_width      of the waves that stand for a timestep
    scale           pixels a latent cell is wide and high
    latent_factor   a VAE's latent times this is what the UNet was trained on
    distilled_steps 0, or the steps that a latent consistency model was distilled to (lcm sampling)
    rescale         multiplier of guidance rescale (RescaleCFG), 0..1
    """

    unet: ModelPart
    family: str
    prediction: Prediction = "epsilon"
    schedule: NoiseSchedule = field(default_factory=NoiseSchedule)
    in_channels: int = 4
    latent_channels: int = 4
    context_width: int = 768
    scale: int = 8
    latent_factor: float = 0.18215
    distilled_steps: int = 0
    rescale: float = 0.0
    time_width: int = 320

    kind: ClassVar[Kind]


DiffusionModel.kind = Kind(
    "MODEL", "a denoising model's IR and schedule", "#b39ddb", DiffusionModel, is_model=True
)


def time_waves(timestep: float, width: int) -> F32:
    """Give the cosines and sines that tell a UNet its timestep: (width) float32.

    Ho et al. 2020, arXiv:2006.11239, after Vaswani et al. 2017, arXiv:1706.03762. They are made
    here, in float64, and not by the model: with bfloat16 or float16 a device rounds timestep 999 to
    1000, or its product with a frequency by half a turn, and what is drawn is another picture.
    """
    half = width // 2
    angles = timestep * np.exp(-np.log(10_000.0) * np.arange(half) / half)
    return np.concatenate([np.cos(angles), np.sin(angles)]).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Clip:
    """A text encoder's handle.

    encoder      takes `embeddings` (B, 77, D) f32, the tokens' vectors before positions are added;
                 gives `layer_1` ... `layer_N` (B, 77, D) f32, each after the final layer norm
    tokens       the table of token vectors, .npy (49408, D) float16 or float32, looked up in Python
    layers       N
    width        D
    skip         which layer's answer is used, counted from the last: -1 the last, -2 the one before
    pad          token that fills up a text: 49407 (end) for SD 1, 0 for SD 2
    embeddings   folders of textual inversion files, for `embedding:name`
    """

    encoder: ModelPart
    family: str
    tokens: Path
    layers: int
    width: int
    skip: int = -1
    pad: int = 49407
    embeddings: tuple[Path, ...] = ()

    kind: ClassVar[Kind]


Clip.kind = Kind("CLIP", "a text encoder's IR and token table", "#ffd500", Clip, is_model=True)


@dataclass(frozen=True, slots=True)
class Vae:
    """The handle of a variational autoencoder, pictures <-> latents.

    decoder  takes `latent` (B, C, h, w) f32, gives `image` (B, h*scale, w*scale, 3) f32 0..1
             (not clipped)
    encoder  takes `image` (B, H, W, 3) f32 0..1, gives `latent` (B, C, H/scale, W/scale) f32, the
             mean of the distribution; None where the source has none
    """

    decoder: ModelPart
    encoder: ModelPart | None
    family: str
    latent_channels: int = 4
    scale: int = 8

    kind: ClassVar[Kind]


Vae.kind = Kind("VAE", "an autoencoder's IR, pictures <-> latents", "#ff6e6e", Vae, is_model=True)


@dataclass(frozen=True, slots=True)
class Sampler:
    """A sampler by name, with what it may be told."""

    name: str
    options: Mapping[str, float] = field(default_factory=dict[str, float], hash=False)

    kind: ClassVar[Kind]


Sampler.kind = Kind("SAMPLER", "how the noise is taken away", "#cddc39", Sampler)


def _sigmas_problem(sigmas: F32) -> str | None:
    if sigmas.ndim != 1 or sigmas.dtype != np.float32 or not np.isfinite(sigmas).all():
        return f"sigmas are (N) float32, finite; got {sigmas.shape} {sigmas.dtype}"
    return None


SIGMAS = Kind(
    "SIGMAS", "(N) float32, noise levels, falling", "#cdffcd", np.ndarray, problem=_sigmas_problem
)
Sigmas: TypeAlias = Annotated[F32, SIGMAS]
