"""What a new user gets: the wheel in an environment of its own runs the shipped workflow.

Needs a network: `pytest -m install`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

import pytest

from vinode.cli import COMMANDS

ROOT = Path(__file__).parents[2]
LIMIT = 500 * 10**6  # bytes

pytestmark = [pytest.mark.install, pytest.mark.timeout(900)]


def run(words: Sequence[str | Path], cwd: Path) -> str:
    """Run a program to its end and give its output; what it says shows where it fails."""
    done = subprocess.run(words, cwd=cwd, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a copy of the source, install it, and give the folder of programs."""
    folder = tmp_path_factory.mktemp("install")
    skipped = shutil.ignore_patterns(".*", "build", "*.egg-info", "__pycache__", "node_modules")
    shutil.copytree(ROOT, folder / "source", symlinks=True, ignore=skipped)
    build: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "-w",
        folder,
    ]
    run([*build, folder / "source"], folder)
    (wheel,) = folder.glob("vinode-*.whl")
    venv.create(folder / "clean", with_pip=True)
    programs = folder / "clean" / ("Scripts" if os.name == "nt" else "bin")
    run([programs / "python", "-m", "pip", "install", "--quiet", wheel], folder)
    return programs


def size_of(folder: Path) -> int:
    """Add up the files of a folder, in bytes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_it_fits_on_a_laptop(programs: Path) -> None:
    """No framework among what is installed; pip's own share counts too."""
    listed = json.loads(run([programs / "python", "-m", "pip", "list", "--format", "json"], ROOT))
    names = {package["name"].lower() for package in listed}
    assert "vinode" in names
    assert not names & {"torch", "diffusers", "transformers", "optimum", "nncf", "onnx", "pytest"}
    assert size_of(programs.parent) < LIMIT


def test_it_runs_the_shipped_workflow_from_another_folder(programs: Path, tmp_path: Path) -> None:
    """Model fetched, converted and run; nothing of the source is near."""
    shutil.copytree(ROOT / "workflows", tmp_path / "workflows")
    words: list[str | Path] = [programs / "vinode", "run", "workflows/detect_faces.json", "--pull"]
    report = json.loads(run([*words, "--timing", "json"], tmp_path))
    assert report["status"] == "done"
    boxes = [node for node in report["nodes"] if node["type"] == "NonMaxSuppression"]
    assert len(boxes[0]["shown"]["boxes"]) == 1
    assert (tmp_path / "output" / "faces_00001_.png").is_file()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    again = run([programs / "vinode", "run", tmp_path / "workflows/detect_faces.json"], elsewhere)
    assert "done in" in again


def test_it_draws_from_a_prompt_without_download(programs: Path, tmp_path: Path) -> None:
    """Model, IR and tokens are in the wheel; there is no torch here that could convert."""
    words: list[str | Path] = [programs / "vinode", "run", ROOT / "workflows/text_to_image.json"]
    report = json.loads(run([*words, "--timing", "json", "--output", tmp_path / "out"], tmp_path))
    assert report["status"] == "done"
    assert len(list((tmp_path / "out").glob("*.png"))) == 4


def test_every_command_answers(programs: Path, tmp_path: Path) -> None:
    """All modules and data files are in the wheel."""
    run([programs / "vinode", "--version"], tmp_path)
    for name in COMMANDS:
        assert "Usage:" in run([programs / "python", "-m", "vinode", name, "--help"], tmp_path)
    nodes = run([programs / "vinode", "nodes"], tmp_path)
    assert "LoadImage" in nodes
    assert "face-short-range" in run([programs / "vinode", "models", "list"], tmp_path)
