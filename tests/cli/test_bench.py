"""`vinode bench`: small workflows, measured for real; their times are nobody's business."""

from __future__ import annotations

import json
import signal
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.converters.models import SIZE, STRIDES, save_detector
from vinode.cli import bench, call
from vinode.converters.library import add_model
from vinode.converters.store import Store

PICTURES = {
    "1": {"class_type": "EmptyImage", "inputs": {"width": 32, "height": 32}},
    "2": {"class_type": "ImageInvert", "inputs": {"image": ["1", 0]}},
    "3": {"class_type": "SaveImage", "inputs": {"images": ["2", 0]}},
    "4": {"class_type": "PreviewImage", "inputs": {"images": ["1", 0]}},
}
SPOTS = {
    "1": {"class_type": "EmptyImage", "inputs": {"width": 32, "height": 32, "color": 0xFFFFFF}},
    "2": {"class_type": "DetectorLoader", "inputs": {"model_name": "bright"}},
    "3": {"class_type": "DetectObjects", "inputs": {"detector": ["2", 0], "image": ["1", 0]}},
    "4": {"class_type": "DrawBoxes", "inputs": {"image": ["1", 0], "boxes": ["3", 0]}},
    "5": {"class_type": "SaveImage", "inputs": {"images": ["4", 0]}},
}
NOWHERE = "GPU.99"  # no machine has it


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, and let temporary files be in one that can be looked at."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path


def write(workflow: object, name: str = "workflow.json") -> str:
    """Write a workflow and give its path."""
    Path(name).write_text(json.dumps(workflow), encoding="utf-8")
    return name


@pytest.fixture
def spots(here: Path) -> list[str]:
    """Give the words that run the detector of bright spots."""
    store = Store((here / "models",))
    options = {"input": SIZE, "strides": STRIDES}
    add_model(store, save_detector(here), "bright", "detector", "blazeface", ["spot"], options)
    return [write(SPOTS), "--models", str(here / "models")]


def told(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """Bench and give the JSON."""
    capsys.readouterr()
    assert call(["bench", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_python_nodes_are_measured_and_devices_make_no_difference(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As many runs as asked for; nothing is reused; results are thrown away."""
    found = told(capsys, write(PICTURES), "--device", "CPU", "--device", "npu", "--runs", "3")
    assert [(each["device"], each["where"]) for each in found["placements"]] == [
        ("CPU", ""),
        ("NPU", ""),
    ]
    for each in found["placements"]:
        assert (len(each["seconds"]), len(each["ratios"]), len(each["first"])) == (3, 3, 1)
        assert each["min"] <= each["median"] <= each["max"]
        assert sorted(node["id"] for node in each["nodes"]) == ["1", "2", "3", "4"]
    assert [warning["code"] for warning in found["warnings"]] == ["no-device"]
    assert sorted(path.name for path in here.rglob("*")) == ["temporary", "workflow.json"]


def test_devices_take_turns(
    spots: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A B A B, the warm-up too; on a terminal it is said how far it is."""
    said: list[str] = []
    monkeypatch.setattr(bench, "_tell", said.append)
    words = [*spots, "--device", "CPU", "--device", "AUTO", "--runs", "2", "--warmup", "2"]
    found = told(capsys, *words)
    assert said == [*(f"run {number} of 8" for number in range(1, 9)), ""]
    first, second = found["placements"]
    assert (len(first["first"]), len(first["seconds"])) == (2, 2)
    assert first["setup"] > 0
    assert all(node["figures"]["setup"] == 0 for node in first["nodes"])
    assert second["ratios"] == pytest.approx(
        [b / a for a, b in zip(first["seconds"], second["seconds"], strict=True)]
    )


def test_a_fall_back_is_loud(spots: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Where it really ran, not where it was asked to."""
    assert call(["bench", *spots, "--device", "CPU", "--device", NOWHERE, "--runs", "3"]) == 0
    out = capsys.readouterr().out
    assert f"FELL BACK: {NOWHERE}: node 3 (DetectObjects) ran on CPU: [" in out
    assert f"warning: {NOWHERE} ran on the CPU, as CPU did" in out
    assert "warm-up: CPU" in out
    found = told(capsys, *spots, "--device", f"3={NOWHERE}", "--runs", "1")
    assert [(each["device"], each["where"]) for each in found["placements"]] == [
        (f"3={NOWHERE}", "CPU")
    ]


def test_where_a_fall_back_is_forbidden_there_is_nothing_to_measure(
    spots: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1, as for every node that failed, and the device that was meant."""
    assert call(["bench", *spots, "--device", "CPU", "--device", f"{NOWHERE}!"]) == 1
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err.startswith(f"--device {NOWHERE}!: node 3 (DetectObjects)")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--device", "CPUU"], "no such device hint"),
        ([], "Missing option '--device'"),
        (["--device", "CPU", "--runs", "0"], "0 is not in the range"),
        (["--device", "CPU", "--set", "9.width=3"], "no such node"),
        (["--device", "CPU", "--set", '1.width="wide"'], "node 1 (EmptyImage), input width"),
    ],
)
def test_wrong_input_is_told(
    words: list[str], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, before anything runs."""
    assert call(["bench", write(PICTURES), *words]) == 2
    found = capsys.readouterr()
    assert found.out == ""
    assert part in found.err


def test_inputs_can_be_set(capsys: pytest.CaptureFixture[str]) -> None:
    """As in `vinode run`."""
    words = [write(PICTURES), "--device", "CPU", "--runs", "1", "--warmup", "0"]
    assert told(capsys, *words, "--set", "EmptyImage.width=8")["warmup"] == 0


def test_ctrl_c_cancels(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 130, and no half of a table."""

    def press(progress: str) -> None:
        if progress.startswith("run 3 of"):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(bench, "_tell", press)
    assert call(["bench", write(PICTURES), "--device", "CPU"]) == 130
    found = capsys.readouterr()
    assert (found.out, found.err) == ("", "cancelled\n")
