"""`vinode check`: all that is wrong with a workflow, as sentences and as JSON."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.cli.program import DETECT_FACES, SMALL, save
from vinode.cli import call
from vinode.graph.workflow import Json

Capture = pytest.CaptureFixture[str]

WRONG: dict[str, Json] = {
    **SMALL,
    "4": {"class_type": "ImageScale", "inputs": {"image": ["1", 0], "widht": 5, "height": -1}},
    "5": {"class_type": "EmptyImage", "inputs": {"fading": "image"}},
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in an empty folder."""
    monkeypatch.chdir(tmp_path)


def test_a_good_workflow_is_counted(capsys: Capture) -> None:
    """Exit code 0; nothing is written or made."""
    nodes: dict[str, Json] = {**SMALL, "9": {"class_type": "EmptyImage", "inputs": {}}}
    assert call(["check", save(Path("w.json"), nodes)]) == 0
    said = "w.json: 3 nodes to run, 1 that no output needs; nothing to mend\n"
    assert capsys.readouterr() == (said, "")
    assert [entry.name for entry in Path().iterdir()] == ["w.json"]


def test_faults_of_all_nodes_are_told(capsys: Capture) -> None:
    """Those too that no output needs; what is odd is a warning."""
    assert call(["check", save(Path("w.json"), WRONG)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "node 4 (ImageScale), input widht: no such input; did you mean width?",
        "node 4 (ImageScale), input height: expected 0 to 16384 pixels; got -1; its default is 512",
        "warning: node 5 (EmptyImage), input fading: no such input; it is ignored",
        "w.json: 2 to mend",
    ]


def test_as_json(capsys: Capture) -> None:
    """For editors and scripts: place, problem, got, fix, code, node."""
    assert call(["check", save(Path("w.json"), WRONG), "--json"]) == 2
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert err == ""
    assert (told["ok"], len(told["faults"]), len(told["warnings"])) == (False, 2, 1)
    assert told["faults"][0] == {
        "place": "node 4 (ImageScale), input widht",
        "problem": "no such input",
        "got": "",
        "fix": "did you mean width?",
        "code": "unknown-input",
        "node": "4",
    }
    assert call(["check", save(Path("good.json")), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"ok": True, "faults": [], "warnings": []}


def test_a_file_that_is_no_workflow_is_a_sentence(capsys: Capture) -> None:
    """Before there is a graph to tell of."""
    Path("w.json").write_text("{")
    assert call(["check", "w.json"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("w.json, line 1, column 2: not JSON")


def test_changes_of_the_command_line_are_checked_with_it(capsys: Capture) -> None:
    """What would run is what is checked."""
    file = save(Path("w.json"), WRONG)
    sets = ["--set", "4.width=8", "--set", "4.height=8"]
    assert call(["check", file, *sets]) == 0
    said = "warning: node 4 (ImageScale), input widht: no such input; it is ignored"
    assert said in capsys.readouterr().err
    file = save(Path("good.json"))
    assert call(["check", file, "--set", "2.image=5"]) == 2
    said = "node 2 (ImageInvert), input image: takes a IMAGE from a link; got 5"
    assert capsys.readouterr().err.startswith(said)
    assert call(["check", file, "--device", "2=NPPU"]) == 2
    assert "did you mean NPU?" in capsys.readouterr().err


def test_a_model_that_is_missing_is_told_before_the_run(capsys: Capture) -> None:
    """With the command that fetches it; with the folder that has it nothing is to mend."""
    assert call(["check", str(DETECT_FACES), "--models", "none"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("node 2 (DetectorLoader)")
    assert "vinode models pull face-short-range" in err


def test_the_shipped_workflow_is_clean(face_models: Path, capsys: Capture) -> None:
    """Where its model is."""
    assert call(["check", str(DETECT_FACES), "--models", str(face_models)]) == 0
    assert capsys.readouterr().out.endswith("6 nodes to run; nothing to mend\n")


def test_json_is_written_whatever_is_wrong(capsys: Capture) -> None:
    """A build machine reads one stream: a missing file is a fault like another."""
    assert call(["check", "none.json", "--json"]) == 2
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] is False
    assert [fault["code"] for fault in told["faults"]] == ["file-missing"]


def test_texts_that_no_node_can_use_are_told_before_the_run(capsys: Capture) -> None:
    """A colour that is none, a prefix that leaves the folder; a linked one is not known yet."""
    colour: dict[str, Json] = {
        "1": {"class_type": "EmptyImage", "inputs": {}},
        "2": {"class_type": "DetectorLoader", "inputs": {}},
        "3": {"class_type": "DetectObjects", "inputs": {"detector": ["2", 0], "image": ["1", 0]}},
        "4": {
            "class_type": "DrawBoxes",
            "inputs": {"image": ["1", 0], "boxes": ["3", 0], "colour": "reddish"},
        },
        "5": {"class_type": "SaveImage", "inputs": {"images": ["4", 0], "filename_prefix": "../x"}},
    }
    assert call(["check", save(Path("w.json"), colour), "--json"]) == 2
    places = {fault["place"] for fault in json.loads(capsys.readouterr().out)["faults"]}
    assert "node 4 (DrawBoxes), input colour" in places
    assert "node 5 (SaveImage), input filename_prefix" in places


def test_a_workflow_may_come_from_a_pipe(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """`-` is standard input; a fault names it so."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(SMALL).encode())))
    assert call(["check", "-"]) == 0
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"{")))
    assert call(["check", "-"]) == 2
    assert "standard input" in capsys.readouterr().err


def test_a_mistyped_command_is_answered_with_the_nearest(capsys: Capture) -> None:
    """Not only with what is wrong."""
    assert call(["chekc", "w.json"]) == 2
    assert "did you mean `vinode check`?" in capsys.readouterr().err
