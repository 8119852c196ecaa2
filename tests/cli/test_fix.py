"""`vinode fix`: what it changes in a workflow, what it asks, what it leaves."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.probe_pack import SIM, WORKFLOW, prepare, simulate, write
from vinode.cli import call
from vinode.graph.devices import PRESETS
from vinode.graph.mending import change
from vinode.graph.placement import Fix
from vinode.graph.png_text import SIGNATURE
from vinode.graph.rewrites import REWRITES
from vinode.graph.workflow import NodeId, parse

REFUSES = simulate(refused=["Softmax"])
SPLIT = f"HETERO:{SIM},CPU"
NODE = "node 3 (Probe)"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def meta(path: Path | str, node: str = "3") -> Any:
    """Give what a workflow says of a node."""
    return json.loads(Path(path).read_text(encoding="utf-8"))["prompt"][node].get("_meta", {})


class Terminal(io.StringIO):
    """A person who answers."""

    def isatty(self) -> bool:
        """Say that somebody is there."""
        return True


def fixed(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    """Fix and give what was said."""
    capsys.readouterr()
    assert call(["fix", *words]) == code
    return capsys.readouterr().out


def test_yes_takes_the_first_and_the_node_runs_where_it_should(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second time there is nothing left, and the file stays as it is."""
    words = [*prepare(here, f"{SIM}!"), *REFUSES]
    out = fixed(capsys, *words, "--yes")
    assert f"{NODE} [op-unsupported]" in out
    assert f"changed: {NODE}: rewrite softmax-decomposed\nwritten: {words[0]}\n" in out
    assert meta(words[0]) == {"device": f"{SIM}!", "rewrites": ["softmax-decomposed"]}
    before = Path(words[0]).read_bytes()
    assert fixed(capsys, *words, "--yes") == (
        "every node runs where it was asked to\nnothing was changed\n"
    )
    assert Path(words[0]).read_bytes() == before
    assert call(["run", *words]) == 0
    assert not (here / "output").exists() or not list((here / "output").iterdir())


def test_without_a_terminal_it_tells_and_changes_nothing(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 0: a script may look first."""
    words = [*prepare(here, SIM), *REFUSES]
    before = Path(words[0]).read_bytes()
    out = fixed(capsys, *words)
    assert [line.split("(")[-1] for line in out.splitlines() if "could:" in line] == [
        f"Probe): {told})"
        for told in ("rewrite softmax-decomposed", f"device {SPLIT}", "device CPU")
    ]
    assert out.endswith("nothing was changed\n")
    assert Path(words[0]).read_bytes() == before


@pytest.mark.parametrize(
    ("answers", "wanted"),
    [
        ("y\n", {"device": SIM, "rewrites": ["softmax-decomposed"]}),
        ("n\ny\n", {"device": SPLIT}),
        ("n\nn\ny\n", {"device": "CPU"}),
        ("n\nn\nn\n", {"device": SIM}),
    ],
)
def test_on_a_terminal_it_asks(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    answers: str,
    wanted: object,
) -> None:
    """One fix after the other, until one is taken."""
    words = [*prepare(here, SIM), *REFUSES]
    monkeypatch.setattr("sys.stdin", Terminal(answers))
    out = fixed(capsys, *words)
    assert out.count("[y/N]") == answers.count("\n")
    assert meta(words[0]) == wanted


def test_a_report_is_enough(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing runs; the file asked for is written, the other left."""
    words = prepare(here, "GPU.99")
    assert call(["run", *words, "--report", "report.json", "--quiet"]) == 0
    before = Path(words[0]).read_bytes()
    out = fixed(capsys, *words, "--report", "report.json", "--yes", "--output", "new.json")
    assert out.startswith((f"{NODE} [device-absent]", f"{NODE} [driver-missing]"))
    assert f"changed: {NODE}: device CPU" in out
    assert Path(words[0]).read_bytes() == before
    assert meta("new.json") == {"device": "CPU"}


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("code",), "made-up", "code: no such code; got 'made-up'"),
        (("sentence",), 5, "sentence: expected a text; got 5"),
        (("fixes", 0, "value"), "CPUU", "no such device; got 'CPUU'"),
        (("fixes", 0, "kind"), "shell", "no such kind of fix; got 'shell'"),
        (("fixes", 0), 7, "expected an object; got 7"),
        (("fixes",), {}, "expected a list; got {}"),
    ],
)
def test_a_report_that_was_tampered_with_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str], path: tuple[Any, ...], value: object, said: str
) -> None:
    """What it says would be written into the workflow."""
    words = prepare(here, "GPU.99")
    assert call(["run", *words, "--report", "report.json", "--quiet"]) == 0
    report = json.loads(Path("report.json").read_text(encoding="utf-8"))
    node = next(each for each in report["nodes"] if each["id"] == "3")
    place = node["placement"]["reasons"][0]
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    Path("report.json").write_text(json.dumps(report), encoding="utf-8")
    assert call(["fix", *words, "--report", "report.json", "--yes"]) == 2
    assert said in capsys.readouterr().err
    assert meta(words[0]) == {"device": "GPU.99"}


