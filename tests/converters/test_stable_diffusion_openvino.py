"""Folders with IR: optimum-intel's is wrapped without torch, our own is used as it is."""

# torch, diffusers and transformers are in no environment that is checked.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from tests.converters.diffusion_models import SCHEDULER, WIDTH, Tiny, tiny
from tests.converters.test_stable_diffusion import answers, assert_same
from vinode.converters.stable_diffusion.load import converted, fault, load_checkpoint, load_clip
from vinode.converters.store import Store
from vinode.graph.diffusion import time_waves
from vinode.graph.errors import ModelError

pytestmark = [pytest.mark.torch, pytest.mark.timeout(300)]


SHAPES = {
    "input_ids": [-1, -1],
    "sample": [-1, -1, -1, -1],
    "timestep": [],
    "encoder_hidden_states": [-1, -1, WIDTH],
    "latent_sample": [-1, 4, -1, -1],
}


@pytest.fixture(scope="module")
def models() -> Tiny:
    """Make the torch models, as they are left by float16."""
    import torch

    torch.set_num_threads(1)
    made = tiny()
    for model in (made.text, made.unet, made.vae):
        model.half().float()
    return made


@pytest.fixture(scope="module")
def optimum(models: Tiny, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a folder as optimum-intel does."""
    import openvino as ov
    import torch

    from tests.converters.optimum_models import modules_of

    folder = tmp_path_factory.mktemp("optimum") / "pipeline"
    kept = {"vae_decoder": models.vae, "vae_encoder": models.vae, "unet": models.unet}
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracer has many
        for part, (module, example, outputs) in modules_of(models).items():
            shapes = {name: ov.PartialShape(SHAPES[name]) for name in example}
            if part == "unet":
                shapes["sample"] = ov.PartialShape([-1, 4, -1, -1])
            if part == "vae_encoder":
                shapes["sample"] = ov.PartialShape([-1, 3, -1, -1])
            model = ov.convert_model(module.eval(), example_input=example, input=shapes)
            for port, name in zip(model.inputs, example, strict=True):
                port.get_tensor().set_names({name})
            for port, name in zip(model.outputs, outputs, strict=True):
                port.get_tensor().set_names({name})
            (folder / part).mkdir(parents=True)
            ov.save_model(model, folder / part / "openvino_model.xml", compress_to_fp16=True)
            config = kept[part].config if part in kept else models.text.config.to_dict()
            text = json.dumps(dict(config), default=str)
            (folder / part / "config.json").write_text(text)
    (folder / "scheduler").mkdir()
    (folder / "scheduler" / "scheduler_config.json").write_text(json.dumps(SCHEDULER))
    index = {"_class_name": "OVStableDiffusionPipeline"}
    (folder / "model_index.json").write_text(json.dumps(index))
    return folder


@pytest.fixture(scope="module")
def store(optimum: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Convert the folder, in a process in which torch cannot be imported."""
    home = tmp_path_factory.mktemp("models")
    program = f"""
import sys
import warnings
from pathlib import Path
for name in ("torch", "diffusers", "transformers"):
    sys.modules[name] = None
from vinode.converters.stable_diffusion.load import load_checkpoint
from vinode.converters.store import Store
load_checkpoint(Store((Path({str(home)!r}),)), Path({str(optimum)!r}))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return Store((home,))


def test_optimums_parts_answer_as_torch_does(models: Tiny, optimum: Path, store: Store) -> None:
    """With our inputs and outputs; a fraction of a timestep counts."""
    import torch

    got = converted(store, optimum)
    assert got is not None
    assert got.model is not None
    assert got.model.prediction == "v_prediction"
    random = np.random.default_rng(0)
    sample = random.standard_normal((2, 4, 9, 13), np.float32)
    context = random.standard_normal((2, 77, WIDTH), np.float32)
    given = {"sample": sample, "time": time_waves(700.5, 32), "context": context}
    told = answers(got.model.unet.xml.parent, given)
    tensors = torch.from_numpy(sample), torch.tensor([700.5]), torch.from_numpy(context)
    wanted = models.unet(*tensors, return_dict=False)[0]
    assert_same(told["prediction"], wanted)
    assert got.vae is not None
    assert got.vae.encoder is not None
    told = answers(got.vae.decoder.xml.parent, {"latent": sample})
    planes = models.vae.decode(torch.from_numpy(sample)).sample
    assert_same(told["image"], planes.permute(0, 2, 3, 1) / 2 + 0.5)
    image = random.random((2, 64, 88, 3), np.float32)
    told = answers(got.vae.encoder.xml.parent, {"image": image})
    planes = torch.from_numpy(image).permute(0, 3, 1, 2) * 2 - 1
    assert_same(told["latent"], models.vae.encode(planes).latent_dist.mean)


def test_optimums_text_encoder_gives_every_layer(models: Tiny, optimum: Path, store: Store) -> None:
    """The final norm is repeated on each; the table is cut off."""
    import torch

    clip = load_clip(store, optimum)
    assert (clip.layers, clip.width) == (3, WIDTH)
    table = np.load(clip.tokens)
    ids = np.random.default_rng(3).integers(0, len(table), (2, 77))
    told = answers(clip.encoder.xml.parent, {"embeddings": table[ids].astype(np.float32)})
    wanted = models.text(torch.from_numpy(ids), output_hidden_states=True)
    norm = getattr(models.text, "text_model", models.text).final_layer_norm
    for number in range(1, 4):
        assert_same(told[f"layer_{number}"], norm(wanted.hidden_states[number]))


def test_ready_parts_are_used_as_they_are(optimum: Path, store: Store, tmp_path: Path) -> None:
    """A folder with our IR and records beside small JSON files needs no conversion, no weights."""
    folder = tmp_path / "ready"
    for place in ("unet", "vae_decoder", "text_encoder", "scheduler"):
        target = folder / place.removesuffix("_decoder")
        target.mkdir(parents=True)
        for path in (optimum / place).glob("*.json"):
            shutil.copy(path, target)
    for record in store.home.glob("store/*/record.json"):
        part = json.loads(record.read_text())["recipe"]["options"]["part"]
        shutil.copytree(record.parent, folder / "openvino" / part)
    empty = Store((tmp_path / "models",))
    assert fault(empty, folder) is None
    got = load_checkpoint(empty, folder)
    assert got == converted(empty, folder)
    assert got.clip is not None
    assert got.clip.tokens == folder / "openvino" / "text_encoder" / "tokens.npy"
    assert got.vae is not None
    assert got.vae.scale == 8
    assert not empty.home.exists()
    (folder / "openvino" / "unet" / "model.bin").write_bytes(b"other")
    with pytest.raises(ModelError, match=r"model\.bin is missing or has another size"):
        load_checkpoint(empty, folder)
    said = fault(empty, folder)
    assert said is not None
    assert said.code == "model-damaged"
