"""What the engine costs by itself: nodes that do nothing, from JSON to the last event.

python -m bench.engine [--models DIR]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.table import Figure, lines
from vinode import node
from vinode.graph.cache import Cache
from vinode.graph.context import Folders
from vinode.graph.events import Event
from vinode.graph.graph import build
from vinode.graph.node import AnyNodeType
from vinode.graph.plan import make
from vinode.graph.pool import Pool
from vinode.graph.run import run
from vinode.graph.timing import report, to_json
from vinode.graph.workflow import Json, parse

SIZES = (20, 100, 1_000, 10_000)
FOLDERS = Folders(Path("input"), Path("output"), Path("temp"), ())
WORKFLOW = Path(__file__).parents[1] / "workflows" / "detect_faces.json"
# CPU seconds of a fully cached chain of 500 nodes in ComfyUI 0.33, measured before on a machine of
# this kind (2 cores of a Xeon), not interleaved with these runs.
COMFYUI_CACHED_500 = 4.58
# Counts from the start of the process to the first node that begins, for `vinode run`.
FIRST_NODE = """
import sys, time
import vinode.graph.workers as workers
started = workers.NodeStarted
def first(*given):
    workers.NodeStarted = started
    print("first", time.time_ns(), file=sys.stderr)
    return started(*given)
