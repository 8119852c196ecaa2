"""Async nodes: they overlap on one thread, follow each other, fail and cancel like the others."""

from __future__ import annotations

import asyncio
import threading

import pytest

from tests.graph.engine import Nodes, engine
from vinode import node
from vinode.graph.context import Context, Lazy
from vinode.graph.events import NodeFinished
from vinode.graph.timing import report
from vinode.graph.trace import to_trace


@node("Add", category="test")
async def add(x: int = 0, y: int = 1) -> int:
    """Add, in a while."""
    await asyncio.sleep(0)
    return x + y


@node("Plain", category="test")
def plain(x: int = 0) -> int:
    """Give what it got."""
    return x


@node("Count", category="test")
def count(upto: int = 3) -> list[int]:
    """Give 0, 1, 2, ..."""
    return list(range(upto))


def test_async_nodes_follow_each_other() -> None:
    """One after the other, and after nodes that are not async."""
    nodes: Nodes = {
        "1": ("Add", {}),
        "2": ("Add", {"x": ["1", 0]}),
        "3": ("Plain", {"x": ["2", 0]}),
        "4": ("Add", {"x": ["3", 0]}),
        "5": ("Add", {"x": ["4", 0]}),
    }
    ran = engine(add, plain).run(nodes, ["5"])
    assert (ran.value("5"), ran.finished("4").timing.lane) == (4, "async")


def test_async_nodes_overlap() -> None:
    """Twenty that wait for each other, which one thread at a time could not end."""
    here: list[int] = []

    @node("Meet", category="test")
    async def meet(x: int) -> int:
        """Wait until all are here."""
        here.append(x)
        while len(here) < 20:
            await asyncio.sleep(0.001)
        return x

    nodes: Nodes = {str(i): ("Meet", {"x": i}) for i in range(20)}
    ran = engine(meet).run(nodes, list(nodes))
    assert ran.outcome.status == "done"
    assert len(ran.of(NodeFinished)) == 20


def test_the_spans_of_async_nodes_do_not_cross_in_a_trace() -> None:
    """Each that overlaps another has a row of its own."""
    here: list[int] = []

    @node("Meet", category="test")
    async def meet(x: int) -> int:
        """Wait until all are here."""
        here.append(x)
        while len(here) < 5:
            await asyncio.sleep(0.001)
        return x

    nodes: Nodes = {str(i): ("Meet", {"x": i}) for i in range(5)}
    ran = engine(meet).run(nodes, list(nodes))
    events = to_trace(report(ran.events, ran.graph))["traceEvents"]
    rows = [event["tid"] for event in events if event["ph"] == "X" and event["cat"] == "node"]
    assert sorted(rows) == [1, 2, 3, 4, 5]


def test_calls_of_one_async_node_overlap_and_keep_their_order() -> None:
    """A list is mapped over all its items at once."""
    here: list[int] = []

    @node("Meet", category="test")
    async def meet(x: int) -> int:
        """Wait until all three are here."""
        here.append(x)
        while len(here) < 3:
            await asyncio.sleep(0.001)
        return x * 10

    ran = engine(count, meet).run({"c": ("Count", {}), "m": ("Meet", {"x": ["c", 0]})}, ["m"])
    assert ran.outcome.outputs["m"] == ((0, 10, 20),)  # type: ignore[index]


def test_one_call_that_fails_ends_the_others_of_its_node() -> None:
    """They would work for nothing."""
    ended: list[str] = []

    @node("Fragile", category="test")
    async def fragile(x: int) -> int:
        """Fail at 1, wait for long otherwise."""
        if x == 1:
            raise ValueError("one")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return x

    ran = engine(count, fragile).run({"c": ("Count", {}), "f": ("Fragile", {"x": ["c", 0]})}, ["f"])
    assert ran.failed("f").faults[0].problem == "ValueError: one"
    assert ended == ["cancelled", "cancelled"]


def test_an_async_node_may_be_lazy() -> None:
    """Its lazy input is async too."""

    @node("Ask", category="test")
    async def ask(x: Lazy[int], context: Context) -> int:
        """Ask for a value."""
        await asyncio.sleep(0)
        return x.value + 1

    ran = engine(add, ask).run({"a": ("Add", {}), "b": ("Ask", {"x": ["a", 0]})}, ["b"])
    assert (ran.value("b"), ran.started) == (2, ["b", "a"])


@pytest.mark.parametrize("when", ["asleep", "busy"])
def test_a_cancel_reaches_a_sleeping_async_node(when: str) -> None:
    """It does not sleep to its end; the run is cancelled and no thread is left."""
    cancel, asleep = threading.Event(), threading.Event()

    @node("Sleep", category="test")
    async def sleep() -> int:
        """Sleep for a minute."""
        asleep.set()
        if when == "busy":
            while True:
                await asyncio.sleep(0)
        await asyncio.sleep(60)
        return 1

    before = threading.active_count()

    def cancel_soon() -> None:
        assert asleep.wait(20)
        cancel.set()

    threading.Thread(target=cancel_soon).start()
    ran = engine(sleep).run({"1": ("Sleep", {}), "2": ("Sleep", {})}, ["1", "2"], cancel=cancel)
    assert ran.outcome.status == "cancelled"
    assert threading.active_count() <= before
