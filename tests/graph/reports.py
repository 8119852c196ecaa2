"""Saved reports and finished runs, made by hand: times are whole numbers that a reader can add."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vinode.graph.context import Phase
from vinode.graph.events import NodeTiming
from vinode.graph.placement import PYTHON_NODE, Placement, Reason
from vinode.graph.timing import NodeReport, Report
from vinode.graph.workflow import NodeId

MS = 1_000_000  # ns
ABSENT = Reason("device-absent", "no NPU is here; OpenVINO finds CPU", "see `vinode doctor`")


def node(id: str, ms: Mapping[Phase, int], placement: Placement = PYTHON_NODE) -> NodeReport:
    """Make a finished node that spent these milliseconds in its phases."""
    phases: dict[Phase, int] = {phase: spent * MS for phase, spent in ms.items()}
    timing = NodeTiming("host", 0, 0, 0, sum(phases.values()), phases)
    return NodeReport(NodeId(id), f"Type{id}", f"Title {id}", "done", timing, placement)


def on(asked: str, ran: str, *reasons: Reason) -> Placement:
    """Make the placement of a node whose model was asked for on one device and ran on another."""
    return Placement(asked, {ran: 1.0}, reasons)


def finished(ms: int, *nodes: NodeReport) -> Report:
    """Make a run of so many milliseconds."""
    return Report("done", 5 * MS, (5 + ms) * MS, nodes)


def saved(seconds: float, *nodes: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """Make the JSON of a report."""
    told = {"vinode_report": 1, "status": "done", "seconds": seconds, "nodes": list(nodes)}
    return {**told, **changed}


def saved_node(id: str, where: object = "CPU", **phases: object) -> dict[str, Any]:
    """Make a node of a report's JSON; without phases it was reused."""
    told: dict[str, Any] = {"id": id, "type": f"Type{id}", "title": f"Title {id}"}
    if not phases:
        return {**told, "state": "reused"}
    return {**told, "state": "done", "phases": phases, "placement": {"where": where}}
