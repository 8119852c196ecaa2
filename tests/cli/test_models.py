"""`vinode models`, `vinode convert`: small real models through the store, and what is refused."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import save, save_noise
from tests.converters.models import SIZE, STRIDES, save_detector, save_ir, save_onnx
from vinode.cli import call

Capture = pytest.CaptureFixture[str]

OPTIONS = json.dumps({"input": SIZE, "strides": STRIDES})
AS_DETECTOR = [
    "--kind",
    "detector",
    "--family",
    "blazeface",
    "--label",
    "spot",
    "--options",
    OPTIONS,
]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in an empty folder, with a model store of its own there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VINODE_MODELS", "models")


def done(capsys: Capture, *words: str) -> str:
    """Run what must succeed, and give its output."""
    code = call(list(words))
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    return out


def refused(capsys: Capture, *words: str, code: int = 2) -> str:
    """Run what must fail with one sentence, and give it."""
    assert call(list(words)) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    return err.strip()


def listed(capsys: Capture) -> dict[str, dict[str, Any]]:
    """Give the models by name."""
    return {model["name"]: model for model in json.loads(done(capsys, "models", "list", "--json"))}


def test_the_catalogue_is_listed_without_a_store(capsys: Capture) -> None:
    """As JSON and as a table; listing makes nothing."""
    models = listed(capsys)
    assert models["face-short-range"]["state"] == "in catalogue"
    assert models["face-short-range"]["licence"] == "MIT"
    assert "face-short-range" in done(capsys, "models", "list")
    assert not Path("models").exists()


def test_a_detector_is_added_run_and_removed(capsys: Capture) -> None:
    """From a file of the user's own to boxes on a picture."""
    file = str(save_detector(Path("source")))
    assert done(capsys, "models", "add", file, *AS_DETECTOR) == "bright is added\n"
    assert listed(capsys)["bright"]["state"] == "pulled"
    assert done(capsys, "models", "add", file, *AS_DETECTOR) == "bright is added\n"
    save_noise(Path("noise.png"), SIZE)
    nodes = {
        "1": {"class_type": "LoadImage", "inputs": {"image": "noise.png"}},
        "2": {"class_type": "DetectorLoader", "inputs": {"model_name": "bright"}},
        "3": {"class_type": "DetectObjects", "inputs": {"image": ["1", 0], "detector": ["2", 0]}},
        "4": {"class_type": "DrawBoxes", "inputs": {"image": ["1", 0], "boxes": ["3", 0]}},
        "5": {"class_type": "SaveImage", "inputs": {"images": ["4", 0]}},
    }
    assert "done in" in done(capsys, "run", save(Path("w.json"), nodes))
    assert listed(capsys)["bright"]["state"] == "converted"
    assert done(capsys, "models", "verify") == "all models are whole\n"
    assert done(capsys, "models", "rm", "bright").startswith("bright is removed, 0.")
    assert "bright" not in listed(capsys)
    assert Path(file).is_file()


