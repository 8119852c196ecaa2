"""`vinode compare`: reports of real runs, tables and JSON, and files that are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.graph.reports import saved, saved_node
from vinode.cli import call
from vinode.cli.compare_tables import print_comparison
from vinode.graph.compare import compare, remarks
from vinode.graph.saved_report import read_report


@pytest.fixture
def reports(tmp_path: Path) -> tuple[str, str]:
    """Run a small workflow twice and give the reports' paths."""
    workflow = {
        "1": {"class_type": "EmptyImage", "inputs": {"width": 16, "height": 16}},
        "2": {"class_type": "ImageInvert", "inputs": {"image": ["1", 0]}},
        "3": {"class_type": "SaveImage", "inputs": {"images": ["2", 0]}},
    }
    file = tmp_path / "workflow.json"
    file.write_text(json.dumps(workflow), encoding="utf-8")
    paths = str(tmp_path / "a.json"), str(tmp_path / "b.json")
    for path in paths:
        words = ["run", str(file), "--output", str(tmp_path / "out"), "--report", path, "--quiet"]
        assert call(words) == 0
    return paths


def test_two_runs_are_compared(
    reports: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A table for people, with the figures by their names; exit code 0."""
    capsys.readouterr()
    assert call(["compare", *reports]) == 0
    told = capsys.readouterr()
    assert "a.json, then b.json, times in ms" in told.out
    for part in ("run, wall time", "waiting", "host (Python)", "1 (EmptyImage)", "3 (SaveImage)"):
        assert part in told.out
    assert told.err == ""


def test_json_goes_to_standard_output(
    reports: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Each node is there, what got slower first."""
    capsys.readouterr()
    assert call(["compare", *reports, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert sorted(node["id"] for node in told["nodes"]) == ["1", "2", "3"]
    changes = [node["change"] for node in told["nodes"]]
    assert changes == sorted(changes, reverse=True)


def test_the_table_shows_changes_of_phases(capsys: pytest.CaptureFixture[str]) -> None:
    """With their sign; the devices where they differ; remarks below."""
    slower = saved_node("1", "CPU", compute=0.25, host=0.001)
    before = read_report(json.dumps(saved(1, saved_node("1", "NPU", compute=0.125))), "a")
    found = compare(before, read_report(json.dumps(saved(2, slower)), "b"))
    print_comparison(found, remarks(found), "a, then b")
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["run,", "wall", "time", "1,000", "2,000", "+1,000", "2.00"] in lines
    assert ["compute", "125", "250", "+125", "2.00"] in lines
    assert ["node", "ran", "on", "before", "after", "change", "compute", "host"] in lines
    row = ["1", "(Title", "1)", "NPU,", "then", "CPU", "125", "251", "+126", "+125", "+1.00"]
    assert row in lines
    remark = "node 1 (Title 1) ran on NPU before and on CPU after"
    assert remark.split() in lines


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "no such file"),
        (b"\x00\xff", "not"),
        (b"{}", "this is no report of a run"),
        (b'{"vinode_report": 2}', "expected version 1; got 2"),
    ],
)
def test_bad_files_are_told_in_a_sentence(
    content: bytes | None, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2 and nothing on standard output."""
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(saved(1)), encoding="utf-8")
    if content is not None:
        bad.write_bytes(content)
    for words in ([good, bad], [bad, good]):
        assert call(["compare", *map(str, words)]) == 2
        found = capsys.readouterr()
        assert found.out == ""
        assert found.err.startswith(str(bad))
        assert told in found.err
        assert len(found.err.splitlines()) == 1


def test_a_folder_is_no_report(tmp_path: Path) -> None:
    """Exit code 2, as for every bad file."""
    assert call(["compare", str(tmp_path), str(tmp_path)]) == 2
