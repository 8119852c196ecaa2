"""Tiny Stable Diffusion models with random weights, of diffusers' and transformers' own classes.

torch is imported inside the functions: the tests that need none must run without it.
"""

# torch, diffusers and transformers are in no environment that is checked.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WIDTH, LAYERS, VOCABULARY = 64, 3, 120  # of the text encoder

UNET: Mapping[str, Any] = {
    "sample_size": 8,
    "block_out_channels": (32, 64),
    "layers_per_block": 2,
    "cross_attention_dim": WIDTH,
    "attention_head_dim": 8,
    "down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"),
    "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D"),
}
VAE: Mapping[str, Any] = {
    "block_out_channels": (32, 32, 64, 64),
    "layers_per_block": 1,
    "latent_channels": 4,
    "down_block_types": ("DownEncoderBlock2D",) * 4,
    "up_block_types": ("UpDecoderBlock2D",) * 4,
}
SCHEDULER: Mapping[str, Any] = {
    "_class_name": "DDIMScheduler",
    "beta_start": 0.00085,
    "beta_end": 0.012,
    "beta_schedule": "scaled_linear",
    "num_train_timesteps": 1000,
    "prediction_type": "v_prediction",
}


@dataclass(frozen=True, slots=True)
class Tiny:
    """The three models of a pipeline; they are torch modules."""

    text: Any
    unet: Any
    vae: Any


def tiny(
    seed: int = 0, sd2: bool = False, in_channels: int = 4, vocabulary: int = VOCABULARY
) -> Tiny:
    """Make a tiny pipeline of Stable Diffusion 1 or 2."""
    import torch
    from diffusers import AutoencoderKL, UNet2DConditionModel
    from transformers import CLIPTextConfig, CLIPTextModel

    torch.manual_seed(seed)
    config = CLIPTextConfig(
        vocab_size=vocabulary,
        hidden_size=WIDTH,
        intermediate_size=2 * WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=1,
        max_position_embeddings=77,
        hidden_act="gelu" if sd2 else "quick_gelu",
    )
    own = {"use_linear_projection": True, "attention_head_dim": [1, 1]} if sd2 else {}
    unet = UNet2DConditionModel(in_channels=in_channels, **{**UNET, **own})
    models = Tiny(CLIPTextModel(config), unet, AutoencoderKL(**VAE))
    for model in (models.text, models.unet, models.vae):
        model.eval().requires_grad_(False)
        for weight in model.parameters():
            if weight.dim() == 1:  # gains of 1 and shifts of 0 would be optimised away
                weight += 0.1 * torch.randn_like(weight)
    return models


def full() -> Tiny:
    """Make Stable Diffusion 1.5 of its true size, with random weights."""
    import torch
    from diffusers import AutoencoderKL, UNet2DConditionModel
    from transformers import CLIPTextConfig, CLIPTextModel

    torch.manual_seed(0)
    text = CLIPTextConfig(
        hidden_size=768,
        intermediate_size=3072,
        num_hidden_layers=12,
        num_attention_heads=12,
        projection_dim=768,
    )
    # diffusers' own defaults are this UNet's, but for the size of the prompt.
    unet = UNet2DConditionModel(sample_size=64, cross_attention_dim=768)
    sides = (128, 256, 512, 512)
    vae = AutoencoderKL(**{**VAE, "block_out_channels": sides, "layers_per_block": 2})
    models = Tiny(CLIPTextModel(text), unet, vae)
    for model in (models.text, models.unet, models.vae):
        model.eval().requires_grad_(False)
    return models


def save_folder(models: Tiny, folder: Path, dtype: str = "float16") -> Path:
    """Write a pipeline as diffusers does, without a tokenizer."""
    import torch

    kind = getattr(torch, dtype)
    for name, model in (("text_encoder", models.text), ("unet", models.unet), ("vae", models.vae)):
        model.to(kind).save_pretrained(folder / name, safe_serialization=True)
        model.float()
    (folder / "scheduler").mkdir()
    (folder / "scheduler" / "scheduler_config.json").write_text(json.dumps(SCHEDULER))
    index = {"_class_name": "StableDiffusionPipeline", "unet": ["diffusers", "x"]}
    (folder / "model_index.json").write_text(json.dumps(index))
    return folder


def save_checkpoint(models: Tiny, path: Path, sd2: bool = False, dtype: str = "float16") -> Path:
    """Write a pipeline as one file, with the names that were first published."""
    import torch
    from safetensors.torch import save_file

    tensors = {f"model.diffusion_model.{n}": t for n, t in original_unet(models.unet).items()}
    tensors |= {f"first_stage_model.{n}": t for n, t in original_vae(models.vae).items()}
    if sd2:
        texts = open_clip(models.text)
        tensors |= {f"cond_stage_model.model.{n}": t for n, t in texts.items()}
    else:
        start = "cond_stage_model.transformer.text_model."
        tensors |= {start + name: t for name, t in text_tensors(models.text).items()}
    kind = getattr(torch, dtype)
    save_file({name: t.to(kind).contiguous().clone() for name, t in tensors.items()}, path)
    return path


