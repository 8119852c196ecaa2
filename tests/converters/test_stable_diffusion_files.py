"""What is told of a checkpoint before it is converted: its kind, its facts, and why it is refused.

Only headers count, so files of the true names and shapes, all zeros, stand for models.
"""

# safetensors leaves a path untyped.
# pyright: reportUnknownVariableType=false

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from vinode.converters.stable_diffusion.load import fault, fingerprint, load_checkpoint
from vinode.converters.stable_diffusion.look import look
from vinode.converters.store import Store
from vinode.graph.errors import ModelError

Shapes = Mapping[str, tuple[int, ...]]

UNET: Shapes = {
    "input_blocks.0.0.weight": (32, 4, 3, 3),
    "input_blocks.1.0.in_layers.2.weight": (32, 32, 3, 3),
    "input_blocks.1.1.proj_in.weight": (32, 32, 1, 1),
    "input_blocks.1.1.transformer_blocks.0.attn2.to_k.weight": (32, 768),
    "input_blocks.2.0.op.weight": (32, 32, 3, 3),
    "input_blocks.3.0.in_layers.2.weight": (64, 32, 3, 3),
    "out.2.weight": (4, 32, 3, 3),
}
NORM = "output_blocks.11.1.transformer_blocks.0.norm1.bias"
SD2_UNET: Shapes = {**UNET, "input_blocks.1.1.proj_in.weight": (32, 32), NORM: (64,)}
VAE: Shapes = {
    "decoder.conv_in.weight": (64, 4, 3, 3),
    **{f"decoder.up.{level}.block.0.conv1.weight": (32, 32, 3, 3) for level in range(4)},
    **{f"decoder.up.{level}.block.1.conv1.weight": (32, 32, 3, 3) for level in range(4)},
}


def below(prefix: str, shapes: Shapes) -> Shapes:
    """Put a prefix before each name."""
    return {prefix + name: shape for name, shape in shapes.items()}


