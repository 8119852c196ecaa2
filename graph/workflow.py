"""JSON <-> Workflow: our file and ComfyUI's API format. Knows no node type."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NewType, cast

from vinode.graph.errors import Fault, WorkflowError, short
from vinode.graph.strict_json import MAX_DEPTH, check_depth
from vinode.graph.strict_json import Json as Json
from vinode.graph.strict_json import load_json as load_json

NodeId = NewType("NodeId", str)

VERSION = 1
MAX_BYTES = 64 * 2**20
MAX_NODES = 200_000
MAX_SLOT = 2**31


@dataclass(frozen=True, slots=True)
class Link:
    """An input's source: output number `slot` of another node."""

    node: NodeId
    slot: int


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """A node as the file has it.

    inputs  name -> Link, or the JSON value as written ({"__value__": [...]} included)
    meta    `_meta`: title, pos, device, ...
    other   keys that we do not know, kept for whoever wrote them
    """

    class_type: str
    inputs: Mapping[str, Link | Json] = field(default_factory=dict[str, Any])
    meta: Mapping[str, Json] = field(default_factory=dict[str, Any])
    other: Mapping[str, Json] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Workflow:
    """A saved workflow: nodes in the file's order, and what else the file carries."""

    nodes: Mapping[NodeId, NodeSpec]
    extra_data: Mapping[str, Json] = field(default_factory=dict[str, Any])
    other: Mapping[str, Json] = field(default_factory=dict[str, Any])


def place_of(id: NodeId, class_type: str, input: str = "") -> str:
    """Name a node, and an input of it, as every message does.

    >>> place_of(NodeId("4"), "ImageScale", "width")
    'node 4 (ImageScale), input width'
    """
    at = f", input {_shown(input)}" if input else ""
    return f"node {_shown(id)} ({_shown(class_type)}){at}"


def _shown(name: str) -> str:
    """Show a name of the file on one line: what a terminal would obey is written as an escape."""
    shown = name if len(name) <= 60 else f"{name[:57]}..."
    return shown if shown.isprintable() else repr(shown)[1:-1]


def parse(text: str | bytes, name: str = "workflow") -> Workflow:
    """Read a workflow from JSON; WorkflowError holds every fault of its structure.

    Accepts our file ({"vinode": 1, "prompt": {...}}), a body of POST /prompt, and a bare API graph.
    """
    if len(text) > MAX_BYTES:
        problem = f"a workflow has at most {MAX_BYTES // 2**20} MB"
        raise WorkflowError(Fault(name, problem, f"{len(text) / 2**20:.0f} MB", code="too-large"))
    document = load_json(text, name)
    if not isinstance(document, dict):
        fix = "a workflow is an object: node id -> {class_type, inputs}"
        raise WorkflowError(Fault(name, "this is no workflow", short(document), fix, "bad-format"))
    return from_json(cast(dict[str, Json], document), name)


def from_json(document: Mapping[str, Json], name: str = "workflow") -> Workflow:
    """Read a workflow from parsed JSON, migrating older versions."""
    if _is_wrapped(document):
        _check_version(document.get("vinode", VERSION), name)
        prompt = document.get("prompt")
        other = {k: v for k, v in document.items() if k not in ("vinode", "prompt", "extra_data")}
        extra = document.get("extra_data")
        if not isinstance(extra, dict | None):
            fix = "leave it out, or write an object"
            place = f"{name}, extra_data"
            raise WorkflowError(Fault(place, "no object", short(extra), fix, "bad-format"))
        extra = _object(extra)
    else:
        check_depth(document, name, MAX_DEPTH - 1)  # our file has one bracket more
        prompt, other, extra = document, {}, {}
    if isinstance(prompt, dict) and isinstance(prompt.get("nodes"), list):  # pyright: ignore
        fix = "in ComfyUI choose Workflow > Export (API) and open that file"
        problem = "this is ComfyUI's editor format, which needs its editor to be read"
        raise WorkflowError(Fault(name, problem, "a list of nodes", fix, "ui-format"))
    return Workflow(_nodes(prompt, name), extra, other)


def _is_wrapped(document: Mapping[str, Json]) -> bool:
    """Tell our file and a body of POST /prompt from a bare graph, whose nodes may have any id."""
    if "prompt" in document:
        return not _is_node(document["prompt"])
    return "vinode" in document and not isinstance(document["vinode"], dict)


def _is_node(value: Json) -> bool:
    return isinstance(_object(value).get("class_type"), str)


def _check_version(version: Json, name: str) -> None:
    if isinstance(version, int) and not isinstance(version, bool) and 1 <= version <= VERSION:
        return
    newer = isinstance(version, int | float) and version > VERSION
    fix = f'write "vinode": {VERSION}'
    fix = "update vinode, or save the workflow with an older version" if newer else fix
    code = "too-new" if newer else "bad-format"
    place = f"{name}, vinode"
    raise WorkflowError(Fault(place, f"expected version {VERSION}", short(version), fix, code))


