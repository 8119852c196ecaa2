"""Cancel takes effect within one node call or one progress tick."""

from __future__ import annotations

import signal
import sys
import threading

import pytest

from tests.graph.engine import Nodes, engine
from vinode import node
from vinode.graph.context import Context
from vinode.graph.events import Event, NodeFailed, NodeFinished, NodeProgress, NodeStarted


@node("Add", category="test")
def add(x: int = 0, y: int = 1) -> int:
    """Add."""
    return x + y


@node("Work", category="test")
def work(context: Context, x: int = 0) -> int:
    """Work for ever, and tell of it."""
    for i in range(10**9):
        context.progress(i, 10**9)
        threading.Event().wait(0.001)
    return x


def test_a_node_that_tells_progress_ends_at_its_next_tick() -> None:
    """It is neither done nor failed, and what waits for it does not begin."""
    cancel = threading.Event()
    nodes: Nodes = {"1": ("Work", {}), "2": ("Add", {"x": ["1", 0]})}

    def listen(event: Event) -> None:
        if isinstance(event, NodeProgress):
            cancel.set()

    ran = engine(add, work).run(nodes, ["2"], on_event=listen, cancel=cancel)
    assert ran.outcome.status == "cancelled"
    assert ran.started == ["1"]
    assert ran.of(NodeFinished) + ran.of(NodeFailed) == []
    assert (ran.outcome.faults, ran.outcome.outputs) == ((), {})


def test_a_chain_ends_with_the_node_that_is_running() -> None:
    """What it gave is kept: the next run goes on from there."""
    cancel = threading.Event()
    few = engine(add)
    nodes: Nodes = {str(i): ("Add", {"x": [str(i - 1), 0]} if i else {}) for i in range(100)}

    def listen(event: Event) -> None:
        if isinstance(event, NodeStarted) and event.node == "30":
            cancel.set()

    ran = few.run(nodes, ["99"], on_event=listen, cancel=cancel)
    assert (ran.outcome.status, len(ran.started)) == ("cancelled", 31)
    assert 30 <= len(ran.of(NodeFinished)) <= 31
    ran = few.run(nodes, ["99"])
    assert ran.value("99") == 100
    assert len(ran.started) in (69, 70)


def test_a_node_called_for_many_items_ends_after_the_current_one() -> None:
    """It has a thousand calls before it."""
    cancel = threading.Event()
    calls: list[int] = []

    @node("Count", category="test")
    def count() -> list[int]:
        """Give 0, 1, 2, ..."""
        return list(range(1000))

    @node("Call", category="test")
    def call(x: int) -> int:
        """Cancel at the third call."""
        calls.append(x)
        if x == 2:
            cancel.set()
        return x

    nodes: Nodes = {"c": ("Count", {}), "x": ("Call", {"x": ["c", 0]})}
    ran = engine(count, call).run(nodes, ["x"], cancel=cancel)
    assert (ran.outcome.status, calls) == ("cancelled", [0, 1, 2])


def test_a_run_cancelled_before_it_begins_runs_nothing() -> None:
    """And says that it was cancelled."""
    cancel = threading.Event()
    cancel.set()
    ran = engine(add).run({"1": ("Add", {})}, ["1"], cancel=cancel)
    assert (ran.outcome.status, ran.started) == ("cancelled", [])


def test_a_cancel_after_the_last_node_changes_nothing() -> None:
    """All is done."""
    cancel = threading.Event()

    def listen(event: Event) -> None:
        if isinstance(event, NodeFinished):
            cancel.set()

    ran = engine(add).run({"1": ("Add", {})}, ["1"], on_event=listen, cancel=cancel)
    assert (ran.outcome.status, ran.value("1")) == ("done", 1)


def test_progress_of_a_node_is_thinned_out() -> None:
    """It is told at once, then ten times a second at most, and when it is complete, once."""

    @node("Tick", category="test")
    def tick(context: Context) -> int:
        """Tell of a thousand steps, and that it is done again and again."""
        for i in range(1000):
            context.progress(i, 1000)
        for _ in range(1000):
            context.progress(1000, 1000)
        for _ in range(1000):
            context.progress(5, 0)
        return 0

    told = [
        (e.done, e.total) for e in engine(tick).run({"1": ("Tick", {})}, ["1"]).of(NodeProgress)
    ]
    assert told[0] == (0, 1000)
    assert (1000, 1000) in told
    assert len(told) < 30


@pytest.mark.skipif(sys.platform == "win32", reason="no signal can be sent to oneself there")
def test_ctrl_c_ends_the_run_and_its_threads() -> None:
    """Without handlers of ours, Python raises it in the thread that started the run."""
    before = threading.active_count()
    # A shell starts what runs in its background with SIGINT ignored, and Python leaves that so.
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)

    def listen(event: Event) -> None:
        if isinstance(event, NodeStarted):
            signal.raise_signal(signal.SIGINT)

    try:
        with pytest.raises(KeyboardInterrupt):
            engine(work).run({"1": ("Work", {})}, ["1"], on_event=listen)
    finally:
        signal.signal(signal.SIGINT, inherited)
    assert threading.active_count() == before
