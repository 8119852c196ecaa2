"""`vinode fix` on sizes that are not fixed: an NPU takes no others."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import PIL.Image
import pytest

from tests.cli.test_fix import Terminal
from tests.cli.test_preflight import FINE
from tests.nodes.small_diffusion import vae
from vinode.cli import call
from vinode.converters.npu_compiler.find import LOADER, VARIABLE, find
from vinode.converters.npu_compiler.verdict import Question, Verdicts
from vinode.graph.fixes import STATIC_SIZE
from vinode.graph.mending import change
from vinode.graph.plugins import load_packs
from vinode.graph.workflow import NodeId, from_json, to_prompt

Capture = pytest.CaptureFixture[str]

LOAD = {"class_type": "LoadImage", "inputs": {"image": "photo.png"}}
ENCODE = {"class_type": "VAEEncode", "inputs": {"pixels": ["2", 0], "vae": ["9", 0]}}
SAMPLE = {"class_type": "KSampler", "inputs": {"latent_image": ["3", 0]}}
SCALED = {"image": ["1", 0], "upscale_method": "lanczos", "width": 512, "height": 512}


def scale(width: object, height: object, **more: object) -> dict[str, Any]:
    """Make an ImageScale of the loaded picture."""
    given = {"image": ["1", 0], "width": width, "height": height, **more}
    return {"class_type": "ImageScale", "inputs": given}


def switch(value: int) -> dict[str, Any]:
    """Make a node that gives a number only in the run."""
    return {"class_type": "ComfySwitchNode", "inputs": {"switch": True, "on_true": value}}


@pytest.mark.parametrize(
    ("nodes", "done", "inputs"),
    [
        (
            {"1": LOAD, "4": {**ENCODE, "inputs": {"pixels": ["1", 0]}}},
            ["node 2 (ImageScale): new, 512 x 512 pixels, before node 4 (VAEEncode), input pixels"],
            {"2": {**SCALED, "crop": "center"}, "4": {"pixels": ["2", 0]}},
        ),
        (
            {
                "1": LOAD,
                "3": {**ENCODE, "inputs": {"pixels": ["1", 0]}},
                "4": SAMPLE,
            },
            ["node 2 (ImageScale): new, 512 x 512 pixels, before node 3 (VAEEncode), input pixels"],
            {"3": {"pixels": ["2", 0]}, "4": {"latent_image": ["3", 0]}},
        ),
        (
            {"1": LOAD, "2": scale(0, 384), "4": ENCODE},
            [
                "node 2 (ImageScale), input width: 384 instead of 0",
                "node 2 (ImageScale), input crop: center instead of disabled",
            ],
            {"2": {"image": ["1", 0], "width": 384, "height": 384, "crop": "center"}},
        ),
        (
            {
                "2": switch(640),
                "3": {
                    "class_type": "EmptyLatentImage",
                    "inputs": {"width": ["2", 0], "height": 704},
                },
                "4": SAMPLE,
            },
            ["node 3 (EmptyLatentImage), input width: 704 instead of the link to node 2"],
            {"3": {"width": 704, "height": 704}},
        ),
        # Fixed already: behind it nothing matters, and a primitive's number is as good as any.
        ({"1": LOAD, "2": scale(64, 64), "4": ENCODE}, [], {}),
        (
            {
                "1": LOAD,
                "2": scale(["5", 0], 64, crop="center"),
                "4": ENCODE,
                "5": {"class_type": "PrimitiveInt", "inputs": {"value": 96}},
            },
            [],
            {},
        ),
        ({"3": {"class_type": "EmptyLatentImage", "inputs": {}}, "4": SAMPLE}, [], {}),
    ],
)
def test_sizes_become_numbers_or_pictures_are_scaled(
    nodes: dict[str, Any], done: list[str], inputs: dict[str, Any]
) -> None:
    """Where the workflow says the size it is said there; what is fixed stays."""
    workflow = from_json(nodes)
    made = change(workflow, NodeId("4"), STATIC_SIZE, load_packs().types)
    assert (list(made.done) if made else []) == done
    if made is not None:
        written = json.loads(json.dumps(to_prompt(made.workflow)))
        assert {id: written[id]["inputs"] for id in inputs} == inputs
        assert change(made.workflow, NodeId("4"), STATIC_SIZE, load_packs().types) is None


PACK = '''
"""Gives a small autoencoder, and pictures whose size nobody knows before the run."""
from pathlib import Path

from vinode import Image, node
from vinode.graph.diffusion import Vae
from vinode.graph.values import ModelPart

HERE = Path(__file__).parent


def part(name: str) -> ModelPart:
    """Give a part that stands beside this file."""
    return ModelPart(name, HERE / f"{name}.xml", name, 0)


@node("t.Vae", category="test", known=True)
def small_vae() -> Vae:
    """Give it."""
    return Vae(part("decoder"), part("encoder"), "sd1")


@node("t.Cut", category="test")
def cut(image: Image) -> Image:
    """Leave out what is black on the right.

    image  pictures
    """
    lit = image.as_float().any(axis=(0, 1, 3)).nonzero()[0]
    return Image(image.pixels[:, :, : int(lit.max()) + 1])
'''


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Write pack, picture and workflow, and name a compiler that need not be asked."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "compiler").mkdir()
    loader = tmp_path / "compiler" / LOADER.get(sys.platform, LOADER["linux"])
    loader.write_bytes(b"no library")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "compiler"))
    (tmp_path / "packs").mkdir()
    vae(tmp_path / "packs")
    (tmp_path / "packs/odd_pack.py").write_text(PACK, encoding="utf-8")
    PIL.Image.new("RGB", (90, 60), "white").save(tmp_path / "photo.png")
    nodes: dict[str, Any] = {
        "1": LOAD,
        "2": {"class_type": "t.Cut", "inputs": {"image": ["1", 0]}},
        "3": {**ENCODE, "_meta": {"device": "NPU", "pos": [300, 200]}},
        "4": {"class_type": "SaveLatent", "inputs": {"samples": ["3", 0]}},
        "9": {"class_type": "t.Vae", "inputs": {}},
    }
    (tmp_path / "w.json").write_text(json.dumps({"vinode": 1, "prompt": nodes}), encoding="utf-8")
    return ["w.json", "--nodes", "packs", "--models", "models"]


def test_a_size_that_is_known_only_in_the_run_is_mended(
    words: list[str], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check says so, the user declines the CPU and takes the size; the check then knows it."""
    assert call(["check", *words, "--platform", "4000"]) == 1
    out = capsys.readouterr().out
    assert "node 3 (VAEEncode), encoder, image 1x?x?x3: does not compile" in out
    assert "[dynamic-shape] NPU 4000: the input image has no fixed shape" in out
    assert "`vinode fix FILE --platform 4000` can change the workflow" in out
    before = Path("w.json").read_bytes()
    assert call(["fix", *words, "--platform", "4000"]) == 0
    out = capsys.readouterr().out
    assert "could: give it pictures of one fixed size (node 5 (ImageScale): new, 512 x 512" in out
    assert Path("w.json").read_bytes() == before
    monkeypatch.setattr("sys.stdin", Terminal("n\ny\n"))
    assert call(["fix", *words, "--platform", "4000"]) == 0
    assert "changed: node 5 (ImageScale): new" in capsys.readouterr().out
    prompt = json.loads(Path("w.json").read_text(encoding="utf-8"))["prompt"]
    assert prompt["5"]["inputs"] == {**SCALED, "image": ["2", 0], "crop": "center"}
    assert prompt["5"]["_meta"]["pos"] == [260, 160]
    shapes = {"image": (1, 512, 512, 3)}
    question = Question("encoder", shapes, {}, (), "4000", find(Path()).identity)
    Verdicts(Path("models/verdicts")).keep(question, FINE)
    assert call(["check", *words, "--platform", "4000"]) == 0
    assert "image 1x512x512x3: compiles" in capsys.readouterr().out
    assert call(["fix", *words, "--platform", "4000"]) == 0
    assert "every node runs where it was asked to" in capsys.readouterr().out
    assert call(["run", *words, "--device", "CPU", "--timing", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    (encoded,) = (node for node in report["nodes"] if node["id"] == "3")
    assert "64" in encoded["outputs"][0]


def test_a_workflow_that_is_wrong_is_not_asked_about(words: list[str], capsys: Capture) -> None:
    """Its faults come first, with exit code 2; nothing is written."""
    before = Path("w.json").read_bytes()
    assert call(["fix", *words, "--platform", "4000", "--set", "1.image=none.png", "--yes"]) == 2
    assert "input image" in capsys.readouterr().err
    assert Path("w.json").read_bytes() == before
