"""Events -> per-node breakdown and a run's report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Literal, TypeAlias

from vinode.graph.context import PHASES, Phase
from vinode.graph.errors import Fault
from vinode.graph.events import (
    Event,
    NodeBlocked,
    NodeExpanded,
    NodeFailed,
    NodeFinished,
    NodeReused,
    NodeSkipped,
    NodeStarted,
    NodeTiming,
    RunFinished,
    RunStarted,
    Shown,
    Status,
)
from vinode.graph.graph import Graph, GraphNode
from vinode.graph.placement import Placement, Reason
from vinode.graph.workflow import Json, NodeId

State: TypeAlias = Literal["done", "reused", "blocked", "failed", "skipped", "cancelled"]

SNR_LIMIT = 999.0  # dB

# Figure -> the phases it adds up; each phase is in one of them.
FIGURES: Mapping[str, tuple[Phase, ...]] = {
    "compute": ("compute",),
    "movement": ("upload", "download"),
    "waiting": ("wait",),
    "host": ("host",),
    "setup": ("convert", "load", "compile"),
}
ASKED = ("compute", "movement", "waiting")  # the figures that people ask for, of a whole run


@dataclass(frozen=True, slots=True)
class Figures:
    """Where time went, in the words in which people ask. In ns; they add up to the whole.

    compute   inference on the device
    movement  data to the device and back
    waiting   for the lane, or for a model that another node uses
    host      the node's own Python: preparing what a model takes, reading what it gives
    setup     convert, load and compile; not paid again while the compiled model is kept
    """

    compute: int = 0
    movement: int = 0
    waiting: int = 0
    host: int = 0
    setup: int = 0


@dataclass(frozen=True, slots=True)
class NodeReport:
    """What became of a node.

    carried  for each output, what it carried, in words
    because  the failed node for whose sake it was skipped, or why it was blocked
    traceback  of an error that no one foresaw, for the author of the node
    """

    id: NodeId
    type: str
    title: str
    state: State
    timing: NodeTiming | None = None
    placement: Placement | None = None
    carried: tuple[str, ...] = ()
    shown: Shown = field(default_factory=dict[str, tuple[object, ...]])
    faults: tuple[Fault, ...] = ()
    because: str = ""
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """A whole run: times in ns of perf_counter_ns, nodes sources first, as in the graph."""

    status: Status
    start: int
    end: int
    nodes: tuple[NodeReport, ...]


def report(events: Iterable[Event], graph: Graph) -> Report:
    """Fold a run's events into its report."""
    nodes: dict[NodeId, NodeReport] = {}
    blocked: dict[NodeId, str] = {}
    roots: dict[NodeId, NodeId] = {}
    begun: dict[NodeId, None] = {}
    start = end = 0
    status: Status = "cancelled"
    for event in events:
        match event:
            case RunStarted():
                start = event.time
            case RunFinished():
                end, status = event.time, event.status
            case NodeStarted():
                begun[event.node] = None
            case NodeBlocked():
                before = blocked.get(event.node)
                blocked[event.node] = f"{before}; {event.message}" if before else event.message
            case NodeExpanded():
                root = roots.get(event.node, event.node)
                roots.update(dict.fromkeys(event.children, root))
            case NodeReused() | NodeFinished() | NodeFailed() | NodeSkipped():
                # A node of an expansion is told by the name of the one in the workflow.
                known = graph.nodes.get(roots.get(event.node, event.node))
                nodes[event.node] = node_report(event, known, blocked)
            case _:
                pass
    for id in begun:
        if id not in nodes:
            known = graph.nodes.get(roots.get(id, id))
            name = known.type.id if known else "?"
            nodes[id] = NodeReport(id, name, (known.title if known else "") or name, "cancelled")
    rank = {id: number for number, id in enumerate(graph.order)}
    ordered = sorted(nodes.values(), key=lambda n: rank.get(roots.get(n.id, n.id), len(rank)))
    return Report(status, start, end, tuple(ordered))


def node_report(
    event: NodeReused | NodeFinished | NodeFailed | NodeSkipped,
    known: GraphNode | None,
    blocked: Mapping[NodeId, str],
) -> NodeReport:
    """Give what became of a node by its last event; `blocked`: node -> why it gave nothing."""
    id = event.node
    name = known.type.id if known else "?"
    title = (known.title if known else "") or name
    match event:
        case NodeReused():
            state: State = "blocked" if id in blocked else "reused"
            because = blocked.get(id, "")
            return NodeReport(id, name, title, state, shown=event.shown, because=because)
        case NodeSkipped():
            return NodeReport(id, name, title, "skipped", because=event.because)
        case NodeFailed():
            where = event.placement
            return NodeReport(
                id,
                name,
                title,
                "failed",
                event.timing,
                where,
                faults=event.faults,
                traceback=event.traceback,
            )
        case NodeFinished():
            state = "blocked" if id in blocked else "done"
            because = blocked.get(id, "")
            carried, shown = event.carried, event.shown
            where = event.placement
            return NodeReport(
                id, name, title, state, event.timing, where, carried, shown, because=because
            )


