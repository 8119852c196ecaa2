"""Jobs that pull and convert models: one at a time, each in a process, told of as it goes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

import psutil

from vinode.graph.errors import Fault, VinodeError
from vinode.graph.strict_json import Json

State: TypeAlias = Literal["waiting", "running", "done", "failed", "cancelled"]
_COMMAND = (sys.executable, "-P", "-m", "vinode.web.model_child")
_KEPT = 100  # jobs that are over
_MOST_WAITING = 100


class JobRefused(VinodeError):
    """A job that cannot be taken."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job. `done` of `total` bytes or steps of `step`; total 0: not known. Times since 1970.

    problem  why it failed, in one sentence; "" where it did not
    """

    id: str
    do: Literal["pull", "convert"]
    name: str
    state: State = "waiting"
    step: str = ""
    done: int = 0
    total: int = 0
    bytes: int = 0
    problem: str = ""
    accepted: float = 0.0
    ended: float = 0.0


class ModelJobs:
    """The jobs of one server. Belongs to the event loop's thread.

    tell  is told of each change of a job
    """

    def __init__(self, folders: Sequence[Path], tell: Callable[[Mapping[str, Json]], None]) -> None:
        self._folders, self._tell = folders, tell
        self.jobs: dict[str, Job] = {}
        self._turn = asyncio.Lock()
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, do: Literal["pull", "convert"], name: str) -> Job:
        """Take a job; the same one, while it waits or runs, is not taken twice."""
        for job in self.jobs.values():
            if (job.do, job.name) == (do, name) and not job.ended:
                return job
        if len(self._tasks) >= _MOST_WAITING:
            raise JobRefused(Fault("jobs", f"{_MOST_WAITING} jobs wait already", fix="wait"))
        job = Job(str(uuid.uuid4()), do, name, accepted=time.time())
        self.jobs[job.id] = job
        over = [each.id for each in self.jobs.values() if each.ended]
        for id in over[: max(0, len(over) - _KEPT)]:
            del self.jobs[id]
        task = asyncio.create_task(self._run(job.id))
        self._tasks[job.id] = task
        task.add_done_callback(lambda _: self._tasks.pop(job.id, None))
        return job

    def cancel(self, id: str) -> bool:
        """End a job; False where it does not wait or run."""
        task = self._tasks.get(id)
        return task is not None and task.cancel()

    async def close(self) -> None:
        """End all jobs; what they had written in part is swept by the store."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, id: str) -> None:
        try:
            async with self._turn:
                self._set(id, state="running")
                await self._work(id)
        except asyncio.CancelledError:
            self._set(id, state="cancelled", ended=time.time())
            raise
        except OSError as error:
            problem = f"no process can be started: {error}"
            self._set(id, state="failed", problem=problem, ended=time.time())

    async def _work(self, id: str) -> None:
        job = self.jobs[id]
        folders = [str(folder) for folder in self._folders]
        asked = json.dumps({"do": job.do, "name": job.name, "folders": folders})
        child = await asyncio.create_subprocess_exec(
            *_COMMAND, asked, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE
        )
        try:
            assert child.stdout is not None
            faults: list[Fault] = []
            while line := await child.stdout.readline():
                faults = self._take(id, line) or faults
            code = await child.wait()
        finally:
            _kill(child)
            await child.wait()
        problem = "\n".join(map(str, faults)) or f"it ended with exit code {code}"
        ended: Mapping[str, Json] = {"state": "failed", "problem": problem}
        self._set(id, **({"state": "done"} if code == 0 else ended), ended=time.time())

    def _take(self, id: str, line: bytes) -> list[Fault]:
        """Take a line of the child; what a library prints between ours is none."""
        try:
            told: Json = json.loads(line)
        except ValueError:
            return []
        match told:
            case {"step": str(step), "done": int(done), "total": int(total)}:
                self._set(id, step=step, done=done, total=total)
            case {"bytes": int(bytes)}:
                self._set(id, bytes=bytes)
            case {"faults": [*faults]}:
                return [Fault(**fault) for fault in faults]
            case _:
                pass
        return []

    def _set(self, id: str, **changes: Json) -> None:
        self.jobs[id] = replace(self.jobs[id], **changes)
        self._tell(asdict(self.jobs[id]))


def _kill(child: asyncio.subprocess.Process) -> None:
    """Kill a child that still runs, and what it has started."""
    if child.returncode is not None:
        return
    with contextlib.suppress(psutil.Error, ProcessLookupError):
        inner = psutil.Process(child.pid).children(recursive=True)
        child.kill()
        for each in inner:
            with contextlib.suppress(psutil.Error):
                each.kill()
