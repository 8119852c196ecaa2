"""Which model files are opened, and what is said of the others."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path

import pytest

from tests.converters.models import (
    save_ir,
    save_onnx,
    save_onnx_with_weights,
    save_safetensors,
)
from vinode.converters import ir
from vinode.converters.formats import recognise
from vinode.graph.errors import ModelError


def test_formats_are_told_by_content_whatever_the_name(tmp_path: Path) -> None:
    """A checkpoint that is called .ckpt but is safetensors is no pickle."""
    assert recognise(save_onnx(tmp_path / "a.onnx")) == "onnx"
    assert recognise(save_onnx(tmp_path / "a.pt")) == "onnx"
    assert recognise(save_safetensors(tmp_path / "a.safetensors")) == "safetensors"
    assert recognise(save_safetensors(tmp_path / "a.ckpt")) == "safetensors"
    assert recognise(save_ir(tmp_path)) == "ir"
    (tmp_path / "a.tflite").write_bytes(b"\x1c\0\0\0TFL3" + bytes(64))
    assert recognise(tmp_path / "a.tflite") == "tflite"


def _torch_zip() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({"w": 1}))
    return data.getvalue()


REFUSED: dict[str, tuple[str, bytes, str]] = {
    "a pickle": ("a.pkl", pickle.dumps({"w": 1}), "can run any program"),
    "a pickle called safetensors": ("a.safetensors", pickle.dumps([1]), "can run any program"),
    "a torch checkpoint": ("a.ckpt", _torch_zip(), "can run any program"),
    "a torch checkpoint called onnx": ("a.onnx", _torch_zip(), "can run any program"),
    "weights in a pickle": ("pytorch_model.bin", _torch_zip(), "can run any program"),
    "a cut torch checkpoint": ("a.pth", _torch_zip()[:-30], "can run any program"),
    "a pickle of protocol 0": ("a.pt", pickle.dumps({"w": 1}, protocol=0), "can run any program"),
    "another archive": ("a.zip", b"PK\x03\x04" + bytes(40), "zip archive is not opened"),
    "an empty file": ("a.onnx", b"", "the file is empty"),
    "a web page": ("a.onnx", b"<!DOCTYPE html><html></html>", "a web page"),
    "a pointer": ("a.onnx", b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
    "GGUF": ("a.gguf", b"GGUF\x03\0\0\0" + bytes(40), "GGUF is not opened"),
    "noise": ("a.tflite", bytes(range(100, 200)), "no model format"),
    "other XML": ("a.xml", b'<?xml version="1.0"?><page></page>', "no OpenVINO IR"),
    "a cut IR": ("a.xml", b'<?xml version="1.0"?><net name="a">', "cut off"),
    "an IR alone": ("a.xml", b'<?xml version="1.0"?><net name="a"></net>', "a.bin beside it"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_model_is_refused_in_one_sentence(case: str, tmp_path: Path) -> None:
    """The sentence has the place, and says what the file is."""
    name, content, sentence = REFUSED[case]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ModelError) as caught:
        recognise(path)
    text = str(caught.value)
    assert sentence in text
    assert text.startswith(str(path))
    assert "\n" not in text


@pytest.mark.parametrize("suffix", ["onnx", "safetensors"])
def test_every_cut_is_noticed(suffix: str, tmp_path: Path) -> None:
    """However much is missing at the end."""
    path = tmp_path / f"a.{suffix}"
    whole = (save_onnx if suffix == "onnx" else save_safetensors)(path).read_bytes()
    for length in range(1, len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelError):
            recognise(path)


def test_a_cut_tflite_file_is_one_sentence(tmp_path: Path) -> None:
    """OpenVINO checks the file; its answer becomes one line."""
    path = tmp_path / "cut.tflite"
    path.write_bytes(b"\x1c\0\0\0TFL3" + bytes(64))
    with pytest.raises(ModelError, match="cut off, damaged") as caught:
        ir.read(ir.new_core(), path)
    assert "\n" not in str(caught.value)


def test_weights_without_a_graph_are_not_converted(tmp_path: Path) -> None:
    """Safetensors are recognised, but need a converter that knows the network."""
    path = save_safetensors(tmp_path / "a.safetensors")
    with pytest.raises(ModelError, match="weights without a graph"):
        ir.read(ir.new_core(), path)


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    """Both are named."""
    with pytest.raises(ModelError, match=r"none\.onnx"):
        recognise(tmp_path / "none.onnx")
    with pytest.raises(ModelError, match="a folder is no model file"):
        recognise(tmp_path)


@pytest.mark.parametrize(
    ("weights", "named"),
    [
        ("../w.data", "another folder"),
        ("/w.data", "another folder"),
        ("a/../w.data", "another folder"),
    ],
)
def test_onnx_weights_outside_its_folder_are_refused(
    tmp_path: Path, weights: str, named: str
) -> None:
    """A model must not reach for files that its user did not give."""
    with pytest.raises(ModelError, match=named):
        recognise(save_onnx_with_weights(tmp_path / "a.onnx", weights, b"1234"))


def test_onnx_weights_that_are_missing_are_named(tmp_path: Path) -> None:
    """Half of a model was copied."""
    path = save_onnx_with_weights(tmp_path / "a.onnx", "a.data", b"1234")
    path.with_name("a.data").unlink()
    with pytest.raises(ModelError, match=r"put a\.data beside it"):
        recognise(path)
