"""Compiling in a child process: whatever becomes of the child, the parent has an answer."""

# OpenVINO's stubs leave half of each operation untyped.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import openvino as ov
import pytest

from tests.graph.chains import chain, go_on, picture, saved
from vinode.graph.child import Job, compile_in_child
from vinode.graph.compile import untold
from vinode.graph.devices import SIMULATED
from vinode.graph.errors import Cancelled
from vinode.graph.placement import Reason

LIBRARIES = Path(ov.__file__).parent / "libs"


def program(text: str) -> list[str]:
    """Give the command of a child that runs this instead of the compiler."""
    return [sys.executable, "-c", text]


def job(folder: Path, device: str = "CPU", **asked: Mapping[str, str]) -> Job:
    """Ask for a chain of operations."""
    part = saved(chain("conv", "sin", "conv"), folder)
    return Job(part.xml, device, {}, {"PERF_COUNT": True}, SIMULATED, **asked)


def answer(folder: Path, text: str, limit: float = 30) -> Reason | None:
    """Give what is made of a child that runs this."""
    nothing = Job(folder / "none.xml", "NPU", {}, {})
    return compile_in_child(nothing, folder / "blob", limit, go_on, untold, program(text))


def imported(blob: Path, device: str) -> ov.CompiledModel:
    """Import a blob as the parent does."""
    core = ov.Core()
    core.register_plugin("openvino_intel_cpu_plugin", SIMULATED)
    return core.import_model(blob.read_bytes(), device, {"PERF_COUNT": True})


def test_a_blob_is_made_and_computes(tmp_path: Path) -> None:
    """The same answer as of the model compiled here."""
    blob = tmp_path / "blob"
    assert compile_in_child(job(tmp_path, SIMULATED), blob, 60, go_on, untold) is None
    here = ov.Core().compile_model(chain("conv", "sin", "conv"), "CPU")
    x = {0: picture()}
    assert (imported(blob, SIMULATED)(x)[0] == here(x)[0]).all()


def test_a_blob_of_a_split_model_is_split(tmp_path: Path) -> None:
    """An IR file keeps no affinities: the child is told where each operation goes."""
    blob, device = tmp_path / "blob", f"HETERO:{SIMULATED},CPU"
    where = {"conv0": SIMULATED, "sin1": "CPU", "conv2": SIMULATED}
    asked = job(tmp_path, device, where=where)
    assert compile_in_child(asked, blob, 60, go_on, untold) is None
    assert imported(blob, device).get_property("HETERO_NUMBER_OF_SUBMODELS") == 3


def test_shapes_are_given_to_the_model(tmp_path: Path) -> None:
    """Each input's, as a list of dimensions."""
    part, blob = saved(chain("sin"), tmp_path), tmp_path / "blob"
    asked = Job(part.xml, "CPU", {"x": (2, 4, 8, 8)}, {})
    assert compile_in_child(asked, blob, 60, go_on, untold) is None
    assert tuple(imported(blob, "CPU").input(0).shape) == (2, 4, 8, 8)


@pytest.mark.skipif(
    any(LIBRARIES.glob("*npu_compiler_loader*")), reason="this OpenVINO has the NPU's compiler"
)
def test_the_real_npu_plugin_without_its_compiler_says_so(tmp_path: Path) -> None:
    """What it says is a reason, and no blob is left."""
    reason = compile_in_child(job(tmp_path, "NPU"), tmp_path / "blob", 60, go_on, untold)
    assert reason is not None
    assert reason.code == "compiler-missing"
    assert not (tmp_path / "blob").exists()


def test_what_cannot_be_read_is_a_reason(tmp_path: Path) -> None:
    """A missing file, and a model whose shape does not fit."""
    absent = Job(tmp_path / "none.xml", "CPU", {}, {})
    reason = compile_in_child(absent, tmp_path / "blob", 60, go_on, untold)
    assert reason is not None
    assert "none.xml" in reason.sentence
    part = saved(chain("conv"), tmp_path)
    reason = compile_in_child(
        Job(part.xml, "CPU", {"x": (1, 3, 8, 8)}, {}), tmp_path / "blob", 60, go_on, untold
    )
    assert reason is not None
    assert reason.code == "compile-failed"


def test_what_cannot_be_written_is_a_reason(tmp_path: Path) -> None:
    """A full or a missing folder is told as itself, not as a crash of the compiler."""
    reason = compile_in_child(job(tmp_path), tmp_path / "none" / "blob", 60, go_on, untold)
    assert reason is not None
    assert "FileNotFoundError" in reason.sentence
    assert "crashed" not in reason.sentence


