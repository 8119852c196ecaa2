"""JSON -> a report as `vinode run --report` saved it. It may be wrong, or hostile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast, get_args

from vinode.graph.context import PHASES, Phase
from vinode.graph.errors import Fault, WorkflowError, short
from vinode.graph.events import Status
from vinode.graph.timing import State
from vinode.graph.workflow import Json, NodeId, load_json, place_of

VERSION = 1
_LONGEST = 1e9  # seconds
_MOST = 20  # faults told of one file
_FIX = "write one with `vinode run FILE --report REPORT.json`"


@dataclass(frozen=True, slots=True)
class SavedNode:
    """A node as a saved report has it.

    where   the device or devices it ran on, "" where that is not said
    phases  seconds; empty where the node did not run
    """

    id: NodeId
    type: str
    title: str
    state: State
    where: str
    phases: Mapping[Phase, float]

    @property
    def place(self) -> str:
        """Name the node as messages do."""
        return place_of(self.id, self.title)


@dataclass(frozen=True, slots=True)
class SavedReport:
    """A run as its saved report has it."""

    status: Status
    seconds: float
    nodes: Mapping[NodeId, SavedNode]


def read_report(text: str | bytes, name: str) -> SavedReport:
    """Read a saved report; WorkflowError holds what is wrong with it, up to twenty faults."""
    try:
        document = load_json(text, name)
    except WorkflowError as error:  # its fixes are those of a workflow
        raise WorkflowError(*(replace(fault, fix=_FIX) for fault in error.faults)) from None
    told = cast(dict[str, Json], document) if isinstance(document, dict) else {}
    if "vinode_report" not in told:
        got = short(told or cast(object, document))
        raise WorkflowError(Fault(name, "this is no report of a run", got, _FIX, "bad-report"))
    version = told["vinode_report"]
    if type(version) is not int or version != VERSION:
        place, problem = f"{name}, vinode_report", f"expected version {VERSION}"
        fix = "write both reports with this vinode"
        raise WorkflowError(Fault(place, problem, short(version), fix, "bad-version"))
    reading = _Reading(name, [])
    status = reading.one_of(told.get("status"), get_args(Status), "status")
    seconds = reading.seconds(told.get("seconds"), "seconds")
    nodes = reading.nodes(told.get("nodes"))
    if reading.faults:
        raise WorkflowError(*reading.faults[:_MOST])
    return SavedReport(cast(Status, status), seconds, nodes)


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads values of a report and gathers what is wrong with them."""

    name: str
    faults: list[Fault]

    def refuse(self, place: str, problem: str, got: Json) -> None:
        fault = Fault(f"{self.name}, {place}", problem, short(got), _FIX, "bad-report")
        self.faults.append(fault)

    def seconds(self, value: Json, place: str) -> float:
        if type(value) in (int, float) and 0 <= value <= _LONGEST:
            return float(value)
        self.refuse(place, "expected seconds, 0 or more", value)
        return 0.0

    def one_of(self, value: Json, known: tuple[str, ...], place: str) -> str:
        if isinstance(value, str) and value in known:
            return value
        self.refuse(place, f"expected one of {', '.join(known)}", value)
        return ""

    def text(self, value: Json, place: str) -> str:
        if isinstance(value, str):
            return value
        self.refuse(place, "expected a text", value)
        return ""

    def object(self, value: Json, place: str) -> dict[str, Json]:
        if isinstance(value, dict):
            return cast(dict[str, Json], value)
        self.refuse(place, "expected an object", value)
        return {}

    def nodes(self, value: Json) -> dict[NodeId, SavedNode]:
        if not isinstance(value, list):
            self.refuse("nodes", "expected a list", value)
            return {}
        found: dict[NodeId, SavedNode] = {}
        for number, given in enumerate(cast(Sequence[Json], value)):
            node = self.node(self.object(given, f"nodes[{number}]"), f"nodes[{number}]")
            if node.id in found:
                self.refuse(f"nodes[{number}].id", "two nodes have this id", node.id)
            found[node.id] = node
            if len(self.faults) >= _MOST:
                break
        return found

    def node(self, given: Mapping[str, Json], place: str) -> SavedNode:
        phases = self.object(given.get("phases", {}), f"{place}.phases")
        placement = self.object(given.get("placement", {}), f"{place}.placement")
        spent: dict[Phase, float] = {}
        for name, value in phases.items():
            phase = cast(Phase, self.one_of(name, PHASES, f"{place}.phases"))
            spent[phase] = self.seconds(value, f"{place}.phases.{short(name)[1:-1]}")
        return SavedNode(
            NodeId(self.text(given.get("id"), f"{place}.id")),
            self.text(given.get("type"), f"{place}.type"),
            self.text(given.get("title"), f"{place}.title"),
            cast(State, self.one_of(given.get("state"), get_args(State), f"{place}.state")),
            self.text(placement.get("where", ""), f"{place}.placement.where"),
            spent,
        )
