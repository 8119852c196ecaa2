"""`vinode check --device NPU`, where the compiler was asked before: what is told, exit codes."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.program import DETECT_FACES, SMALL, run_program, save
from vinode.cli import call
from vinode.cli.preflight import is_asked
from vinode.converters.library import pull_model
from vinode.converters.npu_compiler.find import LOADER, VARIABLE, find
from vinode.converters.npu_compiler.verdict import Question, Verdict, Verdicts
from vinode.converters.store import Store
from vinode.graph.placement import Fix, Reason

Capture = pytest.CaptureFixture[str]

FINE = Verdict("4000", None, 545, 0.913, 831_628, 174_866_432, 0.00016067, False, "8.4 (id)")
FIX = Fix("rewrite", "log-softmax-axis", "count the axis of LogSoftmax from the front")
STOPPED = Verdict(
    "4000",
    Reason("op-unsupported", "NPU 4000: Tan in net: no", "leave it out", ("Tan t",), (FIX,)),
    545,
    0.2,
    0,
    None,
    None,
    False,
    "8.4 (id)",
)


@pytest.fixture
def models(face_models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a model folder of this test, and name a compiler that must not be asked."""
    for area in ("store", "sources"):
        shutil.copytree(face_models / area, tmp_path / "models" / area)
    compiler = tmp_path / "compiler"
    compiler.mkdir()
    (compiler / LOADER.get(sys.platform, LOADER["linux"])).write_bytes(b"no library")
    monkeypatch.setenv(VARIABLE, str(compiler))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "models"


def keep(models: Path, verdict: Verdict, platform: str = "4000", **options: str) -> None:
    """Keep a verdict on the face detector, as an earlier check did."""
    part = pull_model(Store((models,)), "face-short-range")
    shapes = {"image": (1, 128, 128, 3)}
    identity = find(models).identity
    question = Question(part.digest, shapes, options, (), platform, identity)
    Verdicts(models / "verdicts").keep(question, verdict)


def check(models: Path, *words: str) -> int:
    """Check the shipped workflow."""
    return call(["check", str(DETECT_FACES), "--models", str(models), *words])


def test_a_part_that_compiles_is_told_with_its_cost(models: Path, capsys: Capture) -> None:
    """Estimates are called so; the nodes that stay elsewhere are named; exit code 0."""
    keep(models, FINE)
    assert check(models, "--device", "NPU", "--platform", "4000") == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.splitlines()[1:] == [
        "NPU 4000 (Lunar Lake), by Intel's NPU compiler 8.4; nothing was run on an NPU",
        "  node 3 (DetectObjects), face-short-range, image 1x128x128x3: compiles in 0.91 s, "
        "blob 832 kB, 175 MB of memory to compile; estimate 0.161 ms",
        "  all that is asked for would run on this NPU, by the compiler's estimate in 0.161 ms "
        "(its own cost model, not a measurement)",
        "  not on the NPU: 1 LoadImage, 2 DetectorLoader, 4 NonMaxSuppression, 5 DrawBoxes, "
        "6 SaveImage",
    ]


def test_a_part_that_does_not_is_exit_code_1(models: Path, capsys: Capture) -> None:
    """With the operation, the reason, and the fix that was proven."""
    keep(models, STOPPED)
    assert check(models, "--platform", "4000") == 1
    out = capsys.readouterr().out
    assert "does not compile (0.20 s)" in out
    assert "[op-unsupported] NPU 4000: Tan in net: no; leave it out" in out
    assert "with the rewrite log-softmax-axis it compiles: count the axis" in out
    assert "would not run on this NPU as asked: 1 fail" in out