def write(path: Path, shapes: Shapes, metadata: dict[str, str] | None = None) -> Path:
    """Write a file with tensors of these shapes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file({n: np.zeros(s, np.float16) for n, s in shapes.items()}, path, metadata)
    return path


WHOLE = below("model.diffusion_model.", UNET)


def cut(path: Path) -> None:
    """Leave what a broken download leaves."""
    write(path, WHOLE)
    path.write_bytes(path.read_bytes()[:-1000])


def holed(path: Path) -> None:
    """Say in the header that a tensor has fewer bytes than its shape needs."""
    header = {"a": {"dtype": "F16", "shape": [9, 9], "data_offsets": [0, 4]}}
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(4))


def put(content: bytes) -> Callable[[Path], object]:
    """Give a way to write these bytes."""
    return lambda path: path.write_bytes(content)


def of(shapes: Shapes) -> Callable[[Path], object]:
    """Give a way to write these tensors."""
    return lambda path: write(path, shapes)


def whole_numbers(path: Path) -> None:
    """Write weights of a type that is not computed with."""
    save_file({name: np.zeros(shape, np.int8) for name, shape in WHOLE.items()}, path)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (cut, "the safetensors file is cut off or damaged; download it again"),
        (holed, "the safetensors file is cut off or damaged; download it again"),
        (put(b""), "the file is empty; download it again"),
        (put(b"<!DOCTYPE html><html>"), "this is a web page, not a model"),
        (put(b"version https://git-lfs.github.com/spec/v1"), "this is a Git LFS pointer"),
        (put(b"\x80\x02}q\x00."), "a Python pickle: opening it can run any program"),
        (put(b"GGUF" + bytes(99)), "GGUF is not opened"),
        (whole_numbers, "its weights are stored as I8; give it in float16"),
        (of({"conditioner.embedders.0.x": (1,), **WHOLE}), "a Stable Diffusion XL checkpoint"),
        (of({"label_emb.0.0.weight": (1,), **UNET}), "a Stable Diffusion XL model"),
        (of({"double_blocks.0.img_attn.qkv.weight": (1,)}), "this is a Flux model"),
        (of({"joint_blocks.0.x_block.attn.qkv.weight": (1,)}), "a Stable Diffusion 3 model"),
        (of({"lora_unet_x.lora_down.weight": (1,)}), "this is a LoRA; give a Stable Diffusion"),
        (of({"unet.x.lora_A.weight": (1,)}), "this is a LoRA"),
        (of({"control_model.x": (1,)}), "this is a ControlNet"),
        (of({"emb_params": (1, 768)}), "this is a textual inversion"),
        (of({"encoder.block.0.layer.0.x": (1,)}), "this is a T5 text encoder"),
        (of({"layer.weight": (1,)}), "no model in it is known; it has '1 tensors, layer.weight'"),
        (of({**VAE, "decoder.conv_in.weight": (64, 16, 3, 3)}), "of another family: 16 channels"),
        (
            of({name: shape for name, shape in WHOLE.items() if "out.2" not in name}),
            "a tensor is missing: out.2.weight",
        ),
    ],
)
def test_a_file_that_is_no_checkpoint_is_one_sentence(
    tmp_path: Path, make: Callable[[Path], object], says: str
) -> None:
    """With its path; before a run and in it the same; nothing is written."""
    path, store = tmp_path / "model.safetensors", Store((tmp_path / "models",))
    make(path)
    said = fault(store, path)
    assert said is not None
    assert str(said).startswith(f"{path}: ")
    assert says in str(said)
    assert "\n" not in str(said)
    with pytest.raises(ModelError, match=re.escape(str(said))):
        load_checkpoint(store, path)
    assert not store.home.exists()


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    """It was deleted after it was chosen."""
    said = fault(Store((tmp_path / "models",)), tmp_path / "gone.safetensors")
    assert said is not None
    assert str(tmp_path / "gone.safetensors") in str(said)


def test_sizes_come_from_the_tensors(tmp_path: Path) -> None:
    """Levels, channels and attention, whatever the width."""
    found = look(write(tmp_path / "x.safetensors", {**WHOLE, **below("first_stage_model.", VAE)}))
    config = found.parts["unet"].config
    assert found.family.name == "sd1"
    assert config["block_out_channels"] == [32, 64]
    assert config["down_block_types"] == ["CrossAttnDownBlock2D", "DownBlock2D"]
    assert (config["layers_per_block"], config["cross_attention_dim"]) == (1, 768)
    assert found.scale == 8
    assert set(found.parts) == {"unet", "vae_decoder"}


def with_spread(path: Path, spread: float) -> Path:
    """Write a UNet of SD 2 whose telling bias has this standard deviation."""
    tensors = {name: np.zeros(shape, np.float16) for name, shape in SD2_UNET.items()}
    tensors[NORM] = np.where(np.arange(64) % 2, spread, -spread).astype(np.float16)
    save_file(tensors, path)
    return path


@pytest.mark.parametrize(("spread", "wanted"), [(0.02, "epsilon"), (0.3, "v_prediction")])
def test_velocity_is_told_by_a_bias(tmp_path: Path, spread: float, wanted: str) -> None:
    """No shape tells it."""
    found = look(with_spread(tmp_path / "x.safetensors", spread))
    assert (found.family.name, found.prediction, found.pad) == ("sd2", wanted, 0)


@pytest.mark.parametrize(("noted", "wanted"), [("v", "v_prediction"), ("eps", "epsilon")])
def test_a_note_beside_the_file_comes_first(tmp_path: Path, noted: str, wanted: str) -> None:
    """The training configuration, as published with the models."""
    path = with_spread(tmp_path / "x.safetensors", 0.3)
    before = fingerprint(Store((tmp_path,)), path)
    text = f"model:\n  params:\n    parameterization: {noted}\n    linear_end: 0.02\n"
    path.with_suffix(".yaml").write_text(text)
    found = look(path)
    assert (found.prediction, found.schedule.beta_end) == (wanted, 0.02)
    assert fingerprint(Store((tmp_path,)), path) != before
    path.with_suffix(".yaml").write_text("model: [")
    with pytest.raises(ModelError, match="the training configuration beside the model is damaged"):
        look(path)


def test_marks_and_metadata_tell_the_prediction(tmp_path: Path) -> None:
    """Of finetunes of SD 1, which is trained on noise otherwise."""
    marked = look(write(tmp_path / "a.safetensors", {**WHOLE, "v_pred": (1,), "ztsnr": (1,)}))
    assert (marked.prediction, marked.schedule.zero_snr) == ("v_prediction", True)
    noted = write(tmp_path / "b.safetensors", WHOLE, {"modelspec.prediction_type": "v"})
    assert look(noted).prediction == "v_prediction"
    assert look(write(tmp_path / "c.safetensors", WHOLE)).prediction == "epsilon"


def folder(path: Path, **changes: object) -> Path:
    """Write a folder as diffusers does, with a UNet alone."""
    rows: dict[str, object] = {
        "model_index.json": {"_class_name": "StableDiffusionPipeline"},
        "unet/config.json": {"in_channels": 4, "cross_attention_dim": 768},
        "scheduler/scheduler_config.json": {"prediction_type": "epsilon"},
        **changes,
    }
    write(path / "unet" / "diffusion_pytorch_model.safetensors", {"conv_in.weight": (32, 4, 3, 3)})
    for name, row in rows.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(row if isinstance(row, str) else json.dumps(row))
    return path


@pytest.mark.parametrize(
    ("name", "row", "says"),
    [
        ("model_index.json", {"_class_name": "StableDiffusionXLPipeline"}, "of another family"),
        ("model_index.json", {"_class_name": "FluxPipeline"}, "another family, 'FluxPipeline'"),
        ("model_index.json", "{", "the file is cut off or damaged"),
        ("model_index.json", "[]", "the file is no JSON object"),
        ("unet/config.json", "{}", "the model's configuration is missing"),
        ("unet/config.json", {"addition_embed_type": "text_time"}, "Stable Diffusion XL"),
        (
            "scheduler/scheduler_config.json",
            {"prediction_type": "sample"},
            "models that predict 'sample' are not converted",
        ),
        (
            "scheduler/scheduler_config.json",
            {"beta_schedule": "squaredcos_cap_v2"},
            "the noise schedule 'squaredcos_cap_v2' is not known",
        ),
    ],
)
def test_a_folder_that_is_no_checkpoint_is_one_sentence(
    tmp_path: Path, name: str, row: object, says: str
) -> None:
    """With the file at fault."""
    with pytest.raises(ModelError, match=re.escape(says)):
        look(folder(tmp_path / "x", **{name: row}))


def test_a_folder_with_pickles_is_refused(tmp_path: Path) -> None:
    """And an empty one."""
    path = folder(tmp_path / "x")
    weights = path / "unet" / "diffusion_pytorch_model.safetensors"
    weights.unlink()
    weights.with_suffix(".bin").write_bytes(b"\x80\x02}q\x00.")
    with pytest.raises(ModelError, match="a Python pickle"):
        look(path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match=r"the folder has no model_index\.json"):
        look(tmp_path / "empty")


def test_a_schedule_and_a_pad_are_read_from_the_folder(tmp_path: Path) -> None:
    """As the tokenizer and the scheduler have them."""
    rows = {
        "scheduler/scheduler_config.json": {
            "_class_name": "LCMScheduler",
            "beta_end": 0.02,
            "beta_schedule": "linear",
            "rescale_betas_zero_snr": True,
            "original_inference_steps": 40,
        },
        "tokenizer/special_tokens_map.json": {"pad_token": {"content": "!"}},
        "vae/config.json": {"block_out_channels": [1, 2, 3], "scaling_factor": 1.0},
    }
    found = look(folder(tmp_path / "x", **rows))
    assert (found.schedule.beta_end, found.schedule.beta_schedule) == (0.02, "linear")
    assert (found.schedule.zero_snr, found.distilled_steps, found.pad) == (True, 40, 0)
    assert (found.scale, found.latent_factor) == (4, 1.0)


@pytest.mark.skipif(find_spec("torch") is not None, reason="torch is installed here")
def test_missing_packages_are_one_sentence(tmp_path: Path) -> None:
    """Said before the run as in it, with the command that helps."""
    path, store = write(tmp_path / "x.safetensors", WHOLE), Store((tmp_path / "models",))
    said = fault(store, path, ("model",))
    assert said is not None
    assert "pip install 'vinode[convert]'" in str(said)
    with pytest.raises(ModelError, match="needs torch"):
        load_checkpoint(store, path, wanted=("model",))
    assert not (store.home / "store").exists()
