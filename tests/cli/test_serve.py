"""`vinode serve` as a process: it starts, answers, ends, and is refused where another stands."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tests.cli.program import SMALL, run_program, start
from tests.cli.test_process import SIGNALS, wait_for
from tests.web.room import PACK, one
from vinode.graph.strict_json import Json


@dataclass(frozen=True, slots=True)
class Served:
    """A server that answers."""

    process: subprocess.Popen[str]
    url: str

    def get(self, path: str) -> Json:
        """Ask, and read the answer as JSON."""
        with urllib.request.urlopen(f"{self.url}{path}", timeout=30) as answer:
            return json.load(answer)

    def post(self, prompt: Json) -> str:
        """Hand in a prompt; gives the id of its run."""
        body = json.dumps({"prompt": prompt}).encode()
        headers = {"Content-Type": "application/json"}
        asked = urllib.request.Request(f"{self.url}/prompt", body, headers)
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return str(json.load(answer)["prompt_id"])

    def over(self, id: str) -> Json:
        """Wait for a run's end; gives its entry of the history."""
        found: dict[str, Json] = {}

        def seen() -> bool:
            found.update(self.get(f"/history/{id}"))
            return bool(found)

        wait_for(seen)
        return found[id]


@contextmanager
def served(folder: Path, *words: str, after: str = "") -> Generator[Served]:
    """Start a server on a free port, with its state in a folder; it is killed at the end."""
    own = ["--port", "0", "--state", str(folder / "state"), "--output", str(folder / "out")]
    with start("serve", *own, "--nodes", PACK, *words, after=after, cwd=folder) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.match(r"vinode \S+ serves (http://\S+?)(/\?token=\S+)? ", line)
            assert found, process.communicate()
            yield Served(process, found[1])
        finally:
            process.kill()


def test_it_runs_a_prompt_and_imports_no_openvino(tmp_path: Path) -> None:
    """That is the worker's; where the server ends in good order, so does the worker."""
    tell = "print('openvino' in sys.modules, 'torch' in sys.modules)"
    with served(tmp_path, after=tell) as server:
        entry = server.over(server.post(SMALL))
        assert entry["status"]["status_str"] == "success"
        assert (tmp_path / "out" / "small_00001_.png").is_file()
        workers = psutil.Process(server.process.pid).children(recursive=True)
        assert len(workers) == 1
        if sys.platform != "win32":
            server.process.send_signal(signal.SIGINT)
            out, err = server.process.communicate(timeout=20)
            assert (server.process.returncode, out, err) == (0, "False False\n", "")
    gone, alive = psutil.wait_procs(workers, timeout=20)
    assert (len(gone), alive) == (1, [])


@SIGNALS
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_the_midst_of_a_run(number: signal.Signals, tmp_path: Path) -> None:
    """At once and quietly; the next server runs what was left."""
    with served(tmp_path) as server:
        ids = [server.post(one("Sleep", seconds=1.0, stubborn=True)), server.post(SMALL)]
        wait_for((tmp_path / "out" / "started-7").exists)
        server.process.send_signal(number)
        _, err = server.process.communicate(timeout=20)
        assert (server.process.returncode, err) == (0, "")
    with served(tmp_path) as server:
        assert [server.over(id)["status"]["status_str"] for id in ids] == ["success"] * 2


def test_a_kill_loses_nothing(tmp_path: Path) -> None:
    """Neither the history, nor what ran, nor what waited."""
    with served(tmp_path) as server:
        first = server.post(SMALL)
        entry = server.over(first)
        ids = [server.post(one("Sleep", seconds=0.5)), server.post(SMALL)]
        wait_for((tmp_path / "out" / "started-7").exists)
        server.process.kill()
    with served(tmp_path) as server:
        assert server.get(f"/history/{first}") == {first: entry}
        assert [server.over(id)["status"]["status_str"] for id in ids] == ["success"] * 2


@pytest.mark.skipif(sys.platform == "win32", reason="closed pipes of POSIX")
def test_nobody_reads_what_it_prints(tmp_path: Path) -> None:
    """A launcher may close both streams; runs run all the same, however much nodes print."""
    with served(tmp_path) as server:
        assert server.process.stdout is not None
        assert server.process.stderr is not None
        server.process.stdout.close()
        server.process.stderr.close()
        for _ in range(3):
            server.over(server.post(one("Loud")))
        assert server.over(server.post(SMALL))["status"]["status_str"] == "success"


def test_two_servers_do_not_share_a_folder(tmp_path: Path) -> None:
    """The second is told where the first is."""
    with served(tmp_path) as server:
        state = tmp_path / "state"
        code, out, err = run_program("serve", "--port", "0", "--state", state, cwd=tmp_path)
        said = f"{state}: another server uses this folder; got {server.url}; stop it, or choose "
        assert (code, out, err) == (2, "", f"{said}another folder: --state DIR\n")
        assert server.get("/prompt") == {"exec_info": {"queue_remaining": 0}}


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    """One sentence with what to do."""
    with served(tmp_path) as server:
        port = server.url.rpartition(":")[2]
        words: list[str | Path] = ["serve", "--port", port, "--state", tmp_path / "other"]
        code, out, err = run_program(*words, cwd=tmp_path)
        said = f"--listen 127.0.0.1 --port {port}: another program has this port; choose another: "
        assert (code, out, err) == (2, "", f"{said}--port {int(port) + 1}\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--device", "NPUX"], "--device: no such device hint; got 'NPUX'; did you mean NPU?"),
        (["--listen", "no.such.host.invalid"], "no such address; got no.such.host.invalid"),
        (["--token", "short"], "--token: a token has at least 16 letters"),
        (["--nodes", "nowhere"], "--nodes: no such folder; got nowhere"),
        (["--state", "file/state"], "the folder cannot be written to"),
    ],
)
def test_wrong_options(words: list[str], said: str, tmp_path: Path) -> None:
    """Refused in one line, before anything is begun."""
    (tmp_path / "file").touch()
    code, out, err = run_program("serve", "--port", "0", *words, cwd=tmp_path)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert said in err


def test_a_wide_server_is_given_a_token(tmp_path: Path) -> None:
    """Without it nobody is answered."""
    with served(tmp_path, "--listen", "0.0.0.0") as server:
        port = server.url.rpartition(":")[2]
        with pytest.raises(urllib.error.HTTPError, match=r"40[13]") as refused:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/prompt", timeout=30)
        refused.value.close()


def test_a_damaged_queue_is_told(tmp_path: Path) -> None:
    """And the server serves."""
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "queue.sqlite").write_bytes(b"no database at all" * 100)
    with served(tmp_path) as server:
        assert server.over(server.post(SMALL))["status"]["completed"]
        server.process.kill()
        assert server.process.stderr is not None
        assert "the queue was damaged" in server.process.stderr.read()
