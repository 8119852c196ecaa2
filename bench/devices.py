"""What vinode adds to an inference: the call, the timing, and a compile in a process of its own.

python -m bench.devices
"""

# OpenVINO's stubs leave half of each operation untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportGeneralTypeIssues=false, reportArgumentType=false

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path

import numpy as np
import openvino as ov
from openvino import opset13 as op

from bench.table import Figure, lines
from vinode import node
from vinode.graph.cache import Cache
from vinode.graph.clock import Clock
from vinode.graph.compiled import Usage
from vinode.graph.context import Context, Folders, Phase
from vinode.graph.devices import SIMULATED, parse_hint
from vinode.graph.events import Event
from vinode.graph.graph import build
from vinode.graph.node import AnyNodeType
from vinode.graph.part import Simulation
from vinode.graph.plan import make
from vinode.graph.pool import Pool
from vinode.graph.run import run
from vinode.graph.timing import report
from vinode.graph.values import Detector, ModelPart
from vinode.graph.workflow import Json, parse

CALLS = 2000
ROUNDS = 15
PAIRS = 16
CPU = parse_hint("CPU", "")
ONE_THREAD = {"INFERENCE_NUM_THREADS": 1}  # threads that spin while they wait are noise
WORKFLOW = Path(__file__).parents[1] / "workflows" / "detect_faces.json"
FOLDERS = Folders(Path("input"), Path("output"), Path("temp"), ())


def model(layers: int, size: int) -> ov.Model:
    """Make a stack of 3x3 convolutions over (1, 16, size, size); with none, one Relu."""
    x = op.parameter([1, 16, size, size], np.float32, name="x")
    x.output(0).get_tensor().set_names({"x"})
    kernel = np.random.default_rng(0).normal(0, 0.1, (16, 16, 3, 3)).astype(np.float32)
    y = op.relu(x)
    for _ in range(layers):
        y = op.convolution(y, op.constant(kernel), [1, 1], [1, 1], [1, 1], [1, 1])
    y.output(0).get_tensor().set_names({"y"})
    return ov.Model([y], [x], "stack")


def part_of(made: ov.Model, folder: Path, name: str) -> ModelPart:
    """Save a model as a part of a store."""
    xml = folder / f"{name}.xml"
    ov.save_model(made, xml, compress_to_fp16=False)
    return ModelPart(name, xml, name, xml.with_suffix(".bin").stat().st_size)


def untimed(phase: Phase) -> AbstractContextManager[None]:
    """Time nothing."""
    return nullcontext()


def go_on() -> None:
    """Never cancel."""


def cpu_us(calls: Sequence[Callable[[], object]], times: int, rounds: int) -> list[float]:
    """Give the CPU time of one call of each, in us: the least of several rounds.

    They take turns, and others on the machine can only add to a round.
    """
    best = [float("inf")] * len(calls)
    for turn in range(rounds):
        for index in sorted(range(len(calls)), reverse=turn % 2 == 1):
            start = time.process_time()
            for _ in range(times):
                calls[index]()
            best[index] = min(best[index], (time.process_time() - start) / times * 1e6)
    return best


def pool_of_one_thread() -> Pool:
    """Make a pool whose CPU runs on one thread."""
    pool = Pool()
    pool.core.set_property("CPU", ONE_THREAD)
    return pool


def bare_request(made: ov.Model) -> ov.InferRequest:
    """Compile with OpenVINO alone: no profile, one thread."""
    return ov.Core().compile_model(made, "CPU", ONE_THREAD).create_infer_request()


