"""What only a process shows: imports, signals, closed pipes, full disks, any bytes as letters."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image as Picture

from tests.cli.program import DETECT_FACES, SMALL, run_program, save, save_noise, start
from vinode.graph.workflow import Json

# Where an import is tried, not only where it succeeds: here none of them may be installed.
RECORD = """
class Recorder:
    tried = set()
    def find_spec(self, name, path=None, target=None):
        self.tried.add(name.partition(".")[0])
sys.meta_path.insert(0, Recorder)
Recorder.find_spec = classmethod(Recorder.find_spec)
"""
HEAVY = ("torch", "diffusers", "transformers", "optimum", "nncf", "onnx", "aiohttp")
TELL = f"print(sorted(Recorder.tried.intersection({HEAVY!r})), 'PIL' in Recorder.tried)"

SLOW = '''
import time
from vinode import Context, node


@node("test.Sleep", category="test")
def sleep(context: Context, seconds: float = 60.0, stubborn: bool = False) -> int:
    """Sleep, and tell by a file that it does.

    seconds   how long
    stubborn  do not ask whether the run was cancelled
    """
    (context.folders.output / "started").touch()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.01)
        if not stubborn:
            context.check_cancelled()
    return 1


@node("test.Exit", category="test", output=True)
def leave(code: int = 3) -> None:
    """Leave as a careless author may.

    code  the exit code
    """
    raise SystemExit(code)
'''
SIGNALS = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one child")


def wait_for(seen: Callable[[], bool]) -> None:
    """Wait until something is seen; the test's own time limit ends a wait in vain."""
    while not seen():
        time.sleep(0.01)


@pytest.fixture
def slow(tmp_path: Path) -> list[str]:
    """Give the words that run a node which sleeps for a minute."""
    packs = tmp_path / "packs"
    packs.mkdir()
    (packs / "slow.py").write_text(SLOW, encoding="utf-8")
    nodes: dict[str, Json] = {
        "1": {"class_type": "test.Sleep", "inputs": {}},
        "2": {"class_type": "EmptyImage", "inputs": {"width": ["1", 0]}},
        "3": {"class_type": "SaveImage", "inputs": {"images": ["2", 0]}},
    }
    file = save(tmp_path / "slow.json", nodes)
    return ["run", file, "--nodes", str(packs), "--output", str(tmp_path / "out")]


def test_a_run_of_converted_models_imports_no_framework(face_models: Path, tmp_path: Path) -> None:
    """Neither torch nor what converts checkpoints, nor the server; it is not even tried."""
    words: list[str | Path] = [
        "run",
        DETECT_FACES,
        "--models",
        face_models,
        "--output",
        tmp_path,
        "--quiet",
    ]
    code, out, err = run_program(*words, before=RECORD, after=TELL)
    assert (code, out, err) == (0, "[] True\n", "")


@pytest.mark.parametrize("words", [["run"], ["check"], ["models", "list"], ["nodes"]])
def test_no_command_imports_a_framework(words: list[str], tmp_path: Path) -> None:
    """The base install has none of them."""
    file = [save(tmp_path / "w.json")] if words[0] in ("run", "check") else []
    code, out, err = run_program(*words, *file, before=RECORD, after=TELL, cwd=tmp_path)
    assert (code, out.splitlines()[-1].partition("]")[0], err) == (0, "[", "")


def test_checking_needs_no_openvino(tmp_path: Path) -> None:
    """Its import costs a quarter of a second."""
    after = "print('openvino' in Recorder.tried)"
    file = save(tmp_path / "w.json")
    code, out, _ = run_program("check", file, before=RECORD, after=after)
    assert (code, out.splitlines()[-1]) == (0, "False")


@SIGNALS
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_cancels_a_run(number: signal.Signals, slow: list[str], tmp_path: Path) -> None:
    """Exit code 130, no traceback, and the report says so."""
    report = tmp_path / "report.json"
    with start(*slow, "--report", report) as process:
        wait_for((tmp_path / "out" / "started").exists)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, "")
    assert "cancelled in" in out
    assert json.loads(report.read_text())["status"] == "cancelled"
    assert [entry.name for entry in (tmp_path / "out").iterdir()] == ["started"]


@SIGNALS
def test_a_second_ctrl_c_does_not_wait_for_a_stubborn_node(slow: list[str], tmp_path: Path) -> None:
    """The node would sleep for a minute; the process does not."""
    with start(*slow, "--set", "1.stubborn=true") as process:
        wait_for((tmp_path / "out" / "started").exists)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err.strip()) == (130, "", "cancelled")


@SIGNALS
def test_ctrl_c_leaves_no_half_picture(tmp_path: Path) -> None:
    """Every file that can be seen is a whole picture."""
    save_noise(tmp_path / "noise.png", 256)
    nodes = {
        "1": {"class_type": "LoadImage", "inputs": {"image": "noise.png"}},
        "2": {"class_type": "RepeatImageBatch", "inputs": {"image": ["1", 0], "amount": 4096}},
        "3": {"class_type": "SaveImage", "inputs": {"images": ["2", 0]}},
    }
    out = tmp_path / "out"
    with start("run", save(tmp_path / "w.json", nodes), "--output", out) as process:
        wait_for(lambda: out.exists() and any(out.glob("*.png")))
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert process.communicate()[1] == ""
    entries = list(out.iterdir())
    assert 0 < len(entries) < 4096
    for entry in entries:
        assert entry.suffix == ".png"
        with Picture.open(entry) as picture:
            picture.load()


