"""The arguments of a node's calls: constants, wires, lazy inputs, lists mapped as ComfyUI does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vinode.graph.context import Blocked, Lazy, NotComputedYet
from vinode.graph.errors import Fault, VinodeError, short
from vinode.graph.graph import GraphNode
from vinode.graph.kinds import FLOAT, value_problem
from vinode.graph.plan import Step
from vinode.graph.ports import Input, constant_problem
from vinode.graph.workflow import NodeId, place_of

Values = tuple[object, ...]
Sources = Mapping[NodeId, tuple[Values, ...]]
Call = Mapping[str, object]


def calls(step: Step, sources: Sources) -> Iterator[Call | Blocked]:
    """Give the arguments of each call: a node is called once for each value on its longest wire.

    Shorter wires repeat their last value, as in ComfyUI. A parameter that is a list takes all.
    """
    node = step.node
    wires = {name: _wire(link.node, link.slot, sources) for name, link in node.links.items()}
    ports = [(port, wires.get(port.name)) for port in node.type.inputs]
    counts = [len(wire) for port, wire in ports if wire is not None and not port.many]
    for index in range(max(counts, default=1) if 0 not in counts else 0):
        call = {port.name: _argument(port, wire, index, node) for port, wire in ports}
        blocked = next((value for value in call.values() if isinstance(value, Blocked)), None)
        yield blocked or call


def _wire(source: NodeId, slot: int, sources: Sources) -> Values | None:
    outputs = sources.get(source)
    return None if outputs is None else outputs[slot]


def _argument(port: Input, wire: Values | None, index: int, node: GraphNode) -> object:
    link = node.links.get(port.name)
    if port.lazy:
        return _lazy(port, wire, index, node)
    if link is None:
        value = node.constants[port.name]
        return [value] if port.many and value is not None else value
    assert wire is not None, "a step starts when its inputs are there"
    if port.many:
        blocked = next((value for value in wire if isinstance(value, Blocked)), None)
        return blocked or [_arrived(port, value, node) for value in wire]
    return _arrived(port, wire[min(index, len(wire) - 1)], node)


def _lazy(port: Input, wire: Values | None, index: int, node: GraphNode) -> Lazy[object] | None:
    link = node.links.get(port.name)
    if link is None:
        value = node.constants[port.name]
        return None if value is None else Lazy[object].of(value)

    def get() -> object:
        if wire is None:
            raise NotComputedYet(port.name)
        return _arrived(port, wire[min(index, len(wire) - 1)], node)

    return Lazy(get, (link.node, link.slot))


def _arrived(port: Input, value: object, node: GraphNode) -> object:
    """Check a value that came over a wire; kinds that widen are checked only here."""
    if isinstance(value, Blocked) or (value is None and port.nullable):
        return value
    if port.kind is FLOAT and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    problem = value_problem(value, port.kind)
    if problem is None and port.is_widget and port.kind.name != "*":
        problem = constant_problem(port, value)
    if problem:
        link = node.links[port.name]
        place = place_of(node.id, node.type.id, port.name)
        fix = f"see what node {link.node} gives"
        raise VinodeError(Fault(place, problem, short(value), fix, "bad-value", node.id))
    return value
