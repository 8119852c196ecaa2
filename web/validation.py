"""Faults of a graph -> the error objects that ComfyUI's clients know; our sentences are in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Final

from vinode.graph.errors import Fault
from vinode.graph.graph import Graph
from vinode.graph.inputs import constant
from vinode.graph.node import NodeTypes
from vinode.graph.ports import Input
from vinode.graph.strict_json import Json
from vinode.graph.workflow import Link, NodeId, NodeSpec, Workflow, place_of
from vinode.web.object_info import input_entry

_MOST_LISTED = 20  # names of a list that an error repeats
_MOST_TRACED = 50  # nodes whose dependent outputs are looked for
_MOST_NODES = 1000  # nodes whose errors are told
_MOST_SAID = 20  # sentences in the summary
_BY_CODE: Final = {
    "missing-input": "required_input_missing",
    "bad-link": "bad_linked_input",
    "kind-mismatch": "return_type_mismatch",
    "cycle": "dependency_cycle",
    "unknown-node": "missing_node_type",
    "check-failed": "exception_during_validation",
}


def error(type: str, message: str, details: str = "", **extra: Json) -> dict[str, Json]:
    """Give an error object: `message` is short, `details` the whole sentence with place and fix."""
    return {"type": type, "message": message, "details": details, "extra_info": extra}


def sound_outputs(graph: Graph, targets: Sequence[NodeId]) -> list[NodeId]:
    """Give the targets that nothing stands in the way of, in time linear in the graph."""
    bad = {fault.node for fault in graph.faults}
    fine: set[NodeId] = set()
    for id in graph.order:
        if id not in bad and all(source in fine for source in graph.sources[id]):
            fine.add(id)
    return [target for target in targets if target in fine]


def node_errors(graph: Graph, workflow: Workflow, needed: set[NodeId]) -> dict[str, Json]:
    """Give ComfyUI's `node_errors`: of each faulty node that an output needs, but not of all."""
    found: dict[str, Json] = {}
    errors: dict[str, list[Json]] = {}
    outputs = _Dependents(graph)
    for fault in graph.faults:
        spec = workflow.nodes.get(NodeId(fault.node))
        if spec is None or NodeId(fault.node) not in needed:
            continue
        if fault.node not in found:
            if len(found) == _MOST_NODES:
                break
            dependents = outputs.of(NodeId(fault.node))
            errors[fault.node] = []
            found[fault.node] = {
                "errors": errors[fault.node],
                "dependent_outputs": dependents,
                "class_type": spec.class_type,
            }
        errors[fault.node].append(_node_error(fault, spec, workflow, graph.types))
    return found


def summary(faults: Sequence[Fault], workflow: Workflow) -> dict[str, Json]:
    """Give the error of a whole prompt that has these faults."""
    said = "\n".join(str(fault) for fault in faults[:_MOST_SAID])
    if len(faults) > _MOST_SAID:
        said += f"\nand {len(faults) - _MOST_SAID} more"
    told = [asdict(fault) for fault in faults[:_MOST_SAID]]
    unknown = next((fault for fault in faults if fault.code == "unknown-node"), None)
    if unknown is not None:
        spec = workflow.nodes[NodeId(unknown.node)]
        title = spec.meta.get("title")
        about = {"node_id": unknown.node, "class_type": spec.class_type}
        name = title if isinstance(title, str) else spec.class_type
        message = f"{unknown.place}: {unknown.problem}"
        return error("missing_node_type", message, said, **about, node_title=name, faults=told)
    message = "The workflow cannot run"
    return error("prompt_outputs_failed_validation", message, said, faults=told)


class _Dependents:
    """Which outputs need a node; looked for once an node, and for so many nodes."""

    def __init__(self, graph: Graph) -> None:
        self._outputs = graph.outputs
        self._left = _MOST_TRACED
        self._users: dict[NodeId, list[NodeId]] = {}
        for id, sources in graph.sources.items():
            for source in sources:
                self._users.setdefault(source, []).append(id)

    def of(self, node: NodeId) -> list[str]:
        if not self._left:
            return []
        self._left -= 1
        seen = {node}
        waiting = [node]
        while waiting:
            for user in self._users.get(waiting.pop(), ()):
                if user not in seen:
                    seen.add(user)
                    waiting.append(user)
        return [output for output in self._outputs if output in seen]


def _node_error(
    fault: Fault, spec: NodeSpec, workflow: Workflow, types: NodeTypes
) -> dict[str, Json]:
    name = _input_of(fault, spec, types)
    declared = types.get(spec.class_type)
    port = next((port for port in declared.inputs if port.name == name), None) if declared else None
    given = spec.inputs.get(name)
    type = _BY_CODE.get(fault.code, "custom_validation_failed")
    if fault.code == "bad-value" and port is not None:
        type = _value_type(port, given)
    extra: dict[str, Json] = {"fault": asdict(fault)}
    if name:
        extra["input_name"] = name
    if port is not None and type != "required_input_missing":
        extra |= {"input_config": _config(port), **_received(given, workflow, types)}
    if fault.code == "cycle":
        extra |= {"node_id": fault.node, "cycle_nodes": _cycle(fault)}
    return error(type, _capital(fault.problem), str(fault), **extra)


def _input_of(fault: Fault, spec: NodeSpec, types: NodeTypes) -> str:
    """Find the input that a fault's place names, or ""."""
    declared = types.get(spec.class_type)
    known: Iterable[str] = [port.name for port in declared.inputs] if declared else []
    id = NodeId(fault.node)
    for name in (*known, *spec.inputs):
        if fault.place == place_of(id, spec.class_type, name):
            return name
    return ""


def _value_type(port: Input, given: Json) -> str:
    if port.options is not None:
        return "value_not_in_list"
    value = constant(port, given)
    limits = port.range
    if limits and isinstance(value, int | float) and not isinstance(value, bool):
        if value < limits.minimum:
            return "value_smaller_than_min"
        if value > limits.maximum:
            return "value_bigger_than_max"
    return "invalid_input_type"


def _config(port: Input) -> Json:
    if port.options is not None and len(port.options) > _MOST_LISTED:
        return None
    return input_entry(port, {})


def _received(given: Json, workflow: Workflow, types: NodeTypes) -> Mapping[str, Json]:
    if not isinstance(given, Link):
        return {"received_value": given}
    told: dict[str, Json] = {"received_value": [given.node, given.slot]}
    source = workflow.nodes.get(given.node)
    declared = types.get(source.class_type) if source else None
    if declared and given.slot < len(declared.outputs):
        told["received_type"] = declared.outputs[given.slot].kind.name
        told["linked_node"] = [given.node, given.slot]
    return told


def _cycle(fault: Fault) -> list[str]:
    """Give the nodes of a cycle, which its sentence names in order."""
    _, _, path = fault.problem.partition(": ")
    return [step.rpartition(" (")[0] for step in path.split(" -> ") if " (" in step]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
