"""Parts of Stable Diffusion, and whole workflows of them, compiled by Intel's own NPU compiler.

Tiny models with random weights: `pytest -m "npu and torch"`. SD 1.5 at its full size takes a
quarter of an hour and 8 GB of memory: `pytest -m slow`.
"""

# torch, diffusers and transformers are in no environment that is checked.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.converters.diffusion_models import WIDTH, full, save_checkpoint, save_folder, tiny
from tests.converters.test_npu_compiler import HOME, NOWHERE
from vinode.cli import call
from vinode.converters.npu_compiler.find import Compiler, under_wine
from vinode.converters.npu_compiler.preflight import Request, preflight
from vinode.converters.npu_compiler.verdict import Verdict
from vinode.converters.stable_diffusion.load import ALL, Checkpoint, Want, load_checkpoint
from vinode.converters.store import Store
from vinode.graph.part import Shapes
from vinode.graph.values import ModelPart

Capture = pytest.CaptureFixture[str]

PHOTO = Path(__file__).parents[2] / "workflows/photos/astronaut.jpg"
WORKFLOW: Mapping[str, Any] = {
    "1": {"class_type": "CheckpointLoaderSimple", "inputs": {"ckpt_name": "tiny.safetensors"}},
    "2": {"class_type": "CLIPTextEncode", "inputs": {"text": "a (red:1.2) fox", "clip": ["1", 1]}},
    "3": {"class_type": "CLIPTextEncode", "inputs": {"text": "", "clip": ["1", 1]}},
    "4": {"class_type": "LoadImage", "inputs": {"image": str(PHOTO)}},
    "5": {
        "class_type": "ImageScale",
        "inputs": {"image": ["4", 0], "width": 128, "height": 128, "crop": "center"},
    },
    "6": {"class_type": "VAEEncode", "inputs": {"pixels": ["5", 0], "vae": ["1", 2]}},
    "7": {
        "class_type": "KSampler",
        "inputs": {
            "model": ["1", 0],
            "positive": ["2", 0],
            "negative": ["3", 0],
            "latent_image": ["6", 0],
            "steps": 4,
            "cfg": 7.0,
        },
    },
    "8": {"class_type": "VAEDecode", "inputs": {"samples": ["7", 0], "vae": ["1", 2]}},
    "9": {"class_type": "SaveImage", "inputs": {"images": ["8", 0]}},
}


@dataclass(frozen=True, slots=True)
class Made:
    """A checkpoint in a model folder, converted as its loader does."""

    models: Path
    parts: Checkpoint


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    """Give the compiler that the other tests of it have set up."""
    found = under_wine(HOME)
    if found is None:
        pytest.skip('the NPU compiler is not set up; `pytest -m "npu and not torch"` does it')
    return found


@pytest.fixture(scope="module")
def sd1(compiler: Compiler, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Convert all parts of a tiny SD 1."""
    return converted(tmp_path_factory.mktemp("sd1"), False, ALL)


@pytest.fixture(scope="module")
def sd2(compiler: Compiler, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Convert what of a tiny SD 2 is another network than in SD 1."""
    return converted(tmp_path_factory.mktemp("sd2"), True, ("model", "clip"))


def converted(folder: Path, sd2: bool, wanted: tuple[Want, ...]) -> Made:
    """Write a tiny checkpoint into a model folder and convert it there."""
    (folder / "checkpoints").mkdir()
    file = save_checkpoint(tiny(sd2=sd2), folder / "checkpoints" / "tiny.safetensors", sd2)
    with pytest.MonkeyPatch.context() as patch:
        # Many threads would wait for each other beside other programs.
        patch.setenv("OMP_NUM_THREADS", "1")
        return Made(folder, load_checkpoint(Store((folder,)), file, wanted=wanted))


def part_of(parts: Checkpoint, name: str) -> ModelPart:
    """Give a part by the name that a workflow's check shows."""
    assert parts.model is not None
    assert parts.clip is not None
    if name in ("unet", "text_encoder"):
        return parts.model.unet if name == "unet" else parts.clip.encoder
    assert parts.vae is not None
    part = parts.vae.decoder if name == "vae_decoder" else parts.vae.encoder
    assert part is not None
    return part


def shapes_of(part: str, batch: int, cells: int, width: int) -> Shapes:
    """Give the shapes of a part's inputs; cells of the latent's side."""
    match part:
        case "text_encoder":
            return (("embeddings", (batch, 77, width)),)
        case "unet":
            sample = ("sample", (batch, 4, cells, cells))
            return (
                sample,
                ("time", (1, 32 if width == WIDTH else 320)),
                ("context", (batch, 77, width)),
            )
        case "vae_decoder":
            return (("latent", (batch, 4, cells, cells)),)
        case _:
            return (("image", (batch, 8 * cells, 8 * cells, 3)),)


def ask(compiler: Compiler, made: Made, part: str, shapes: Shapes) -> Verdict:
    """Compile a part for Lunar Lake; it must compile, with an estimate."""
    request = Request(part_of(made.parts, part), "4000", shapes)
    verdict = preflight(compiler, request, NOWHERE)
    assert verdict.compiles, verdict.reason
    assert verdict.blob_bytes > 0
    assert verdict.estimate_seconds is not None
    return verdict


USES = [
    ("sd1", "text_encoder", 1),
    ("sd1", "unet", 1),
    ("sd1", "unet", 2),
    ("sd1", "vae_decoder", 1),
    ("sd1", "vae_encoder", 1),
    ("sd2", "text_encoder", 1),
    ("sd2", "unet", 1),
    ("sd2", "unet", 2),
]


@pytest.mark.npu
@pytest.mark.torch
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("kind", "part", "batch"), USES)
def test_a_part_compiles(
    request: pytest.FixtureRequest, compiler: Compiler, kind: str, part: str, batch: int
) -> None:
    """Each at the shapes that its node gives it, the UNet also with both halves of guidance."""
    made: Made = request.getfixturevalue(kind)
    verdict = ask(compiler, made, part, shapes_of(part, batch, 16, WIDTH))
    assert verdict.estimate_seconds is not None
    assert 1e-6 < verdict.estimate_seconds < 0.1


