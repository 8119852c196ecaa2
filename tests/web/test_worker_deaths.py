"""Workers that die, hang, grow or never start: the run is lost, the queue goes on."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import psutil
import pytest

from tests.web.room import FINE, error_of, one, room
from vinode.graph.strict_json import Json
from vinode.web.settings import Limits

DEATHS = {
    "abort": "SIGABRT; its last words: Fatal Python error: Aborted",
    "kill": "SIGKILL, as the system does where memory runs out",
    "exit": "exit code 7",
    "segfault": "SIGSEGV; its last words: Fatal Python error: Segmentation fault",
}


@pytest.mark.skipif(sys.platform == "win32", reason="names of POSIX's signals")
@pytest.mark.parametrize("how", DEATHS)
def test_a_worker_that_dies_takes_only_its_run_along(tmp_path: Path, how: str) -> None:
    """The run has failed at the node that ran last; the next one runs."""
    prompt: dict[str, Json] = {
        "1": {"class_type": "rough.Number", "inputs": {}},
        "2": {"class_type": "rough.Die", "inputs": {"how": how, "after": ["1", 0]}},
    }

    async def scene() -> None:
        async with room(tmp_path) as here:
            dead, fine = here.submit(prompt), here.submit(FINE)
            run, next = await here.over(dead), await here.over(fine)
            assert (run.state, next.state) == ("failed", "done")
            error = error_of(run)
            assert (error["node_id"], error["node_type"]) == ("2", "rough.Die")
            said = f"node 2 (rough.Die): the worker process died: {DEATHS[how]}"
            assert error["exception_message"].startswith(said)
            (entry,) = json.loads(run.report)["nodes"]
            assert (entry["id"], entry["state"]) == ("2", "failed")
            state = here.supervisor.state
            assert (state.restarts, state.problem.startswith(DEATHS[how])) == (1, True)

    asyncio.run(scene())


def test_a_run_that_came_too_late_is_not_lost(tmp_path: Path) -> None:
    """The worker had died by itself before, and nobody had noticed yet: the next one runs it."""

    async def scene() -> None:
        async with room(tmp_path) as here:
            await here.until(lambda: here.supervisor.state.phase == "ready")
            psutil.Process(here.supervisor.state.pid).kill()
            id = here.submit(FINE)
            assert [run.id for run in here.queue.running()] == [id]
            run = await here.over(id)
            assert (run.state, run.tries, here.supervisor.state.restarts) == ("done", 2, 1)

    asyncio.run(scene())


def test_a_worker_that_hangs_is_ended(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """One that lets no other thread run gives no sign of life."""

    async def scene() -> None:
        async with room(tmp_path, Limits(silence=3.0)) as here:
            long = here.submit(one("Sleep", seconds=4.0))  # which is no hang
            hung, fine = here.submit(one("Hang")), here.submit(FINE)
            assert (await here.over(long)).state == "done"
            run = await here.over(hung)
            assert (run.state, (await here.over(fine)).state) == ("failed", "done")
            said = "node 7 (rough.Hang): the worker process died: it gave no sign of life for too"
            assert error_of(run)["exception_message"].startswith(said)
            assert "rough_pack.py" in capfd.readouterr().err  # where it stood

    asyncio.run(scene())


def test_a_worker_that_grows_is_replaced_between_runs(tmp_path: Path) -> None:
    """Its caches go first; the run that made it grow is done, and no run is lost."""

    async def scene() -> None:
        async with room(tmp_path, Limits(memory=700 * 2**20)) as here:
            runs = [here.submit(one("Hog", mebibytes=400, mark=number)) for number in range(5)]
            states = [(await here.over(id)).state for id in runs]
            assert states == ["done"] * 5
            assert here.supervisor.state.restarts == 2
            assert "after its caches were dropped, of 700 MiB" in here.supervisor.state.problem

    asyncio.run(scene())


def test_a_worker_that_never_starts_is_tried_with_pauses(tmp_path: Path) -> None:
    """Its last words are shown, and runs are accepted meanwhile."""

    async def scene() -> None:
        async with room(tmp_path) as here:
            broken = (sys.executable, "-c", "raise SystemExit('no such library')")
            here.supervisor._command = broken  # pyright: ignore[reportPrivateUsage]
            here.supervisor.restart("to see what comes")
            await here.until(lambda: here.supervisor.state.restarts >= 3)
            state = here.supervisor.state
            assert state.problem == "exit code 1; its last words: no such library"
            id = here.submit(FINE)
            assert [run.id for run in here.queue.pending()] == [id]

    asyncio.run(scene())


def test_the_worker_goes_with_its_server(tmp_path: Path) -> None:
    """Whatever it does at that moment: its pipe has ended."""

    async def scene() -> int:
        async with room(tmp_path) as here:
            here.submit(one("Sleep", stubborn=True))
            await here.until(here.started)
            pid = here.supervisor.state.pid
            worker = here.supervisor._worker  # pyright: ignore[reportPrivateUsage]
            assert worker is not None
            stdin = worker._process.stdin  # pyright: ignore[reportPrivateUsage]
            assert stdin is not None
            stdin.close()
            await here.until(lambda: here.supervisor.state.restarts == 1)
            return pid

    pid = asyncio.run(scene())
    assert pid != os.getpid()
    assert not psutil.pid_exists(pid)


def test_a_listener_that_fails_harms_nobody(tmp_path: Path) -> None:
    """Not the run, not the others."""

    async def scene() -> None:
        failures: list[str] = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda loop, said: failures.append(said["message"]))

        def broken(told: object) -> None:
            raise ValueError

        async with room(tmp_path) as here:
            here.supervisor.subscribe(broken)
            assert (await here.over(here.submit(FINE))).state == "done"
        assert set(failures) == {"a listener failed"}

    asyncio.run(scene())
