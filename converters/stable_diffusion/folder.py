"""A folder as diffusers or optimum-intel writes it, or with IR of our own -> its parts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from vinode.converters.formats import recognise, refusal
from vinode.converters.stable_diffusion.family import PARTS, Family, Part
from vinode.converters.stable_diffusion.found import Found, PartSource
from vinode.converters.stable_diffusion.sd1 import SD1
from vinode.converters.stable_diffusion.sd2 import SD2
from vinode.converters.stable_diffusion.single_file import ACCEPTED, LCM_STEPS
from vinode.converters.stable_diffusion.tensors import read_header
from vinode.graph.diffusion import NoiseSchedule, Prediction
from vinode.graph.errors import short

INDEX = "model_index.json"
OWN = "openvino"  # subfolder of ready parts in our own layout
PIPELINES = ("StableDiffusion", "OVStableDiffusion", "LatentConsistency", "OVLatentConsistency")
# Where a part lies in a folder, and how its weights' files are called.
PLACES: Mapping[Part, str] = {
    "text_encoder": "text_encoder",
    "unet": "unet",
    "vae_decoder": "vae",
    "vae_encoder": "vae",
}
STEMS = ("diffusion_pytorch_model", "model", "pytorch_model")


def read_folder(path: Path) -> Found:
    """Tell what a folder has; ModelError where that is none of the models that are converted."""
    if (path / INDEX).is_file():
        _refuse_foreign(path)
    configs = {place: _json(path / place / "config.json") for place in set(PLACES.values())}
    parts: dict[Part, PartSource] = {}
    for part in PARTS:
        if part_found := _part(path, part, configs):
            parts[part] = part_found
    if not parts:
        raise refusal(path, f"the folder has no {INDEX} with models below it", ACCEPTED)
    family = _family(configs)
    unet, vae = configs["unet"], configs["vae"] or _json(path / "vae_decoder" / "config.json")
    if unet.get("addition_embed_type"):
        raise refusal(path, "this is a Stable Diffusion XL model", ACCEPTED)
    scheduler = _json(path / "scheduler" / "scheduler_config.json")
    blocks = cast("list[int]", vae.get("block_out_channels", [0] * 4))
    lcm = unet.get("time_cond_proj_dim") or scheduler.get("_class_name") == "LCMScheduler"
    return Found(
        path,
        family,
        parts,
        _prediction(path, scheduler),
        _schedule(path, scheduler),
        _pad(path, family),
        2 ** (len(blocks) - 1),
        float(vae.get("scaling_factor", family.latent_factor)),
        int(scheduler.get("original_inference_steps", LCM_STEPS)) if lcm else 0,
    )


def _refuse_foreign(path: Path) -> None:
    index = _json(path / INDEX)
    name = str(index.get("_class_name", ""))
    if not name.startswith(PIPELINES) or any(word in name for word in ("XL", "3", "Upscale")):
        raise refusal(path, f"this is a pipeline of another family, {short(name)}", ACCEPTED)


def _part(path: Path, part: Part, configs: Mapping[str, dict[str, Any]]) -> PartSource | None:
    place, config = PLACES[part], configs[PLACES[part]]
    ready = path / OWN / part
    if (ready / "record.json").is_file():
        return PartSource(part, "ready", (ready,), "", config)
    xml = path / part / "openvino_model.xml"
    if xml.is_file():
        recognise(xml)
        weights = xml.with_suffix(".bin")
        beside = _json(path / part / "config.json") or config
        return PartSource(part, "openvino", (xml, weights), "", beside, weights.stat().st_size)
    files = _weights(path / place)
    if not files:
        return None
    if not config:
        raise refusal(path / place / "config.json", "the model's configuration is missing")
    prefix, size = "", 0
    for file in files:
        header = read_header(file)
        size += 2 * sum(b - a for a, b in header.offsets.values()) // 2
        if any(name.startswith("text_model.") for name in header.shapes):
            prefix = "text_model."
    return PartSource(part, "diffusers", files, prefix, config, size)


def _weights(folder: Path) -> tuple[Path, ...]:
    """Find the safetensors files of a model: whole or in pieces, the full precision first."""
    for stem in STEMS:
        for variant in ("", ".fp16"):
            whole = folder / f"{stem}{variant}.safetensors"
            if whole.is_file():
                return (whole,)
            index = folder / f"{stem}.safetensors.index{variant}.json"
            if index.is_file():
                return _pieces(index)
    pickles = [path for path in folder.glob("*.bin") if path.stem in STEMS]
    if pickles:
        recognise(pickles[0])
        raise refusal(pickles[0], "these weights are no safetensors file", ACCEPTED)
    return ()


def _pieces(index: Path) -> tuple[Path, ...]:
    named = cast(dict[str, str], _json(index).get("weight_map", {}))
    files = tuple(index.parent / name for name in sorted(set(named.values())))
    for file in files:
        if file.parent != index.parent or not file.is_file():
            raise refusal(index, "a file it names is missing", f"download {short(file.name)}")
    return files


def _json(path: Path) -> dict[str, Any]:
    """Read a small JSON file; {} where it is absent."""
    if not path.is_file():
        return {}
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise refusal(path, "the file is cut off or damaged", "download it again") from error
    if not isinstance(row, dict):
        raise refusal(path, "the file is no JSON object", "download it again")
    return cast(dict[str, Any], row)


def _family(configs: Mapping[str, dict[str, Any]]) -> Family:
    linear = configs["unet"].get("use_linear_projection")
    return SD2 if linear or configs["text_encoder"].get("hidden_act") == "gelu" else SD1


def _prediction(path: Path, scheduler: Mapping[str, Any]) -> Prediction:
    said = scheduler.get("prediction_type", "epsilon")
    if said not in ("epsilon", "v_prediction"):
        raise refusal(path, f"models that predict {short(said)} are not converted", ACCEPTED)
    return "v_prediction" if said == "v_prediction" else "epsilon"


def _schedule(path: Path, scheduler: Mapping[str, Any]) -> NoiseSchedule:
    kind = scheduler.get("beta_schedule", "scaled_linear")
    if kind not in ("scaled_linear", "linear") or scheduler.get("trained_betas"):
        raise refusal(path, f"the noise schedule {short(kind)} is not known", ACCEPTED)
    return NoiseSchedule(
        float(scheduler.get("beta_start", 0.00085)),
        float(scheduler.get("beta_end", 0.012)),
        "linear" if kind == "linear" else "scaled_linear",
        int(scheduler.get("num_train_timesteps", 1000)),
        bool(scheduler.get("rescale_betas_zero_snr", False)),
    )


def _pad(path: Path, family: Family) -> int:
    """Give the token that fills up a text, as the tokenizer beside the model says."""
    for name in ("special_tokens_map.json", "tokenizer_config.json"):
        told = _json(path / "tokenizer" / name).get("pad_token")
        text = cast(dict[str, Any], told).get("content") if isinstance(told, dict) else told
        if text in ("!", "<|endoftext|>"):
            return 0 if text == "!" else SD1.pad
    return family.pad
