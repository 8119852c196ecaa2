"""Time of nodes: phases add up, a report holds them, a trace nests."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest

from tests.graph.engine import Nodes, Ran, engine
from vinode import node
from vinode.graph.clock import MAX_SPANS, Clock
from vinode.graph.context import PHASES, Context, Lazy
from vinode.graph.errors import NodeError
from vinode.graph.events import NodeFailed, NodeFinished, NodeTiming
from vinode.graph.timing import FIGURES, figures, report, to_json, totals
from vinode.graph.trace import to_trace
from vinode.graph.workflow import Json


@node("Add", category="test")
def add(x: int = 0, y: int = 1) -> int:
    """Add."""
    return x + y


@node("Work", category="test")
def work(context: Context, x: int = 0) -> int:
    """Spend time in several phases, one inside another."""
    with context.phase("load"):
        threading.Event().wait(0.003)
        with context.phase("compile"):
            threading.Event().wait(0.002)
    for _ in range(2):
        with context.phase("compute"):
            threading.Event().wait(0.001)
    return x


@node("Ask", category="test")
def ask(a: Lazy[int], b: Lazy[int]) -> int:
    """Ask for two values."""
    return a.value + b.value


@node("Break", category="test")
def break_down(context: Context, x: int = 0) -> int:
    """Fail in the middle of a phase."""
    with context.phase("upload"):
        raise NodeError("no good")


NODES = (add, work, ask, break_down)


def mixed() -> Ran:
    """Run nodes of every sort side by side: lazy, failing, skipped, with phases."""
    nodes: dict[str, tuple[str, Mapping[str, Json]]] = {
        "a": ("Add", {}),
        "w": ("Work", {"x": ["a", 0]}),
        "v": ("Work", {"x": 7}),
        "l": ("Ask", {"a": ["w", 0], "b": ["v", 0]}),
        "f": ("Break", {"x": ["a", 0]}),
        "s": ("Add", {"x": ["f", 0]}),
    }
    nodes |= {f"n{i}": ("Ask", {"a": ["l", 0], "b": ["w", 0]}) for i in range(12)}
    nodes |= {f"p{i}": ("Work", {"x": i}) for i in range(4)}
    targets = ["l", "s", *(id for id in nodes if id[0] in "np")]
    return engine(*NODES).run(nodes, targets)


def test_phases_add_up_to_the_time_of_a_node() -> None:
    """To the nanosecond, from when its inputs were there to its end; waiting is one of them."""
    ran = mixed()
    timings = timings_of(ran)
    assert len(timings) == 21
    for timing in timings:
        assert sum(timing.phases.values()) == timing.end - timing.ready
        assert timing.ready <= timing.start <= timing.end
        assert set(timing.phases) <= set(PHASES)
        assert sum(vars_of(figures(timing))) == timing.end - timing.ready


def timings_of(ran: Ran) -> list[NodeTiming]:
    """Give the times of all nodes that ended by themselves."""
    finished = [event.timing for event in ran.of(NodeFinished)]
    return finished + [event.timing for event in ran.of(NodeFailed)]


def vars_of(figures: object) -> list[int]:
    """Give the figures of a node."""
    return [getattr(figures, name) for name in FIGURES]


def test_a_phase_inside_another_interrupts_it() -> None:
    """The outer one goes on afterwards; nothing is counted twice."""
    spans = engine(*NODES).run({"w": ("Work", {})}, ["w"]).finished("w").timing.spans
    order = [span.phase for span in spans if span.phase != "host"]
    assert order == ["wait", "load", "compile", "load", "compute", "compute"]
    assert all(before.end == after.start for before, after in pairwise(spans))
    long = {span.phase for span in spans if span.end - span.start >= 1_000_000}
    assert long >= {"load", "compile", "compute"}


def test_a_node_that_fails_in_a_phase_is_timed_to_its_end() -> None:
    """What it did until then is told."""
    timing = engine(*NODES).run({"f": ("Break", {})}, ["f"]).failed("f").timing
    assert timing.phases["upload"] > 0


def test_waiting_for_a_lazy_input_is_waiting() -> None:
    """The node is off its lane meanwhile: several visits, with the others' work between them."""
    nodes: Nodes = {"w": ("Work", {}), "l": ("Ask", {"a": ["w", 0], "b": 1})}
    ran = engine(*NODES).run(nodes, ["l"])
    timing, inner = ran.finished("l").timing, ran.finished("w").timing
    (_, left), (back, end) = timing.visits
    assert left <= inner.ready <= inner.end <= back < end == timing.end
    assert timing.phases["wait"] >= inner.end - inner.start


