"""An expansion that is wrong fails its node, with a sentence for its author."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import pytest

from tests.graph.engine import Nodes, engine
from vinode import node
from vinode.graph.context import Expansion, Subgraph, SubgraphNode, Wire
from vinode.graph.kinds import ANY
from vinode.graph.node import AnyNodeType
from vinode.graph.ports import Range

Anything = Annotated[object, ANY]


@node("Add", category="test")
def add(x: int, y: Annotated[int, Range(0, 9)] = 1) -> int:
    """Add."""
    return x + y


@node("Text", category="test")
def text() -> str:
    """Give a text."""
    return "text"


@node("Keep", category="test")
def keep(thing: Anything) -> Anything:
    """Give what it got."""
    return thing


@node("Total", category="test")
def total(xs: list[int]) -> int:
    """Add all."""
    return sum(xs)


def unknown(graph: Subgraph) -> Expansion:
    """Ask for a node that is not there."""
    return graph.result(graph.add("Addd", x=1)[0])


def too_few(graph: Subgraph) -> Expansion:
    """Give no output."""
    return graph.result()


def no_input(graph: Subgraph) -> Expansion:
    """Give an input that is not there."""
    return graph.result(graph.add("Add", xx=1)[0])


def left_out(graph: Subgraph) -> Expansion:
    """Leave an input out."""
    return graph.result(graph.add("Add")[0])


def left_out_of_any(graph: Subgraph) -> Expansion:
    """Leave an input out that takes anything."""
    graph.add("Keep")
    return graph.result(1)


def wrong_constant(graph: Subgraph) -> Expansion:
    """Give a text for a number."""
    return graph.result(graph.add("Add", x="one")[0])


def out_of_range(graph: Subgraph) -> Expansion:
    """Give a number out of range."""
    return graph.result(graph.add("Add", x=1, y=10)[0])


def wrong_item(graph: Subgraph) -> Expansion:
    """Give a list with a wrong item."""
    return graph.result(graph.add("Total", xs=[1, "two"])[0])


def whole_node(graph: Subgraph) -> Expansion:
    """Link a node instead of its output."""
    return graph.result(graph.add("Add", x=graph.add("Add", x=1))[0])


def whole_node_out(graph: Subgraph) -> Expansion:
    """Give a node instead of its output."""
    return graph.result(graph.add("Add", x=1))


def wrong_kind(graph: Subgraph) -> Expansion:
    """Link a text to a number."""
    return graph.result(graph.add("Add", x=graph.add("Text")[0])[0])


def wrong_slot(graph: Subgraph) -> Expansion:
    """Link an output that is not there."""
    return graph.result(graph.add("Add", x=graph.add("Add", x=1)[1])[0])


def negative_slot(graph: Subgraph) -> Expansion:
    """Count outputs from the end."""
    return graph.result(graph.add("Add", x=graph.add("Add", x=1)[-1])[0])


def later(graph: Subgraph) -> Expansion:
    """Link a node that comes later."""
    first = graph.add("Add", x=Wire("2", 0))
    graph.add("Add", x=1)
    return graph.result(first[0])


def elsewhere(graph: Subgraph) -> Expansion:
    """Give an output of another subgraph."""
    graph.add("Add", x=1)
    return graph.result(Wire("7", 0))


def output_kind(graph: Subgraph) -> Expansion:
    """Give a text for a number."""
    return graph.result(graph.add("Text")[0])


def output_slot(graph: Subgraph) -> Expansion:
    """Give an output that is not there."""
    return graph.result(graph.add("Add", x=1)[3])


def output_value(graph: Subgraph) -> Expansion:
    """Give a plain text for a number."""
    return graph.result("five")


def by_hand(graph: Subgraph) -> Expansion:
    """Make a circle without the builder."""
    nodes = {
        "a": SubgraphNode("Add", {"x": Wire("b", 0)}),
        "b": SubgraphNode("Add", {"x": Wire("a", 0)}),
    }
    return Expansion(nodes, (Wire("a", 0),))


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (unknown, "its expansion asks for 'Addd', which is no node; did you mean Add?"),
        (too_few, "its expansion gives 0 outputs instead of 1"),
        (no_input, "its expansion gives Add an input 'xx' that it does not have; did you mean x?"),
        (left_out, "in its expansion Add, input x must be given"),
        (left_out_of_any, "in its expansion Keep, input thing must be given"),
        (wrong_constant, "in its expansion Add, input x: expected INT, got str; got 'one'"),
        (out_of_range, "in its expansion Add, input y: expected 0 to 9; got 10"),
        (wrong_item, "in its expansion Total, input xs: expected INT, got str; got 'two'"),
        (
            whole_node,
            "its expansion links a node instead of an output; got node 1;"
            " write added[0] for its first output",
        ),
        (
            whole_node_out,
            "its expansion links a node instead of an output; got node 1;"
            " write added[0] for its first output",
        ),
        (wrong_kind, "in its expansion Add, input x takes INT; got STRING from Text"),
        (wrong_slot, "in its expansion Add, input x takes INT; got no output 1 from Add"),
        (negative_slot, "in its expansion Add, input x takes INT; got no output -1 from Add"),
        (
            later,
            "a wire in its expansion comes from no earlier node; got 2;"
            " add nodes in the order in which values flow, all to one Subgraph",
        ),
        (
            elsewhere,
            "a wire in its expansion comes from no earlier node; got 7;"
            " add nodes in the order in which values flow, all to one Subgraph",
        ),
        (output_kind, "in its expansion output INT takes INT; got STRING from Text"),
        (output_slot, "in its expansion output INT takes INT; got no output 3 from Add"),
        (
            by_hand,
            "a wire in its expansion comes from no earlier node; got b;"
            " add nodes in the order in which values flow, all to one Subgraph",
        ),
    ],
)
def test_a_wrong_expansion_is_refused(
    function: Callable[[Subgraph], Expansion], sentence: str
) -> None:
    """The run goes on; only the node that gave it fails."""

    def wrong() -> int | Expansion:
        """Give a wrong expansion."""
        return function(Subgraph())

    type: AnyNodeType = node("Wrong", category="test")(wrong)
    nodes: Nodes = {"1": ("Wrong", {}), "2": ("Total", {"xs": 1})}
    ran = engine(add, text, keep, total, type).run(nodes, ["1", "2"])
    assert (ran.outcome.status, ran.value("2")) == ("failed", 1)
    (fault,) = ran.outcome.faults
    assert (str(fault), fault.code) == (f"node 1 (Wrong): {sentence}", "bad-expansion")


def test_a_plain_value_for_an_output_is_checked_like_any_output() -> None:
    """It is the same fault as without an expansion."""

    def wrong() -> int | Expansion:
        """Give a text."""
        return output_value(Subgraph())

    type: AnyNodeType = node("Wrong", category="test")(wrong)
    (fault,) = engine(type).run({"1": ("Wrong", {})}, ["1"]).outcome.faults
    assert str(fault) == "node 1 (Wrong), output INT: expected INT, got str; got 'five'"
