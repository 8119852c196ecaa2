"""Phases of a node that works on several things at once: open and closed in any order."""

from __future__ import annotations

import asyncio
import threading

from hypothesis import given
from hypothesis import strategies as st

from tests.graph.engine import engine
from vinode import node
from vinode.graph.clock import Clock
from vinode.graph.context import PHASES, Context, Phase


@node("TwoTasks", category="test")
async def two_tasks(context: Context) -> int:
    """Open two phases in one order, and close them in the same."""
    first, second = asyncio.Event(), asyncio.Event()

    async def upload() -> None:
        with context.phase("upload"):
            first.set()
            await second.wait()

    async def compute() -> None:
        await first.wait()
        with context.phase("compute"):
            second.set()
            await asyncio.sleep(0.02)

    await asyncio.gather(upload(), compute())
    await asyncio.sleep(0.02)
    return 1


@node("TwoThreads", category="test")
def two_threads(context: Context) -> int:
    """Compute in one thread while another waits for it, and works on afterwards."""
    computing, waiting = threading.Event(), threading.Event()

    def compute() -> None:
        with context.phase("compute"):
            computing.set()
            waiting.wait()
            threading.Event().wait(0.02)

    def wait() -> None:
        computing.wait()
        with context.phase("wait"):
            waiting.set()
            threads[0].join()
        with context.phase("download"):
            threading.Event().wait(0.01)

    threads = [threading.Thread(target=compute), threading.Thread(target=wait)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return 1


def test_tasks_of_an_async_node_leave_no_phase_open() -> None:
    """The one opened last counts until it is closed, and then nothing but the node's Python."""
    timing = engine(two_tasks).run({"1": ("TwoTasks", {})}, ["1"]).finished("1").timing
    phases = [span.phase for span in timing.spans]
    assert phases == ["wait", "host", "upload", "compute", "compute", "host"]
    assert timing.phases["compute"] > timing.phases["upload"]
    assert timing.phases["host"] >= 0.01e9  # the sleep after both
    assert sum(timing.phases.values()) == timing.end - timing.ready


def test_a_thread_that_waits_for_another_of_its_node_hides_no_work() -> None:
    """The node is computing as long as one of its threads is."""
    timing = engine(two_threads).run({"1": ("TwoThreads", {})}, ["1"]).finished("1").timing
    assert timing.phases["compute"] >= 0.01e9
    assert timing.phases["download"] >= 0.005e9
    assert sum(timing.phases.values()) == timing.end - timing.ready


@given(st.lists(st.tuples(st.sampled_from(PHASES[1:]), st.integers(0, 7)), max_size=20))
def test_phases_closed_in_any_order_add_up(steps: list[tuple[Phase, int]]) -> None:
    """Each stretch is of the phase opened last, or of the host; together they are the whole."""
    clock = Clock(0)
    clock.begin()
    model: dict[int, Phase] = {}
    wanted: list[Phase] = ["wait", "host"]
    for phase, close in steps:
        if close < 3 and model:
            number = list(model)[close % len(model)]
            clock.exit(number)
            del model[number]
        else:
            model[clock.enter(phase)] = phase
        wanted.append(list(model.values())[-1] if model else "host")
    for number in model:
        clock.exit(number)
    timing = clock.timing("host", 0)
    assert [span.phase for span in timing.spans][: len(wanted)] == (wanted if steps else [])
    assert sum(timing.phases.values()) == timing.end


def test_what_a_thread_does_after_its_node_has_ended_is_not_counted() -> None:
    """The sum stays the whole."""
    clock = Clock(0)
    clock.begin()
    number = clock.enter("compute")
    timing = clock.timing("host", 0)
    clock.exit(number)
    clock.exit(clock.enter("upload"))
    assert "upload" not in timing.phases
    assert sum(timing.phases.values()) == timing.end