def test_threads_of_a_node_may_time_at_once() -> None:
    """Whatever they do to the phases, the sum is the whole."""
    clock = Clock(0)
    clock.begin()

    def switch() -> None:
        for _ in range(2000):
            clock.exit(clock.enter("compute"))

    threads = [threading.Thread(target=switch) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    timing = clock.timing("host", 0)
    assert sum(timing.phases.values()) == timing.end
    assert len(timing.spans) == MAX_SPANS


def test_a_report_is_json_and_adds_up() -> None:
    """Times in seconds from the start of the run, states, faults and outputs in words."""
    ran = mixed()
    done = report(ran.events, ran.graph)
    told = json.loads(json.dumps(to_json(done), allow_nan=False))
    rows = {row["id"]: row for row in told["nodes"]}
    assert (told["vinode_report"], told["status"]) == (1, "failed")
    assert {id: rows[id]["state"] for id in "awlfs"} == {
        "a": "done",
        "w": "done",
        "l": "done",
        "f": "failed",
        "s": "skipped",
    }
    assert rows["s"]["because"] == "f"
    assert rows["f"]["faults"][0]["problem"] == "no good"
    assert rows["l"]["outputs"] == ["8"]
    for row in told["nodes"]:
        if "phases" in row:
            assert row["seconds"] == pytest.approx(sum(row["phases"].values()), abs=1e-6)
            assert row["seconds"] == pytest.approx(row["end"] - row["start"], abs=1e-6)
            assert 0 <= row["start"] <= row["end"] <= told["seconds"]
    spent = totals(done.nodes)
    assert sum(spent.values()) == sum(sum(each.phases.values()) for each in timings_of(ran))
    for figure in ("compute", "movement", "waiting"):
        named = sum(spent.get(phase, 0) for phase in FIGURES[figure])
        assert told["figures"][figure] == pytest.approx(named / 1e9)


def nested(spans: Sequence[dict[str, Json]]) -> bool:
    """Say whether of any two spans of a row one holds the other, or they are apart."""
    open_until: list[float] = []
    for span in sorted(spans, key=lambda span: (span["ts"], -span["dur"])):
        while open_until and open_until[-1] <= span["ts"] + 1e-3:
            open_until.pop()
        if open_until and span["ts"] + span["dur"] > open_until[-1] + 1e-3:
            return False
        open_until.append(span["ts"] + span["dur"])
    return True


def test_a_trace_nests_on_every_row() -> None:
    """As Perfetto and chrome://tracing demand of complete events."""
    ran = mixed()
    trace = json.loads(json.dumps(to_trace(report(ran.events, ran.graph)), allow_nan=False))
    assert trace["displayTimeUnit"] == "ms"
    events: list[dict[str, Json]] = trace["traceEvents"]
    spans = [event for event in events if event["ph"] == "X"]
    names = {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    assert len(spans) + len(names) == len(events)
    assert {span["tid"] for span in spans} == set(names)
    assert len(set(names.values())) == len(names)
    for row in names:
        assert nested([span for span in spans if span["tid"] == row])
    for span in spans:
        assert span.keys() == {"name", "cat", "ph", "pid", "tid", "ts", "dur", "args"}
        assert span["dur"] >= 0
        assert span["ts"] >= 0
    assert {span["name"] for span in spans if span["cat"] == "phase"} <= set(PHASES) - {"wait"}
    visits = [span for span in spans if span["cat"] == "node"]
    assert {span["args"]["id"] for span in visits} >= set("awvlf")
    of_lazy = [span["name"] for span in visits if span["args"]["id"] == "l"]
    assert of_lazy == ["Ask (l)"] * len(of_lazy)
    assert len(of_lazy) >= 2


def test_the_report_of_a_cancelled_run_has_what_ended() -> None:
    """And says so."""
    cancel = threading.Event()

    @node("Cancel", category="test")
    def cancel_now(x: int) -> int:
        """Cancel the run."""
        cancel.set()
        return x

    nodes: Nodes = {
        "a": ("Add", {}),
        "c": ("Cancel", {"x": ["a", 0]}),
        "b": ("Add", {"x": ["c", 0]}),
    }
    ran = engine(add, cancel_now).run(nodes, ["b"], cancel=cancel)
    done = report(ran.events, ran.graph)
    assert (done.status, [row.id for row in done.nodes]) == ("cancelled", ["a", "c"])


def test_steps_are_what_a_node_tells_of() -> None:
    """Each between two notes; within the node's time, in report and trace."""

    @node("Steps", category="test")
    def steps(context: Context) -> int:
        """Tell of three steps."""
        for step in range(4):
            context.progress(step, 3)
        return 1

    @node("Sink", category="test")
    def sink(a: int) -> None:
        """Take it.

        a  anything
        """

    ran = engine(steps, sink).run({"a": ("Steps", {}), "b": ("Sink", {"a": ["a", 0]})})
    timing = ran.finished("a").timing
    assert len(timing.steps) == 3
    assert all(start <= end for start, end in timing.steps)
    assert timing.start <= timing.steps[0][0]
    assert timing.steps[-1][1] <= timing.end
    assert ran.finished("b").timing.steps == ()
    done = report(ran.events, ran.graph)
    entries: Any = to_json(done)["nodes"]
    told: Any = {entry["id"]: entry for entry in entries}
    assert len(told["a"]["steps"]) == 3
    assert "steps" not in told["b"]
    traced: Any = to_trace(done)["traceEvents"]
    assert [event["name"] for event in traced if event.get("cat") == "step"] == [
        "step 1",
        "step 2",
        "step 3",
    ]
