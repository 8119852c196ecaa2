"""Sorting nodes, and finding the cycles of those that cannot be sorted."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from vinode.graph.order import MAX_CYCLES, sort
from vinode.graph.workflow import NodeId

A, B, C, D = (NodeId(name) for name in "abcd")


@st.composite
def graphs(draw: st.DrawFn) -> dict[NodeId, tuple[NodeId, ...]]:
    """Make any graph of up to seven nodes, with double links and loops."""
    ids = [NodeId(str(number)) for number in range(draw(st.integers(0, 7)))]
    links = st.lists(st.sampled_from(ids), max_size=4) if ids else st.just(list[NodeId]())
    return {id: tuple(draw(links)) for id in ids}


def upstream(sources: dict[NodeId, tuple[NodeId, ...]], id: NodeId) -> set[NodeId]:
    """Find all that a node may need, itself only where it is on a cycle."""
    found: set[NodeId] = set()
    waiting = list(sources[id])
    while waiting:
        source = waiting.pop()
        if source not in found:
            found.add(source)
            waiting += sources[source]
    return found


@given(graphs())
@settings(deadline=None)
def test_the_order_and_the_cycles_are_true(sources: dict[NodeId, tuple[NodeId, ...]]) -> None:
    """Sources stand first; the rest is on a cycle or behind one; breaking all cycles breaks all."""
    order, cycles = sort(sources)
    rank = {id: number for number, id in enumerate(order)}
    assert all(rank[source] < rank[id] for id in order for source in sources[id])
    on_cycles = {id for id in sources if id in upstream(sources, id)}
    stuck = {id for id in sources if on_cycles & ({id} | upstream(sources, id))}
    assert set(order) == sources.keys() - stuck
    assert bool(cycles) is bool(on_cycles)
    for cycle in cycles:
        assert len(set(cycle)) == len(cycle)
        for source, id in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
            assert source in sources[id]
    closing = {(cycle[0], cycle[-1]) for cycle in cycles}
    broken = {
        id: tuple(source for source in linked if (id, source) not in closing)
        for id, linked in sources.items()
    }
    assert sort(broken)[1] == []


def test_two_cycles_through_one_node_are_both_found() -> None:
    """Mending one would only reveal the other."""
    assert len(sort({A: (B, C), B: (A,), C: (A,)})[1]) == 2


def test_a_double_link_is_one_cycle() -> None:
    """Both inputs of a node linked to one other."""
    assert sort({A: (B, B), B: (A, A), C: (), D: (A,)}) == ((C,), [[B, A]])


def test_long_chains_and_cycles_need_no_recursion() -> None:
    """Ten thousand nodes, sorted backwards, and in a circle."""
    ids = [NodeId(str(number)) for number in range(10_000)]
    chain = {id: (source,) for id, source in pairwise(ids)} | {ids[-1]: ()}
    assert sort(chain) == (tuple(reversed(ids)), [])
    circle = {**chain, ids[-1]: (ids[0],)}
    (cycle,) = sort(circle)[1]
    assert len(cycle) == 10_000


def test_a_hostile_number_of_cycles_is_bounded() -> None:
    """Every node linked to every other has more cycles than there are atoms."""
    ids = [NodeId(str(number)) for number in range(200)]
    order, cycles = sort({id: tuple(ids) for id in ids})
    assert order == ()
    assert len(cycles) == MAX_CYCLES
