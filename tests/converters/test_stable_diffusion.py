"""Converted parts answer as diffusers and transformers do, at any size, from every layout."""

# torch, diffusers and transformers are in no environment that is checked.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.converters.diffusion_models import LAYERS, Tiny, save_checkpoint, save_folder, tiny
from vinode.converters import ir
from vinode.converters.stable_diffusion.family import PARTS, Part
from vinode.converters.stable_diffusion.found import Found
from vinode.converters.stable_diffusion.look import look
from vinode.graph.diffusion import time_waves

pytestmark = [pytest.mark.torch, pytest.mark.timeout(300)]

SIZES = [(8, 8), (9, 13)]  # latent cells; the second halves to odd sizes on the way down


@dataclass(frozen=True, slots=True)
class Case:
    """A way to keep a pipeline, and the parts that are compared."""

    save: Callable[[Tiny, Path], Path]
    sd2: bool = False
    in_channels: int = 4
    parts: tuple[Part, ...] = PARTS
    dtype: str = "float16"


def _file(dtype: str = "float16", sd2: bool = False) -> Callable[[Tiny, Path], Path]:
    return lambda models, path: save_checkpoint(models, path / "x.safetensors", sd2, dtype)


CASES: Mapping[str, Case] = {
    "folder": Case(lambda models, path: save_folder(models, path / "folder")),
    "file": Case(_file()),
    "file of SD 2": Case(_file(sd2=True), sd2=True, parts=("text_encoder", "unet")),
    "inpainting": Case(_file(), in_channels=9, parts=("unet",)),
    "float32": Case(_file("float32"), parts=("unet",), dtype="float32"),
    "bfloat16": Case(_file("bfloat16"), parts=("vae_decoder",), dtype="bfloat16"),
}


@dataclass(frozen=True, slots=True)
class Made:
    """A case that was converted; a folder with model.xml a part."""

    case: Case
    models: Tiny
    found: Found
    folders: Mapping[Part, Path]


@pytest.fixture(scope="module", params=list(CASES.values()), ids=list(CASES))
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Convert the parts of a case, in this process: another one for each takes its time."""
    import torch

    from vinode.converters.stable_diffusion import from_torch

    torch.set_num_threads(1)  # many would wait for each other beside other programs
    case: Case = request.param
    home = tmp_path_factory.mktemp("sd")
    models = tiny(sd2=case.sd2, in_channels=case.in_channels)
    found = look(case.save(models, home))
    for model in (models.text, models.unet, models.vae):
        model.to(getattr(torch, case.dtype)).float()  # what is left of them in the file
    folders: dict[Part, Path] = {}
    for part in case.parts:
        folders[part] = home / part
        folders[part].mkdir()
        from_torch.convert(found.parts[part], folders[part], lambda step: None)
    return Made(case, models, found, folders)


@functools.cache
def compiled(folder: Path) -> Any:
    """Compile an IR for float32, once: its sizes are free."""
    exact = {"INFERENCE_PRECISION_HINT": "f32"}
    return ir.new_core().compile_model(str(folder / "model.xml"), "CPU", exact)


def answers(folder: Path, given: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Run an IR in float32; each output has one name, which the engine goes by."""
    model = compiled(folder)
    told = model(dict(given))
    return {name: np.array(told[port]) for port in model.outputs for name in port.get_names()}


def assert_same(answer: NDArray[Any], wanted: Any) -> None:
    """Hold an answer to torch's: 60 dB is what float16 weights of a float32 source leave."""
    assert answer.shape == tuple(wanted.shape)
    _, snr, _ = ir.difference(answer, wanted.numpy())
    assert snr is None or snr > 60


def need(made: Made, part: Part) -> Path:
    """Give the folder of a part, where this case has it."""
    if part not in made.folders:
        pytest.skip("not of this case")
    return made.folders[part]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("timestep", [999.0, 0.0, 601.37])
def test_the_unet_predicts_the_same(made: Made, size: tuple[int, int], timestep: float) -> None:
    """Two pictures at once; fractions of a step are kept."""
    import torch

    random = np.random.default_rng(7)
    shape = (2, made.case.in_channels, *size)
    given = {
        "sample": random.standard_normal(shape, np.float32),
        "time": time_waves(timestep, 32),
        "context": random.standard_normal((2, 154, 64), np.float32),
    }
    got = answers(need(made, "unet"), given)
    assert list(got) == ["prediction"]
    sample, context = (torch.from_numpy(given[name]) for name in ("sample", "context"))
    step = torch.tensor([timestep])
    assert_same(got["prediction"], made.models.unet(sample, step, context, return_dict=False)[0])


