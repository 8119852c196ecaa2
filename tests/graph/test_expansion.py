"""Expansions: a node returns nodes to run in its place; loops are made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.graph.engine import Nodes, Ran, engine
from vinode import Image, node
from vinode.graph.context import Blocked, Context, Expansion, Lazy, Subgraph
from vinode.graph.errors import NodeError
from vinode.graph.events import NodeExpanded, NodeFinished
from vinode.graph.node import AnyNodeType
from vinode.graph.timing import report


@node("Add", category="test")
def add(x: int, y: int = 1) -> int:
    """Add."""
    return x + y


@node("Loop", category="test")
def loop(times: int, x: int = 0) -> int | Expansion:
    """Add one, so many times: each round makes the next."""
    if times == 0:
        return x
    graph = Subgraph()
    body = graph.add("Add", x=x)
    return graph.result(graph.add("Loop", times=times - 1, x=body[0])[0])


@node("Show", category="test")
def show(x: int, context: Context) -> None:
    """End a workflow."""
    context.show("numbers", [x])


@node("Refuse", category="test")
def refuse(x: int) -> int:
    """Fail."""
    raise NodeError("no good")


@node("Switch", category="test")
def switch(first: bool, a: Lazy[int], b: Lazy[int]) -> int:
    """Give one of two inputs."""
    return a.value if first else b.value


@node("Twice", category="test")
def twice(first: bool, a: Lazy[int], b: Lazy[int]) -> int | Expansion:
    """Pass lazy inputs on without asking for them."""
    graph = Subgraph()
    chosen = graph.add("Switch", first=first, a=a, b=b)
    return graph.result(graph.add("Add", x=chosen[0], y=chosen[0])[0])


@node("Count", category="test")
def count(upto: int = 3) -> list[int]:
    """Give 0, 1, 2, ..."""
    return list(range(upto))


@node("Total", category="test")
def total(xs: list[int]) -> int:
    """Add all."""
    return sum(xs)


class Pair(NamedTuple):
    """Two numbers."""

    mean: float
    total: int


@node("Mean", category="test")
def mean(image: Image, offset: float = 0.0) -> float:
    """Give the mean of a picture."""
    return float(image.pixels.mean()) + offset


NODES = (add, loop, show, refuse, switch, twice, count, total, mean)


def expanding(function: Callable[..., Any], **inputs: object) -> Ran:
    """Run one node of this function."""
    type: AnyNodeType = node("Expand", category="test")(function)
    return engine(*NODES, type).run({"1": ("Expand", inputs)}, ["1"])


def test_a_loop_of_three_thousand_rounds() -> None:
    """Each round stands inside the one before; nothing recurses, and ids do not grow."""
    few = engine(*NODES)
    ran = few.run({"1": ("Loop", {"times": 3000})}, ["1"])
    assert ran.value("1") == 3000
    assert max(len(id) for id in ran.started) < 120
    assert len(set(ran.started)) == len(ran.started) == 6001
    assert few.run({"1": ("Loop", {"times": 3000})}, ["1"]).reused == ["1"]


def test_a_longer_loop_reuses_the_rounds_of_a_shorter_one() -> None:
    """Rounds have a key of their own: what they do, not where they stand."""
    few = engine(*NODES)
    few.run({"1": ("Loop", {"times": 20})}, ["1"])
    ran = few.run({"1": ("Loop", {"times": 21})}, ["1"])
    assert ran.value("1") == 21
    assert len([id for id in ran.reused if id != "1"]) == 20


def test_loops_in_loops() -> None:
    """A round that is a loop itself."""

    def squares(n: int = 6) -> int | Expansion:
        """Add up n loops of n rounds."""
        graph = Subgraph()
        x: object = 0
        for _ in range(n):
            x = graph.add("Loop", times=n, x=x)[0]
        return graph.result(x)

    assert expanding(squares).value("1") == 36


def test_each_call_has_an_expansion_of_its_own() -> None:
    """A list is mapped first; values and expansions may stand side by side."""
    ran = engine(*NODES).run(
        {"c": ("Count", {}), "l": ("Loop", {"times": ["c", 0], "x": 5})}, ["l"]
    )
    assert ran.outcome.outputs["l"] == ((5, 6, 7),)  # type: ignore[index]


def test_a_list_inside_comes_out_item_by_item() -> None:
    """As from any node."""

    def numbers() -> int | Expansion:
        """Give a list made by another node."""
        graph = Subgraph()
        return graph.result(graph.add("Count", upto=4)[0])

    assert expanding(numbers).outcome.outputs["1"] == ((0, 1, 2, 3),)  # type: ignore[index]


def test_ends_inside_run_too() -> None:
    """A node that saves is run, though no output of the expansion needs it."""

    def saves(x: int = 3) -> int | Expansion:
        """Show a number and give it."""
        graph = Subgraph()
        graph.add("Show", x=x)
        return graph.result(x)

    ran = expanding(saves)
    assert (ran.value("1"), ran.finished("1.0.1").shown) == (3, {"numbers": (3,)})
    assert ran.of(NodeExpanded) == [NodeExpanded("1", ("1.0.1",))]  # type: ignore[arg-type]


def test_what_no_output_needs_is_not_run() -> None:
    """An expansion is demand-driven like a workflow."""

    def spare() -> int | Expansion:
        """Add a node that leads nowhere."""
        graph = Subgraph()
        graph.add("Refuse", x=1)
        return graph.result(graph.add("Add", x=1)[0])

    ran = expanding(spare)
    assert (ran.value("1"), ran.started) == (2, ["1", "1.0.2"])


def test_a_failure_inside_fails_the_node_and_nothing_else() -> None:
    """What hangs on it is skipped; the rest finishes."""

    def bad() -> int | Expansion:
        """Let a node inside fail."""
        graph = Subgraph()
        graph.add("Show", x=1)
        return graph.result(graph.add("Refuse", x=1)[0])

    type: AnyNodeType = node("Expand", category="test")(bad)
    nodes: Nodes = {
        "1": ("Expand", {}),
        "2": ("Add", {"x": ["1", 0]}),
        "3": ("Add", {"x": 1}),
    }
    ran = engine(*NODES, type).run(nodes, ["2", "3"])
    assert (ran.outcome.status, ran.value("3")) == ("failed", 2)
    assert ran.outcome.skipped == {"1": "1.0.2", "2": "1.0.2"}
    assert ran.finished("1.0.1").shown == {"numbers": (1,)}
    (row,) = [row for row in report(ran.events, ran.graph).nodes if row.id == "1.0.2"]
    assert (row.state, row.title) == ("failed", "Expand")


@pytest.mark.parametrize(("first", "taken"), [(True, "a"), (False, "b")])
def test_lazy_inputs_passed_on_stay_lazy(first: bool, taken: str) -> None:
    """The switch inside decides which branch of the workflow is computed."""
    nodes: Nodes = {
        "a": ("Add", {"x": 1}),
        "b": ("Add", {"x": 10}),
        "t": ("Twice", {"first": first, "a": ["a", 0], "b": ["b", 0]}),
    }
    ran = engine(*NODES).run(nodes, ["t"])
    assert ran.value("t") == {"a": 4, "b": 22}[taken]
    assert [id for id in ran.started if id in "ab"] == [taken]


def test_a_lazy_input_may_stand_for_an_output() -> None:
    """It is computed then; a constant is there already."""

    def choose(first: bool, a: Lazy[int], b: Lazy[int]) -> int | Expansion:
        """Give one of them without asking for it."""
        return Subgraph().result(a if first else b)

    type: AnyNodeType = node("Choose", category="test")(choose)
    few = engine(*NODES, type)
    wired: Nodes = {"a": ("Add", {"x": 1}), "t": ("Choose", {"first": True, "a": ["a", 0], "b": 5})}
    assert few.run(wired, ["t"]).value("t") == 2
    constant: Nodes = {"t": ("Choose", {"first": False, "a": 4, "b": 5})}
    assert few.run(constant, ["t"]).value("t") == 5


def test_values_that_are_no_json_go_in_and_out() -> None:
    """Pictures and lists; two calls of the same nodes with other pictures are not confused."""

    def means(n: int) -> Pair | Expansion:
        """Take the mean of a picture of n."""
        graph = Subgraph()
        pixels = np.full((1, 2, 2, 3), n, np.float32)
        of_list = graph.add("Total", xs=[n, n])
        return graph.result(graph.add("Mean", image=Image(pixels), offset=1.0)[0], of_list[0])

    type: AnyNodeType = node("Means", category="test")(means)
    few = engine(*NODES, type)
    for _ in range(2):
        ran = few.run({"2": ("Means", {"n": 2}), "5": ("Means", {"n": 5})}, ["2", "5"])
        assert (ran.value("2"), ran.value("2", 1)) == (3.0, 4)
        assert (ran.value("5"), ran.value("5", 1)) == (6.0, 10)


def test_a_blocked_value_inside_comes_out() -> None:
    """With its message, at the node that expanded."""

    def blocks() -> int | Expansion:
        """Give nothing, through another node."""
        graph = Subgraph()
        return graph.result(graph.add("Add", x=graph.add("Nothing")[0])[0])

    @node("Nothing", category="test")
    def nothing() -> int | Blocked:
        """Give nothing."""
        return Blocked("nothing here")

    type: AnyNodeType = node("Expand", category="test")(blocks)
    ran = engine(*NODES, nothing, type).run({"1": ("Expand", {})}, ["1"])
    assert ran.value("1") == Blocked("nothing here")


def test_the_workflows_own_ids_are_not_taken() -> None:
    """A file may call a node as an expansion would."""
    nodes: Nodes = {
        "1": ("Loop", {"times": 1}),
        "1.0.1": ("Add", {"x": 100}),
        "s": ("Add", {"x": ["1", 0], "y": ["1.0.1", 0]}),
    }
    ran = engine(*NODES).run(nodes, ["s"])
    assert (ran.value("s"), len(ran.of(NodeFinished))) == (102, 5)
