"""Wrong and hostile workflows, a row each: what is said, and the exit code. A bug becomes a row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.graph.built_in import TYPES, folders
from vinode.cli import call
from vinode.graph.errors import Fault, WorkflowError
from vinode.graph.graph import build
from vinode.graph.workflow_file import read

CASES = Path(__file__).parents[1] / "cases"


def rows(name: str) -> list[Any]:
    """Read a table: {name, workflow or text, expected: [parts of sentences], count, exit}."""
    table = json.loads((CASES / name).read_text(encoding="utf-8"))
    return [pytest.param(row, id=row["name"].replace(" ", "-")) for row in table]


def faults_of(path: Path) -> tuple[Fault, ...]:
    """Give what stands in the way of a run: of the file's structure, or of its graph."""
    try:
        graph = build(read(path), TYPES, folders(path.parent))
        graph.require(graph.outputs)
    except WorkflowError as error:
        return error.faults
    return ()


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run where a row may name bad.json, and where nothing else is."""
    monkeypatch.chdir(tmp_path)


def write(row: dict[str, Any]) -> Path:
    """Write a row's workflow as bad.json."""
    text = row["text"] if "text" in row else json.dumps(row["workflow"])
    path = Path("bad.json")
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("row", rows("faults.json"))
def test_every_fault_is_told_with_its_place_and_fix(
    row: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """All in one pass; nothing is written for a workflow that cannot run."""
    path = write(row)
    faults = faults_of(path)
    told = "\n".join(map(str, faults))
    assert faults
    assert [part for part in row["expected"] if part not in told] == [], told
    assert len(faults) == row.get("count", len(faults)), told
    for fault in faults:
        assert fault.place, fault
        assert fault.code != "check-failed", fault
        assert "\n" not in str(fault), fault
        assert str(fault).isprintable(), fault
        assert len(str(fault)) < 1000, fault
    assert call(["run", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert [part for part in row["expected"] if part not in err] == []
    assert call(["check", str(path)]) == 2
    assert [entry.name for entry in Path().iterdir()] == ["bad.json"]


@pytest.mark.parametrize("row", rows("runs.json"))
def test_a_run_ends_with_its_exit_code(
    row: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """What is odd but harmless is told and runs; a node that fails is told by its place."""
    code = call(["run", str(write(row))])
    out, err = capsys.readouterr()
    assert (code, [part for part in row["expected"] if part not in err]) == (row["exit"], []), err
    assert ("done in" in out) is (code == 0)
    assert "Traceback" not in err
    if not row["expected"]:
        assert err == ""


def test_every_row_has_a_name_of_its_own() -> None:
    """Two rows of one name would hide each other in a report."""
    names = [param.id for table in ("faults.json", "runs.json") for param in rows(table)]
    assert len(set(names)) == len(names)