@SIGNALS
@pytest.mark.parametrize("words", [["models", "pull", "face-short-range"], ["run", "--pull"]])
def test_ctrl_c_cancels_a_download(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The registry answers nothing; nothing half is left in the store."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.getsockname()[1]}/simple")
        file = [DETECT_FACES] if words[0] == "run" else []
        started = start(*words, *file, "--models", tmp_path / "models", cwd=tmp_path)
        with started as process, server.accept()[0]:
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err.strip()) == (130, "", "cancelled")
    left = [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".lock"]
    assert left == []


def test_a_node_cannot_end_the_program(slow: list[str], tmp_path: Path) -> None:
    """sys.exit() in a node is a node that failed."""
    save(Path(slow[1]), {"1": {"class_type": "test.Exit", "inputs": {"code": 0}}})
    code, _, err = run_program(*slow)
    assert code == 1
    assert err.startswith("node 1 (test.Exit): SystemExit: 0")


@pytest.mark.skipif(sys.platform == "win32", reason="limits and closed pipes of POSIX")
@pytest.mark.parametrize("words", [[], ["--timing", "json"], ["--timing", "trace"]])
@pytest.mark.parametrize(("side", "expected"), [(16, 0), (16384, 1)])
def test_a_reader_that_leaves_is_no_failure(
    words: list[str], side: int, expected: int, tmp_path: Path
) -> None:
    """`vinode run ... | head -0`: the exit code is that of the run, and nothing is said of it."""
    file = save(tmp_path / "w.json")
    sizes = {"width": side, "height": side, "batch_size": side // 4}
    sets = [f"--set=1.{name}={size}" for name, size in sizes.items()]
    with start("run", file, *words, *sets, cwd=tmp_path) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        err = process.stderr.read()
    assert process.returncode == expected
    assert len(err.splitlines()) == expected
    assert "Traceback" not in err
    assert "Broken" not in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_standard_output_on_a_full_disk(tmp_path: Path) -> None:
    """One sentence and a code that is not success."""
    before = "import os; os.dup2(os.open('/dev/full', os.O_WRONLY), 1)"
    file = save(tmp_path / "w.json")
    code, _, err = run_program("run", file, "--timing", "json", before=before, cwd=tmp_path)
    assert (code, err) == (2, f"output: {os.strerror(28)}\n")


FULL = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows limits no process's files")
def test_a_picture_on_a_full_disk(tmp_path: Path) -> None:
    """The node fails with a sentence; what was begun is gone."""
    save_noise(tmp_path / "noise.png", 128)
    nodes = {
        "1": {"class_type": "LoadImage", "inputs": {"image": "noise.png"}},
        "2": {"class_type": "SaveImage", "inputs": {"images": ["1", 0]}},
    }
    file = save(tmp_path / "w.json", nodes)
    code, out, err = run_program("run", file, before=FULL, cwd=tmp_path)
    assert code == 1
    assert "failed in" in out
    assert err.startswith("node 2 (SaveImage): the file could not be written: File too large")
    assert len(err.splitlines()) == 1
    assert list((tmp_path / "output").iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows limits no process's files")
def test_a_report_on_a_full_disk(tmp_path: Path) -> None:
    """The older report stays as it was; what the run saved is there."""
    nodes = {str(n): {"class_type": "EmptyImage", "inputs": {"width": n}} for n in range(1, 60)}
    nodes |= {f"s{n}": {"class_type": "PreviewImage", "inputs": {"images": [n, 0]}} for n in nodes}
    report = tmp_path / "report.json"
    report.write_text("old")
    words: list[str | Path] = [
        "run",
        save(tmp_path / "w.json", nodes),
        "--report",
        report,
        "--quiet",
    ]
    code, out, err = run_program(*words, before=FULL, cwd=tmp_path)
    assert (code, out) == (2, "")
    assert err.startswith(f"{report}: the report cannot be written: File too large; choose another")
    assert report.read_text() == "old"
    assert {entry.name for entry in tmp_path.iterdir()} == {"w.json", "report.json", "output"}


def test_names_that_the_terminal_cannot_write(tmp_path: Path) -> None:
    """An old encoding, and half letters: written as escapes, never as a traceback."""
    nodes = {**SMALL, "1": {**SMALL["1"], "_meta": {"title": "狐 \ud83d"}}}
    file = save(tmp_path / "w.json", nodes)
    before = "sys.stdout.reconfigure(encoding='cp1252'); sys.stderr.reconfigure(encoding='cp1252')"
    code, out, err = run_program("run", file, before=before, cwd=tmp_path)
    assert (code, err) == (0, "")
    assert "1 \\u72d0 \\ud83d" in out
    code, _, err = run_program("run", file, "--set", "狐.width=1", before=before, cwd=tmp_path)
    assert code == 2
    assert err.startswith("--set \\u72d0.width: no such node; got \\u72d0; ")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a name is always text")
def test_a_file_whose_name_is_no_text(tmp_path: Path) -> None:
    """Any bytes are a name on Linux."""
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe.json")
    with open(path, "w") as file:
        json.dump(SMALL, file)
    code, out, err = run_program("run", path, "--quiet", cwd=tmp_path)
    assert (code, out, err) == (0, "", "")
    code, _, err = run_program("check", path + "x", cwd=tmp_path)
    assert code == 2
    assert err.endswith(
        "\\udcff\\udcfe.jsonx: no such file; check the name, or see `vinode run --help`\n"
    )