def call_figures(folder: Path) -> list[Figure]:
    """Compare a call of ours with OpenVINO's own, on a model that does next to nothing."""
    made = model(0, 2)
    part, picture = part_of(made, folder, "relu"), np.zeros((1, 16, 2, 2), np.float32)
    compiled, bare = ov.Core().compile_model(made, "CPU", ONE_THREAD), bare_request(made)
    opened = pool_of_one_thread().open(part, (("x", picture.shape),), CPU, untimed, go_on)
    with opened as session:

        def whole() -> None:
            np.copyto(session.inputs["x"], picture)
            session.run()
            session.views()

        calls = [lambda: compiled([picture]), lambda: bare.infer(share_outputs=True)]
        theirs, floor, ours, all_of_it = cpu_us([*calls, session.run, whole], CALLS, ROUNDS)
    each = "us CPU a call"
    return [
        Figure("OpenVINO's compiled(x)", f"{theirs:.1f} {each}"),
        Figure("OpenVINO's infer, preset tensors", f"{floor:.1f} {each}"),
        Figure("session.run, preset tensors", f"{ours:.1f} {each}", "<= 12 us", ours <= 12),
        Figure("what session.run adds", f"{ours - floor:.1f} {each}", "<= 5 us", ours - floor <= 5),
        Figure("write, session.run, views", f"{all_of_it:.1f} {each}"),
    ]


def timing_figure(folder: Path, steps: int) -> Figure:
    """Compare inferences with phases and profile against bare ones of some 10 ms, in turns.

    steps  inferences of a node; at its end the profile is read, which finds the caches cold

    Both are the same request: where its memory lies makes a twin some percent faster or slower.
    """
    made = model(10, 256)
    part = part_of(made, folder, "stack")
    pairs = [_timing_pair(part, steps) for _ in range(PAIRS)]
    ratios = sorted(timed / plain for plain, timed in pairs)
    ratio, plain = statistics.median(ratios), min(plain for plain, _ in pairs)
    spread = f"{ratios[0]:.3f} to {ratios[-1]:.3f}"
    value = f"{ratio:.4f} x the CPU of bare inferences of {plain / 1e3:.1f} ms ({spread})"
    name = f"phases and profile of {steps} inference{'s' if steps > 1 else ''}"
    return Figure(name, value, "< 1.01 x", ratio < 1.01)


