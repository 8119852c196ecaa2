"""Lazy inputs: a switch evaluates only the branch taken, and what it may need is kept."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping
from typing import Annotated

import pytest

from tests.graph.engine import Engine, Nodes, engine
from vinode import node
from vinode.graph.cache import Cache
from vinode.graph.context import Blocked, Context, Lazy
from vinode.graph.errors import NodeError
from vinode.graph.events import NodeBlocked
from vinode.graph.kinds import ANY
from vinode.graph.workflow import Json

Anything = Annotated[object, ANY]


@node("Add", category="test")
def add(x: int = 0, y: int = 1) -> int:
    """Add."""
    return x + y


@node("Switch", category="test")
def switch(first: bool, a: Lazy[int], b: Lazy[int]) -> int:
    """Give one of two inputs."""
    return a.value if first else b.value


@node("Times", category="test")
def times(x: int, by: Lazy[int]) -> int:
    """Multiply; nothing times anything needs no computing."""
    return x * by.value if x else 0


@node("Both", category="test")
def both(a: Lazy[int], b: Lazy[int]) -> int:
    """Ask for one after the other."""
    return a.value + b.value


@node("Several", category="test")
def several(count: int = 3) -> list[int]:
    """Give 0, 1, 2, ... one by one."""
    return list(range(count))


@node("Fails", category="test")
def fails(x: int = 0) -> int:
    """Fail."""
    raise NodeError("no good")


@node("Stop", category="test")
def stop(x: int = 0) -> int | Blocked:
    """Give nothing."""
    return Blocked("nothing here")


def lazy_engine() -> Engine:
    """Make the engine of this file's nodes."""
    return engine(add, switch, times, both, several, fails, stop)


@pytest.mark.parametrize(("first", "taken", "value"), [(True, "a", 2), (False, "b", 3)])
def test_only_the_branch_taken_is_computed(first: bool, taken: str, value: int) -> None:
    """The node is begun once, though it is called again when the value is there."""
    nodes: Nodes = {
        "a": ("Add", {"x": 1}),
        "b": ("Add", {"x": 2}),
        "s": ("Switch", {"first": first, "a": ["a", 0], "b": ["b", 0]}),
    }
    ran = lazy_engine().run(nodes, ["s"])
    assert (sorted(ran.started), ran.value("s")) == (sorted([taken, "s"]), value)


def test_a_constant_is_there_at_once() -> None:
    """Lazy or not, a widget's value has not to be computed."""
    nodes: Nodes = {"s": ("Switch", {"first": True, "a": 5, "b": 6})}
    ran = lazy_engine().run(nodes, ["s"])
    assert (ran.started, ran.value("s")) == (["s"], 5)


def test_several_lazy_inputs_are_asked_for_one_after_the_other() -> None:
    """Each that is asked for runs once."""
    nodes: Nodes = {
        "a": ("Add", {"x": 1}),
        "b": ("Add", {"x": 2}),
        "s": ("Both", {"a": ["a", 0], "b": ["b", 0]}),
    }
    ran = lazy_engine().run(nodes, ["s"])
    assert (ran.started, ran.value("s")) == (["s", "a", "b"], 5)


def test_what_only_a_lazy_branch_still_needs_is_kept() -> None:
    """`a` has been used, and let go, before the switch asks for what needs it again."""
    nodes: Nodes = {
        "a": ("Add", {"x": 1}),
        "b": ("Add", {"x": ["a", 0]}),
        "c": ("Add", {"x": ["a", 0], "y": 10}),
        "d": ("Times", {"x": ["b", 0], "by": ["c", 0]}),
    }
    ran = lazy_engine().run(nodes, ["d"])
    assert (ran.started, ran.value("d")) == (["a", "b", "d", "c"], 3 * 12)


class Big:
    """Something whose end can be watched."""


def test_what_a_branch_nobody_asked_for_needs_is_let_go() -> None:
    """As soon as it is sure that nobody will ask, while the run goes on."""
    alive: weakref.WeakSet[Big] = weakref.WeakSet()

    @node("Make", category="test")
    def make() -> Anything:
        """Make something big."""
        alive.add(big := Big())
        return big

    @node("Size", category="test")
    def size(big: Anything) -> int:
        """Use it."""
        return 0

    @node("Alive", category="test")
    def count(after: int) -> int:
        """Count what is still there."""
        return len(alive)

    nodes: Nodes = {
        "m": ("Make", {}),
        "n": ("Size", {"big": ["m", 0]}),
        "o": ("Alive", {"after": ["n", 0]}),
        "far": ("Size", {"big": ["m", 0]}),
        "c": ("Add", {"x": ["far", 0]}),
        "d": ("Times", {"x": ["n", 0], "by": ["c", 0]}),
        "e": ("Alive", {"after": ["d", 0]}),
    }
    few = Engine({type.id: type for type in (make, size, count, add, times)}, Cache(0))
    ran = few.run(nodes, ["e", "o"])
    assert (ran.value("o"), ran.value("e")) == (1, 0)
    assert sorted(ran.started) == ["d", "e", "m", "n", "o"]


