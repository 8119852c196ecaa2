"""A node's expansion -> nodes of the graph: the same checks as for a workflow's own nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vinode.graph.cache import Key, key_of
from vinode.graph.context import Expansion, Folders, SubgraphNode, Wire, is_lazy
from vinode.graph.errors import Fault, VinodeError, nearest, short
from vinode.graph.graph import GraphNode
from vinode.graph.kinds import fits, value_problem
from vinode.graph.node import NodeTypes
from vinode.graph.ports import Input, constant_problem
from vinode.graph.workflow import Link, NodeId


@dataclass(frozen=True, slots=True)
class Expanded:
    """An expansion as nodes of the graph.

    outputs  for each output of the expanding node a link into `nodes`, or a value
    ends     nodes of it that are ends of a workflow and run by themselves
    """

    nodes: Mapping[NodeId, GraphNode]
    keys: Mapping[NodeId, Key | None]
    outputs: tuple[object, ...]
    ends: tuple[NodeId, ...]


def expand(
    parent: GraphNode,
    number: int,
    expansion: Expansion,
    types: NodeTypes,
    keys: Mapping[NodeId, Key | None],
    folders: Folders,
) -> Expanded:
    """Give the nodes of one call's expansion; VinodeError names the node at fault inside it.

    number  which call of the parent; ids are parent.number.local
    """
    if len(expansion.outputs) != len(parent.type.outputs):
        wanted = len(parent.type.outputs)
        raise _mistake(
            parent, f"its expansion gives {len(expansion.outputs)} outputs, not {wanted}"
        )
    nodes: dict[NodeId, GraphNode] = {}
    made: dict[NodeId, Key | None] = {}
    parent_key = keys[parent.id]
    ids = {local: NodeId(f"{parent.id}.{number}.{local}") for local in expansion.nodes}
    for local, spec in expansion.nodes.items():
        id = ids[local]
        node = _node(parent, id, spec, {k: v for k, v in ids.items() if v in nodes}, types, nodes)
        nodes[id] = node
        salt = b"" if parent_key is None else parent_key + f"{number}.{local}".encode()
        made[id] = key_of(node, {**keys, **made}, folders, salt) if salt else None
    outputs = tuple(_source(value, ids) for value in expansion.outputs)
    ends = tuple(id for id, node in nodes.items() if node.type.is_output)
    return Expanded(nodes, made, outputs, ends)


def _source(value: object, ids: Mapping[str, NodeId]) -> object:
    if isinstance(value, Wire):
        return Link(ids[value.node], value.slot)
    if is_lazy(value) and value.source is not None:
        return Link(NodeId(value.source[0]), value.source[1])
    return value


def _node(
    parent: GraphNode,
    id: NodeId,
    spec: SubgraphNode,
    earlier: Mapping[str, NodeId],
    types: NodeTypes,
    nodes: Mapping[NodeId, GraphNode],
) -> GraphNode:
    type = types.get(spec.class_type)
    if type is None:
        close = nearest(spec.class_type, types)
        problem = f"its expansion asks for {spec.class_type!r}, which is no node"
        raise _mistake(parent, problem, f"did you mean {close}?" if close else "")
    unknown = spec.inputs.keys() - {port.name for port in type.inputs}
    if unknown:
        raise _mistake(parent, f"its expansion gives {spec.class_type} an input {min(unknown)!r}")
    constants: dict[str, object] = {}
    links: dict[str, Link] = {}
    for port in type.inputs:
        value = spec.inputs.get(port.name, port.default)
        if isinstance(value, Wire) and value.node not in earlier:
            raise _mistake(parent, "a wire in its expansion comes from a node added later")
        source = _source(value, earlier)
        if isinstance(source, Link):
            links[port.name] = source
            _check_link(parent, port, source, nodes, spec.class_type)
        else:
            constants[port.name] = _constant(parent, port, source, spec.class_type)
    return GraphNode(id, type, constants, links, parent.title, parent.hint)


def _check_link(
    parent: GraphNode,
    port: Input,
    link: Link,
    nodes: Mapping[NodeId, GraphNode],
    class_type: str,
) -> None:
    source = nodes.get(link.node)
    if source is None:
        return  # a lazy input passed on: its kind was checked where the workflow links it
    outputs = source.type.outputs
    if link.slot >= len(outputs) or not fits(outputs[link.slot].kind, port.kind):
        what = outputs[link.slot].kind.name if link.slot < len(outputs) else "no such output"
        where = f"{class_type}, input {port.name}"
        problem = f"in its expansion {where} takes {port.kind.name}"
        raise _mistake(parent, problem, got=f"{what} from {source.type.id}")


def _constant(parent: GraphNode, port: Input, value: object, class_type: str) -> object:
    if is_lazy(value):
        value = value.value
    if value is None and port.nullable:
        return None
    problem = value_problem(value, port.kind)
    if problem is None and port.is_widget and port.kind.name != "*":
        problem = constant_problem(port, value)
    if problem:
        where = f"{class_type}, input {port.name}"
        raise _mistake(parent, f"in its expansion {where}: {problem}", got=short(value))
    return value


def _mistake(parent: GraphNode, problem: str, fix: str = "", got: str = "") -> VinodeError:
    return VinodeError(Fault(parent.place, problem, got, fix, "bad-expansion", parent.id))