def _timing_pair(part: ModelPart, steps: int) -> tuple[float, float]:
    """Give the CPU time of an inference in us: (bare, told of)."""
    clock = Clock(time.perf_counter_ns())

    @contextmanager
    def timed(phase: Phase) -> Generator[None]:
        number = clock.enter(phase)
        yield
        clock.exit(number)

    pool, shapes = pool_of_one_thread(), (("x", (1, 16, 256, 256)),)
    with pool.open(part, shapes, CPU, timed, go_on, Usage()) as session:
        request = session.compiled.request

        def told() -> None:
            for _ in range(steps):
                session.run()
            session.compiled.settle()  # as at the end of each node
            session.compiled.use(Usage())

        def untold() -> None:
            for _ in range(steps):
                request.infer(share_outputs=True)

        plain, timed_us = cpu_us([untold, told], 1, max(8, 60 // steps))
    return plain / steps, timed_us / steps


def counting_figure() -> Figure:
    """Compare a model that counts its operations' time with one that does not, each made anew."""
    made = model(10, 256)
    ratios: list[float] = []
    for turn in range(2 * PAIRS):
        options = [{**ONE_THREAD, "PERF_COUNT": count} for count in (False, True)]
        order = options if turn % 2 else options[::-1]
        both = [ov.Core().compile_model(made, "CPU", each).create_infer_request() for each in order]
        calls = [partial(each.infer, share_outputs=True) for each in both]
        least = cpu_us(calls if turn % 2 else calls[::-1], 1, 30)
        ratios.append(least[1] / least[0])
    value = f"{statistics.median(ratios):.4f} x ({min(ratios):.3f} to {max(ratios):.3f})"
    return Figure("operations counted or not", value)


def chain_text(length: int) -> str:
    """Write a workflow of nodes that infer one after the other."""
    document: dict[str, Json] = {"m": {"class_type": "Model", "inputs": {}}}
    for i in range(length):
        before: Json = [str(i - 1), 0] if i else 0
        inputs: dict[str, Json] = {"model": ["m", 0], "after": before}
        document[str(i)] = {"class_type": "Infer", "inputs": inputs, "_meta": {"device": "CPU"}}
    return json.dumps(document)


def chain_figure(folder: Path, name: str, made: ov.Model, size: int, length: int) -> Figure:
    """Compare a chain of nodes that infer, from JSON to the report, with a bare loop, in turns."""
    part, bare = part_of(made, folder, name), bare_request(made)
    picture = np.zeros((1, 16, size, size), np.float32)
    target, pool = bare.get_input_tensor().data, pool_of_one_thread()

    @node("Model", category="bench")
    def source() -> Detector:
        """Give the model."""
        return Detector(part, "bench", ())

    @node("Infer", category="bench", output=True)
    def infer(model: Detector, context: Context, after: int = 0) -> int:
        """Run it once."""
        return after + len(context.infer(model.part, {"x": picture}))

    text = chain_text(length)
    types: dict[str, AnyNodeType] = {"Model": source, "Infer": infer}

    def ours() -> None:
        events: list[Event] = []
        cache = Cache()
        graph = build(parse(text), types, FOLDERS)
        plan = make(graph, FOLDERS, cache)
        done = run(plan, events.append, folders=FOLDERS, pool=pool, cache=cache)
        assert done.status == "done"
        report(events, graph)

    def theirs() -> None:
        for _ in range(length):
            np.copyto(target, picture)
            bare.infer(share_outputs=True)
            bare.get_output_tensor().data.copy()

    ours()  # compiles
    plain, all_of_it = cpu_us([theirs, ours], 1, 3 * ROUNDS)
    added = (all_of_it - plain) / length
    value = f"{all_of_it / plain:.3f} x a bare loop of {plain / length / 1e3:.2f} ms each"
    return Figure(f"{length} nodes that infer ({name})", f"{value}: {added:.0f} us a node")


def child_figures(folder: Path) -> list[Figure]:
    """Compare a compile here, one in a child process, and its kept blob."""
    part = part_of(model(8, 32), folder, "compiled")
    shapes, hint = (("x", (1, 16, 32, 32)),), parse_hint(SIMULATED, "")
    figures: list[Figure] = []
    for name, child in (("here", False), ("in a child process", True), ("from its blob", True)):
        pool = Pool(simulate=Simulation(in_child=child), folder=folder / f"blobs-{child}")
        _ = pool.core
        start = time.perf_counter()
        with pool.open(part, shapes, hint, untimed, go_on):
            spent = time.perf_counter() - start
        figures.append(Figure(f"a small compile {name}", f"{spent * 1e3:.0f} ms wall"))
    return figures


def check_figure(folder: Path) -> Figure:
    """Ask about an NPU where there is no compiler: the whole process, the least of some."""
    words = [sys.executable, "-m", "vinode", "check", str(WORKFLOW), "--device", "NPU"]
    places = {"XDG_DATA_HOME": str(folder), "WIN_PD_OVERRIDE_LOCAL_APPDATA": str(folder)}
    wall, cpu = float("inf"), float("inf")
    for _ in range(ROUNDS):
        start, before = time.perf_counter(), os.times()
        done = subprocess.run(words, env={**os.environ, **places}, capture_output=True, check=False)
        assert done.returncode == 2, "there is a compiler"
        wall, after = min(wall, time.perf_counter() - start), os.times()
        spent = after.children_user - before.children_user
        cpu = min(cpu, spent + after.children_system - before.children_system)
    # Others on the machine add to the wall alone; Windows tells no CPU time of children.
    seconds = cpu or wall
    value = f"{wall:.2f} s wall, {cpu:.2f} s CPU"
    return Figure("check without an NPU compiler", value, "< 1 s", seconds < 1)


def main() -> None:
    """Measure and print; a second device is the CPU under another name, simulated."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures = [
            *call_figures(folder),
            timing_figure(folder, 1),
            timing_figure(folder, 20),
            counting_figure(),
            chain_figure(folder, "small", model(1, 8), 8, 200),
            chain_figure(folder, "10 ms", model(10, 256), 256, 8),
            *child_figures(folder),
            check_figure(folder),
        ]
    print("\n".join(lines(figures)))


if __name__ == "__main__":
    main()
