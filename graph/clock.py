"""A node's time: one phase at a time, so that phases add up to the whole by construction."""

from __future__ import annotations

import threading
import time

from vinode.graph.context import Phase
from vinode.graph.events import NodeTiming, Span

# Spans beyond this many are only added up: a long sampler must not fill the memory.
MAX_SPANS = 4096


class Clock:
    """Measures one node from when its inputs were there (`ready`, ns) to its end.

    A node may give its lane back, while a lazy input is computed, and visit it again.
    """

    __slots__ = ("_lock", "_phase", "_phases", "_since", "_spans", "_visits", "ready")

    def __init__(self, ready: int) -> None:
        self.ready = ready
        self._phases: dict[Phase, int] = {}
        self._spans: list[tuple[Phase, int, int]] = []
        self._visits: list[tuple[int, int]] = []
        self._phase: Phase = "wait"
        self._since = ready
        # A node may infer from threads of its own.
        self._lock = threading.Lock()

    def switch(self, phase: Phase) -> Phase:
        """End the current phase, begin another, and give the one that ended."""
        with self._lock:
            now = time.perf_counter_ns()
            ended, since = self._phase, self._since
            self._phases[ended] = self._phases.get(ended, 0) + now - since
            if len(self._spans) < MAX_SPANS:
                self._spans.append((ended, since, now))
            self._phase, self._since = phase, now
            return ended

    def spent(self, phase: Phase) -> int:
        """Give the ns spent in a phase so far; the current one counts when it has ended."""
        return self._phases.get(phase, 0)

    def begin(self) -> None:
        """Have the lane; what went before was waiting."""
        self.switch("host")
        self._visits.append((self._since, self._since))

    def leave(self) -> None:
        """Give the lane back; what follows is waiting."""
        self.switch("wait")
        self._visits[-1] = (self._visits[-1][0], self._since)

    def timing(self, lane: str, worker: int) -> NodeTiming:
        """End the last visit and give the whole."""
        self.leave()
        start, end = self._visits[0][0], self._since
        visits = tuple(self._visits)
        # Most nodes wait, run their Python and end: their visit says it all.
        plain = len(visits) == 1 and len(self._spans) == 2
        spans = () if plain else tuple(Span(*span) for span in self._spans)
        return NodeTiming(lane, worker, self.ready, start, end, self._phases, spans, visits)