def test_modules_of_the_current_folder_are_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A workflow's folder may hold anybody's files."""
    (tmp_path / "json.py").write_text("raise SystemExit('this is not the real one')")
    asked = job(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert compile_in_child(asked, tmp_path / "blob", 60, go_on, untold) is None


def test_a_compiler_that_aborts_is_a_reason(tmp_path: Path) -> None:
    """By a signal, as LLVM does, and with its last words."""
    text = "import os, sys; print('LLVM ERROR: bad op', flush=True); os.abort()"
    reason = answer(tmp_path, text)
    assert reason is not None
    assert reason.code == "compile-failed"
    how = "code 0x" if sys.platform == "win32" else "signal 6"
    assert reason.sentence.startswith(f"the compiler for NPU crashed ({how}")
    assert reason.sentence.endswith(", its last words: 'LLVM ERROR: bad op'")


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("import sys; sys.exit('what it was')", "(code 0x1), its last words: 'what it was'"),
        ("import os; os._exit(0x7f)", "(code 0x7f)"),
        ("", "(code 0x0)"),
        ("print(3)", "(code 0x0), its last words: '3'"),
        ("print('null')", "(code 0x0), its last words: 'null'"),
        ("print('[]')", "(code 0x0)"),
        ("print('{\"error\": 3')", "(code 0x0)"),
        ("import sys; sys.stdout.buffer.write(bytes(range(128, 256)))", "(code 0x0)"),
    ],
)
def test_an_end_without_an_answer_is_a_reason(tmp_path: Path, text: str, how: str) -> None:
    """Whatever the last line is; a log may end with anything."""
    reason = answer(tmp_path, text)
    assert reason is not None
    assert reason.code == "compile-failed"
    assert how in reason.sentence
    assert len(reason.sentence) < 200


@pytest.mark.parametrize(
    "text",
    [
        """print('log ' * 1_000_000 * 2); print('{"ok": true}')""",
        """print('{"ok": true}'); print('unloaded', '{"ok"')""",
        """import os; print('{"ok": true}', flush=True); os.abort()""",
    ],
)
def test_an_answer_among_logs_is_found(tmp_path: Path, text: str) -> None:
    """Eight megabytes before it, a line after it, a crash while the plugin is unloaded."""
    assert answer(tmp_path, text) is None


def test_an_error_among_logs_is_classified(tmp_path: Path) -> None:
    """Its text is the plugin's."""
    said = "Failed Pass StaticAllocation\nFailed to statically allocate 'DDR'"
    line = json.dumps({"error": said})
    reason = answer(tmp_path, f"print({line!r}); print('bye')")
    assert reason is not None
    assert reason.code == "out-of-memory"
    assert reason.sentence.startswith("NPU: Failed to statically allocate")


def alive(pid: int) -> bool:
    """Say whether a process is there."""
    if sys.platform == "win32":
        asked = ["tasklist", "/fi", f"PID eq {pid}"]
        return str(pid) in subprocess.run(asked, capture_output=True, text=True).stdout
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def sleeper(folder: Path) -> tuple[list[str], Callable[[], int]]:
    """Give a child that never answers, and what tells its process id."""
    noted = folder / "pid"
    text = f"import os, time, pathlib; p = pathlib.Path({str(noted)!r}); "
    text += "p.write_text(str(os.getpid())); time.sleep(600)"
    return program(text), lambda: int(noted.read_text())


def test_a_compiler_that_hangs_is_ended(tmp_path: Path) -> None:
    """Who waits is told the seconds so far and the limit."""
    command, pid = sleeper(tmp_path)
    told: list[tuple[float, float]] = []
    asked = Job(tmp_path / "none.xml", "NPU", {}, {})

    def tell(seconds: float, limit: float) -> None:
        told.append((seconds, limit))

    reason = compile_in_child(asked, tmp_path / "blob", 0.5, go_on, tell, command)
    assert reason is not None
    assert reason.code == "compile-timeout"
    assert reason.sentence == "compiling for NPU took longer than 0.5 s and was ended"
    assert "VINODE_COMPILE_SECONDS" in reason.fix
    assert told == sorted(told)
    assert len(told) > 1
    assert {limit for _, limit in told} == {0.5}
    assert not alive(pid())


def test_a_cancel_ends_the_child(tmp_path: Path) -> None:
    """What `check` raises passes through, and no process goes on."""
    command, pid = sleeper(tmp_path)

    def check() -> None:
        if (tmp_path / "pid").exists() and (tmp_path / "pid").read_text():
            raise Cancelled

    asked = Job(tmp_path / "none.xml", "NPU", {}, {})
    with pytest.raises(Cancelled):
        compile_in_child(asked, tmp_path / "blob", 60, check, untold, command)
    assert not alive(pid())
