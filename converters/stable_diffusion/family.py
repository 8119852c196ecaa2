"""What the models of a family have in common, and what cannot be read from their tensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Part: TypeAlias = Literal["text_encoder", "unet", "vae_decoder", "vae_encoder"]
PARTS: tuple[Part, ...] = ("text_encoder", "unet", "vae_decoder", "vae_encoder")


@dataclass(frozen=True, slots=True)
class Family:
    """A family of latent diffusion models.

    heads          attention heads of a UNet's block; 0: as many as `head_width` gives
    head_width     channels of a head where `heads` is 0
    linear         whether the UNet's projections are linear layers rather than 1x1 convolutions
    activation     of the text encoder
    text_width     of the real text encoder: tells files of one alone apart
    deep_layers    a text encoder this deep was trained against with its last layer but one; 0: none
    pad            token that fills up a text
    latent_factor  a VAE's latent times this is what the UNet was trained on
    """

    name: str
    heads: int
    head_width: int
    linear: bool
    activation: str
    text_width: int
    deep_layers: int
    pad: int
    latent_factor: float = 0.18215

    def heads_of(self, channels: int) -> int:
        """Give the attention heads of a UNet's block with so many channels."""
        return self.heads or max(1, channels // self.head_width)

    def skip(self, layers: int) -> int:
        """Tell which layer's answer is used, counted from the last."""
        return -2 if layers == self.deep_layers else -1


def time_width(config: Mapping[str, Any]) -> int:
    """Give the width of the waves that tell a UNet its timestep."""
    return int(config["block_out_channels"][0])
