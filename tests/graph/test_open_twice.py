"""A node that asks for a model which it holds itself is told so, instead of waiting for ever."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.graph.chains import SHAPE, chain, picture, saved
from tests.graph.engine import Engine, Nodes, Ran
from vinode import node
from vinode.graph.context import Context
from vinode.graph.node import AnyNodeType
from vinode.graph.values import Detector, ModelPart

SHAPES = {"x": SHAPE}


@node("Infers", category="test")
def infers(model: Detector, context: Context) -> int:
    """Infer while the same model is open."""
    with context.open(model.part, SHAPES):
        context.infer(model.part, {"x": picture()})
    return 1


@node("Opens", category="test")
def opens(model: Detector, context: Context) -> int:
    """Open a model twice."""
    with context.open(model.part, SHAPES), context.open(model.part, SHAPES):
        return 1


@node("InThread", category="test")
async def in_thread(model: Detector, context: Context) -> int:
    """Infer in a thread that asyncio starts."""
    with context.open(model.part, SHAPES):
        await asyncio.to_thread(context.infer, model.part, {"x": picture()})
    return 1


@node("InTask", category="test")
async def in_task(model: Detector, context: Context) -> int:
    """Infer in a task."""

    async def infer() -> None:
        context.infer(model.part, {"x": picture()})

    with context.open(model.part, SHAPES):
        await asyncio.gather(infer())
    return 1


@node("OneAfterTheOther", category="test")
def one_after_the_other(model: Detector, context: Context) -> int:
    """Open again what is closed, infer, and open at another shape while it is open."""
    for _ in range(2):
        with context.open(model.part, SHAPES):
            pass
    with context.open(model.part, SHAPES):
        context.infer(model.part, {"x": picture((1, 4, 8, 8))})
    context.infer(model.part, {"x": picture()})
    return 1


@node("Threads", category="test")
def threads(model: Detector, context: Context) -> int:
    """Infer the same model from several threads of its own, one of which opens it."""
    failed: list[BaseException] = []

    def opened() -> None:
        with context.open(model.part, SHAPES) as held:
            held.run()

    def inferred() -> None:
        context.infer(model.part, {"x": picture()})

    def caught(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)

    running = [threading.Thread(target=caught, args=(work,)) for work in (opened, inferred) * 4]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return len(failed)


@node("Calls", category="test")
async def calls(model: Detector, context: Context, x: int) -> int:
    """Be called for several values at once, each of which opens the model in a thread."""

    def work() -> int:
        with context.open(model.part, SHAPES) as held:
            held.run()
        return x

    return await asyncio.to_thread(work)


@node("Count", category="test")
def count() -> list[int]:
    """Give 0, 1, 2."""
    return [0, 1, 2]


@pytest.fixture
def part(tmp_path: Path) -> ModelPart:
    """Give a model of two operations."""
    return saved(chain("conv", "relu"), tmp_path)


def run(part: ModelPart, type: AnyNodeType) -> Ran:
    """Run a node with a model."""

    @node("Model", category="test")
    def model() -> Detector:
        """Give the handle."""
        return Detector(part, "test", ())

    made = Engine({each.id: each for each in (model, type, count)})
    inputs = {"x": ["c", 0]} if type is calls else {}
    nodes: Nodes = {"m": ("Model", {}), "c": ("Count", {})}
    nodes = {**nodes, "1": (type.id, {"model": ["m", 0], **inputs})}
    return made.run(nodes, ["1"])


@pytest.mark.parametrize("type", [infers, opens, in_thread, in_task])
@pytest.mark.timeout(20)
def test_a_node_does_not_wait_for_itself(type: AnyNodeType, part: ModelPart) -> None:
    """The fault says what to do instead."""
    (fault,) = run(part, type).failed("1").faults
    assert fault.code == "node-refused"
    assert fault.problem == "model chain is open on CPU with these shapes already"
    assert fault.fix == "use the opened model: write into its inputs, run(), read views()"


@pytest.mark.parametrize("type", [one_after_the_other, threads, calls])
@pytest.mark.timeout(20)
def test_what_ends_by_itself_is_waited_for(type: AnyNodeType, part: ModelPart) -> None:
    """One after the other, other shapes, threads and calls that take turns."""
    ran = run(part, type)
    wanted = {"OneAfterTheOther": (1,), "Threads": (0,), "Calls": (0, 1, 2)}[type.id]
    assert ran.outcome.status == "done"
    (values,) = [v[0] for v in ran.outcome.outputs.values()]
    assert values == wanted