@pytest.mark.npu
@pytest.mark.torch
@pytest.mark.timeout(1200)
def test_a_whole_workflow_is_checked(
    sd1: Made, own_folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Steps x calls x estimate; what stays on the CPU is named; the second check compiles none."""
    data = own_folders / "data" / "vinode"
    data.mkdir(parents=True)
    (data / "npu-compiler").symlink_to(HOME / "npu-compiler")
    monkeypatch.setenv("XDG_DATA_HOME", str(data.parent))
    file = tmp_path / "w.json"
    file.write_text(json.dumps({"vinode": 1, "prompt": WORKFLOW}), encoding="utf-8")
    words = ["check", str(file), "--models", str(sd1.models), "--device", "NPU"]
    words += ["--platform", "4000", "--json"]
    assert call(words) == 0
    first = capsys.readouterr().out
    (told,) = json.loads(first)["npu"]
    assert (told["fits"], told["unknown"]) == (True, [])
    calls = {part["node"]: part["calls"] for part in told["parts"]}
    # The weighted prompt is compared with the empty one; guidance asks the UNet twice a step.
    assert calls == {"2": 2, "3": 1, "6": 1, "7": 8, "8": 1}
    costs = [part["calls"] * part["estimate_seconds"] for part in told["parts"]]
    assert told["estimate_seconds"] == pytest.approx(sum(costs))
    (unet,) = (part for part in told["parts"] if part["node"] == "7")
    assert unet["shapes"]["sample"] == [1, 4, 16, 16]
    assert {node["node"] for node in told["elsewhere"]} == {"1", "4", "5", "9"}
    assert call(words) == 0
    assert capsys.readouterr().out == first  # the seconds that compiling took too


@pytest.fixture(scope="module")
def sd15(compiler: Compiler, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Convert SD 1.5 of its true size, with random weights."""
    pytest.importorskip("diffusers", reason="needs torch and diffusers: pip install .[convert]")
    folder = tmp_path_factory.mktemp("sd15")
    source = save_folder(full(), folder / "checkpoints" / "sd15")
    return Made(folder, load_checkpoint(Store((folder,)), source))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", ["text_encoder", "vae_decoder", "vae_encoder"])
def test_a_part_of_sd_1_5_compiles(compiler: Compiler, sd15: Made, part: str) -> None:
    """For a picture of 512 x 512."""
    ask(compiler, sd15, part, shapes_of(part, 1, 64, 768))


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_halves_of_guidance_are_better_apart(compiler: Compiler, sd15: Made) -> None:
    """What docs/devices.md says of two calls of batch 1 against one of batch 2."""
    one, two = (ask(compiler, sd15, "unet", shapes_of("unet", n, 64, 768)) for n in (1, 2))
    assert one.estimate_seconds is not None
    assert two.estimate_seconds is not None
    assert one.estimate_seconds == pytest.approx(0.267, rel=0.2)
    assert 2 * one.estimate_seconds < two.estimate_seconds
    assert one.blob_bytes < two.blob_bytes
    assert one.peak_bytes is not None
    assert two.peak_bytes is not None
    assert one.peak_bytes < 0.8 * two.peak_bytes