def test_as_json(models: Path, capsys: Capture) -> None:
    """All platforms where none is named; what is an estimate has it in its name."""
    for platform, verdict in (("3720", FINE), ("4000", STOPPED), ("5010", FINE)):
        keep(models, verdict, platform)
    assert check(models, "--device", "NPU", "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert [(each["platform"], each["fits"]) for each in told["npu"]] == [
        ("3720", True),
        ("4000", False),
        ("5010", True),
    ]
    (part,) = told["npu"][0]["parts"]
    assert (part["node"], part["calls"], part["compiles"]) == ("3", 1, True)
    assert told["npu"][0]["estimate_seconds"] == part["estimate_seconds"] == 0.00016067
    assert told["npu"][1]["estimate_seconds"] is None
    assert told["npu"][1]["parts"][0]["reason"]["ops"] == ["Tan t"]


def test_the_options_of_the_node_are_part_of_the_question(models: Path, capsys: Capture) -> None:
    """With another precision the kept verdict does not count, and the compiler would be asked."""
    keep(models, FINE, INFERENCE_PRECISION_HINT="f16")
    workflow = json.loads(DETECT_FACES.read_text(encoding="utf-8"))
    workflow["prompt"]["1"]["inputs"]["image"] = str(DETECT_FACES.parent / "photos/astronaut.jpg")
    workflow["prompt"]["3"]["_meta"] |= {"device": "NPU", "precision": "f16"}
    Path("w.json").write_text(json.dumps(workflow), encoding="utf-8")
    words = ["check", "w.json", "--models", str(models), "--platform", "4000"]
    assert call(words) == 0
    assert "compiles in" in capsys.readouterr().out
    del workflow["prompt"]["3"]["_meta"]["precision"]
    Path("w.json").write_text(json.dumps(workflow), encoding="utf-8")
    assert call(words) == 2
    assert "does not start" in capsys.readouterr().err


def test_nothing_to_ask_is_a_fault(models: Path, capsys: Capture) -> None:
    """A workflow without models, or with none that is to run on an NPU."""
    assert call(["check", save(Path("w.json")), "--platform", "4000"]) == 2
    assert "no node that runs a model is asked to run on an NPU" in capsys.readouterr().err
    assert check(models, "--device", "CPU", "--platform", "4000") == 2
    assert check(models, "--device", "CPU") == 0


@pytest.mark.skipif(sys.platform == "win32", reason="there the wheel has the compiler")
def test_without_a_compiler_it_says_how_to_get_one(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside what else is wrong with the workflow; exit code 2; `status` says the same."""
    monkeypatch.chdir(tmp_path)
    file = save(Path("w.json"), {**SMALL, "9": {"class_type": "Nope", "inputs": {}}})
    assert call(["check", file, "--device", "NPU"]) == 2
    err = capsys.readouterr().err
    assert "no such node" in err
    assert "Intel's NPU compiler is not on this computer" in err
    assert "vinode npu-compiler install" in err
    assert call(["npu-compiler", "status"]) == 2
    assert "vinode npu-compiler install" in capsys.readouterr().err
    assert call(["npu-compiler", "remove"]) == 0
    assert capsys.readouterr().out == "there was nothing to remove\n"


@pytest.mark.skipif(sys.platform != "linux", reason="set up on Linux only")
def test_nobody_installs_it_without_agreeing(tmp_path: Path) -> None:
    """What would be done is told; without a terminal and --yes nothing is done."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("wine", "x86_64-w64-mingw32-gcc"):
        (programs / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    before = f"import os\nos.environ['PATH'] = {str(programs)!r}"
    code, out, err = run_program("npu-compiler", "install", before=before)
    assert code == 2
    assert "- download openvino==" in out
    assert "add --yes" in err


def test_what_asks_about_an_npu() -> None:
    """Presets too; a simulated one is none."""
    assert is_asked(["NPU"], [])
    assert is_asked(["3=HETERO:NPU,CPU"], [])
    assert is_asked(["all-npu"], [])
    assert is_asked([], ["4000"])
    assert not is_asked(["CPU", "3=NPUSIM_CPU", "NPU=CPU"], [])
