"""Graph + wanted outputs + cache -> Plan: what to run, in order, and what to reuse."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from vinode.graph.cache import Cache, Key, Result, key_of
from vinode.graph.context import Folders
from vinode.graph.errors import Fault, WorkflowError, nearest
from vinode.graph.graph import Graph, GraphNode
from vinode.graph.workflow import NodeId


@dataclass(frozen=True, slots=True)
class Step:
    """A node to run.

    key    content key of its result; None where the result is never the same twice
    lane   "host", "async", or "device": which one is known once OpenVINO has been asked
    needs  nodes whose values it cannot start without: lazy inputs are not among them
    """

    node: GraphNode
    key: Key | None
    lane: str
    needs: tuple[NodeId, ...]

    @property
    def id(self) -> NodeId:
        """Give the node's id."""
        return self.node.id


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run will do.

    steps    nodes to run, sources first
    reused   nodes whose earlier result stands; what only they need is not run at all
    keys     of every node that a target may need, lazy ones included
    targets  the outputs that were asked for
    """

    graph: Graph
    steps: tuple[Step, ...]
    reused: Mapping[NodeId, Result]
    keys: Mapping[NodeId, Key | None]
    targets: tuple[NodeId, ...]


def make(
    graph: Graph, folders: Folders, cache: Cache, targets: Sequence[str] | None = None
) -> Plan:
    """Plan a run of the workflow's outputs, or of some nodes.

    Raises WorkflowError with every fault that stands in the way of a target.
    """
    wanted = graph.outputs if targets is None else tuple(_target(name, graph) for name in targets)
    needed = graph.require(wanted)
    keys: dict[NodeId, Key | None] = {}
    for id in graph.order:
        if id in needed:
            keys[id] = key_of(graph.nodes[id], keys, folders)
    steps, reused = demand(wanted, graph.nodes, keys, cache, known=set[NodeId]())
    rank = {id: number for number, id in enumerate(graph.order)}
    ordered = tuple(sorted(steps, key=lambda step: rank[step.id]))
    return Plan(graph, ordered, reused, keys, wanted)


def demand(
    wanted: Iterable[NodeId],
    nodes: Mapping[NodeId, GraphNode],
    keys: Mapping[NodeId, Key | None],
    cache: Cache,
    known: Container[NodeId],
) -> tuple[list[Step], dict[NodeId, Result]]:
    """Find what must run to have the wanted nodes, and what is there already.

    known  nodes that the run has dealt with before
    """
    steps: list[Step] = []
    reused: dict[NodeId, Result] = {}
    seen: set[NodeId] = set()
    waiting = [id for id in wanted if id not in known]
    while waiting:
        id = waiting.pop()
        if id in seen:
            continue
        seen.add(id)
        result = cache.get(keys[id])
        if result is not None:
            reused[id] = result
            continue
        step = step_of(nodes[id], keys[id])
        steps.append(step)
        waiting += [need for need in step.needs if need not in known and need not in seen]
    return steps, reused


def step_of(node: GraphNode, key: Key | None) -> Step:
    """Make the step of a node."""
    links = node.links
    lazy = {port.name for port in node.type.inputs if port.lazy}
    needs = dict.fromkeys(link.node for name, link in links.items() if name not in lazy)
    return Step(node, key, _lane(node), tuple(needs))


def _lane(node: GraphNode) -> str:
    if node.type.is_async:
        return "async"
    return "device" if node.type.uses_device else "host"


def _target(name: str, graph: Graph) -> NodeId:
    id = NodeId(name)
    if id in graph.sources:
        return id
    close = nearest(name, graph.sources)
    fix = f"did you mean {close}?" if close else f"the workflow has {len(graph.sources)} nodes"
    raise WorkflowError(Fault(f"node {name}", "no such node", fix=fix, code="unknown-target"))
