"""Lists: an output's items travel one by one, and a node is called for each."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.graph.engine import FOLDERS, Nodes, engine
from vinode import node
from vinode.graph.context import Blocked
from vinode.graph.events import NodeBlocked, NodeFinished
from vinode.graph.graph import build
from vinode.graph.timing import report
from vinode.graph.workflow import NodeId, from_json


@node("Count", category="test")
def count(upto: int = 3) -> list[int]:
    """Give 0, 1, 2, ..."""
    return list(range(upto))


@node("Add", category="test")
def add(x: int = 0, y: int = 0) -> int:
    """Add."""
    return x + y


@node("Total", category="test")
def total(xs: list[int], x: int = 0) -> int:
    """Add all."""
    return sum(xs) + x


@node("Join", category="test")
def join(a: list[int], b: list[int]) -> list[int]:
    """Give the items of both."""
    return [*a, *b]


class Parts(NamedTuple):
    """Two lists."""

    even: list[int]
    odd: list[int]


@node("Split", category="test")
def split(xs: list[int]) -> Parts:
    """Part even from odd."""
    return Parts([x for x in xs if x % 2 == 0], [x for x in xs if x % 2])


@node("OnlyEven", category="test")
def only_even(x: int) -> int | Blocked:
    """Give an even number, or nothing."""
    return Blocked(f"{x} is odd") if x % 2 else x


@node("Quiet", category="test")
def quiet(x: int = 0) -> int | Blocked:
    """Give nothing, without a word."""
    return Blocked()


@node("Save", category="test")
def save(x: int) -> None:
    """End a workflow."""


NODES = (count, add, total, join, split, only_even, quiet, save)


def outputs(nodes: Nodes, target: str) -> tuple[tuple[object, ...], ...]:
    """Run a workflow and give a node's outputs."""
    ran = engine(*NODES).run(nodes, [target])
    assert ran.outcome.status == "done"
    return ran.outcome.outputs[NodeId(target)]


def test_a_node_is_called_for_each_item() -> None:
    """In order."""
    nodes: Nodes = {"c": ("Count", {}), "a": ("Add", {"x": ["c", 0], "y": 10})}
    assert outputs(nodes, "a") == ((10, 11, 12),)


def test_a_shorter_wire_repeats_its_last_item() -> None:
    """As in ComfyUI."""
    nodes: Nodes = {
        "c": ("Count", {"upto": 4}),
        "d": ("Count", {"upto": 2}),
        "a": ("Add", {"x": ["c", 0], "y": ["d", 0]}),
    }
    assert outputs(nodes, "a") == ((0, 2, 3, 4),)


def test_a_list_parameter_takes_all_items_at_once() -> None:
    """And is called once, unless another wire says otherwise."""
    nodes: Nodes = {"c": ("Count", {}), "t": ("Total", {"xs": ["c", 0]})}
    assert outputs(nodes, "t") == ((3,),)
    nodes = {"c": ("Count", {}), "t": ("Total", {"xs": ["c", 0], "x": ["c", 0]})}
    assert outputs(nodes, "t") == ((3, 4, 5),)


def test_a_constant_given_to_a_list_is_a_list_of_one() -> None:
    """A widget has one value."""
    assert outputs({"t": ("Total", {"xs": 7})}, "t") == ((7,),)


def test_lists_of_all_calls_are_joined() -> None:
    """A list of three, for each of two calls."""
    nodes: Nodes = {"d": ("Count", {"upto": 2}), "c": ("Count", {"upto": ["d", 0]})}
    assert outputs(nodes, "c") == ((0,),)
    nodes = {
        "c": ("Count", {}),
        "s": ("Split", {"xs": ["c", 0]}),
        "j": ("Join", {"a": ["s", 0], "b": ["s", 1]}),
    }
    assert outputs(nodes, "s") == ((0, 2), (1,))
    assert outputs(nodes, "j") == ((0, 2, 1),)


def test_an_empty_list_calls_nobody() -> None:
    """What needs its items gives no items either; a list parameter takes the empty list."""
    nodes: Nodes = {"c": ("Count", {"upto": 0}), "a": ("Add", {"x": ["c", 0]})}
    assert outputs(nodes, "a") == ((),)
    nodes = {"c": ("Count", {"upto": 0}), "t": ("Total", {"xs": ["c", 0]})}
    assert outputs(nodes, "t") == ((0,),)


def test_some_items_may_be_blocked() -> None:
    """Calls without one are made; the blocked one passes on."""
    nodes: Nodes = {
        "c": ("Count", {}),
        "e": ("OnlyEven", {"x": ["c", 0]}),
        "a": ("Add", {"x": ["e", 0], "y": 1}),
    }
    assert outputs(nodes, "a") == ((1, Blocked("1 is odd"), 3),)


def test_a_blocked_item_blocks_a_node_that_takes_all() -> None:
    """Half a list is not what was asked for."""
    nodes: Nodes = {
        "c": ("Count", {}),
        "e": ("OnlyEven", {"x": ["c", 0]}),
        "t": ("Total", {"xs": ["e", 0]}),
    }
    assert outputs(nodes, "t") == ((Blocked("1 is odd"),),)


@pytest.mark.parametrize(
    ("type", "x", "messages"),
    [("OnlyEven", 1, ["1 is odd"]), ("Quiet", 1, [""]), ("OnlyEven", 2, [])],
)
def test_blocked_nodes_are_told_of_down_to_the_end(type: str, x: int, messages: list[str]) -> None:
    """A node without outputs, such as one that saves, has not run; it is not said to be done."""
    few = engine(*NODES)
    nodes: Nodes = {
        "b": (type, {"x": x}),
        "a": ("Add", {"x": ["b", 0]}),
        "s": ("Save", {"x": ["a", 0]}),
    }
    for _ in range(2):  # the second time from the cache
        ran = few.run(nodes, ["b", "a", "s"])
        told = {(event.node, event.message) for event in ran.of(NodeBlocked)}
        assert told == {(id, message) for id in "bas" for message in messages}
        states = {row.id: (row.state, row.because) for row in report(ran.events, ran.graph).nodes}
        if messages:
            assert set(states.values()) == {("blocked", messages[0])}
        assert ran.outcome.status == "done"


def test_a_node_that_ran_for_some_items_is_not_silently_blocked() -> None:
    """A silent block of one item among several is no news."""

    @node("Some", category="test")
    def some(x: int) -> int | Blocked:
        """Give all but the first."""
        return x if x else Blocked()

    nodes: Nodes = {
        "c": ("Count", {}),
        "s": ("Some", {"x": ["c", 0]}),
        "e": ("Save", {"x": ["s", 0]}),
    }
    ran = engine(*NODES, some).run(nodes)
    assert ran.of(NodeBlocked) == []
    assert len(ran.of(NodeFinished)) == 3


def test_a_list_is_no_constant() -> None:
    """A workflow gives a list parameter one value, or a link."""
    document = {"t": {"class_type": "Total", "inputs": {"xs": {"__value__": [1, 2]}}}}
    (fault,) = build(from_json(document), {"Total": total}, FOLDERS).faults
    assert fault.problem == "expected INT"
