"""A plan is run: order, targets, lanes, size, and the same result every time."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.graph.engine import Engine, Handle, Nodes, engine
from vinode import Image, node
from vinode.graph.context import Context
from vinode.graph.events import NodeFinished, NodeStarted, RunFinished, RunStarted
from vinode.graph.pool import Pool
from vinode.graph.workflow import Json


@node("Add", category="test")
def add(x: int = 0, y: int = 0) -> int:
    """Add."""
    return x + y


@node("Show", category="test")
def show(x: int, context: Context) -> None:
    """End a workflow."""
    context.show("numbers", [x])


class Both(NamedTuple):
    """Quotient and rest."""

    quotient: int
    rest: int


@node("Divide", category="test")
def divide(x: int, y: int = 10) -> Both:
    """Divide whole numbers."""
    return Both(x // y, x % y)


@node("Half", category="test")
def half(x: float) -> float:
    """Halve a number; a whole one arrives as a float."""
    assert type(x) is float
    return x / 2


NUMBERS = (add, show, divide, half)


def test_values_flow_from_sources_to_the_end() -> None:
    """Each node begins after those it needs have ended, and is told of in that order."""
    ran = engine(*NUMBERS).run(
        {
            "end": ("Show", {"x": ["sum", 0]}),
            "sum": ("Add", {"x": ["a", 0], "y": ["b", 1]}),
            "b": ("Divide", {"x": 47}),
            "a": ("Add", {"x": 1}),
        },
        ["sum", "end"],
    )
    assert (ran.outcome.status, ran.value("sum")) == ("done", 8)
    assert ran.outcome.outputs["end"] == ()  # type: ignore[index]
    assert ran.finished("end").shown == {"numbers": (8,)}
    assert ran.finished("b").carried == ("4", "7")
    kinds = [type(event) for event in ran.events]
    assert (kinds[0], kinds[-1]) == (RunStarted, RunFinished)
    position = {(type(event), event.node): i for i, event in enumerate(ran.events[1:-1])}  # type: ignore[union-attr]
    for before, after in (("a", "sum"), ("b", "sum"), ("sum", "end")):
        assert position[NodeFinished, before] < position[NodeStarted, after]


def test_only_what_an_output_needs_is_run() -> None:
    """A node that leads nowhere is not run; one that cannot be built is no hindrance."""
    nodes: Nodes = {
        "1": ("Add", {"x": 1}),
        "2": ("Show", {"x": ["1", 0]}),
        "3": ("Add", {"x": ["1", 0]}),
    }
    assert sorted(engine(*NUMBERS).run(nodes).started) == ["1", "2"]


def test_a_target_takes_the_place_of_the_outputs() -> None:
    """Also a node in the middle; what hangs on it is left alone."""
    nodes: Nodes = {
        "1": ("Add", {"x": 1}),
        "2": ("Add", {"x": ["1", 0]}),
        "3": ("Show", {"x": ["2", 0]}),
    }
    ran = engine(*NUMBERS).run(nodes, ["2"])
    assert (ran.started, ran.value("2")) == (["1", "2"], 1)


def test_a_whole_number_arrives_as_a_float_where_a_float_is_asked_for() -> None:
    """From a wire, as from a widget."""
    ran = engine(*NUMBERS).run({"1": ("Add", {"x": 3}), "2": ("Half", {"x": ["1", 0]})}, ["2"])
    assert ran.value("2") == 1.5


def test_a_result_is_one_object_that_nobody_can_change() -> None:
    """Two nodes get the same array; it is not copied, and it is read-only."""

    @node("Grey", category="test")
    def grey() -> Image:
        """Make a picture."""
        return Image(np.zeros((1, 2, 2, 3), np.float32))

    @node("Same", category="test")
    def same(image: Image) -> Image:
        """Give what it got."""
        assert not image.pixels.flags.writeable
        return image

    nodes: Nodes = {
        "1": ("Grey", {}),
        "2": ("Same", {"image": ["1", 0]}),
        "3": ("Same", {"image": ["1", 0]}),
    }
    ran = engine(grey, same).run(nodes, ["1", "2", "3"])
    assert ran.value("2") is ran.value("1")
    assert ran.value("3") is ran.value("1")


def meeting(size: int) -> Engine:
    """Make nodes that end only where `size` of them run at the same time."""
    barrier = threading.Barrier(size, timeout=20)

    @node("Meet", category="test")
    def meet(x: int = 0) -> int:
        """Wait for the others."""
        barrier.wait()
        return x

    @node("MeetOn", category="test")
    def meet_on(handle: Handle, x: int = 0) -> int:
        """Wait for the others, on a device's lane."""
        barrier.wait()
        return x

    @node("Handle", category="test")
    def handle() -> Handle:
        """Give a model that nobody compiles."""
        return "tiny"

    return engine(meet, meet_on, handle, add)


