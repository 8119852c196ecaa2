"""The arguments of a node's calls: constants, wires, lazy inputs, lists mapped as ComfyUI does."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from vinode.graph.context import Blocked, BlockedInput, Folders, Lazy, NotComputedYet
from vinode.graph.errors import Fault, VinodeError, short
from vinode.graph.graph import GraphNode
from vinode.graph.kinds import ANY, FLOAT, value_problem
from vinode.graph.plan import Step
from vinode.graph.ports import Input, choice_problem, constant_problem
from vinode.graph.workflow import NodeId, place_of

Values = tuple[object, ...]
Sources = Mapping[NodeId, tuple[Values, ...]]
Call = dict[str, object]


@dataclass(frozen=True, slots=True)
class Called:
    """The node that is called, and what decides over its arguments.

    asked  lazy inputs that the node has asked for: only these count, even where another node had
           the value of others computed already, so that the number of calls is no matter of luck
    """

    node: GraphNode
    asked: Container[str]
    folders: Folders


def calls(
    step: Step, sources: Sources, asked: Container[str], folders: Folders
) -> Iterator[Call | Blocked]:
    """Give the arguments of each call: a node is called once for each value on its longest wire.

    Shorter wires repeat their last value, as in ComfyUI. A parameter that is a list takes all.
    """
    node, called = step.node, Called(step.node, asked, folders)
    fixed = dict(node.constants)
    # What is made anew for each call: values from wires, lazy ones, lists; and names of a list
    # that depends on folders.
    made: list[tuple[Input, Values | None]] = []
    for port in node.type.inputs:
        link = node.links.get(port.name)
        if link is not None:
            outputs = sources.get(link.node)
            made.append((port, None if outputs is None else outputs[link.slot]))
        elif port.lazy or port.many or port.choices:
            made.append((port, None))
    counts = [
        len(wire)
        for port, wire in made
        if wire is not None and not port.many and (not port.lazy or port.name in asked)
    ]
    for index in range(max(counts, default=1) if 0 not in counts else 0):
        call, blocked = fixed.copy(), None
        for port, wire in made:
            value = call[port.name] = _argument(port, wire, index, called)
            if isinstance(value, Blocked):
                blocked = blocked or value
        yield blocked or call


def _argument(port: Input, wire: Values | None, index: int, called: Called) -> object:
    if port.lazy:
        return _lazy(port, wire, index, called)
    if wire is None:
        return _constant(port, called)
    return _given(port, wire, index, called)


def _constant(port: Input, called: Called) -> object:
    value = called.node.constants[port.name]
    if value is None:
        return None
    items = list(cast(list[object], value)) if isinstance(value, list) else [value]
    for item in items:
        _refuse_unlisted(port, item, called)
    return items if port.many else called.node.constants[port.name]


def _lazy(port: Input, wire: Values | None, index: int, called: Called) -> Lazy[object] | None:
    link = called.node.links.get(port.name)
    if link is None:
        value = _constant(port, called)
        return None if value is None else Lazy[object].of(value)

    def get() -> object:
        # Several values change how often the node is called, so that has to begin anew.
        if wire is None or (len(wire) != 1 and port.name not in called.asked):
            raise NotComputedYet(port.name)
        value = _given(port, wire, index, called)
        if isinstance(value, Blocked):
            raise BlockedInput(value)
        return value

    return Lazy(get, (link.node, link.slot))


def _given(port: Input, wire: Values, index: int, called: Called) -> object:
    if not port.many:
        return _arrived(port, wire[min(index, len(wire) - 1)], called)
    blocked = next((value for value in wire if isinstance(value, Blocked)), None)
    return blocked or [_arrived(port, value, called) for value in wire]


def _arrived(port: Input, value: object, called: Called) -> object:
    """Check a value that came over a wire; kinds that widen are checked only here."""
    if isinstance(value, Blocked) or (value is None and port.nullable) or port.kind is ANY:
        return value
    if port.kind is FLOAT and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    problem = (constant_problem if port.is_widget else _kind_problem)(port, value)
    if problem:
        raise _refusal(port, value, called, problem)
    _refuse_unlisted(port, value, called)
    return value


def _refuse_unlisted(port: Input, value: object, called: Called) -> None:
    """Refuse a name that a closed list does not offer, wherever it came from."""
    problem = choice_problem(port, value, called.folders) if port.choices else None
    if problem:
        raise _refusal(port, value, called, problem)


def _refusal(port: Input, value: object, called: Called, problem: str) -> VinodeError:
    node = called.node
    link = node.links.get(port.name)
    wording, _, close = problem.partition("; ")
    fix = close or (f"see what node {link.node} gives" if link else "")
    place = place_of(node.id, node.type.id, port.name)
    return VinodeError(Fault(place, wording, short(value), fix, "bad-value", node.id))


def _kind_problem(port: Input, value: object) -> str | None:
    return value_problem(value, port.kind)
