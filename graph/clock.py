"""A node's time: one phase at a time, so that phases add up to the whole by construction."""

from __future__ import annotations

import threading
import time
from itertools import pairwise

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
        "_marks",
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
        self._marks: list[tuple[int, float]] = []
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

    def mark(self, done: float) -> None:
        """Note how far the node is; two notes are the ends of a step."""
        if len(self._marks) < MAX_SPANS:
            self._marks.append((time.perf_counter_ns(), done))

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
        steps = _steps(self._marks)
        return NodeTiming(lane, worker, self.ready, start, end, self._phases, spans, visits, steps)

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


def _steps(marks: list[tuple[int, float]]) -> tuple[tuple[int, int], ...]:
    """Give the stretches over which `done` rose; a node that begins anew begins them anew.

    >>> _steps([(10, 0), (20, 1), (35, 2), (40, 0), (50, 1)])
    ((40, 50),)
    """
    steps: list[tuple[int, int]] = []
    for (start, before), (end, done) in pairwise(marks):
        if done > before:
            steps.append((start, end))
        elif done < before:
            steps.clear()
    return tuple(steps)
