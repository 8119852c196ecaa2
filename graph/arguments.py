"""The arguments of a node's calls: constants, wires, lazy inputs, lists mapped as ComfyUI does."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import cast

from vinode.graph.context import Blocked, BlockedInput, Lazy, NotComputedYet
from vinode.graph.errors import Fault, VinodeError, short
from vinode.graph.graph import GraphNode
from vinode.graph.kinds import ANY, FLOAT, value_problem
from vinode.graph.plan import Step
from vinode.graph.ports import Input, constant_problem
from vinode.graph.workflow import NodeId, place_of

Values = tuple[object, ...]
Sources = Mapping[NodeId, tuple[Values, ...]]
Call = dict[str, object]


def calls(step: Step, sources: Sources, asked: Container[str]) -> Iterator[Call | Blocked]:
    """Give the arguments of each call: a node is called once for each value on its longest wire.

    Shorter wires repeat their last value, as in ComfyUI. A parameter that is a list takes all.
    asked  lazy inputs that the node has asked for: only these count, even where another node had
           the value of others computed already, so that the number of calls is no matter of luck
    """
    node = step.node
    fixed = dict(node.constants)
    # What is made anew for each call: values from wires, lazy ones, lists.
    made: list[tuple[Input, Values | None]] = []
    for port in node.type.inputs:
        link = node.links.get(port.name)
        if link is not None:
            outputs = sources.get(link.node)
            made.append((port, None if outputs is None else outputs[link.slot]))
        elif port.lazy or port.many:
            made.append((port, None))
    counts = [
        len(wire)
        for port, wire in made
        if wire is not None and not port.many and (not port.lazy or port.name in asked)
    ]
    for index in range(max(counts, default=1) if 0 not in counts else 0):
        call, blocked = fixed.copy(), None
        for port, wire in made:
            value = call[port.name] = _argument(port, wire, index, node, asked)
            if isinstance(value, Blocked):
                blocked = blocked or value
        yield blocked or call


def _argument(
    port: Input, wire: Values | None, index: int, node: GraphNode, asked: Container[str]
) -> object:
    if port.lazy:
        return _lazy(port, wire, index, node, asked)
    if wire is None:
        return _constant(port, node.constants[port.name])
    return _given(port, wire, index, node)


def _constant(port: Input, value: object) -> object:
    if not port.many or value is None:
        return value
    return list(cast(list[object], value)) if isinstance(value, list) else [value]


def _lazy(
    port: Input, wire: Values | None, index: int, node: GraphNode, asked: Container[str]
) -> Lazy[object] | None:
    link = node.links.get(port.name)
    if link is None:
        value = _constant(port, node.constants[port.name])
        return None if value is None else Lazy[object].of(value)

    def get() -> object:
        # Several values change how often the node is called, so that has to begin anew.
        if wire is None or (len(wire) != 1 and port.name not in asked):
            raise NotComputedYet(port.name)
        value = _given(port, wire, index, node)
        if isinstance(value, Blocked):
            raise BlockedInput(value)
        return value

    return Lazy(get, (link.node, link.slot))


def _given(port: Input, wire: Values, index: int, node: GraphNode) -> object:
    if not port.many:
        return _arrived(port, wire[min(index, len(wire) - 1)], node)
    blocked = next((value for value in wire if isinstance(value, Blocked)), None)
    return blocked or [_arrived(port, value, node) for value in wire]


def _arrived(port: Input, value: object, node: GraphNode) -> object:
    """Check a value that came over a wire; kinds that widen are checked only here."""
    if isinstance(value, Blocked) or (value is None and port.nullable) or port.kind is ANY:
        return value
    if port.kind is FLOAT and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    problem = (constant_problem if port.is_widget else _kind_problem)(port, value)
    if problem:
        link = node.links[port.name]
        place = place_of(node.id, node.type.id, port.name)
        fix = f"see what node {link.node} gives"
        raise VinodeError(Fault(place, problem, short(value), fix, "bad-value", node.id))
    return value


def _kind_problem(port: Input, value: object) -> str | None:
    return value_problem(value, port.kind)