def totals(nodes: Sequence[NodeReport]) -> dict[Phase, int]:
    """Add up each phase over nodes, in ns. Nodes overlap, so this is no wall time."""
    timings = [node.timing for node in nodes if node.timing]
    return {
        phase: sum(timing.phases.get(phase, 0) for timing in timings)
        for phase in PHASES
        if any(timing.phases.get(phase) for timing in timings)
    }


def figures(timing: NodeTiming) -> Figures:
    """Give a node's time as compute, data movement, waiting, host and setup.

    >>> figures(NodeTiming("NPU", 0, 0, 0, 9, {"upload": 2, "compute": 4, "download": 3}))
    Figures(compute=4, movement=5, waiting=0, host=0, setup=0)
    """
    spent = timing.phases
    return Figures(
        **{name: sum(spent.get(phase, 0) for phase in phases) for name, phases in FIGURES.items()}
    )


def to_json(done: Report, written: Mapping[NodeId, Json] | None = None) -> dict[str, Json]:
    """Give a report as JSON. Times in seconds from the start of the run.

    written  nodes that `node_json` has written before
    """
    entries = written or {}
    spent = [figures(node.timing) for node in done.nodes if node.timing]
    return {
        "vinode_report": 1,
        "status": done.status,
        "seconds": (done.end - done.start) / 1e9,
        "figures": {name: sum(getattr(each, name) for each in spent) / 1e9 for name in ASKED},
        "nodes": [entries.get(node.id) or node_json(node, done.start) for node in done.nodes],
    }


def node_json(node: NodeReport, zero: int) -> dict[str, Json]:
    """Give a node of a report as JSON; `zero` is the start of its run."""
    found: dict[str, Json] = {
        "id": node.id,
        "type": node.type,
        "title": node.title,
        "state": node.state,
    }
    if node.timing:
        timing = node.timing
        found["lane"] = timing.lane
        found["seconds"] = sum(timing.phases.values()) / 1e9
        found["start"] = (timing.ready - zero) / 1e9
        found["end"] = (timing.end - zero) / 1e9
        found["phases"] = {phase: ns / 1e9 for phase, ns in timing.phases.items()}
        if timing.steps:
            found["steps"] = [[(at - zero) / 1e9 for at in step] for step in timing.steps]
    if node.placement:
        found["placement"] = _placement_json(node.placement)
    found.update({"outputs": node.carried} if node.carried else {})
    found.update({"shown": node.shown} if node.shown else {})
    found.update({"because": node.because} if node.because else {})
    found.update({"traceback": node.traceback} if node.traceback else {})
    if node.faults:
        found["faults"] = [asdict(fault) for fault in node.faults]
    return found


@lru_cache(256)
def _reason_json(reason: Reason) -> dict[str, Json]:
    """Give a reason as JSON: most nodes of a run share one, and a copy of each field is slow."""
    return asdict(reason)


def _placement_json(where: Placement) -> dict[str, Json]:
    """Give a placement without what says nothing: a node on the CPU has no split."""
    found: dict[str, Json] = {
        "requested": where.requested,
        "actual": where.actual,
        "where": where.where,
        "reasons": [_reason_json(reason) for reason in where.reasons],
    }
    found.update({"simulated": True} if where.simulated else {})
    if len(where.ops) > 1:
        found["ops"] = where.ops
    if where.layout:
        found["layout"] = where.layout
        found["layout_seconds"] = where.layout_ns / 1e9
    if where.busiest:
        found["busiest"] = [
            {"name": op.name, "type": op.type, "kernel": op.kernel, "seconds": op.ns / 1e9}
            | ({"submodel": op.submodel} if where.splits else {})
            for op in where.busiest
        ]
    if where.splits:
        found["splits"] = [{**asdict(split), "bytes": split.bytes} for split in where.splits]
        found["between"] = where.between / 1e9
    if where.snr_db is not None:
        # JSON knows no infinity; an answer that is the CPU's own is far above what floats tell.
        found["snr_db"] = max(-SNR_LIMIT, min(SNR_LIMIT, where.snr_db))
    return found