def test_independent_nodes_run_at_the_same_time() -> None:
    """Eight of them, each of which waits for the seven others."""
    nodes: Nodes = {str(i): ("Meet", {"x": i}) for i in range(8)}
    ran = meeting(8).run(nodes, list(nodes))
    assert ran.outcome.status == "done"
    assert len({ran.finished(id).timing.worker for id in nodes}) == 8


def test_lanes_of_devices_run_at_the_same_time() -> None:
    """A node for the CPU, one for another device (simulated) and one of Python."""
    nodes: Nodes = {
        "m": ("Handle", {}),
        "1": ("MeetOn", {"handle": ["m", 0], "x": 1}),
        "2": ("MeetOn", {"handle": ["m", 0], "x": 2}),
        "3": ("Meet", {}),
    }
    made = replace(meeting(3), pool=Pool(simulate=True))
    ran = made.run(nodes, ["1", "2", "3"], devices={"1": "CPU", "2": "NPUSIM_CPU"})
    assert ran.outcome.status == "done"
    assert [ran.finished(id).timing.lane for id in "123"] == ["CPU", "NPUSIM_CPU", "host"]


def test_a_device_has_one_node_at_a_time() -> None:
    """Two models on one device would only be in each other's way."""
    running: list[int] = []
    most: list[int] = []

    @node("Handle", category="test")
    def handle() -> Handle:
        """Give a model."""
        return "tiny"

    @node("Use", category="test")
    def use(handle: Handle, x: int) -> int:
        """Say how many of these run."""
        running.append(x)
        most.append(len(running))
        threading.Event().wait(0.002)
        running.remove(x)
        return x

    nodes: dict[str, tuple[str, Mapping[str, Json]]] = {"m": ("Handle", {})}
    nodes |= {str(i): ("Use", {"handle": ["m", 0], "x": i}) for i in range(10)}
    ran = engine(handle, use).run(nodes, [str(i) for i in range(10)])
    assert ran.outcome.status == "done"
    assert most == [1] * 10


def chain(length: int) -> Nodes:
    """Make a chain that counts its nodes."""
    nodes: dict[str, tuple[str, Mapping[str, Json]]] = {"0": ("Add", {"x": 1})}
    nodes |= {str(i): ("Add", {"x": [str(i - 1), 0], "y": 1}) for i in range(1, length)}
    return nodes


def test_a_chain_of_ten_thousand_nodes() -> None:
    """There is no recursion, so there is no depth to run out of."""
    many = engine(*NUMBERS)
    ran = many.run(chain(10_000), ["9999"])
    assert ran.value("9999") == 10_000
    again = many.run(chain(10_000), ["9999"])
    assert (again.reused, again.started, again.value("9999")) == (["9999"], [], 10_000)


def test_a_fan_of_ten_thousand_nodes() -> None:
    """One source, ten thousand ends."""
    nodes: dict[str, tuple[str, Mapping[str, Json]]] = {"s": ("Add", {"x": 1})}
    nodes |= {str(i): ("Show", {"x": ["s", 0]}) for i in range(10_000)}
    ran = engine(*NUMBERS).run(nodes)
    assert ran.outcome.status == "done"
    assert len(ran.of(NodeFinished)) == 10_001


def test_a_ladder_of_diamonds_runs_each_node_once() -> None:
    """Five thousand levels have 2^5000 paths and ten thousand nodes."""
    nodes: dict[str, tuple[str, Mapping[str, Json]]] = {"l0": ("Add", {}), "r0": ("Add", {"x": 1})}
    for i in range(1, 5000):
        links: Mapping[str, Json] = {"x": [f"l{i - 1}", 0], "y": [f"r{i - 1}", 0]}
        nodes[f"l{i}"] = ("Add", links)
        nodes[f"r{i}"] = ("Divide", {"x": [f"l{i - 1}", 0], "y": 7 + i % 3})
    ran = engine(*NUMBERS).run(nodes, ["l4999"])
    assert ran.outcome.status == "done"
    assert len(ran.started) == len(set(ran.started)) <= 10_000


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Nodes, dict[str, int]]:
    """Draw an acyclic workflow of sums, and what each node must give."""
    nodes: dict[str, tuple[str, Mapping[str, Json]]] = {}
    values: dict[str, int] = {}
    for i in range(draw(st.integers(1, 24))):
        inputs: dict[str, Json] = {}
        total = 0
        for name in ("x", "y"):
            source = draw(st.none() | st.integers(0, i - 1)) if i else None
            number = draw(st.integers(-9, 9))
            inputs[name] = number if source is None else [str(source), 0]
            total += number if source is None else values[str(source)]
        nodes[str(i)] = ("Add", inputs)
        values[str(i)] = total
    return nodes, values


@given(graphs())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_result_does_not_depend_on_the_threads(drawn: tuple[Nodes, dict[str, int]]) -> None:
    """Whatever runs beside what, every node gives its sum, and runs once at most."""
    nodes, values = drawn
    ran = engine(*NUMBERS).run(nodes, list(nodes))
    assert {id: ran.value(id) for id in nodes} == values
    assert len(ran.started) == len(set(ran.started))
