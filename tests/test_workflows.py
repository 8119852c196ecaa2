"""Every workflow that is shipped opens, checks clean and runs; the faces are where they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Picture

from vinode.cli import call
from vinode.graph.context import PHASES
from vinode.graph.workflow_file import read
from vinode.nodes.algorithms.nms import overlap

WORKFLOWS = sorted((Path(__file__).parents[1] / "workflows").glob("*.json"))
FACE = np.array([180, 82, 274, 176], np.float64)  # x0 y0 x1 y1, pixels

Capture = pytest.CaptureFixture[str]


def run(file: Path, models: Path, output: Path, capsys: Capture) -> dict[str, Any]:
    """Run a workflow and give its report."""
    words = ["--models", str(models), "--output", str(output), "--timing", "json"]
    assert call(["run", str(file), *words]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    report: dict[str, Any] = json.loads(out)
    return report


@pytest.mark.parametrize("file", WORKFLOWS, ids=[file.stem for file in WORKFLOWS])
def test_a_shipped_workflow_runs(
    file: Path, face_models: Path, tmp_path: Path, capsys: Capture
) -> None:
    """Nothing to mend; every node is done, and its phases add up to its time."""
    assert call(["check", str(file), "--models", str(face_models)]) == 0
    out, err = capsys.readouterr()
    assert (out.endswith("nothing to mend\n"), err) == (True, "")
    report = run(file, face_models, tmp_path, capsys)
    assert report["status"] == "done"
    assert {node["state"] for node in report["nodes"]} == {"done"}
    assert {node["id"] for node in report["nodes"]} == set(read(file).nodes)
    for node in report["nodes"]:
        wall, spent = node["end"] - node["start"], sum(node["phases"].values())
        assert abs(wall - spent) <= max(1e-3, wall / 100), node["id"]
        assert abs(node["seconds"] - spent) <= 1e-6
        assert set(node["phases"]) <= set(PHASES)
        assert min(node["phases"].values()) >= 0
        assert 0 <= node["start"] <= node["end"] <= report["seconds"]


def test_the_face_is_found(face_models: Path, tmp_path: Path, capsys: Capture) -> None:
    """One box, where the face is; the picture that is saved carries the workflow and runs again."""
    file = next(file for file in WORKFLOWS if file.stem == "detect_faces")
    report = run(file, face_models, tmp_path / "out", capsys)
    nodes = {node["type"]: node for node in report["nodes"]}
    (found,) = nodes["NonMaxSuppression"]["shown"]["boxes"]
    assert overlap(FACE, np.array([found["box"]], np.float64))[0] >= 0.8
    assert (found["label"], found["score"] > 0.8, found["image"]) == ("face", True, 0)
    (picture,) = (tmp_path / "out").iterdir()
    with Picture.open(picture) as opened, Picture.open(file.parent / "photos/astronaut.jpg") as old:
        assert opened.size == old.size
        changed = np.any(np.asarray(opened) != np.asarray(old.convert("RGB")), axis=2)
    x0, y0, x1, y1 = (int(value) for value in FACE)
    assert changed.any()
    assert not changed[y0 + 20 : y1 - 20, x0 + 20 : x1 - 20].any()  # a frame, not a patch
    assert not changed[y1 + 40 :].any()
    assert read(picture).nodes == read(file).nodes


def test_a_picture_runs_as_its_workflow(
    face_models: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The photo is named on the command line: the picture stands elsewhere than the workflow."""
    file = next(file for file in WORKFLOWS if file.stem == "detect_faces")
    run(file, face_models, tmp_path / "out", capsys)
    (picture,) = (tmp_path / "out").iterdir()
    monkeypatch.chdir(tmp_path)
    words = ["--models", str(face_models), "--output", str(tmp_path / "again"), "--quiet"]
    photo = f"photos/astronaut.jpg={file.parent / 'photos/astronaut.jpg'}"
    assert call(["run", str(picture), *words, "--input", photo]) == 0
    (again,) = (tmp_path / "again").iterdir()
    assert Picture.open(again).tobytes() == Picture.open(picture).tobytes()
