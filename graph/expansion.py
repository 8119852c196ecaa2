"""A node's expansion -> nodes of the graph: the same checks as for a workflow's own nodes."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from vinode.graph.cache import Key, key_of
from vinode.graph.context import Added, Expansion, Folders, SubgraphNode, Wire, is_lazy
from vinode.graph.errors import Fault, VinodeError, nearest, short
from vinode.graph.graph import GraphNode
from vinode.graph.kinds import ANY, Kind, fits, value_problem
from vinode.graph.node import AnyNodeType, NodeTypes
from vinode.graph.ports import REQUIRED, Input, constant_problem
from vinode.graph.step import check_output
from vinode.graph.values import read_only
from vinode.graph.workflow import Link, NodeId

_LONGEST = 80  # letters of an id to which more is appended


@dataclass(frozen=True, slots=True)
class Expanded:
    """An expansion as nodes of the graph.

    outputs  for each output of the expanding node a link to a node, or a value
    ends     nodes of it that are ends of a workflow and run by themselves
    fixed    they depend on nothing but their inputs: no file, nothing that is never the same twice
    """

    nodes: Mapping[NodeId, GraphNode]
    keys: Mapping[NodeId, Key | None]
    outputs: tuple[object, ...]
    ends: tuple[NodeId, ...]
    fixed: bool


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
    keys    of all nodes so far: no id of these is given again
    """
    ids: dict[str, NodeId] = {}
    nodes: dict[NodeId, GraphNode] = {}
    made: dict[NodeId, Key | None] = {}
    parent_key = keys[parent.id]
    for local, spec in expansion.nodes.items():
        id = _id_below(parent.id, f"{number}.{local}", keys)
        node = _node(parent, id, spec, ids, types, nodes)
        ids[local], nodes[id] = id, node
        sources = {
            link.node: made[link.node] if link.node in made else keys[link.node]
            for link in node.links.values()
        }
        # What is no JSON has no text to be told by, but the parent's key and the place tell it.
        salt = b"" if parent_key is None else parent_key + f"{number}.{local}".encode()
        made[id] = key_of(node, sources, folders, salt)
    ends = tuple(id for id, node in nodes.items() if node.type.is_output)
    fixed = all(made[id] and node.type.fingerprint is None for id, node in nodes.items())
    return Expanded(nodes, made, _outputs(parent, expansion, ids, nodes), ends, fixed)


def _id_below(parent: NodeId, name: str, taken: Container[NodeId]) -> NodeId:
    if len(parent) > _LONGEST:  # loops nest thousands deep: ids do not grow with them
        mark = hashlib.blake2b(parent.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        parent = NodeId(f"{parent.split('.')[0][:40]}.{mark}")
    id = NodeId(f"{parent}.{name}")
    while id in taken:  # a workflow may have given this id to a node of its own
        id = NodeId(f"{id}+")
    return id


def _outputs(
    parent: GraphNode,
    expansion: Expansion,
    ids: Mapping[str, NodeId],
    nodes: Mapping[NodeId, GraphNode],
) -> tuple[object, ...]:
    ports = parent.type.outputs
    if len(expansion.outputs) != len(ports):
        given = len(expansion.outputs)
        _refuse(parent, f"its expansion gives {given} outputs instead of {len(ports)}")
    found: list[object] = []
    for port, value in zip(ports, expansion.outputs, strict=True):
        source = _source(parent, value, ids)
        if isinstance(source, Link):
            _check_link(parent, f"output {port.name}", port.kind, source, nodes)
        else:
            check_output(parent, port, source)
        found.append(source)
    return tuple(found)


def _source(parent: GraphNode, value: object, ids: Mapping[str, NodeId]) -> object:
    """Give a link for what comes from a node, and any other value as it is."""
    if isinstance(value, Added):
        problem = "its expansion links a node instead of an output"
        _refuse(parent, problem, "write added[0] for its first output", f"node {value.node}")
    if isinstance(value, Wire):
        if value.node not in ids:
            fix = "add nodes in the order in which values flow, all to one Subgraph"
            _refuse(parent, "a wire in its expansion comes from no earlier node", fix, value.node)
        return Link(ids[value.node], value.slot)
    if is_lazy(value):
        if value.source is None:
            return value.value
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
        _refuse(parent, problem, f"did you mean {close}?" if close else "")
    _check_names(parent, spec, type)
    constants: dict[str, object] = {}
    links: dict[str, Link] = {}
    for port in type.inputs:
        source = _source(parent, spec.inputs.get(port.name, port.default), earlier)
        where = f"{spec.class_type}, input {port.name}"
        if isinstance(source, Link):
            links[port.name] = source
            _check_link(parent, where, port.kind, source, nodes)
        else:
            constants[port.name] = _constant(parent, where, port, source)
    return GraphNode(id, type, constants, links, parent.title, parent.hint)


def _check_names(parent: GraphNode, spec: SubgraphNode, type: AnyNodeType) -> None:
    known = {port.name for port in type.inputs}
    for name in spec.inputs.keys() - known:
        close = nearest(name, known)
        problem = f"its expansion gives {spec.class_type} an input {name!r} that it does not have"
        _refuse(parent, problem, f"did you mean {close}?" if close else "")


def _check_link(
    parent: GraphNode, where: str, kind: Kind, link: Link, nodes: Mapping[NodeId, GraphNode]
) -> None:
    source = nodes.get(link.node)
    if source is None:
        return  # a lazy input passed on: its kind was checked where the workflow links it
    outputs = source.type.outputs
    here = 0 <= link.slot < len(outputs)
    if not here or not fits(outputs[link.slot].kind, kind):
        what = outputs[link.slot].kind.name if here else f"no output {link.slot}"
        problem = f"in its expansion {where} takes {kind.name}"
        _refuse(parent, problem, got=f"{what} from {source.type.id}")


def _constant(parent: GraphNode, where: str, port: Input, value: object) -> object:
    """Check a value; a parameter that is a list takes a list or a single value."""
    if value is REQUIRED:
        _refuse(parent, f"in its expansion {where} must be given")
    if value is None and port.nullable:
        return None
    items = [value]
    if port.many and isinstance(value, list):
        items = value = list(cast(list[object], value))
    for item in items:
        problem = value_problem(item, port.kind)
        if problem is None and port.is_widget and port.kind is not ANY:
            problem = constant_problem(port, item)
        if problem:
            _refuse(parent, f"in its expansion {where}: {problem}", got=short(item))
        if isinstance(item, np.ndarray):
            read_only(cast(NDArray[Any], item))
    return value


def _refuse(parent: GraphNode, problem: str, fix: str = "", got: str = "") -> NoReturn:
    raise VinodeError(Fault(parent.place, problem, got, fix, "bad-expansion", parent.id))