def test_a_ladder_of_switches_takes_one_way() -> None:
    """A thousand switches, each of which may need all those before; nothing recurses."""
    nodes: dict[str, tuple[str, Mapping[str, Json]]] = {
        "s0": ("Add", {}),
        "t0": ("Add", {"x": 1}),
    }
    for i in range(1, 1000):
        a, b = [f"s{i - 1}", 0], [f"t{i - 1}", 0]
        nodes[f"s{i}"] = ("Switch", {"first": i % 2 == 0, "a": a, "b": b})
        nodes[f"t{i}"] = ("Switch", {"first": i % 3 == 0, "a": a, "b": b})
    ran = lazy_engine().run(nodes, ["s999"])
    assert ran.outcome.status == "done"
    assert len(ran.started) == len(set(ran.started)) == 1000


def test_a_lazy_list_calls_the_node_for_each_value() -> None:
    """As ComfyUI maps a list; the values were not there when the node began."""
    nodes: Nodes = {"l": ("Several", {}), "s": ("Times", {"x": 2, "by": ["l", 0]})}
    ran = lazy_engine().run(nodes, ["s"])
    assert ran.outcome.outputs["s"] == ((0, 2, 4),)  # type: ignore[index]


def test_a_lazy_list_that_is_not_asked_for_does_not_count() -> None:
    """Not even where another node had it computed before: calls are no matter of luck."""
    nodes: Nodes = {
        "l": ("Several", {}),
        "x": ("Add", {"x": ["l", 0]}),
        "n": ("Add", {"x": -1}),
        "s": ("Times", {"x": ["n", 0], "by": ["l", 0]}),
    }
    few = lazy_engine()
    few.run(nodes, ["l", "x"])
    ran = few.run(nodes, ["l", "s"])
    assert ran.outcome.outputs["s"] == ((0,),)  # type: ignore[index]


def test_a_failed_branch_skips_the_switch() -> None:
    """The one that was asked for; a switch that does not ask is not concerned."""
    nodes: Nodes = {
        "f": ("Fails", {}),
        "x": ("Switch", {"first": True, "a": ["f", 0], "b": 1}),
        "y": ("Switch", {"first": False, "a": ["f", 0], "b": 1}),
        "z": ("Add", {"x": ["x", 0]}),
    }
    ran = lazy_engine().run(nodes, ["y", "z"])
    assert (ran.outcome.status, ran.value("y")) == ("failed", 1)
    assert ran.outcome.skipped == {"x": "f", "z": "f"}


def test_a_blocked_branch_blocks_the_switch() -> None:
    """The node is left where it asks; it never sees the Blocked."""
    nodes: Nodes = {
        "b": ("Stop", {}),
        "s": ("Switch", {"first": True, "a": ["b", 0], "b": 1}),
    }
    ran = lazy_engine().run(nodes, ["s"])
    assert ran.value("s") == Blocked("nothing here")
    assert [(event.node, event.message) for event in ran.of(NodeBlocked)] == [
        ("b", "nothing here"),
        ("s", "nothing here"),
    ]


def test_what_was_shown_before_an_attempt_broke_off_does_not_count() -> None:
    """The node is called again from its start, and shows again."""

    @node("ShowLazy", category="test")
    def show_lazy(x: Lazy[int], context: Context) -> int:
        """Show first, ask then."""
        context.show("text", ["asked"])
        return x.value

    nodes: Nodes = {"a": ("Add", {}), "s": ("ShowLazy", {"x": ["a", 0]})}
    ran = engine(add, show_lazy).run(nodes, ["s"])
    assert ran.finished("s").shown == {"text": ("asked",)}


def test_a_lazy_value_that_is_computed_elsewhere_is_waited_for() -> None:
    """The switch asks while the node it needs is running for another."""
    asked = threading.Event()

    @node("Slow", category="test")
    def slow() -> int:
        """End after the switch has asked."""
        assert asked.wait(20)
        return 4

    @node("Ask", category="test")
    def ask(x: Lazy[int]) -> int:
        """Ask."""
        asked.set()
        return x.value

    nodes: Nodes = {"o": ("Slow", {}), "p": ("Add", {"x": ["o", 0]}), "s": ("Ask", {"x": ["o", 0]})}
    ran = engine(add, slow, ask).run(nodes, ["p", "s"])
    assert (ran.value("p"), ran.value("s"), ran.started.count("o")) == (5, 4, 1)


def test_a_list_of_lazy_values_comes_whole() -> None:
    """A parameter that is a lazy list takes all values of the wire at once."""

    @node("Sum", category="test")
    def sum_of(xs: Lazy[list[int]]) -> int:
        """Add all."""
        return sum(xs.value)

    ran = engine(several, sum_of).run(
        {"l": ("Several", {"count": 4}), "s": ("Sum", {"xs": ["l", 0]})}, ["s"]
    )
    assert ran.value("s") == 6
