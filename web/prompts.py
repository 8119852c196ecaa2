"""POST /prompt: a body is read, checked against the node types and handed to the queue."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import cast

from vinode.graph.context import Folders
from vinode.graph.errors import Fault, VinodeError, WorkflowError, nearest, short
from vinode.graph.graph import Graph, build
from vinode.graph.node import NodeTypes
from vinode.graph.presets import fill_in
from vinode.graph.strict_json import Json, load_json
from vinode.graph.workflow import MAX_NODES, VERSION, NodeId, Workflow, from_json
from vinode.web.bodies import BadRequest, Field, Fields, check_fields
from vinode.web.runs import NewRun
from vinode.web.validation import error, node_errors, sound_outputs, summary

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_PRIORITY = 1e15
_SECRET = ("auth_token_comfy_org", "api_key_comfy_org")
FIELDS: Fields = {
    "prompt": Field("object", "the graph in API format", required=True),
    "client_id": Field("text", "id of the socket that is told of the run", maximum=200),
    "prompt_id": Field("text", "a UUID to give to the run"),
    "number": Field("number", "priority, lower runs first", minimum=-_PRIORITY, maximum=_PRIORITY),
    "front": Field("true or false", "run it before all others"),
    "partial_execution_targets": Field("list of texts", "ids of the only nodes to run"),
    "extra_data": Field("object", "kept with the run; extra_pnginfo goes into saved pictures"),
    "vinode": Field("object", '{"device": "NPU"}: where nodes without a hint of their own run'),
}
_OPTIONS: Fields = {"device": Field("text", "AUTO, CPU, NPU, NPU!, all-npu, ...", maximum=200)}


class Refused(Exception):
    """A prompt that is refused: the error object, and those of single nodes."""

    def __init__(
        self, problem: Mapping[str, Json], nodes: Mapping[str, Json] | None = None
    ) -> None:
        super().__init__(problem.get("message"))
        self.body: dict[str, Json] = {"error": problem, "node_errors": nodes or {}}


@dataclass(frozen=True, slots=True)
class Accepted:
    """A prompt that may run: what goes into the queue, and what the client is told beside it."""

    run: NewRun
    node_errors: Mapping[str, Json]
    warnings: Sequence[Fault]


@dataclass(frozen=True, slots=True)
class Checking:
    """What a prompt is checked against. Slow for large graphs: call it off the event loop."""

    types: NodeTypes
    folders: Folders
    device: str = "AUTO"

    def read(self, body: bytes) -> Accepted:
        """Read a body of POST /prompt; Refused says all that is wrong with it."""
        try:
            return self._read(body)
        except BadRequest as refused:
            raise Refused(_of_faults(refused, "invalid_prompt")) from None
        except VinodeError as refused:
            raise Refused(_of_faults(refused, "invalid_prompt")) from None

    def graph(self, prompt: Mapping[str, Json], device: str = "") -> tuple[Workflow, Graph]:
        """Check a graph in API format; what is wrong with its nodes is in the graph."""
        workflow = from_json({"prompt": prompt}, "prompt")
        asked = device or self.device
        workflow, hint = fill_in(workflow, asked, self.types, "vinode.device")
        return workflow, build(workflow, self.types, self.folders, hint)

    def _read(self, body: bytes) -> Accepted:
        # Counting takes a millisecond, and parsing a million nodes would take seconds.
        if body.count(b'"class_type"') > MAX_NODES:
            problem = f"a workflow has at most {MAX_NODES:,} nodes"
            raise WorkflowError(Fault("body", problem, code="too-large"))
        found: Json = load_json(body, "body") if body.strip() else {}
        if not isinstance(found, dict):
            raise BadRequest(Fault("body", "expected an object", short(found), 'write {"prompt":'))
        asked = cast(dict[str, Json], found)
        given = {name: value for name, value in asked.items() if value is not None}
        if given.get("vinode") == VERSION:
            del given["vinode"]  # a saved file is a body too, and this is the version of its format
        if "prompt" not in given:
            details = 'write {"prompt": {node id: {"class_type", "inputs"}}}'
            raise Refused(error("no_prompt", "No prompt provided", details))
        # ComfyUI's clients send more than is written anywhere: what is not known is not looked at.
        check_fields(given, FIELDS, lenient=True)
        options = given.get("vinode", {})
        check_fields(options, _OPTIONS)
        id = given.get("prompt_id", "")
        if id and not _UUID.fullmatch(id):
            details = f"prompt_id: expected a lower-case UUID with hyphens; got {short(id)}"
            raise Refused(error("invalid_prompt_id", "Invalid prompt_id", details))
        return self._accept(given, options, id)

    def _accept(self, given: dict[str, Json], options: Mapping[str, Json], id: str) -> Accepted:
        workflow, graph = self.graph(given["prompt"], options.get("device", ""))
        wanted = _wanted(given.get("partial_execution_targets"), graph, workflow)
        needed = graph.needed(wanted)
        sound = sound_outputs(graph, wanted)
        faults = [fault for fault in graph.faults if not fault.node or fault.node in needed]
        nodes = node_errors(graph, workflow, needed)
        if not sound or any(not fault.node for fault in faults):
            faults = faults or [Fault("prompt", "nothing of it can run")]
            raise Refused(summary(faults, workflow), nodes)
        number = given.get("number")
        run = NewRun(
            json.dumps(given["prompt"]),
            id,
            None if number is None else float(number),
            given.get("front", False),
            given.get("client_id", ""),
            json.dumps(_extra(given)),
            tuple(sound),
            options,
        )
        return Accepted(run, nodes, graph.warnings)


def _extra(given: Mapping[str, Json]) -> dict[str, Json]:
    """Give the extra data as it is kept: keys to somebody's account are nobody else's business."""
    extra: dict[str, Json] = dict(given.get("extra_data", {}))
    for name in _SECRET:
        extra.pop(name, None)
    client = given.get("client_id")
    return {**extra, **({"client_id": client} if client else {}), "create_time": _now_ms()}


def _now_ms() -> int:
    return int(time.time() * 1000)


def _wanted(targets: Sequence[str] | None, graph: Graph, workflow: Workflow) -> Sequence[NodeId]:
    if targets is None:
        if not graph.outputs:
            unknown = [fault for fault in graph.faults if fault.code == "unknown-node"]
            if unknown:  # it may well be the end that is missing
                nodes = node_errors(graph, workflow, set(workflow.nodes))
                raise Refused(summary(unknown, workflow), nodes)
            details = "add a node that ends the workflow, such as SaveImage or PreviewImage"
            raise Refused(error("prompt_no_outputs", "Prompt has no outputs", details))
        return graph.outputs
    for target in targets:
        if target not in workflow.nodes:
            close = nearest(target, workflow.nodes)
            fix = f"did you mean {close}?" if close else "name a node of the prompt"
            place = "partial_execution_targets"
            raise WorkflowError(Fault(place, "there is no such node", short(target), fix))
    if not targets:
        details = "partial_execution_targets is empty; name a node, or leave it out"
        raise Refused(error("prompt_no_outputs", "Prompt has no outputs", details))
    return [NodeId(target) for target in dict.fromkeys(targets)]


def _of_faults(refused: VinodeError, type: str) -> dict[str, Json]:
    """Give the error of a prompt that could not be read at all."""
    first = refused.faults[0]
    type = "missing_node_type" if first.code == "bad-node" and "class_type" in str(first) else type
    told = [asdict(fault) for fault in refused.faults[:20]]
    said = "\n".join(str(fault) for fault in refused.faults[:20])
    return error(type, f"{first.place}: {first.problem}", said, node_id=first.node, faults=told)
