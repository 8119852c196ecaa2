"""The parts as torch modules with the inputs and outputs that `vinode.graph.diffusion` names.

torch is needed to import this file: only the process that converts does.
"""

# torch, diffusers and transformers are in no environment that is checked.
# pyright: basic, reportMissingImports=false
# mypy: disable-error-code="misc"

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from vinode.converters.formats import refusal
from vinode.converters.stable_diffusion.found import PartSource
from vinode.graph.errors import short

TOKENS = 77  # of a text
MASKED = -10000.0  # within float16, and far enough below every score


class TextEncoder(nn.Module):
    """Token vectors -> each layer's answer after the final norm.

    The layers are called one by one with a constant mask: transformers' own mask is made by code
    that cannot be traced.
    """

    def __init__(self, model: Any) -> None:
        super().__init__()
        inner = getattr(model, "text_model", model)
        self.layers = inner.encoder.layers
        self.norm = inner.final_layer_norm
        places = inner.embeddings.position_embedding.weight
        self.register_buffer("places", places.detach().float())
        mask = torch.full((TOKENS, TOKENS), MASKED).triu(1)
        self.register_buffer("mask", mask[None, None])

    def forward(self, embeddings: Tensor) -> tuple[Tensor, ...]:
        """Give layer_1 ... layer_N, (B, 77, D)."""
        state, answers = embeddings + self.places, []
        for layer in self.layers:
            given = layer(state, attention_mask=self.mask, is_causal=False)
            state = given[0] if isinstance(given, tuple) else given
            answers.append(self.norm(state))
        return tuple(answers)


class Unet(nn.Module):
    """The denoising model."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, sample: Tensor, time: Tensor, context: Tensor) -> Tensor:
        """Give the prediction, (B, C, h, w)."""
        # The waves are given: in the precision of a device they would be those of another time.
        self.model.get_time_embed = lambda sample, timestep: timestep[None]
        answer: Tensor = self.model(sample, time, context, return_dict=False)[0]
        return answer


class VaeDecoder(nn.Module):
    """A latent -> a picture, rows of RGB 0..1."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.first, self.decoder = model.post_quant_conv or nn.Identity(), model.decoder

    def forward(self, latent: Tensor) -> Tensor:
        """Give (B, H, W, 3), not clipped."""
        picture: Tensor = self.decoder(self.first(latent))
        return picture.permute(0, 2, 3, 1) * 0.5 + 0.5


class VaeEncoder(nn.Module):
    """A picture -> the mean of its latents."""

    def __init__(self, model: Any, channels: int) -> None:
        super().__init__()
        self.encoder, self.last = model.encoder, model.quant_conv or nn.Identity()
        self.channels = channels

    def forward(self, image: Tensor) -> Tensor:
        """Give (B, C, h, w)."""
        moments: Tensor = self.last(self.encoder(image.permute(0, 3, 1, 2) * 2 - 1))
        return moments[:, : self.channels]


def build(source: PartSource, weights: Mapping[str, Tensor]) -> nn.Module:
    """Build a part around its weights; nothing is copied."""
    config = {name: value for name, value in source.config.items() if not name.startswith("_")}
    with torch.device("meta"):
        model = _empty(source, config)
    try:
        told = model.load_state_dict(dict(weights), strict=False, assign=True)
    except RuntimeError as error:  # torch's way to say that a shape is another
        last = str(error).splitlines()[-1].strip()
        problem = f"the weights do not fit the {source.part.replace('_', ' ')}'s configuration"
        raise refusal(source.files[0], f"{problem}: {last[:200]}") from error
    missing = [name for name in told.missing_keys if name in model.state_dict()]
    extra = [] if source.part == "text_encoder" else list(told.unexpected_keys)
    if missing or extra:
        what = f"it has no {missing[0]}" if missing else f"it also has {extra[0]}"
        problem = f"the weights are not those of this {source.part.replace('_', ' ')}: {what}"
        raise refusal(source.files[0], problem)
    model.eval().requires_grad_(False)
    if source.part == "text_encoder":
        return TextEncoder(model)
    if source.part == "unet":
        return Unet(model)
    if source.part == "vae_decoder":
        return VaeDecoder(model)
    return VaeEncoder(model, int(config["latent_channels"]))


def _empty(source: PartSource, config: Mapping[str, Any]) -> Any:
    from diffusers import AutoencoderKL, UNet2DConditionModel
    from transformers import CLIPTextConfig, CLIPTextModel

    try:
        if source.part == "text_encoder":
            return CLIPTextModel(CLIPTextConfig(**config))
        if source.part == "unet":
            return UNet2DConditionModel.from_config(config)
        model: Any = AutoencoderKL.from_config(config)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        problem = "the model's configuration is not one of its family"
        raise refusal(source.files[0], f"{problem}: {short(str(error))}") from error
    decoding = source.part == "vae_decoder"
    if decoding:
        model.encoder, model.quant_conv = None, None
    else:
        model.decoder, model.post_quant_conv = None, None
    return model


def halve(module: nn.Module) -> None:
    """Keep weights as float16, where they fit; vectors stay or become float32, they are small."""
    for part in module.modules():
        for name, weight in list(part.named_parameters(recurse=False)):
            half = weight.half() if weight.dim() > 1 else weight.float()
            if not bool(torch.isfinite(half).all()):
                half = weight.float()
            setattr(part, name, nn.Parameter(half, requires_grad=False))


def compute_in_float(module: nn.Module) -> None:
    """Let every layer turn its weights to float32 as it runs: one layer's copy at a time.

    So torch computes in float32 in half of the memory; and traced, float16 weights stay constants.
    """
    for part in module.modules():
        kinds = {weight.dtype for weight in part.parameters(recurse=False)}
        if kinds - {torch.float32} and "forward" not in vars(part):
            part.forward = functools.partial(_floated, part, part.forward)


def _floated(part: nn.Module, forward: Any, *args: Any, **kwargs: Any) -> Any:
    own = dict(part.named_parameters(recurse=False))
    # What stands in the instance's own dictionary is found before the registered parameter.
    vars(part).update({name: weight.float() for name, weight in own.items()})
    try:
        return forward(*args, **kwargs)
    finally:
        for name in own:
            del vars(part)[name]
