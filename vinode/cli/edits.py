"""Changes of a workflow from the command line: --set NODE.INPUT=VALUE and --device NODE=HINT."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vinode.graph.devices import Hint, parse_hint
from vinode.graph.errors import Fault, VinodeError, WorkflowError, nearest
from vinode.graph.graph import AUTO
from vinode.graph.node import NodeTypes
from vinode.graph.presets import placed, read_hints
from vinode.graph.strict_json import Json, load_json
from vinode.graph.workflow import Link, NodeId, Workflow, link_of, place_of


def apply_sets(workflow: Workflow, sets: Sequence[str], types: NodeTypes) -> Workflow:
    """Set inputs; every mistyped node or input name is a fault with the nearest one."""
    nodes = dict(workflow.nodes)
    faults: list[Fault] = []
    for text in sets:
        target, equals, value = text.partition("=")
        node, dot, name = target.rpartition(".")
        if not (equals and dot and node and name):
            fix = 'write --set 6.text="a red fox"'
            faults.append(Fault(f"--set {text}", "expected NODE.INPUT=VALUE", "", fix))
            continue
        found = find_node(workflow, node)
        if isinstance(found, Fault):
            faults.append(replace(found, place=f"--set {target}"))
            continue
        spec = nodes[found]
        type = types.get(spec.class_type)
        known = [port.name for port in type.inputs] if type else list(spec.inputs)
        if name not in known:
            close = nearest(name, known)
            fix = f"did you mean {close}?" if close else f"it has {', '.join(known) or 'none'}"
            place = f"--set {target}"
            problem = f"{place_of(found, spec.class_type)} has no such input"
            faults.append(Fault(place, problem, name, fix, "unknown-input"))
            continue
        kind = next((p.kind.name for p in type.inputs if p.name == name), "*") if type else "*"
        given = _value(value, kind, workflow)
        nodes[found] = replace(spec, inputs={**spec.inputs, name: given})
    if faults:
        raise WorkflowError(*faults)
    return replace(workflow, nodes=nodes)


def apply_devices(
    workflow: Workflow, hints: Sequence[str], types: NodeTypes
) -> tuple[Workflow, Hint]:
    """Give the workflow with its nodes' hints set, and the hint of nodes that have none.

    hints  HINT or PRESET for all nodes, NODE=HINT, CLASS=HINT for all nodes of a class
    The command line wins over the file: a hint for all nodes, over that one for a class or a node.
    """
    nodes = dict(workflow.nodes)
    default = AUTO
    faults: list[Fault] = []
    for text in sorted(hints, key=lambda hint: "=" in hint):
        node, equals, name = text.rpartition("=")
        try:
            if equals:
                hint = parse_hint(name, f"--device {text}")
                for id in _meant(workflow, node, f"--device {text}"):
                    nodes[id] = replace(nodes[id], meta={**nodes[id].meta, "device": hint.text})
            else:
                hints_by_kind = read_hints(text, "--device")
                default = hints_by_kind["*"]
                nodes = {id: placed(spec, hints_by_kind, types) for id, spec in nodes.items()}
        except VinodeError as error:
            faults += error.faults
    if faults:
        raise WorkflowError(*faults)
    return replace(workflow, nodes=nodes), default


def _meant(workflow: Workflow, name: str, place: str) -> list[NodeId]:
    """Find the node of this id or title, or all nodes of a class."""
    if NodeId(name) not in workflow.nodes:
        called = [id for id, spec in workflow.nodes.items() if spec.class_type == name]
        if called:
            return called
    found = find_node(workflow, name)
    if isinstance(found, Fault):
        raise WorkflowError(replace(found, place=place))
    return [found]


def find_node(workflow: Workflow, name: str) -> NodeId | Fault:
    """Find a node by its id, or by a title or class that only one node has."""
    id = NodeId(name)
    if id in workflow.nodes:
        return id
    called = [
        other
        for other, spec in workflow.nodes.items()
        if name in (spec.class_type, spec.meta.get("title"))
    ]
    if len(called) == 1:
        return called[0]
    if called:
        fix = f"name one by its id: {', '.join(called[:8])}"
        return Fault("", f"{len(called)} nodes have this name", name, fix, "unknown-target")
    specs = workflow.nodes.values()
    titles = [title for spec in specs if isinstance(title := spec.meta.get("title"), str)]
    known = list(dict.fromkeys([*workflow.nodes, *titles, *(spec.class_type for spec in specs)]))
    close = nearest(name, known)
    fix = f"did you mean {close}?" if close else f"the workflow has {', '.join(known[:8])}"
    return Fault("", "no such node", name, fix, "unknown-target")


def _value(text: str, kind: str, workflow: Workflow) -> Link | Json:
    """Read a value as JSON, or as it stands where the input is a text.

    A text that looks like a link is one only where the workflow has that node.
    """
    try:
        value: Json = load_json(text, "--set")
    except WorkflowError:
        return text
    link = link_of(value)
    if kind in ("STRING", "COMBO"):
        return link if link and link.node in workflow.nodes else text
    if link:
        return link
    if isinstance(value, list):
        return {"__value__": value}  # pyright: ignore[reportUnknownVariableType]
    return value
