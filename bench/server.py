"""What the server costs by itself: a chain of twenty small nodes, over HTTP and the socket.

python -m bench.server
"""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from aiohttp import ClientSession, ClientWebSocketResponse

from bench.table import Figure, lines
from vinode.graph.strict_json import Json

LENGTH, RUNS, QUEUED = 20, 100, 100
_MIB = 2**20


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers, and what its start took: seconds of wall and of CPU."""

    url: str
    process: psutil.Process
    wall: float
    cpu: float

    @property
    def worker(self) -> psutil.Process:
        """Give the process that owns OpenVINO."""
        (found,) = self.process.children()
        return found


def chain(color: int) -> dict[str, Json]:
    """Make a chain from a canvas of 64 × 64 to a preview; another color is another result."""
    canvas = {"width": 64, "height": 64, "batch_size": 1, "color": color}
    nodes: dict[str, Json] = {"1": {"class_type": "EmptyImage", "inputs": canvas}}
    for number in range(2, LENGTH):
        link = {"image": [str(number - 1), 0]}
        nodes[str(number)] = {"class_type": "ImageInvert", "inputs": link}
    end = {"images": [str(LENGTH - 1), 0]}
    return nodes | {str(LENGTH): {"class_type": "PreviewImage", "inputs": end}}


def another() -> dict[str, Json]:
    """Make a chain that has not run before."""
    return chain(random.randrange(1 << 24))


@asynccontextmanager
async def served(folder: Path) -> AsyncGenerator[Server]:
    """Start a server on a free port and wait until its worker is warm."""
    words = [sys.executable, "-m", "vinode", "serve", "--port", "0", "--output", "out"]
    begun = time.perf_counter()
    with subprocess.Popen(
        [*words, "--state", "state"], cwd=folder, stdout=subprocess.PIPE, text=True
    ) as started:
        assert started.stdout is not None
        url = started.stdout.readline().split()[3]
        wall = time.perf_counter() - begun
        process = psutil.Process(started.pid)
        try:
            yield Server(url, process, wall, spent(process))
        finally:
            started.terminate()


def spent(*processes: psutil.Process) -> float:
    """Give the CPU seconds that processes have used so far."""
    times = [process.cpu_times() for process in processes]
    return sum(each.user + each.system for each in times)


async def run(http: ClientSession, socket: ClientWebSocketResponse, prompt: Json, sid: str) -> None:
    """Hand in a prompt and listen to its end."""
    body = {"prompt": prompt, "client_id": sid}
    async with http.post("/prompt", json=body) as answer:
        id = (await answer.json())["prompt_id"]
    while True:
        told = await socket.receive_json()
        data = told["data"]
        if told["type"] == "executing" and data["node"] is None and data["prompt_id"] == id:
            return


async def one_by_one(server: Server, http: ClientSession) -> list[Figure]:
    """Measure runs that follow each other: CPU of server and worker, and the time of one."""
    figures: list[Figure] = []
    sid = str(uuid.uuid4())
    cases: tuple[tuple[str, Callable[[], Json], float], ...] = (
        ("new", another, 5.0),
        ("cached", lambda: chain(7), 1.0),
    )
    async with http.ws_connect(f"/ws?clientId={sid}") as socket:
        for name, make, bar in cases:
            for _ in range(10):
                await run(http, socket, make(), sid)
            before = spent(server.process), spent(server.worker)
            begun = time.perf_counter()
            for _ in range(RUNS):
                await run(http, socket, make(), sid)
            wall = (time.perf_counter() - begun) / RUNS * 1e3
            after = spent(server.process), spent(server.worker)
            own, other = ((b - a) / RUNS * 1e3 for a, b in zip(before, after, strict=True))
            value = f"{own + other:.1f} ms CPU: server {own:.1f}, worker {other:.1f}; {wall:.1f} ms"
            what = f"chain of {LENGTH}, {name}"
            figures.append(Figure(what, value, f"<= {bar:g} ms CPU", own + other <= bar))
    return figures


async def many_at_once(http: ClientSession) -> Figure:
    """Measure many prompts that are handed in at once, to the end of the last."""
    begun = time.perf_counter()
    last = ""
    for _ in range(QUEUED):
        async with http.post("/prompt", json={"prompt": another()}) as answer:
            last = (await answer.json())["prompt_id"]
    handed = time.perf_counter() - begun
    while True:
        async with http.get(f"/history/{last}") as answer:
            if last in await answer.json():
                break
        await asyncio.sleep(0.01)
    wall = time.perf_counter() - begun
    value = f"{wall:.2f} s wall, {handed:.2f} s of it to hand them in"
    return Figure(f"{QUEUED} chains queued", value, "<= 0.8 s", wall <= 0.8)


async def figures() -> list[Figure]:
    """Measure a server of its own."""
    with tempfile.TemporaryDirectory() as folder:
        async with served(Path(folder)) as server, ClientSession(server.url) as http:
            start = f"{server.cpu:.2f} s CPU, {server.wall:.2f} s wall"
            found = [Figure("start to first answer", start, "<= 1 s CPU", server.cpu <= 1)]
            await asyncio.sleep(2)  # the worker imports OpenVINO meanwhile
            held = server.process.memory_info().rss / _MIB
            other = server.worker.memory_info().rss / _MIB
            value = f"{held:.0f} MiB; its worker {other:.0f} MiB"
            found.append(Figure("server at rest", value, "<= 150 MiB", held <= 150))
            found += await one_by_one(server, http)
            found.append(await many_at_once(http))
    return found


def main() -> None:
    """Print every figure beside its bar."""
    print("\n".join(lines(asyncio.run(figures()))))
    print(f"\nPython {sys.version.split()[0]}, {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
