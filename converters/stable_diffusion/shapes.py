"""Shapes of tensors -> the configuration of the model they belong to.

So a UNet of any width and depth is read, not only those that were published.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from vinode.converters.stable_diffusion.family import Family
from vinode.converters.stable_diffusion.tensors import Shapes


@dataclass(frozen=True, slots=True)
class _Level:
    """The blocks of one resolution, on the way down."""

    channels: int
    blocks: int
    attends: bool


def unet_config(shapes: Shapes, family: Family) -> dict[str, Any]:
    """Give the configuration of diffusers' UNet2DConditionModel; KeyError where it is none."""
    original = "input_blocks.0.0.weight" in shapes
    levels = list(_original_levels(shapes) if original else _levels(shapes))
    first, last = ("input_blocks.0.0", "out.2") if original else ("conv_in", "conv_out")
    guided = "time_embed.cond_proj.weight" if original else "time_embedding.cond_proj.weight"
    context = next(shape for name, shape in shapes.items() if name.endswith("attn2.to_k.weight"))
    kinds = ["CrossAttnDownBlock2D" if level.attends else "DownBlock2D" for level in levels]
    return {
        "in_channels": shapes[f"{first}.weight"][1],
        "out_channels": shapes[f"{last}.weight"][0],
        "block_out_channels": [level.channels for level in levels],
        "layers_per_block": levels[0].blocks,
        "down_block_types": kinds,
        "up_block_types": [kind.replace("Down", "Up") for kind in reversed(kinds)],
        "cross_attention_dim": context[1],
        "attention_head_dim": [family.heads_of(level.channels) for level in levels],
        "use_linear_projection": family.linear,
        "time_cond_proj_dim": shapes[guided][1] if guided in shapes else None,
    }


def _original_levels(shapes: Shapes) -> Iterator[_Level]:
    channels, blocks, attends = 0, 0, False
    for index in count(1):
        block = f"input_blocks.{index}"
        inside = shapes.get(f"{block}.0.in_layers.2.weight")
        if inside is None:
            yield _Level(channels, blocks, attends)
            if f"{block}.0.op.weight" not in shapes:
                return
            blocks = 0
            continue
        channels, blocks = inside[0], blocks + 1
        attends = f"{block}.1.proj_in.weight" in shapes


def _levels(shapes: Shapes) -> Iterator[_Level]:
    for index in range(_count(shapes, r"down_blocks\.(\d+)\.")):
        block = f"down_blocks.{index}"
        yield _Level(
            shapes[f"{block}.resnets.0.conv1.weight"][0],
            _count(shapes, rf"down_blocks\.{index}\.resnets\.(\d+)\."),
            f"{block}.attentions.0.proj_in.weight" in shapes,
        )


def vae_config(shapes: Shapes) -> dict[str, Any]:
    """Give the configuration of diffusers' AutoencoderKL; KeyError where it is none."""
    if "decoder.up.0.block.0.conv1.weight" in shapes:
        name, inner = "decoder.up", "block"
        order = range(_count(shapes, r"decoder\.up\.(\d+)\."))
    else:
        name, inner = "decoder.up_blocks", "resnets"
        order = range(_count(shapes, r"decoder\.up_blocks\.(\d+)\.") - 1, -1, -1)
    channels = [shapes[f"{name}.{level}.{inner}.0.conv1.weight"][0] for level in order]
    blocks = _count(shapes, rf"{re.escape(name)}\.0\.{inner}\.(\d+)\.")
    return {
        "in_channels": 3,
        "out_channels": 3,
        "latent_channels": shapes["decoder.conv_in.weight"][1],
        "block_out_channels": channels,
        "layers_per_block": blocks - 1,
        "down_block_types": ["DownEncoderBlock2D"] * len(channels),
        "up_block_types": ["UpDecoderBlock2D"] * len(channels),
        "use_quant_conv": "quant_conv.weight" in shapes,
        "use_post_quant_conv": "post_quant_conv.weight" in shapes,
    }


def text_config(shapes: Shapes, family: Family) -> dict[str, Any]:
    """Give the configuration of CLIPTextModel; KeyError where it is none.

    shapes  names without `text_model.`, or OpenCLIP's
    """
    if "transformer.resblocks.0.mlp.c_fc.weight" in shapes:
        table, inner = shapes["token_embedding.weight"], "transformer.resblocks.0.mlp.c_fc.weight"
        places, layers = "positional_embedding", _count(shapes, r"transformer\.resblocks\.(\d+)\.")
    else:
        table = shapes["embeddings.token_embedding.weight"]
        inner, places = "encoder.layers.0.mlp.fc1.weight", "embeddings.position_embedding.weight"
        layers = _count(shapes, r"encoder\.layers\.(\d+)\.")
    return {
        "vocab_size": table[0],
        "hidden_size": table[1],
        "intermediate_size": shapes[inner][0],
        "max_position_embeddings": shapes[places][0],
        "num_hidden_layers": layers,
        "num_attention_heads": max(1, table[1] // 64),
        "hidden_act": family.activation,
    }


def _count(shapes: Shapes, pattern: str) -> int:
    """Count the blocks that a pattern numbers, from 0 on."""
    found = (re.match(pattern, name) for name in shapes)
    return max((int(match[1]) + 1 for match in found if match), default=0)