def text_tensors(model: Any) -> dict[str, Any]:
    """Give the text encoder's tensors without the prefix that transformers once had."""
    return {name.removeprefix("text_model."): t for name, t in model.state_dict().items()}


def _renamed(tensors: Mapping[str, Any], rows: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    renamed: dict[str, Any] = {}
    for name, tensor in tensors.items():
        new = name
        for pattern, put in rows:
            new = re.sub(pattern, put, new)
        renamed[new] = tensor
    return renamed


_RESNET = (
    (r"\.norm1\.", ".in_layers.0."),
    (r"\.conv1\.", ".in_layers.2."),
    (r"\.time_emb_proj\.", ".emb_layers.1."),
    (r"\.norm2\.", ".out_layers.0."),
    (r"\.conv2\.", ".out_layers.3."),
    (r"\.conv_shortcut\.", ".skip_connection."),
)


def original_unet(unet: Any) -> dict[str, Any]:
    """Give the UNet's tensors under the names that were first published, for two levels."""
    each = int(unet.config["layers_per_block"])
    given: dict[str, Any] = {}
    for name, tensor in unet.state_dict().items():
        if ".resnets." in name:
            for pattern, put in _RESNET:
                name = re.sub(pattern, put, name)
        place = re.match(r"(down|up)_blocks\.(\d+)\.(resnets|attentions)\.(\d+)\.(.*)", name)
        if place:
            side, block, kind, layer, rest = place.groups()
            index = int(block) * (each + 1) + int(layer) + (1 if side == "down" else 0)
            start = "input_blocks" if side == "down" else "output_blocks"
            name = f"{start}.{index}.{0 if kind == 'resnets' else 1}.{rest}"
        given[name] = tensor
    return _renamed(
        given,
        (
            (r"^conv_in\.", "input_blocks.0.0."),
            (r"^time_embedding\.linear_1\.", "time_embed.0."),
            (r"^time_embedding\.linear_2\.", "time_embed.2."),
            (r"^conv_norm_out\.", "out.0."),
            (r"^conv_out\.", "out.2."),
            (r"^down_blocks\.0\.downsamplers\.0\.conv\.", f"input_blocks.{each + 1}.0.op."),
            (r"^up_blocks\.0\.upsamplers\.0\.conv\.", f"output_blocks.{each}.1.conv."),
            (r"^mid_block\.resnets\.0\.", "middle_block.0."),
            (r"^mid_block\.attentions\.0\.", "middle_block.1."),
            (r"^mid_block\.resnets\.1\.", "middle_block.2."),
        ),
    )


def original_vae(vae: Any) -> dict[str, Any]:
    """Give the VAE's tensors under the names that were first published."""
    levels = len(vae.config["block_out_channels"])
    given: dict[str, Any] = {}
    for name, tensor in vae.state_dict().items():
        place = re.match(r"decoder\.up_blocks\.(\d+)\.(.*)", name)
        if place:
            name = f"decoder.up.{levels - 1 - int(place[1])}.{place[2]}"
        linear = re.search(r"to_(q|k|v|out\.0)\.weight$", name)
        given[name] = tensor[:, :, None, None] if linear else tensor
    return _renamed(
        given,
        (
            (r"\.down_blocks\.", ".down."),
            (r"\.mid_block\.resnets\.0\.", ".mid.block_1."),
            (r"\.mid_block\.resnets\.1\.", ".mid.block_2."),
            (r"\.mid_block\.attentions\.0\.", ".mid.attn_1."),
            (r"\.resnets\.", ".block."),
            (r"\.downsamplers\.0\.", ".downsample."),
            (r"\.upsamplers\.0\.", ".upsample."),
            (r"\.conv_shortcut\.", ".nin_shortcut."),
            (r"\.conv_norm_out\.", ".norm_out."),
            (r"\.group_norm\.", ".norm."),
            (r"\.to_([qkv])\.", r".\1."),
            (r"\.to_out\.0\.", ".proj_out."),
        ),
    )


def open_clip(model: Any) -> dict[str, Any]:
    """Give a text encoder's tensors under OpenCLIP's names."""
    import torch

    tensors = text_tensors(model)
    for layer in range(LAYERS):
        start = f"encoder.layers.{layer}.self_attn."
        for kind in ("weight", "bias"):
            thirds = [tensors.pop(f"{start}{letter}_proj.{kind}") for letter in "qkv"]
            name = f"transformer.resblocks.{layer}.attn.in_proj_{kind}"
            tensors[name] = torch.cat(thirds)
    return _renamed(
        tensors,
        (
            (r"^embeddings\.token_embedding\.", "token_embedding."),
            (r"^embeddings\.position_embedding\.weight", "positional_embedding"),
            (r"^final_layer_norm\.", "ln_final."),
            (r"^encoder\.layers\.", "transformer.resblocks."),
            (r"\.layer_norm([12])\.", r".ln_\1."),
            (r"\.mlp\.fc1\.", ".mlp.c_fc."),
            (r"\.mlp\.fc2\.", ".mlp.c_proj."),
            (r"\.self_attn\.", ".attn."),
        ),
    )