workers.NodeStarted = first
from vinode.cli import main
main()
"""


@node("Add", category="bench")
def add(x: int = 0, y: int = 1) -> int:
    """Add two numbers."""
    return x + y


@node("End", category="bench", output=True)
def end(x: int = 0) -> int:
    """End a workflow."""
    return x


@node("Sleep", category="bench", output=True)
def sleep(x: int = 0) -> int:
    """Sleep for 50 ms."""
    time.sleep(0.05)
    return x


TYPES: dict[str, AnyNodeType] = {type.id: type for type in (add, end, sleep)}


@dataclass(frozen=True, slots=True)
class Measured:
    """One way from JSON to the last event. CPU and wall in seconds, of all stages and of `run`."""

    cpu: float
    run_cpu: float
    wall: float
    events: int


def chain(length: int) -> str:
    """Write a chain of nodes, each of which adds one."""
    nodes: dict[str, Json] = {"0": {"class_type": "Add", "inputs": {"x": 0, "y": 1}}}
    for i in range(1, length):
        type = "End" if i == length - 1 else "Add"
        nodes[str(i)] = {"class_type": type, "inputs": {"x": [str(i - 1), 0]}}
    return json.dumps(nodes)


def fan(width: int) -> str:
    """Write one source and all other nodes as ends on it."""
    nodes: dict[str, Json] = {"0": {"class_type": "Add", "inputs": {"x": 0, "y": 1}}}
    for i in range(1, width):
        nodes[str(i)] = {"class_type": "End", "inputs": {"x": ["0", 0]}}
    return json.dumps(nodes)


def measure(text: str, cache: Cache) -> Measured:
    """Parse, build, plan and run once; the size of the report in bytes is measured apart."""
    events: list[Event] = []
    wall, cpu = time.perf_counter(), time.process_time()
    graph = build(parse(text), TYPES, FOLDERS)
    plan = make(graph, FOLDERS, cache)
    planned = time.process_time()
    outcome = run(plan, events.append, folders=FOLDERS, pool=Pool(), cache=cache)
    done, ended = time.process_time(), time.perf_counter()
    assert outcome.status == "done"
    size = len(json.dumps(to_json(report(events, graph))))
    return Measured(done - cpu, done - planned, ended - wall, size)


def repeated(text: str, size: int) -> tuple[Measured, Measured]:
    """Give (cold, cached): of several runs those of least CPU time, since others only add to it."""
    cold: list[Measured] = []
    cached: list[Measured] = []
    for _ in range(max(4, min(40, 8000 // size))):
        cache = Cache()
        cold.append(measure(text, cache))
        cached.append(measure(text, cache))
    return min(cold, key=lambda each: each.cpu), min(cached, key=lambda each: each.cpu)


def overhead() -> Iterator[Figure]:
    """Measure chains and fans of nodes that do nothing."""
    for name, write in (("chain", chain), ("fan", fan)):
        per_node: dict[int, float] = {}
        for size in SIZES:
            cold, cached = repeated(write(size), size)
            us = per_node[size] = cold.cpu / size * 1e6
            alone = f"run alone {cold.run_cpu / size * 1e6:.0f}"
            what = f"{name} of {size:,}"
            value = f"{us:.0f} us CPU a node ({alone}), {cold.wall:.3f} s wall"
            yield Figure(f"{what}, cold", value, "<= 100 us a node", us <= 100)
            spent = f"{cached.cpu / size * 1e6:.0f} us CPU a node, {cached.wall:.3f} s wall"
            yield Figure(f"{what}, cached", spent, "less than cold", cached.cpu < cold.cpu)
            told = f"{cold.events:,} bytes, {cold.events / size:.0f} a node"
            yield Figure(f"{what}, report", told)
            if size == SIZES[-1]:
                yield Figure(f"{what}, wall", f"{cold.wall:.2f} s", "< 3 s", cold.wall < 3)
        growth = per_node[SIZES[-1]] / per_node[SIZES[-2]]
        value = f"{growth:.2f} x the CPU a node of {SIZES[-2]:,}"
        yield Figure(f"{name}, growth to {SIZES[-1]:,}", value, "linear: <= 1.5 x", growth <= 1.5)


def cached_against_comfyui() -> Figure:
    """Measure a fully cached chain of 500 nodes."""
    _, cached = repeated(chain(500), 500)
    ratio = COMFYUI_CACHED_500 / cached.cpu
    value = f"{cached.cpu * 1e3:.1f} ms CPU: 1/{ratio:.0f} of ComfyUI's {COMFYUI_CACHED_500} s"
    return Figure("chain of 500, cached", value, "<= 1/10 of ComfyUI", ratio >= 10)


def at_once() -> Figure:
    """Measure eight independent nodes that sleep for 50 ms."""
    nodes = {str(i): {"class_type": "Sleep", "inputs": {"x": i}} for i in range(8)}
    walls = [measure(json.dumps(nodes), Cache()).wall for _ in range(5)]
    wall = statistics.median(walls)
    return Figure("8 nodes of 50 ms", f"{wall * 1e3:.0f} ms wall", "< 100 ms", wall < 0.1)


def start_up(models: Path | None) -> Figure:
    """Measure `vinode run` from the start of its process to its first node."""
    name, bar = "start of `vinode run` to first node", "< 1.5 s"
    given = ["--models", str(models)] if models else []
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", FIRST_NODE, "run", str(WORKFLOW), "--quiet"]
        command += ["--output", folder, *given]
        seconds: list[float] = []
        for _ in range(6):
            begun = time.time_ns()
            done = subprocess.run(
                command, capture_output=True, text=True, env=os.environ, check=False, timeout=60
            )
            first = [line for line in done.stderr.splitlines() if line.startswith("first ")]
            if done.returncode or not first:
                why = done.stderr.strip().splitlines()[-1:] or ["no node began"]
                return Figure(name, f"not measured: {why[0]}", bar)
            seconds.append((int(first[0].split()[1]) - begun) / 1e9)
    # The first one compiles Python's bytecode and fills the disk's cache.
    value = statistics.median(seconds[1:])
    return Figure(name, f"{value:.2f} s, median of 5", bar, value < 1.5)


def main() -> None:
    """Print every figure beside its bar."""
    parser = argparse.ArgumentParser(prog="python -m bench.engine", description=__doc__)
    parser.add_argument("--models", type=Path, help="model folder that has face-short-range")
    models: Path | None = parser.parse_args().models
    begun = time.perf_counter()
    figures = [*overhead(), cached_against_comfyui(), at_once(), start_up(models)]
    print("\n".join(lines(figures)))
    print(f"\nPython {sys.version.split()[0]}, {os.cpu_count()} cores, ", end="")
    print(f"{time.perf_counter() - begun:.0f} s for all of this")


if __name__ == "__main__":
    main()
