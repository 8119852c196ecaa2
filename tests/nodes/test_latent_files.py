"""Latents in files: those that ComfyUI writes and reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import load_file, save_file  # pyright: ignore[reportUnknownVariableType]

from tests.graph.engine import Nodes, engine
from tests.nodes.context import CallContext, folders_below
from vinode.graph.diffusion import Latent
from vinode.graph.errors import NodeError
from vinode.graph.node import call_hook, collect
from vinode.nodes import latent, latent_files
from vinode.nodes.latent_files import load_latent, save_latent

F32 = NDArray[np.float32]


def samples(batch: int = 2) -> F32:
    """Make a batch of latents."""
    return np.random.default_rng(1).standard_normal((batch, 4, 6, 5)).astype(np.float32)


@pytest.fixture
def context(tmp_path: Path) -> CallContext:
    """Give a context with empty folders, whose files carry a workflow."""
    return CallContext(folders_below(tmp_path / "run"), {"prompt": '{"1": {}}'})


def test_a_saved_latent_is_loaded_as_it_was(context: CallContext) -> None:
    """Number by number; named and counted like pictures; shown as ComfyUI shows it."""
    for number in (1, 2):
        save_latent(context, Latent(samples() + number))
        loaded = load_latent(context, f"latents/vinode_0000{number}_.latent [output]")
        assert (loaded.samples == samples() + number).all()
    item = {"filename": "vinode_00002_.latent", "subfolder": "latents", "type": "output"}
    assert context.shown[-1] == ("latents", [item])
    folder = context.folders.output / "latents"
    assert {path.suffix for path in folder.iterdir()} == {".latent"}


def test_the_file_is_laid_out_as_comfy_ui_does(context: CallContext) -> None:
    """A tensor, an empty one that marks the version, and the workflow as text."""
    save_latent(context, Latent(samples()[:, :, ::-1]), "x/%width%x%height%")
    path = context.folders.output / "x" / "40x48_00001_.latent"
    tensors = load_file(path)
    assert sorted(tensors) == ["latent_format_version_0", "latent_tensor"]
    assert tensors["latent_format_version_0"].size == 0
    assert (tensors["latent_tensor"] == samples()[:, :, ::-1]).all()
    opened: Any = safe_open(path, "np")
    with opened as file:
        assert file.metadata() == {"prompt": '{"1": {}}'}


def test_files_without_the_mark_are_divided_by_the_factor(context: CallContext) -> None:
    """Half precision is read too."""
    save_file({"latent_tensor": samples().astype(np.float16)}, context.folders.input / "old.latent")
    loaded = load_latent(context, "old.latent")
    np.testing.assert_allclose(loaded.samples, samples() / 0.18215, atol=0.02)


BAD: list[tuple[dict[str, NDArray[Any]], str]] = [
    ({"other": np.zeros((1, 4, 2, 2), np.float32)}, "no tensor latent_tensor"),
    ({"latent_tensor": np.zeros((1, 16, 5, 2, 2), np.float32)}, r"\(1, 16, 5, 2, 2\)"),
    ({"latent_tensor": np.zeros((0, 4, 2, 2), np.float32)}, r"\(0, 4, 2, 2\)"),
    ({"latent_tensor": np.zeros((1, 4, 2, 2), np.int64)}, "no tensor latent_tensor"),
    ({"latent_tensor": np.full((1, 4, 2, 2), np.nan, np.float32)}, "not finite"),
]


@pytest.mark.parametrize(("tensors", "sentence"), BAD)
def test_a_file_that_holds_no_latents_is_one_sentence(
    context: CallContext, tensors: dict[str, NDArray[Any]], sentence: str
) -> None:
    """Of films, empty, of whole numbers, or another file altogether."""
    save_file(tensors, context.folders.input / "x.latent")
    with pytest.raises(NodeError, match=sentence):
        load_latent(context, "x.latent")


@pytest.mark.parametrize("content", [b"", b"\x80\x04pickled", b"nonsense" * 20])
def test_a_damaged_file_is_one_sentence(context: CallContext, content: bytes) -> None:
    """Empty, pickled or nonsense."""
    (context.folders.input / "x.latent").write_bytes(content)
    with pytest.raises(NodeError) as raised:
        load_latent(context, "x.latent")
    assert raised.value.faults[0].got == "x.latent"


def test_what_is_wrong_with_a_name_is_told_before_the_run(context: CallContext) -> None:
    """No such file, with the nearest name; a prefix that leads out."""
    save_file({"latent_tensor": samples()}, context.folders.input / "fox.latent")
    load, keep = load_latent.check, save_latent.check
    assert load
    assert keep
    fault = call_hook(load, {"latent": "foxx.latent"}, context.folders)
    assert str(fault).startswith("input latent: there is no such file; got 'foxx.latent'; did you")
    assert call_hook(load, {"latent": "fox.latent"}, context.folders) is None
    fault = call_hook(keep, {"filename_prefix": "../x"}, context.folders)
    assert fault.place == "input filename_prefix"


def test_an_edited_file_is_loaded_again(tmp_path: Path) -> None:
    """An unchanged one is not."""
    folders = folders_below(tmp_path)
    path = folders.input / "x.latent"
    save_file({"latent_tensor": samples(1), "latent_format_version_0": np.zeros(0)}, path)
    runner = engine(*collect([latent, latent_files]).values())
    runner.folders = folders
    nodes: Nodes = {
        "1": ("LoadLatent", {"latent": "x.latent"}),
        "2": ("SaveLatent", {"samples": ["1", 0], "filename_prefix": "y"}),
    }
    assert runner.run(nodes, ["2"]).started == ["1", "2"]
    assert runner.run(nodes, ["2"]).started == []
    save_file({"latent_tensor": samples(3), "latent_format_version_0": np.zeros(0)}, path)
    assert runner.run(nodes, ["2"]).started == ["1", "2"]
    assert load_file(folders.output / "y_00002_.latent")["latent_tensor"].shape[0] == 3