def test_a_damaged_model_is_found(capsys: Capture) -> None:
    """Exit code 1, the place of it, and what to do."""
    done(capsys, "models", "add", str(save_detector(Path("source"))), *AS_DETECTOR)
    assert call(["models", "pull", "bright"]) == 0
    capsys.readouterr()
    (weights,) = (Path("models") / "store").rglob("*.bin")
    content = bytearray(weights.read_bytes())
    content[0] ^= 1
    weights.write_bytes(content)
    assert call(["models", "verify"]) == 1
    out, err = capsys.readouterr()
    assert out == "1 damaged\n"
    assert err.startswith(str(weights.parent))
    assert "vinode models pull bright" in err
    assert call(["models", "pull", "bright"]) == 0
    capsys.readouterr()
    assert done(capsys, "models", "verify") == "all models are whole\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["add", "none.onnx"], "none.onnx"),
        (["add", "models"], "models: "),
        (["add", "m.onnx", "--name", "../x"], "--name NAME"),
        (["add", "m.onnx", "--name", "face-short-range"], "belongs to another model"),
        (["add", "m.onnx", "--options", "{"], "expected JSON"),
        (["add", "m.onnx", "--options", "[1]"], "expected JSON"),
        (["add", "m.onnx", "--options", "[" * 9000], "expected JSON"),
        (["add", "m.onnx", "--kind", "detector"], "m"),
        (["pull", "face-short-rang"], "did you mean 'face-short-range'?"),
        (["pull"], "NAMES"),
        (["rm", "nothing-like-it"], "nothing-like-it"),
    ],
)
def test_what_cannot_be_is_refused(words: Sequence[str], sentence: str, capsys: Capture) -> None:
    """One sentence, exit code 2, and no card or file of it in the store."""
    save_onnx(Path("m.onnx"))
    Path("models").mkdir()
    assert sentence in refused(capsys, "models", *words)
    left = [path for path in Path("models").rglob("*") if path.is_file()]
    assert [path for path in left if path.suffix != ".lock"] == []


def test_files_are_converted(capsys: Capture) -> None:
    """ONNX and IR; the path of the IR is what is written, and all that is written."""
    for source in (save_onnx(Path("relu.onnx")), save_ir(Path("ir"))):
        path = Path(done(capsys, "convert", str(source)).strip())
        assert path.name == "model.xml"
        assert path.with_name("model.bin").is_file()
        record = json.loads(path.with_name("record.json").read_text(encoding="utf-8"))
        assert record["source"]["file"] == source.name


class Evil:
    """Runs code when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path("ran").touch, ())


@pytest.mark.parametrize("name", ["model.pt", "model.ckpt", "model.onnx", "model.tflite"])
def test_a_pickle_is_never_opened(name: str, capsys: Capture) -> None:
    """Whatever it is called."""
    Path(name).write_bytes(pickle.dumps({"weights": Evil()}))
    said = refused(capsys, "convert", name)
    assert "pickle" in said
    assert not Path("ran").exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.onnx", b""),
        ("empty.tflite", b""),
        ("noise.tflite", b"\x1c\x00\x00\x00TFL3" + bytes(range(200))),
        ("noise.onnx", bytes(range(256))),
        ("picture.onnx", b"\x89PNG\r\n\x1a\n" + bytes(50)),
        ("cut.xml", b'<?xml version="1.0"?><net name="x" version="11"><layers>'),
        ("alone.xml", b'<?xml version="1.0"?><net name="x" version="11"></net>'),
        ("text.txt", b"hello"),
    ],
)
def test_what_is_no_model_is_refused(name: str, content: bytes, capsys: Capture) -> None:
    """Truncated, mislabelled, or of no format that is known: the file is named."""
    Path(name).write_bytes(content)
    said = refused(capsys, "convert", name)
    assert name in said.splitlines()[0]
    assert list((Path("models") / "store").glob("*")) == []


def test_a_file_in_place_of_the_store(capsys: Capture) -> None:
    """One sentence for what reads and for what writes; the file stays."""
    Path("models").write_text("x")
    save_onnx(Path("m.onnx"))
    said = refused(capsys, "convert", "m.onnx")
    assert "a file stands where a folder is needed" in said
    assert "a file stands where a folder is needed" in refused(capsys, "models", "add", "m.onnx")
    assert Path("models").read_text() == "x"


def test_a_damaged_card_hides_no_other_model(capsys: Capture) -> None:
    """It is told by `verify`, and the rest is listed."""
    cards = Path("models") / "cards"
    cards.mkdir(parents=True)
    (cards / "bad.json").write_text("{")
    assert "face-short-range" in listed(capsys)
    assert call(["models", "verify"]) == 1
    assert "bad.json" in capsys.readouterr().err
    assert call(["doctor", "--help"]) == 0
