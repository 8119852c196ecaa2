"""Whoever listens to a run may fail too: that is its own error, and no node is blamed for it."""

from __future__ import annotations

import threading

import pytest

from tests.graph.engine import Nodes, engine
from vinode import node
from vinode.graph.context import Context
from vinode.graph.events import (
    Event,
    NodeFinished,
    NodeReused,
    NodeStarted,
    RunFinished,
    RunStarted,
)


@node("Add", category="test")
def add(x: int = 0, y: int = 0) -> int:
    """Add."""
    return x + y


@pytest.mark.parametrize("kind", [RunStarted, NodeStarted, NodeFinished, NodeReused, RunFinished])
def test_what_a_listener_raises_ends_the_run_and_is_raised(kind: type[Event]) -> None:
    """It is the caller's own error: no node is blamed for it, and no thread is left."""
    few = engine(add)
    nodes: Nodes = {"1": ("Add", {"x": 1}), "2": ("Add", {"x": ["1", 0]})}
    few.run(nodes, ["1"])

    def listen(event: Event) -> None:
        if isinstance(event, kind):
            raise ZeroDivisionError("the listener's")

    before = threading.active_count()
    with pytest.raises(ZeroDivisionError, match="the listener's"):
        few.run(nodes, ["2"], on_event=listen)
    assert threading.active_count() == before


def test_a_listener_that_fails_at_progress_is_not_the_nodes_fault() -> None:
    """The node that told its progress is not reported as failed."""
    seen: list[Event] = []

    @node("Tell", category="test")
    def tell(context: Context) -> int:
        """Tell its progress, and swallow what comes of it."""
        for i in range(3):
            try:
                context.progress(i, 3)
            except Exception:
                return 0
        return 1

    def listen(event: Event) -> None:
        seen.append(event)
        if type(event).__name__ == "NodeProgress":
            raise ZeroDivisionError("the listener's")

    with pytest.raises(ZeroDivisionError, match="the listener's"):
        engine(tell).run({"1": ("Tell", {})}, ["1"], on_event=listen)
    assert [type(event).__name__ for event in seen][-1] == "NodeProgress"
