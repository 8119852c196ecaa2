"""Graph + targets + cache -> Plan: only what is needed, sources first, reused where keys match."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.graph.engine import FOLDERS, Nodes, engine
from vinode import node
from vinode.graph.cache import Cache, Result
from vinode.graph.context import Lazy
from vinode.graph.errors import WorkflowError
from vinode.graph.graph import build
from vinode.graph.plan import make
from vinode.graph.workflow import Json, NodeId, from_json


@node("Sum", category="test")
def sum_of(x: int = 0, y: int = 0, z: int = 0) -> int:
    """Add."""
    return x + y + z


@node("Choose", category="test")
def choose(x: int = 0, y: Lazy[int] | None = None) -> int:
    """Take one of two."""
    return x or (y.value if y else 0)


@node("End", category="test")
def end(x: int = 0) -> None:
    """End a workflow."""


FEW = engine(sum_of, choose, end)


def upstream(nodes: Nodes, targets: list[str], through_lazy: bool, stop: set[str]) -> set[str]:
    """Find by hand what targets need."""
    found: set[str] = set()
    waiting = list(targets)
    while waiting:
        id = waiting.pop()
        if id in found:
            continue
        found.add(id)
        type, inputs = nodes[id]
        if id not in stop:
            waiting += [
                value[0]
                for name, value in inputs.items()
                if isinstance(value, list) and (through_lazy or (type, name) != ("Choose", "y"))
            ]
    return found


@st.composite
def workflows(draw: st.DrawFn) -> tuple[Nodes, list[str]]:
    """Draw an acyclic workflow in any order of its file, and some targets."""
    count = draw(st.integers(1, 14))
    nodes: dict[str, tuple[str, Mapping[str, Json]]] = {}
    for i in range(count):
        type = draw(st.sampled_from(["Sum", "Choose"]))
        inputs: dict[str, Json] = {}
        for name in ("x", "y") if type == "Choose" else ("x", "y", "z"):
            source = draw(st.none() | st.integers(0, i - 1)) if i else None
            inputs[name] = draw(st.integers(0, 2)) if source is None else [str(source), 0]
        nodes[str(i)] = (type, inputs)
    shuffled = {id: nodes[id] for id in draw(st.permutations(list(nodes)))}
    return shuffled, draw(st.lists(st.sampled_from(list(nodes)), min_size=1, unique=True))


@given(workflows(), st.data())
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_plan_has_what_is_needed_in_an_order_that_works(
    drawn: tuple[Nodes, list[str]], data: st.DataObject
) -> None:
    """Steps respect wires; a node is reused just where the cache has its key."""
    nodes, targets = drawn
    graph = FEW.graph(nodes)
    keys = make(graph, FOLDERS, Cache(), targets).keys
    assert set(keys) == upstream(nodes, targets, through_lazy=True, stop=set())
    cache = Cache()
    known = {keys[NodeId(id)] for id in data.draw(st.sets(st.sampled_from(sorted(keys))))}
    for one in known:
        cache.put(one, Result(((1,),)))
    plan = make(graph, FOLDERS, cache, targets)
    there = {id for id in keys if keys[id] in known}
    needed = upstream(nodes, targets, through_lazy=False, stop=set(there))
    assert set(plan.reused) == needed & there
    order = [step.id for step in plan.steps]
    assert (len(order), set(order)) == (len(set(order)), needed - there)
    position = {id: i for i, id in enumerate(order)}
    for step in plan.steps:
        assert all(position[need] < position[step.id] for need in step.needs if need in position)
        assert all(need in position or need in plan.reused for need in step.needs)
    assert plan.targets == tuple(targets)


@given(workflows())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_keys_are_equal_where_the_content_is(drawn: tuple[Nodes, list[str]]) -> None:
    """Written out with all that it depends on, two nodes are the same or they are not."""
    nodes, targets = drawn
    keys = make(FEW.graph(nodes), FOLDERS, Cache(), targets).keys
    texts: dict[str, str] = {}
    for id in sorted(keys, key=int):
        type, inputs = nodes[id]
        texts[id] = str(
            [type, *[texts[v[0]] if isinstance(v, list) else v for v in inputs.values()]]
        )
    for a in keys:
        for b in keys:
            assert (keys[a] == keys[b]) is (texts[a] == texts[b])


def test_what_only_a_lazy_input_needs_is_not_planned() -> None:
    """The node asks for it as it runs, or does not."""
    nodes: Nodes = {
        "a": ("Sum", {"x": 1}),
        "b": ("Sum", {"x": ["a", 0]}),
        "c": ("Choose", {"x": 1, "y": ["b", 0]}),
    }
    plan = make(FEW.graph(nodes), FOLDERS, Cache(), ["c"])
    assert [step.id for step in plan.steps] == ["c"]
    assert set(plan.keys) == {"a", "b", "c"}


def test_a_target_that_is_not_there_is_refused_with_the_nearest() -> None:
    """Before anything runs."""
    graph = FEW.graph({"sampler": ("Sum", {}), "end": ("End", {})})
    with pytest.raises(WorkflowError) as caught:
        make(graph, FOLDERS, Cache(), ["samplr"])
    assert str(caught.value) == "node samplr: no such node; did you mean sampler?"


def test_a_workflow_without_ends_says_what_is_missing() -> None:
    """There is nothing that it is for."""
    with pytest.raises(WorkflowError) as caught:
        make(FEW.graph({"1": ("Sum", {})}), FOLDERS, Cache())
    assert [fault.code for fault in caught.value.faults] == ["no-outputs"]


def test_a_cycle_elsewhere_stops_no_target() -> None:
    """A half-drawn circle may lie about; what is behind it cannot run."""
    document = {
        "a": {"class_type": "Sum", "inputs": {"x": ["b", 0]}},
        "b": {"class_type": "Sum", "inputs": {"x": ["a", 0]}},
        "c": {"class_type": "End", "inputs": {"x": ["d", 0]}},
        "d": {"class_type": "Sum"},
        "e": {"class_type": "Sum", "inputs": {"x": ["b", 0]}},
    }
    graph = build(from_json(document), FEW.types, FOLDERS)
    assert [step.id for step in make(graph, FOLDERS, Cache()).steps] == ["d", "c"]
    with pytest.raises(WorkflowError) as caught:
        make(graph, FOLDERS, Cache(), ["e"])
    assert [fault.code for fault in caught.value.faults] == ["cycle"]
