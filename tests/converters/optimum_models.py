"""The parts of a pipeline with the inputs and outputs that optimum-intel gives them.

torch is needed to import this file.
"""

# torch is in no environment that is checked.
# pyright: basic, reportMissingImports=false
# mypy: disable-error-code="misc"

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from tests.converters.diffusion_models import LAYERS, WIDTH, Tiny


class Text(nn.Module):
    """Token numbers in; all states out, of which the last is also given normed."""

    def __init__(self, models: Tiny) -> None:
        super().__init__()
        self.text = getattr(models.text, "text_model", models.text)

    def forward(self, input_ids: Any) -> Any:
        """Give the last state, that of the end token, and all states."""
        states = [self.text.embeddings(input_ids=input_ids)]
        size = input_ids.shape[1]
        mask = torch.full((size, size), -10000.0).triu(1)[None, None]
        for layer in self.text.encoder.layers:
            states.append(layer(states[-1], attention_mask=mask, is_causal=False))
        last = self.text.final_layer_norm(states[-1])
        pooled = last[torch.arange(last.shape[0]), input_ids.to(torch.int).argmax(-1)]
        return (last, pooled, *states)


class Unet(nn.Module):
    """The timestep is a whole number without dimensions."""

    def __init__(self, models: Tiny) -> None:
        super().__init__()
        self.unet = models.unet

    def forward(self, sample: Any, timestep: Any, encoder_hidden_states: Any) -> Any:
        """Give the prediction."""
        return self.unet(sample, timestep, encoder_hidden_states, return_dict=False)[0]


class Decoder(nn.Module):
    """Planes -1..1 out."""

    def __init__(self, models: Tiny) -> None:
        super().__init__()
        self.vae = models.vae

    def forward(self, latent_sample: Any) -> Any:
        """Give the picture."""
        return self.vae.decode(latent_sample, return_dict=False)[0]


class Encoder(nn.Module):
    """Mean and variance out."""

    def __init__(self, models: Tiny) -> None:
        super().__init__()
        self.vae = models.vae

    def forward(self, sample: Any) -> Any:
        """Give what the latents are drawn from."""
        return self.vae.encode(sample).latent_dist.parameters


def modules_of(models: Tiny) -> dict[str, tuple[Any, dict[str, Any], list[str]]]:
    """Give what optimum-intel exports: part -> module, example inputs, names of its outputs."""
    states = [f"hidden_states.{number}" for number in range(LAYERS + 1)]
    ids = torch.ones(1, 77, dtype=torch.int64)
    latent, context = torch.randn(2, 4, 13, 13), torch.randn(2, 77, WIDTH)
    step, image = torch.tensor(1, dtype=torch.int64), torch.randn(2, 3, 104, 104)
    given = {"sample": latent, "timestep": step, "encoder_hidden_states": context}
    named = ["last_hidden_state", "pooler_output", *states]
    return {
        "text_encoder": (Text(models), {"input_ids": ids}, named),
        "unet": (Unet(models), given, ["out_sample"]),
        "vae_decoder": (Decoder(models), {"latent_sample": latent}, ["sample"]),
        "vae_encoder": (Encoder(models), {"sample": image}, ["latent_parameters"]),
    }