def test_the_text_encoder_gives_every_layer(made: Made) -> None:
    """Looked up in the table of tokens, each layer is after the final norm."""
    import torch

    folder = need(made, "text_encoder")
    table = np.load(folder / "tokens.npy")
    assert table.dtype == np.float16
    ids = np.random.default_rng(3).integers(0, len(table), (2, 77))
    got = answers(folder, {"embeddings": table[ids].astype(np.float32)})
    assert list(got) == [f"layer_{number}" for number in range(1, LAYERS + 1)]
    text = made.models.text
    wanted = text(torch.from_numpy(ids), output_hidden_states=True)
    norm = getattr(text, "text_model", text).final_layer_norm
    for number in range(1, LAYERS + 1):
        assert_same(got[f"layer_{number}"], norm(wanted.hidden_states[number]))
    assert_same(got[f"layer_{LAYERS}"], wanted.last_hidden_state)


@pytest.mark.parametrize("size", SIZES)
def test_the_decoder_gives_rows_of_pixels(made: Made, size: tuple[int, int]) -> None:
    """(B, H, W, 3), 0..1, not clipped."""
    import torch

    latent = np.random.default_rng(5).standard_normal((2, 4, *size), np.float32)
    got = answers(need(made, "vae_decoder"), {"latent": latent})
    assert list(got) == ["image"]
    wanted = made.models.vae.decode(torch.from_numpy(latent)).sample
    assert_same(got["image"], wanted.permute(0, 2, 3, 1) / 2 + 0.5)


def test_the_encoder_gives_the_mean(made: Made) -> None:
    """From rows of pixels 0..1."""
    import torch

    image = np.random.default_rng(5).random((2, 64, 88, 3), np.float32)
    got = answers(need(made, "vae_encoder"), {"image": image})["latent"]
    planes = torch.from_numpy(image).permute(0, 3, 1, 2) * 2 - 1
    assert_same(got, made.models.vae.encode(planes).latent_dist.mean)


SHAPES: Mapping[Part, Mapping[str, list[int]]] = {
    "text_encoder": {"embeddings": [1, 77, 64]},
    "unet": {"sample": [2, 0, 16, 16], "time": [32], "context": [2, 77, 64]},
    "vae_decoder": {"latent": [1, 4, 16, 16]},
    "vae_encoder": {"image": [1, 128, 128, 3]},
}


def fixed(made: Made, part: Part) -> Any:
    """Give a part's model with fixed shapes."""
    core = ir.new_core()
    model = core.read_model(need(made, part) / "model.xml")
    channels = made.case.in_channels
    shapes = {n: [size or channels for size in shape] for n, shape in SHAPES[part].items()}
    model.reshape(shapes)
    return model


@pytest.mark.parametrize("part", PARTS)
def test_with_fixed_shapes_nothing_is_left_to_compute_them(made: Made, part: Part) -> None:
    """What the NPU's compiler wants: every size known, no more than five dimensions."""
    from openvino.passes import ConstantFolding, Manager

    model = fixed(made, part)
    manager = Manager()
    manager.register_pass(ConstantFolding())
    manager.run_passes(model)
    kinds = {node.get_type_name() for node in model.get_ops()}
    assert not kinds & {"ShapeOf", "Loop", "If", "NonZero"}
    for node in model.get_ops():
        for port in node.outputs():
            assert port.get_partial_shape().is_static
            assert len(port.get_shape()) <= 5


@pytest.mark.parametrize("part", PARTS)
def test_the_waves_of_a_timestep_are_made_outside(made: Made, part: Part) -> None:
    """In bfloat16 or float16 a device would make those of another timestep."""
    model = ir.new_core().read_model(need(made, part) / "model.xml")
    kinds = {node.get_type_name() for node in model.get_ops()}
    assert not kinds & {"Sin", "Cos"}


@pytest.mark.parametrize("part", PARTS)
def test_weights_are_halves(made: Made, part: Part) -> None:
    """A matrix in float32 would double the file."""
    model = ir.new_core().read_model(need(made, part) / "model.xml")
    held = [node for node in model.get_ops() if node.get_type_name() == "Constant"]
    singles = [n for n in held if n.get_element_type().to_string() == "f32"]
    large = [n.get_friendly_name() for n in singles if np.prod(n.get_output_shape(0)) > 77 * 77]
    assert large == []
