"""Waiting for a compiled model that somebody uses: told as waiting, cut by a cancel."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

from vinode.graph.compile import Timed
from vinode.graph.compiled import Compiled
from vinode.graph.errors import NodeError
from vinode.graph.part import Asked

Check: TypeAlias = Callable[[], None]
# Requests that the running thread or task holds; asyncio hands them on to what it starts.
_HELD: ContextVar[frozenset[Compiled]] = ContextVar("held", default=frozenset())
_POLL = 0.05  # seconds between two looks for a cancel


@contextmanager
def holding(compiled: Compiled, asked: Asked) -> Generator[None]:
    """Refuse to wait for oneself: a request that this thread or task holds is free no sooner."""
    held = _HELD.get()
    if compiled in held and compiled.lock.locked():
        name, device = asked.part.name, asked.device
        problem = f"model {name} is open on {device} with these shapes already"
        fix = "use the opened model: write into its inputs, run(), read views()"
        raise NodeError(problem, fix=fix)
    _HELD.set(held | {compiled})
    try:
        yield
    finally:
        # A task may be left in another context than it was entered in, so no token is kept.
        _HELD.set(_HELD.get() - {compiled})


@contextmanager
def waiting(lock: threading.Lock, timed: Timed, check: Check) -> Generator[None]:
    """Hold a lock; the time until it is free counts as waiting. Raises what `check` raises."""
    if not lock.acquire(blocking=False):
        with timed("wait"):
            while not lock.acquire(timeout=_POLL):
                check()
    try:
        yield
    finally:
        lock.release()
