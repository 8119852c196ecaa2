"""What vinode adds to an inference: the call, the timing, and a compile in a process of its own.

python -m bench.devices
"""

# OpenVINO's stubs leave half of each operation untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportGeneralTypeIssues=false, reportArgumentType=false

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import numpy as np
import openvino as ov
from openvino import opset13 as op

from bench.table import Figure, lines
from vinode.graph.clock import Clock
from vinode.graph.compiled import Usage
from vinode.graph.context import Phase
from vinode.graph.devices import SIMULATED, parse_hint
from vinode.graph.part import Simulation
from vinode.graph.pool import Pool
from vinode.graph.values import ModelPart

CALLS = 3000
ROUNDS = 9
CPU = parse_hint("CPU", "")


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


def cpu_us(call: Callable[[], object]) -> float:
    """Give the CPU time of one call in us: the least of several rounds, since load only adds."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(CALLS):
            call()
        best = min(best, (time.process_time() - start) / CALLS * 1e6)
    return best


def call_figures(folder: Path) -> list[Figure]:
    """Compare a call of ours with OpenVINO's own, on a model that does next to nothing."""
    made = model(0, 2)
    part, picture = part_of(made, folder, "relu"), np.zeros((1, 16, 2, 2), np.float32)
    compiled = ov.Core().compile_model(made, "CPU")
    with Pool().open(part, (("x", picture.shape),), CPU, untimed, go_on) as session:

        def whole() -> None:
            np.copyto(session.inputs["x"], picture)
            session.run()
            session.views()

        ours, all_of_it = cpu_us(session.run), cpu_us(whole)
    theirs = cpu_us(lambda: compiled([picture]))
    return [
        Figure("compiled(x), OpenVINO's own", f"{theirs:.1f} us CPU a call"),
        Figure("run with preset tensors", f"{ours:.1f} us CPU a call", "<= 12 us", ours <= 12),
        Figure("write, run, look at the outputs", f"{all_of_it:.1f} us CPU a call"),
    ]


def timing_figure(folder: Path) -> Figure:
    """Compare inferences with phases and profile against bare ones, in turns."""
    made = model(24, 160)
    part, picture = part_of(made, folder, "stack"), np.zeros((1, 16, 160, 160), np.float32)
    bare = ov.Core().compile_model(made, "CPU").create_infer_request()
    pool, ratios, took = Pool(), list[float](), list[float]()
    clock = Clock(time.perf_counter_ns())

    @contextmanager
    def timed(phase: Phase) -> Generator[None]:
        outer = clock.switch(phase)
        yield
        clock.switch(outer)

    with pool.open(part, (("x", picture.shape),), CPU, timed, go_on, Usage()) as session:
        for _ in range(ROUNDS * 4):
            start = time.process_time()
            for _ in range(10):
                bare.infer(share_outputs=True)
            plain = time.process_time() - start
            start = time.process_time()
            for _ in range(10):
                session.run()
            session.compiled.settle()
            ratios.append((time.process_time() - start) / plain)
            took.append(plain * 100)
    ratio = statistics.median(ratios)
    spread = f"{min(ratios):.3f} .. {max(ratios):.3f}"
    value = (
        f"{ratio:.4f} x the CPU of bare inferences of {statistics.median(took):.1f} ms ({spread})"
    )
    return Figure("phases and profile of a run", value, "< 1.01 x", ratio < 1.01)


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


def main() -> None:
    """Measure and print; a second device is the CPU under another name, simulated."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures = [*call_figures(folder), timing_figure(folder), *child_figures(folder)]
    print("\n".join(lines(figures)))


if __name__ == "__main__":
    main()
