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

    A node may infer from threads or tasks of its own, so phases open and close in any order. Time
    counts for the one that was opened last and is still open, for `host` where none is.
    A node may give its lane back, while a lazy input is computed, and visit it again.
    """

    __slots__ = (
        "_ended",
        "_lock",
        "_open",
        "_opened",
        "_phase",
        "_phases",
        "_since",
        "_spans",
        "_visiting",
        "_visits",
        "ready",
    )

    def __init__(self, ready: int) -> None:
        self.ready = ready
        self._phases: dict[Phase, int] = {}
        self._spans: list[tuple[Phase, int, int]] = []
        self._visits: list[tuple[int, int]] = []
        self._open: dict[int, tuple[Phase, int]] = {}  # number -> phase, thread
        self._opened = 0
        self._phase: Phase = "wait"
        self._since = ready
        self._visiting = self._ended = False
        self._lock = threading.Lock()

    @property
    def begun(self) -> bool:
        """Say whether the node has had its lane."""
        return bool(self._visits)

    def enter(self, phase: Phase) -> int:
        """Open a phase; gives its number, to close it with."""
        with self._lock:
            self._opened += 1
            number = self._opened
            self._open[number] = phase, threading.get_ident()
            self._turn()
            return number

    def exit(self, number: int) -> None:
        """Close a phase."""
        with self._lock:
            del self._open[number]
            self._turn()

    def begin(self) -> None:
        """Have the lane; what went before was waiting."""
        with self._lock:
            self._visiting = True
            self._turn()
            self._visits.append((self._since, self._since))

    def leave(self) -> None:
        """Give the lane back; what follows is waiting."""
        with self._lock:
            self._leave()

    def timing(self, lane: str, worker: int) -> NodeTiming:
        """End the last visit and give the whole; what a thread left behind does counts no more."""
        with self._lock:
            self._leave()
            self._ended = True
        start, end = self._visits[0][0], self._since
        visits = tuple(self._visits)
        # Most nodes wait, run their Python and end: their visit says it all.
        plain = len(visits) == 1 and len(self._spans) == 2
        spans = () if plain else tuple(Span(*span) for span in self._spans)
        return NodeTiming(lane, worker, self.ready, start, end, self._phases, spans, visits)

    def _leave(self) -> None:
        self._visiting = False
        self._turn()
        self._visits[-1] = (self._visits[-1][0], self._since)

    def _turn(self) -> None:
        """End the current phase, and begin the one that is due."""
        if self._ended:
            return
        now = time.perf_counter_ns()
        phase, since = self._phase, self._since
        self._phases[phase] = self._phases.get(phase, 0) + now - since
        if len(self._spans) < MAX_SPANS:
            self._spans.append((phase, since, now))
        self._phase, self._since = self._due(), now

    def _due(self) -> Phase:
        """Give the phase opened last; a thread that waits counts only where no other works."""
        waiting: set[int] = set()
        for phase, thread in reversed(self._open.values()):
            if phase != "wait" and thread not in waiting:
                return phase
            waiting.add(thread)
        return "host" if self._visiting and not waiting else "wait"
