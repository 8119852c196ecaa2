"""A single safetensors file -> its parts: a whole checkpoint, or a UNet, text encoder or VAE."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from vinode.converters.formats import refusal
from vinode.converters.stable_diffusion.family import Family, Part
from vinode.converters.stable_diffusion.found import Found, Layout, PartSource
from vinode.converters.stable_diffusion.sd1 import SD1
from vinode.converters.stable_diffusion.sd2 import SD2, VELOCITY_SPREAD, VELOCITY_TENSOR
from vinode.converters.stable_diffusion.shapes import text_config, unet_config, vae_config
from vinode.converters.stable_diffusion.tensors import FLOATS, Header, Shapes, read_header
from vinode.graph.diffusion import NoiseSchedule, Prediction
from vinode.graph.errors import ModelError, short

UNET, VAE = "model.diffusion_model.", "first_stage_model."
# The first that is there is the text encoder; "" is a file of its own.
TEXTS = (
    "cond_stage_model.transformer.text_model.",
    "cond_stage_model.transformer.",
    "cond_stage_model.model.",
    "text_model.",
    "",
)
LCM_STEPS = 50  # of the models that Luo et al. 2023, arXiv:2310.04378, distilled

# What else is often found in such files: a piece of a tensor's name -> what that is.
FOREIGN = (
    ("conditioner.embedders", "a Stable Diffusion XL checkpoint"),
    ("label_emb.", "a Stable Diffusion XL model"),
    ("add_embedding.", "a Stable Diffusion XL model"),
    ("double_blocks.", "a Flux model"),
    ("joint_blocks.", "a Stable Diffusion 3 model"),
    ("lora_up", "a LoRA"),
    ("lora_A", "a LoRA"),
    ("lora_B", "a LoRA"),
    ("lora_unet_", "a LoRA"),
    ("hada_w", "a LoRA (LoHa)"),
    ("control_model.", "a ControlNet"),
    ("controlnet_", "a ControlNet"),
    ("zero_convs.", "a ControlNet"),
    ("emb_params", "a textual inversion"),
    ("time_stack.", "a video model"),
    ("motion_modules.", "a motion module"),
    ("text_projection.weight", "a text encoder of another family"),
    ("encoder.block.0.layer.0", "a T5 text encoder"),
    ("transformer_blocks.1.attn2", "a UNet of another family"),
)
ACCEPTED = "give a Stable Diffusion 1.x or 2.x checkpoint, UNet, text encoder or VAE"


def read_file(path: Path) -> Found:
    """Tell what a file has; ModelError where it is none of the models that are converted."""
    header = read_header(path)
    _refuse_foreign(header)
    unet = header.below(UNET)
    whole = bool(unet)
    unet = unet or header.below("")
    parts: dict[Part, PartSource] = {}
    family = _family_of_unet(unet) or _family_of_text(header)
    try:
        if _is_unet(unet):
            config = unet_config(unet, family)
            parts["unet"] = _part(header, "unet", UNET if whole else "", config, unet)
        _add_vae(header, parts)
        _add_text(header, family, parts)
    except (KeyError, IndexError, StopIteration) as error:
        raise _unknown(header, "a tensor is missing", error) from error
    if not parts:
        raise _unknown(header, "no model in it is known")
    found = Found(path, family, parts, pad=family.pad, latent_factor=family.latent_factor)
    if "vae_decoder" in parts:
        scale = 2 ** (len(parts["vae_decoder"].config["block_out_channels"]) - 1)
        found = replace(found, scale=scale)
    return _facts(found, header) if "unet" in parts else found


def _refuse_foreign(header: Header) -> None:
    names = header.shapes
    own = "cond_stage_model." in "".join(names) or "text_model." in "".join(names)
    for piece, what in FOREIGN:
        if piece == "text_projection.weight" and own:
            continue  # an unused tensor of files that were cut out of a whole CLIP
        if any(piece in name for name in names):
            raise refusal(header.path, f"this is {what}", ACCEPTED)
    wrong = sorted({kind for kind in header.types.values() if kind not in FLOATS} - {"I64", "I32"})
    if wrong:
        problem = f"its weights are stored as {', '.join(wrong)}"
        raise refusal(header.path, problem, "give it in float16, bfloat16 or float32")


def _unknown(header: Header, problem: str, error: Exception | None = None) -> ModelError:
    names = sorted(header.shapes)
    seen = f"{len(names)} tensors, {', '.join(names[:3])}"
    missing = f": {error.args[0]}" if isinstance(error, KeyError) else ""
    return refusal(header.path, f"{problem}{missing}; it has {short(seen)}", ACCEPTED)


def _is_unet(shapes: Shapes) -> bool:
    return "input_blocks.0.0.weight" in shapes or (
        "conv_in.weight" in shapes and any(name.startswith("down_blocks.") for name in shapes)
    )


def _family_of_unet(shapes: Shapes) -> Family | None:
    """Tell by the projections before attention: 1x1 convolutions, later linear layers."""
    for name, shape in shapes.items():
        if name.endswith("proj_in.weight") and "decoder" not in name and "encoder" not in name:
            return SD1 if len(shape) == 4 else SD2
    return None


def _family_of_text(header: Header) -> Family:
    for name, shape in header.shapes.items():
        if name.endswith("token_embedding.weight"):
            open_clip = any(".resblocks." in other for other in header.shapes)
            return SD2 if open_clip or shape[-1] == SD2.text_width else SD1
    return SD1


def _part(
    header: Header, part: Part, prefix: str, config: Mapping[str, Any], shapes: Shapes
) -> PartSource:
    original = prefix in (UNET, VAE) or any(
        name.startswith(("input_blocks.", "decoder.up.", "transformer.resblocks."))
        for name in shapes
    )
    size = 2 * sum(math.prod(shape) for shape in shapes.values())
    layout: Layout = "original" if original else "diffusers"
    return PartSource(part, layout, (header.path,), prefix, config, size)


def _add_vae(header: Header, parts: dict[Part, PartSource]) -> None:
    prefix = VAE if any(name.startswith(VAE) for name in header.shapes) else ""
    shapes = header.below(prefix)
    if "decoder.conv_in.weight" not in shapes:
        return
    config = vae_config(shapes)
    if config["latent_channels"] != 4:
        problem = f"this autoencoder is of another family: {config['latent_channels']} channels"
        raise refusal(header.path, problem, ACCEPTED)
    sides: tuple[tuple[Part, str], ...] = (("vae_decoder", "decoder."), ("vae_encoder", "encoder."))
    for part, side in sides:
        own = {name: shape for name, shape in shapes.items() if name.startswith(side)}
        if own:
            parts[part] = replace(
                _part(header, part, prefix, config, shapes),
                bytes=2 * sum(math.prod(shape) for shape in own.values()),
            )


def _add_text(header: Header, family: Family, parts: dict[Part, PartSource]) -> None:
    for prefix in TEXTS:
        shapes = header.below(prefix)
        tables = ("embeddings.token_embedding.weight", "token_embedding.weight")
        if any(table in shapes for table in tables):
            config = text_config(shapes, family)
            parts["text_encoder"] = _part(header, "text_encoder", prefix, config, shapes)
            return


def _facts(found: Found, header: Header) -> Found:
    """Add what the UNet predicts and how it was trained, from notes beside it or its weights."""
    noted = _noted(found.path)
    marked = {name.rpartition(".")[2] for name in header.shapes}
    said = str(noted.get("parameterization") or header.metadata.get("modelspec.prediction_type"))
    velocity = said in ("v", "v_prediction") or "v_pred" in marked
    if said in ("None", "") and found.family is SD2:
        velocity = velocity or _spreads(header, found)
    prediction: Prediction = "v_prediction" if velocity else "epsilon"
    schedule = NoiseSchedule(
        float(noted.get("linear_start", 0.00085)),
        float(noted.get("linear_end", 0.012)),
        zero_snr="ztsnr" in marked,
    )
    config = found.parts["unet"].config
    steps = LCM_STEPS if config.get("time_cond_proj_dim") else 0
    return replace(found, prediction=prediction, schedule=schedule, distilled_steps=steps)


def _noted(path: Path) -> Mapping[str, Any]:
    """Read the training configuration that some files have beside them; {} where there is none."""
    import yaml

    beside = path.with_suffix(".yaml")
    if not beside.is_file():
        return {}
    try:
        row = yaml.safe_load(beside.read_text(encoding="utf-8"))["model"]["params"]
    except (yaml.YAMLError, OSError, UnicodeError, KeyError, TypeError) as error:
        raise refusal(beside, "the training configuration beside the model is damaged") from error
    known = ("parameterization", "linear_start", "linear_end")
    return {name: row[name] for name in known if name in cast(dict[str, Any], row)}


def _spreads(header: Header, found: Found) -> bool:
    name = found.parts["unet"].prefix + VELOCITY_TENSOR
    if name not in header.shapes:
        return False
    vector = header.vector(name)
    return bool(vector.size) and float(vector.std()) > VELOCITY_SPREAD
