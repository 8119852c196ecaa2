"""A part's tensors, under the names that diffusers and transformers give them."""

# torch and diffusers are in no environment that is checked.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from vinode.converters.formats import refusal
from vinode.converters.stable_diffusion.found import PartSource

Tensor: TypeAlias = Any  # torch's; a workflow whose models are converted imports no torch

# Names in OpenCLIP's text encoder -> in CLIPTextModel.
_OPEN_CLIP = (
    (r"^token_embedding\.", "embeddings.token_embedding."),
    (r"^positional_embedding$", "embeddings.position_embedding.weight"),
    (r"^ln_final\.", "final_layer_norm."),
    (r"^transformer\.resblocks\.(\d+)\.", r"encoder.layers.\1."),
    (r"\.ln_([12])\.", r".layer_norm\1."),
    (r"\.mlp\.c_fc\.", ".mlp.fc1."),
    (r"\.mlp\.c_proj\.", ".mlp.fc2."),
    (r"\.attn\.out_proj\.", ".self_attn.out_proj."),
)
# Names in the attention of VAEs that were saved by the first versions of diffusers.
_OLD_ATTENTION = {"query": "to_q", "key": "to_k", "value": "to_v", "proj_attn": "to_out.0"}


def read_weights(source: PartSource) -> dict[str, Tensor]:
    """Read a part's tensors; ModelError where one holds NaN or infinity."""
    read = {
        name: tensor
        for file in source.files
        if file.suffix == ".safetensors"
        for name, tensor in _tensors(file, source)
    }
    if source.part == "text_encoder":
        return dict(_open_clip(read)) if source.layout == "original" else read
    if source.layout == "original":
        return _as_in_diffusers(read, source)
    return {_modern(name): tensor for name, tensor in read.items()}


def _tensors(path: Path, source: PartSource) -> Iterator[tuple[str, Tensor]]:
    import torch
    from safetensors import safe_open

    with safe_open(path, framework="pt") as opened:
        for name in opened.keys():  # noqa: SIM118  # it is no mapping
            if not name.startswith(source.prefix) or not _belongs(name, source):
                continue
            tensor = opened.get_tensor(name)
            if tensor.element_size() == 1:  # 8-bit floats: torch computes nothing with them
                tensor = tensor.half()
            if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
                problem = f"the weights hold NaN or infinity, in {name}"
                raise refusal(path, problem, "download it again, or find another merge")
            yield name.removeprefix(source.prefix), tensor


def _belongs(name: str, source: PartSource) -> bool:
    """Say whether a tensor is needed: of a VAE only one half is."""
    inner = name.removeprefix(source.prefix)
    if source.part == "vae_decoder":
        return inner.startswith(("decoder.", "post_quant_conv."))
    if source.part == "vae_encoder":
        return inner.startswith(("encoder.", "quant_conv."))
    return True


def _as_in_diffusers(read: Mapping[str, Tensor], source: PartSource) -> dict[str, Tensor]:
    from diffusers.loaders import single_file_utils as theirs

    config = dict(source.config)
    prefix = "model.diffusion_model." if source.part == "unet" else "first_stage_model."
    named = {prefix + name: tensor for name, tensor in read.items()}
    convert: Any = theirs.convert_ldm_vae_checkpoint
    if source.part == "unet":
        convert = theirs.convert_ldm_unet_checkpoint
    converted: dict[str, Tensor] = convert(named, config)
    return converted


def _modern(name: str) -> str:
    start, dot, rest = name.rpartition(".attentions.0.")
    word, _, end = rest.partition(".")
    if dot and word in _OLD_ATTENTION:
        return f"{start}{dot}{_OLD_ATTENTION[word]}.{end}"
    return name


def _open_clip(read: Mapping[str, Tensor]) -> Iterator[tuple[str, Tensor]]:
    """Rename OpenCLIP's tensors; its one matrix for query, key and value is cut in three."""
    for name, tensor in read.items():
        new = name
        for pattern, put in _OPEN_CLIP:
            new = re.sub(pattern, put, new)
        start, found, kind = new.partition(".attn.in_proj_")
        if not found:
            yield new, tensor
            continue
        for letter, third in zip("qkv", tensor.chunk(3), strict=True):
            yield f"{start}.self_attn.{letter}_proj.{kind}", third