def dump(workflow: Workflow) -> str:
    """Write our file: stable order and spacing, an input a line, so that it diffs well in git."""
    lines = ["{", f'"vinode": {VERSION},', '"prompt": {']
    nodes = [_dump_node(id, spec) for id, spec in workflow.nodes.items()]
    lines += [",\n".join(nodes), "}" + ("," if workflow.extra_data or workflow.other else "")]
    tail = {**({"extra_data": workflow.extra_data} if workflow.extra_data else {})}
    tail.update(workflow.other)
    if tail:
        lines.append(",\n".join(f"{_compact(k)}: {_pretty(v)}" for k, v in tail.items()))
    return "\n".join([line for line in lines if line] + ["}"]) + "\n"


def to_prompt(workflow: Workflow) -> dict[str, Json]:
    """Give the API graph as JSON: what ComfyUI's clients and a picture's text carry."""
    return {id: _spec_json(spec) for id, spec in workflow.nodes.items()}


def _object(value: Json) -> dict[str, Json]:
    return cast(dict[str, Json], value) if isinstance(value, dict) else {}


def _nodes(prompt: Json, name: str) -> dict[NodeId, NodeSpec]:
    if not isinstance(prompt, dict):
        fix = "it is an object: node id -> {class_type, inputs}"
        raise WorkflowError(Fault(f"{name}, prompt", "no graph", short(prompt), fix, "bad-format"))
    graph = cast(dict[str, Json], prompt)
    if len(graph) > MAX_NODES:
        problem = f"a workflow has at most {MAX_NODES:,} nodes"
        raise WorkflowError(Fault(name, problem, f"{len(graph):,}", code="too-large"))
    faults: list[Fault] = []
    nodes: dict[NodeId, NodeSpec] = {}
    for key, value in graph.items():
        id = NodeId(key)
        found = list(_spec_faults(id, value))
        faults += found
        if not found:
            nodes[id] = _spec(value)
    if faults:
        raise WorkflowError(*faults)
    return nodes


def _spec_faults(id: NodeId, value: Json) -> Iterator[Fault]:
    class_type = _object(value).get("class_type")
    if not isinstance(class_type, str) or not class_type:
        fix = 'a node is {"class_type": "LoadImage", "inputs": {...}}'
        got = short(value if class_type is None else class_type)
        yield Fault(f"node {_shown(id)}", "no class_type", got, fix, "bad-node", id)
        return
    if not isinstance(value.get("_meta"), dict | None):
        fix = 'leave it out, or write {"title": "..."}'
        place, got = place_of(id, class_type), short(value["_meta"])
        yield Fault(place, "_meta must be an object", got, fix, "bad-node", id)
    inputs = value.get("inputs", {})
    if not isinstance(inputs, dict):
        fix = "inputs is an object: name -> value or [node id, slot]"
        place = place_of(id, class_type)
        yield Fault(place, "inputs must be an object", short(inputs), fix, "bad-node", id)
        return
    for name, given in cast(dict[str, Json], inputs).items():
        if isinstance(given, list) and link_of(given) is None:  # pyright: ignore[reportUnknownArgumentType]
            place = place_of(id, class_type, name)
            got, fix = short(cast(object, given)), _link_fix(given)  # pyright: ignore[reportUnknownArgumentType]
            yield Fault(place, "this list is no link", got, fix, "bad-link", id)


def _link_fix(value: list[Json]) -> str:
    match value:
        case [int(node), int(slot)] if 0 <= node < 2**64 and type(node) is int and slot >= 0:
            return f'write the node\'s id as text: ["{node}", {int(slot)}]'
        case _:
            return 'a link is ["node id", slot]; a list value is {"__value__": [...]}'


def link_of(value: Json) -> Link | None:
    """Give the link that a JSON value is, or None."""
    match value:
        case [str(node), int(slot)] if type(slot) is int and 0 <= slot <= MAX_SLOT:
            return Link(NodeId(node), slot)
        case _:
            return None


def _spec(value: dict[str, Json]) -> NodeSpec:
    inputs = {
        name: link_of(given) if isinstance(given, list) else given
        for name, given in _object(value.get("inputs")).items()
    }
    other = {k: v for k, v in value.items() if k not in ("class_type", "inputs", "_meta")}
    return NodeSpec(value["class_type"], inputs, _object(value.get("_meta")), other)


def _spec_json(spec: NodeSpec) -> dict[str, Json]:
    inputs = {name: _input_json(value) for name, value in spec.inputs.items()}
    meta = {"_meta": spec.meta} if spec.meta else {}
    return {"class_type": spec.class_type, "inputs": inputs, **meta, **spec.other}


def _input_json(value: Link | Json) -> Json:
    return [value.node, value.slot] if isinstance(value, Link) else value


def _dump_node(id: NodeId, spec: NodeSpec) -> str:
    inputs = [f"  {_compact(k)}: {_compact(_input_json(v))}" for k, v in spec.inputs.items()]
    lines = [f'"class_type": {_compact(spec.class_type)}']
    lines.append('"inputs": {\n' + ",\n".join(inputs) + "}" if inputs else '"inputs": {}')
    tail = {**({"_meta": spec.meta} if spec.meta else {}), **spec.other}
    lines += [f"{_compact(key)}: {_compact(value)}" for key, value in tail.items()]
    return f"{_compact(id)}: {{\n " + ",\n ".join(lines) + "}"


def _compact(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _pretty(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1)
