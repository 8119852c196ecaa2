"""Progress of nodes, thinned out: a node may report thousands of times a second."""

from __future__ import annotations

import time
from collections.abc import Callable

from vinode.graph.events import Event, NodeProgress
from vinode.graph.values import Image
from vinode.graph.workflow import NodeId

INTERVAL = 0.1  # seconds between two events of a node


class Progress:
    """Passes on at most one report a node every INTERVAL seconds, and always the last."""

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self._emit = emit
        self._next: dict[NodeId, float] = {}

    def tell(
        self, node: NodeId, done: float, total: float, preview: Image | None, note: str = ""
    ) -> None:
        """Pass on a report, or drop it."""
        now = time.monotonic()
        if done < total and now < self._next.get(node, 0.0):
            return
        self._next[node] = now + INTERVAL
        self._emit(NodeProgress(node, done, total, preview, note))
