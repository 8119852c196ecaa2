"""Progress of nodes, thinned out: a node may report thousands of times a second."""

from __future__ import annotations

import time
from collections.abc import Callable

from vinode.graph.events import Event, NodeProgress
from vinode.graph.values import Image
from vinode.graph.workflow import NodeId

INTERVAL = 0.1  # seconds between two events of a node


class Progress:
    """Passes on at most one report a node every INTERVAL seconds, and the one that completes it."""

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self._emit = emit
        self._last: dict[NodeId, tuple[float, bool]] = {}

    def tell(
        self, node: NodeId, done: float, total: float, preview: Image | None, note: str = ""
    ) -> None:
        """Pass on a report, or drop it."""
        now = time.monotonic()
        next, was_complete = self._last.get(node, (0.0, False))
        complete = done >= total > 0
        # One that says again and again that it is complete floods nobody.
        if now < next and (was_complete or not complete):
            return
        self._last[node] = (now + INTERVAL, complete)
        self._emit(NodeProgress(node, done, total, preview, note))
