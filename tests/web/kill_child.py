"""A server without HTTP, to be killed: hands in runs, and says what was accepted, begun, ended.

python kill_child.py FOLDER COUNT: hands in COUNT runs, then goes on for as long as it lives.
"""

from __future__ import annotations

import asyncio
import json
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path

from tests.web.room import settings
from vinode.web.queue import Queue
from vinode.web.runs import NewRun
from vinode.web.supervisor import Supervisor
from vinode.web.told import Told


def say(*words: str) -> None:
    """Write a line that the parent reads even if this process is killed next."""
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


def hear(told: Sequence[Told]) -> None:
    """Say which runs begin and end."""
    for each in told:
        if each.kind in ("run-started", "run-ended"):
            say(each.kind, each.run)


async def main(folder: Path, count: int) -> None:
    """Serve until killed."""
    with Queue(folder / "queue.sqlite") as queue:
        say("opened", str(queue.note))
        supervisor = Supervisor(queue, settings(folder))
        supervisor.subscribe(hear)
        await supervisor.start()
        for number in range(count):
            nodes = {
                "1": {"class_type": "rough.Sleep", "inputs": {"seconds": 0.02 + number / 1e6}},
                "2": {"class_type": "EmptyImage", "inputs": {"width": 8, "height": 8}},
                "3": {
                    "class_type": "SaveImage",
                    "inputs": {"images": ["2", 0], "filename_prefix": f"n{uuid.uuid4()}"},
                },
            }
            say("accepted", supervisor.submit(NewRun(json.dumps(nodes))).id)
            await asyncio.sleep(0.005)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