def test_a_report_of_another_workflow_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its nodes are not there."""
    words = prepare(here, "GPU.99")
    assert call(["run", *words, "--report", "report.json", "--quiet"]) == 0
    write(here / "w.json", {"1": WORKFLOW["1"]})
    assert call(["fix", *words, "--report", "report.json"]) == 2
    assert "the report is of another workflow: no such node; got 3" in capsys.readouterr().err
    assert call(["fix", *words, "--report", "nowhere.json"]) == 2
    assert "nowhere.json: cannot be read" in capsys.readouterr().err


def test_a_picture_is_not_changed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is somebody's picture; the workflow it carries goes into a file of its own."""
    picture = {
        "1": {"class_type": "EmptyImage", "inputs": {"width": 8, "height": 8}},
        "2": {"class_type": "SaveImage", "inputs": {"images": ["1", 0]}},
    }
    assert call(["run", write(here / "p.json", picture), "--quiet"]) == 0
    (saved,) = (here / "output").glob("*.png")
    before = saved.read_bytes()
    assert before.startswith(SIGNATURE)
    assert call(["fix", str(saved), "--yes"]) == 2
    assert "a picture is not changed; write a workflow beside it" in capsys.readouterr().err
    assert "nothing was changed" in fixed(capsys, str(saved), "--yes", "--output", "w.json")
    assert saved.read_bytes() == before


def test_a_hint_of_the_command_line_is_for_the_run(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file gets the fix alone, and the user is told what wins."""
    words = prepare(here)
    out = fixed(capsys, *words, "--device", "Probe=GPU.99", "--yes")
    assert out.endswith("run it without --device, which wins over what the file says\n")
    assert meta(words[0]) == {"device": "CPU"}


def test_a_wrong_answer_and_a_slow_compile_go_to_the_cpu(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither can be rewritten away."""
    words = prepare(here, SIM)
    original = Path(words[0]).read_bytes()
    fixed(capsys, *words, *simulate(noise=1.0), "--yes")
    assert meta(words[0]) == {"device": "CPU"}
    Path(words[0]).write_bytes(original)
    monkeypatch.setenv("VINODE_COMPILE_SECONDS", "0.001")
    out = fixed(capsys, *words, *simulate(in_child=True))
    assert "node 2 (Number), input value: 512 instead of 500" in out
    assert "node 2 (Number), input value: 256 instead of 500" in out
    fixed(capsys, *words, *simulate(in_child=True), "--yes")
    assert meta(words[0]) == {"device": "CPU"}


def test_what_has_no_effect_is_dropped(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An option the device does not know, and a rewrite that finds nothing."""
    words = prepare(here, "CPU", rewrites=["bucketize-i32", "softmax-decomposed"])
    fixed(capsys, *words, "--yes")
    assert meta(words[0]) == {"device": "CPU", "rewrites": ["softmax-decomposed"]}


def test_a_workflow_that_fails_for_other_reasons_has_nothing_to_fix(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its own exit code and sentence."""
    assert call(["fix", *prepare(here), "--set", "3.batch_size=-1", "--yes"]) == 1
    told = capsys.readouterr()
    assert (told.out, told.err.count(NODE)) == ("", 1)


NODES = {
    "1": {"class_type": "A", "inputs": {"width": 500, "height": 64, "batch_size": 4}},
    "2": {"class_type": "B", "inputs": {"image": ["1", 0], "width": ["5", 0], "amount": 1}},
    "3": {"class_type": "C", "inputs": {"image": ["2", 0]}, "_meta": {"precision": "f32"}},
    "4": {"class_type": "D", "inputs": {"image": ["3", 0], "width": 900}},
    "5": {"class_type": "E", "inputs": {"value": 1000}},
}


@pytest.mark.parametrize(
    ("fix", "done"),
    [
        (("input", "batch-1"), ["node 1 (A), input batch_size: 1 instead of 4"]),
        (
            ("input", "multiple-64"),
            [
                "node 5 (E), input value: 1024 instead of 1000",
                "node 1 (A), input width: 512 instead of 500",
            ],
        ),
        (
            ("input", "half-size"),
            [
                "node 5 (E), input value: 512 instead of 1000",
                "node 1 (A), input width: 256 instead of 500",
            ],
        ),
        (("option", "precision"), ["node 3 (C): without precision"]),
        (("option", "precision=f16"), ["node 3 (C): precision f16"]),
        (("option", "precision=f32"), []),
        (("option", "rewrites.bucketize-i32"), []),
        (("advice", ""), []),
    ],
)
def test_a_fix_changes_what_lies_before_the_node(fix: tuple[Any, str], done: list[str]) -> None:
    """Sizes are where they are written, through a primitive too; what comes after is left."""
    workflow = parse(json.dumps(NODES))
    kind, value = fix
    made = change(workflow, NodeId("3"), Fix(kind, value, ""), {})
    assert (list(made.done) if made else []) == done
    assert made is None or made.workflow != workflow


def test_what_can_be_asked_for_is_documented(capsys: pytest.CaptureFixture[str]) -> None:
    """Every rewrite and every preset, in the page for scripts and in the help."""
    page = (Path(__file__).parents[2] / "docs/headless.md").read_text(encoding="utf-8")
    assert [name for name in (*REWRITES, *PRESETS) if f"`{name}`" not in page] == []
    assert call(["run", "--help"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert [name for name in PRESETS if name not in out] == []
