"""A supervisor with its worker, without a server before them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from vinode.graph.context import Folders
from vinode.graph.strict_json import Json
from vinode.web.queue import Queue
from vinode.web.runs import NewRun, Run
from vinode.web.settings import Limits, WorkerSettings
from vinode.web.supervisor import Supervisor
from vinode.web.told import Told

PACK = Path(__file__).with_name("rough_pack.py")
PATIENCE = 60.0  # seconds; what is waited for comes in a fraction of it
FINE: dict[str, Json] = {
    "1": {"class_type": "EmptyImage", "inputs": {"width": 16, "height": 8}},
    "2": {"class_type": "SaveImage", "inputs": {"images": ["1", 0], "filename_prefix": "fine"}},
}


def one(kind: str, **inputs: Json) -> dict[str, Json]:
    """Make a prompt of one node of the rough pack."""
    return {"7": {"class_type": f"rough.{kind}", "inputs": inputs}}


def settings(folder: Path) -> WorkerSettings:
    """Give settings whose folders are below one."""
    models = (folder / "models",)
    folders = Folders(folder / "input", folder / "output", folder / "temp", models)
    return WorkerSettings(folders, packs=(PACK,))


class Room:
    """A supervisor, and all that it has told."""

    def __init__(self, supervisor: Supervisor) -> None:
        self.supervisor, self.queue = supervisor, supervisor.queue
        self.told: list[Told] = []
        self._news = asyncio.Event()
        supervisor.subscribe(self._hear)

    def _hear(self, told: Sequence[Told]) -> None:
        self.told += told
        self._news.set()

    def submit(self, prompt: Mapping[str, Json], id: str = "", **rest: Json) -> str:
        """Hand in a run; gives its id."""
        return self.supervisor.submit(NewRun(json.dumps(prompt), id=id, **rest)).id

    async def until(self, seen: Callable[[], bool]) -> None:
        """Wait until what was told makes something true."""
        async with asyncio.timeout(PATIENCE):
            while not seen():
                self._news.clear()
                await self._news.wait()

    async def over(self, id: str) -> Run:
        """Wait until listeners were told that a run is over; gives what is recorded of it."""
        await self.until(lambda: bool(self.of("run-ended", id)))
        run = self.queue.get(id)
        assert run is not None
        return run

    def of(self, kind: str, run: str = "") -> list[Mapping[str, Json]]:
        """Give the data of what was told of a kind, of one run or of all."""
        return [each.data for each in self.told if each.kind == kind and run in ("", each.run)]

    def started(self, node: str = "7") -> bool:
        """Say whether a node has begun."""
        return any(data["node"] == node for data in self.of("node-started"))


@asynccontextmanager
async def room(folder: Path, limits: Limits | None = None) -> AsyncGenerator[Room]:
    """Open a room whose state is in a folder; its worker is ended at the end."""
    with Queue(folder / "queue.sqlite") as queue:
        supervisor = Supervisor(queue, settings(folder), limits)
        opened = Room(supervisor)
        await supervisor.start()
        try:
            yield opened
        finally:
            await supervisor.stop()


def error_of(run: Run) -> dict[str, Json]:
    """Give the data of a run's execution_error."""
    event, data = json.loads(run.messages)[-1]
    assert event == "execution_error"
    return dict(data)
