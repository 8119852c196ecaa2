"""JSON <-> Workflow: our file and ComfyUI's API format. Knows no node type."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NewType, NoReturn, TypeAlias, cast

from vinode.graph.errors import Fault, WorkflowError, short

NodeId = NewType("NodeId", str)
Json: TypeAlias = Any  # JSON as Python has it; a recursive type would have to be cast at each use

VERSION = 1
MAX_BYTES = 64 * 2**20
MAX_NODES = 200_000


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
    shown = id if len(id) <= 60 else f"{id[:57]}..."
    at = f", input {input if len(input) <= 60 else input[:57] + '...'}" if input else ""
    return f"node {shown} ({short(class_type)[1:-1]}){at}"


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
    if "prompt" in document and "class_type" not in _object(document["prompt"]):
        version = document.get("vinode", VERSION)
        if not isinstance(version, int) or isinstance(version, bool) or version > VERSION:
            fix = "update vinode, or save the workflow with an older version"
            fault = Fault(f"{name}, vinode", f"expected version {VERSION}", short(version), fix)
            raise WorkflowError(replace(fault, code="too-new"))
        prompt = document["prompt"]
        other = {k: v for k, v in document.items() if k not in ("vinode", "prompt", "extra_data")}
        extra = _object(document.get("extra_data", {}))
    else:
        prompt, other, extra = document, {}, {}
    if isinstance(prompt, dict) and isinstance(prompt.get("nodes"), list):  # pyright: ignore
        fix = "in ComfyUI choose Workflow > Export (API) and open that file"
        problem = "this is ComfyUI's editor format, which needs its editor to be read"
        raise WorkflowError(Fault(name, problem, "a list of nodes", fix, "ui-format"))
    return Workflow(_nodes(prompt, name), extra, other)


def dump(workflow: Workflow) -> str:
    """Write our file: stable order and spacing, an input a line, so that it diffs well in git."""
    lines = ["{", f'"{"vinode"}": {VERSION},', '"prompt": {']
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


def _refuse(place: str, problem: str, got: str = "", fix: str = "") -> NoReturn:
    raise WorkflowError(Fault(place, problem, got, fix, "bad-json"))


def load_json(text: str | bytes, name: str) -> Json:
    """Read JSON strictly: no NaN, no key twice, no endless numbers, no endless nesting."""

    def constant(word: str) -> NoReturn:
        _refuse(name, "JSON has no such number", word, "use a finite number")

    def number(digits: str) -> float:
        value = float(digits)
        return value if value - value == 0 else constant(digits[:40])

    def pairs(items: list[tuple[str, Json]]) -> dict[str, Json]:
        found = dict(items)
        if len(found) < len(items):
            names = [key for key, _ in items]
            twice = next(key for key in names if names.count(key) > 1)
            _refuse(name, "the same key stands twice in one object", short(twice), "keep one")
        return found

    try:
        return json.loads(
            text, parse_constant=constant, parse_float=number, object_pairs_hook=pairs
        )
    except RecursionError:
        _refuse(name, "brackets are nested too deep", fix="a workflow is three levels deep")
    except json.JSONDecodeError as error:
        where = f"{name}, line {error.lineno}, column {error.colno}"
        _refuse(where, f"not JSON: {error.msg}", fix="open the file in an editor that shows JSON")
    except UnicodeDecodeError:
        _refuse(name, "not text in UTF-8", fix="is this a workflow file? save it as UTF-8")
    except ValueError:  # Python refuses whole numbers of more than 4,300 digits
        _refuse(name, "a number has thousands of digits", fix="no input takes such a number")


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
        yield Fault(f"node {id[:60]}", "no class_type", got, fix, "bad-node", id)
        return
    inputs = value.get("inputs", {})
    if not isinstance(inputs, dict):
        fix = "inputs is an object: name -> value or [node id, slot]"
        place = place_of(id, class_type)
        yield Fault(place, "inputs must be an object", short(inputs), fix, "bad-node", id)
        return
    for name, given in cast(dict[str, Json], inputs).items():
        if isinstance(given, list) and _link(given) is None:  # pyright: ignore[reportUnknownArgumentType]
            fix = 'a link is ["node id", slot]; a list value is {"__value__": [...]}'
            place = place_of(id, class_type, name)
            yield Fault(
                place, "this list is no link", short(cast(object, given)), fix, "bad-link", id
            )


def _link(value: list[Json]) -> Link | None:
    if len(value) != 2:
        return None
    node, slot = value
    if not isinstance(node, str) or type(slot) is not int or slot < 0:
        return None
    return Link(NodeId(node), slot)


def _spec(value: dict[str, Json]) -> NodeSpec:
    inputs = {
        name: _link(given) if isinstance(given, list) else given  # pyright: ignore[reportUnknownArgumentType]
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
