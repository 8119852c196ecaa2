"""`vinode doctor`: what is here and what is missing; its self-test on every device."""

import json
import os
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import pytest

from vinode.cli import call
from vinode.cli.probes import Finding, first_cause
from vinode.cli.self_test import devices_here, try_device
from vinode.cli.self_test_child import (
    STEPS,
    StepFailed,
    Work,
    compare,
    compile_it,
    convert,
    profile,
    run,
    steps,
)
from vinode.converters.ir import new_core
from vinode.graph.devices import SIMULATED

STATES = {"ok", "old", "missing", "broken", "not reached"}


def doctor(capsys: pytest.CaptureFixture[str], tmp_path: Path, *words: str) -> tuple[int, str]:
    """Run `vinode doctor` with an empty model store; its exit code and standard output."""
    code = call(["doctor", "--models", str(tmp_path / "models"), *words])
    return code, capsys.readouterr().out


def findings(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> list[dict[str, str]]:
    """Run `vinode doctor --json`."""
    found: list[dict[str, str]] = json.loads(doctor(capsys, tmp_path, "--json")[1])
    return found


def test_every_finding_says_what_to_do(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """What is missing, old or broken has a fix; the CPU is always here."""
    found = findings(capsys, tmp_path)
    assert {finding["state"] for finding in found} <= STATES
    assert all(f["fix"] for f in found if f["state"] in ("old", "missing", "broken")), found
    assert ("CPU", "ok") in [(finding["name"], finding["state"]) for finding in found]


@pytest.mark.parametrize("family", ["NPU", "GPU"])
def test_one_cause_a_device(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, family: str
) -> None:
    """Of this machine's accelerator: fine parts, at most one cause, then nothing judged."""
    found = [f for f in findings(capsys, tmp_path) if f["name"].split()[0] == family]
    states = [finding["state"] for finding in found]
    causes = [place for place, state in enumerate(states) if state in ("missing", "broken")]
    assert found
    assert len(causes) <= 1
    cause = causes[0] if causes else len(states)
    assert set(states[:cause]) <= {"ok", "old"}
    assert set(states[cause + 1 :]) <= {"not reached"}
    assert all(f["detail"] == f"after {found[cause]['name']}" for f in found[cause + 1 :])


def test_the_table_says_the_same(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Each finding that was reached has its line, each fix too."""
    found = findings(capsys, tmp_path)
    code, text = doctor(capsys, tmp_path)
    assert code == (1 if any(finding["state"] == "broken" for finding in found) else 0)
    for finding in found:
        line = f"{finding['state']:8}{finding['name']:20}"
        assert (line in text) is (finding["state"] != "not reached")
        assert not finding["fix"] or f"-> {finding['fix']}" in text
        assert finding["name"] in text


def test_a_pack_that_does_not_load_is_broken(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Exit code 1."""
    (tmp_path / "bad.py").write_text("import no_such_thing\n", encoding="utf-8")
    code, text = doctor(capsys, tmp_path, "--nodes", str(tmp_path / "bad.py"))
    assert code == 1
    assert "broken  packs" in text


def test_self_test_on_every_device(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five results a device, the simulated one called so, and nothing is left behind."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code, text = doctor(capsys, tmp_path, "--self-test", "--simulate", "--json")
    tested: list[dict[str, Any]] = json.loads(text)
    here = devices_here(simulate=True)
    assert [one["device"] for one in tested] == list(here)
    assert [one["device"] for one in tested if one["simulated"]] == [SIMULATED]
    for one in tested:
        assert [step["name"] for step in one["steps"]] == list(STEPS)
        if one["device"] in ("CPU", SIMULATED):
            assert [step["state"] for step in one["steps"]] == ["ok"] * 5, one
    fine = all(step["state"] == "ok" for one in tested for step in one["steps"])
    assert code == (0 if fine else 1)
    assert list(tmp_path.iterdir()) == []


def test_self_test_for_people(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A line a step, and what was not tested."""
    _, text = doctor(capsys, tmp_path, "--self-test")
    for step in STEPS:
        assert f"  ok          {step}" in text
    absent = {"CPU", "GPU", "NPU"} - {name.split(".")[0] for name in devices_here(simulate=False)}
    for family in absent:
        assert f"{family}: not tested" in text


CRASH = "import os; os._exit(77)"
HANG = "import time; time.sleep(60)"
TWO_STEPS = """
import json, os, sys
from pathlib import Path
step = {"name": "convert", "state": "ok", "detail": "d", "fix": "", "seconds": 0.1}
lines = json.dumps(step) + chr(10) + json.dumps({**step, "name": "compile"}) + chr(10) + '{"name'
Path(sys.argv[2], "steps.jsonl").write_text(lines, encoding="utf-8")
print("LLVM ERROR: out of registers")
sys.stdout.flush()
os._exit(3)
"""


@pytest.mark.parametrize(
    ("code", "ok", "fragment"),
    [
        (CRASH, 0, "code 0x4d"),
        (HANG, 0, "took longer than 1 s"),
        (TWO_STEPS, 2, "LLVM ERROR: out of registers"),
    ],
)
def test_a_driver_that_takes_its_process_with_it(code: str, ok: int, fragment: str) -> None:
    """The step that was running has failed, those behind it were not reached."""
    tested = try_device("NPU", "Intel(R) AI Boost", 1.0, [sys.executable, "-c", code])
    states = [step.state for step in tested.steps]
    assert [step.name for step in tested.steps] == list(STEPS)
    assert states == ["ok"] * ok + ["failed"] + ["not reached"] * (4 - ok)
    assert fragment in tested.steps[ok].detail
    assert tested.steps[ok].fix
    assert not tested.ok


@pytest.mark.skipif(os.name == "nt", reason="signals end a process otherwise there")
def test_a_crash_by_signal_is_named() -> None:
    """As for a segmentation fault in a driver."""
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    tested = try_device("GPU", "", 30, [sys.executable, "-c", code])
    assert "signal 9" in tested.steps[0].detail


def test_a_device_that_is_not_there_fails_at_compile(tmp_path: Path) -> None:
    """With the reason and its fix, as everywhere."""
    found = list(steps("GPU.77", tmp_path))
    assert [(step.name, step.state) for step in found] == [("convert", "ok"), ("compile", "failed")]
    assert found[1].fix


@pytest.fixture
def ran(tmp_path: Path) -> Work:
    """Do the first three steps on the CPU."""
    work = Work("CPU", tmp_path, new_core())
    for step in (convert, compile_it, run):
        step(work)
    return work


def test_wrong_numbers_fail_the_comparison(ran: Work) -> None:
    """A device that computes something else is told from one that is a little less exact."""
    assert "dB SNR" in compare(ran)
    ran.answers = {name: -array for name, array in ran.answers.items()}
    with pytest.raises(StepFailed, match="wrong results"):
        compare(ran)


def test_a_device_that_runs_on_the_cpu_instead_fails_the_profile(ran: Work) -> None:
    """OpenVINO's NPUW claims NPU and runs on the CPU: only the kernels tell."""
    assert "on the CPU" in profile(ran)
    ran.device = "NPU"
    with pytest.raises(StepFailed, match="the CPU's kernels, not NPU's"):
        profile(ran)


def test_a_device_without_a_profile_fails_it(ran: Work) -> None:
    """Nobody would know where it ran."""
    model: ov.Model = ran.core.read_model(str(ran.xml))  # pyright: ignore[reportUnknownMemberType]
    ran.request = ran.core.compile_model(model, "CPU").create_infer_request()
    run(ran)
    with pytest.raises(StepFailed, match="tells nothing"):
        profile(ran)


def test_numbers_that_are_none_fail_the_run(ran: Work) -> None:
    """An input that overflows stands for a device that does."""
    ran.inputs = {name: np.full_like(array, 3e38) for name, array in ran.inputs.items()}
    with pytest.raises(StepFailed, match="not all numbers are finite"):
        run(ran)


def test_first_cause_looks_no_further() -> None:
    """What cannot be judged is not looked at; an old part stops nothing."""
    asked: list[str] = []

    def look(name: str, state: str) -> Finding:
        asked.append(name)
        return Finding(name, "old" if state == "old" else "missing", "")

    names = [("a", "old"), ("b", "missing"), ("c", "old")]
    found = first_cause([(name, partial(look, name, state)) for name, state in names])
    assert asked == ["a", "b"]
    assert [finding.state for finding in found] == ["old", "missing", "not reached"]
    assert found[-1].detail == "after b"
