"""The server's process is killed at any moment: no accepted run is lost, none ended runs again."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest
from PIL import Image as Picture

from tests.web.room import Room, settings
from vinode.web.queue import TRIES, Queue
from vinode.web.supervisor import Supervisor

ROOT = Path(__file__).parents[2]
CHILD = [sys.executable, "-W", "error", "-m", "tests.web.kill_child"]


@dataclass(slots=True)
class Seen:
    """What the killed servers said while they lived."""

    accepted: list[str] = field(default_factory=list[str])
    begun: Counter[str] = field(default_factory=Counter[str])
    ended: list[str] = field(default_factory=list[str])

    def hear(self, text: str) -> None:
        """Take what one server said; the last line may be cut off."""
        for line in text.splitlines(keepends=True):
            kind, _, rest = line.strip().partition(" ")
            if not line.endswith("\n"):
                continue
            if kind == "accepted":
                self.accepted.append(rest)
            elif kind == "run-started":
                assert rest not in self.ended, "a run that was reported as ended ran again"
                self.begun[rest] += 1
            elif kind == "run-ended":
                self.ended.append(rest)
            else:
                assert (kind, rest) == ("opened", "")


def live_and_die(folder: Path, seconds: float, count: int, seen: Seen) -> None:
    """Let a server live for a while, and kill it; its worker has to go by itself."""
    words = [*CHILD, str(folder), str(count)]
    child = subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    )
    try:
        time.sleep(seconds)
        workers = psutil.Process(child.pid).children(recursive=True)
    finally:
        child.kill()
        out, err = child.communicate()
    assert "Traceback" not in err, err
    seen.hear(out)
    gone, alive = psutil.wait_procs(workers, timeout=20)
    assert alive == []
    assert len(gone) <= 1


async def run_the_rest(folder: Path) -> None:
    """Let a server that nobody kills bring all to its end."""
    with Queue(folder / "queue.sqlite") as queue:
        supervisor = Supervisor(queue, settings(folder))
        room = Room(supervisor)
        await supervisor.start()
        try:
            async with asyncio.timeout(600):
                await room.until(lambda: queue.remaining() == 0)
        finally:
            await supervisor.stop()


def check(folder: Path, rounds: int, count: int) -> None:
    """Kill a server some times, then see that nothing is lost or done twice."""
    seen = Seen()
    for number in range(rounds):
        # From before its start is over to the middle of its runs.
        live_and_die(folder, random.uniform(0.1, 1.2), count, seen)
        with Queue(folder / "queue.sqlite") as queue:  # as a start that dies at once
            assert queue.note == "", number
            known = {run.id: run for run in (*queue.pending(), *queue.history(10**6))}
            assert set(seen.accepted) <= set(known)
            assert all(known[id].ended for id in seen.ended)
    asyncio.run(run_the_rest(folder))
    with Queue(folder / "queue.sqlite") as queue:
        history = queue.history(10**6)
    assert Counter(run.id for run in history).most_common(1)[0][1] == 1
    assert set(seen.accepted) <= {run.id for run in history}
    assert max(run.tries for run in history) <= TRIES
    assert all(seen.begun[run.id] <= run.tries for run in history)
    assert {run.state for run in history if run.tries == 1} == {"done"}
    for path in (folder / "output").glob("*.png"):
        with Picture.open(path) as picture:
            picture.load()


def test_a_few_kills(tmp_path: Path) -> None:
    """Those that fit into some seconds."""
    check(tmp_path, 4, 8)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_hundred_kills(tmp_path: Path) -> None:
    """Each at another moment."""
    check(tmp_path, 100, 6)
