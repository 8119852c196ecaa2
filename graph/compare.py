"""Two saved reports -> what got slower: the run, its figures, each node, each phase."""

from __future__ import annotations

from dataclasses import dataclass

from vinode.graph.context import PHASES, Phase
from vinode.graph.errors import short
from vinode.graph.events import Status
from vinode.graph.saved_report import SavedNode, SavedReport
from vinode.graph.timing import FIGURES
from vinode.graph.workflow import Json


@dataclass(frozen=True, slots=True)
class Difference:
    """Seconds in two runs, of `name`: a phase, a figure, or "total"."""

    name: str
    before: float
    after: float

    @property
    def change(self) -> float:
        """Give the seconds by which the later run is slower; negative where it is faster."""
        return self.after - self.before

    @property
    def ratio(self) -> float | None:
        """Give after / before, or None where there was nothing before."""
        return self.after / self.before if self.before else None


@dataclass(frozen=True, slots=True)
class NodeDifference:
    """One node in two runs; `phases` has those that either run spent time in, slowed ones first."""

    before: SavedNode
    after: SavedNode
    total: Difference
    phases: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs, and what got slower between them.

    status       of the earlier and the later run
    run          wall time
    figures      sums over the nodes, in the order of FIGURES
    nodes        in both runs with times, what got slower most first
    untimed      in both runs, but without a time in one: reused, or skipped
    only_before  nodes (id and type) that the later run does not have; only_after: the reverse
    """

    status: tuple[Status, Status]
    run: Difference
    figures: tuple[Difference, ...]
    nodes: tuple[NodeDifference, ...]
    untimed: tuple[tuple[SavedNode, SavedNode], ...]
    only_before: tuple[SavedNode, ...]
    only_after: tuple[SavedNode, ...]


def compare(before: SavedReport, after: SavedReport) -> Comparison:
    """Compare two runs node by node. Nodes are the same where id and type are."""
    pairs = [
        (node, after.nodes[id])
        for id, node in before.nodes.items()
        if id in after.nodes and after.nodes[id].type == node.type
    ]
    known = {node.id for node, _ in pairs}
    nodes = [_node_difference(*pair) for pair in pairs if all(node.phases for node in pair)]
    nodes.sort(key=lambda node: -node.total.change)
    return Comparison(
        (before.status, after.status),
        Difference("total", before.seconds, after.seconds),
        tuple(
            Difference(name, _figure(before, phases), _figure(after, phases))
            for name, phases in FIGURES.items()
        ),
        tuple(nodes),
        tuple(pair for pair in pairs if not all(node.phases for node in pair)),
        tuple(node for id, node in before.nodes.items() if id not in known),
        tuple(node for id, node in after.nodes.items() if id not in known),
    )


def _node_difference(before: SavedNode, after: SavedNode) -> NodeDifference:
    phases = [
        Difference(phase, before.phases.get(phase, 0.0), after.phases.get(phase, 0.0))
        for phase in PHASES
        if before.phases.get(phase) or after.phases.get(phase)
    ]
    phases.sort(key=lambda phase: -phase.change)
    total = Difference("total", sum(before.phases.values()), sum(after.phases.values()))
    return NodeDifference(before, after, total, tuple(phases))


def _figure(report: SavedReport, phases: tuple[Phase, ...]) -> float:
    nodes = report.nodes.values()
    return sum(node.phases.get(phase, 0.0) for node in nodes for phase in phases)


def remarks(found: Comparison) -> tuple[str, ...]:
    """Say in sentences what makes two runs hard to compare, and what is not the same in them."""
    lines = [
        f"the {which} run ended as {status}"
        for which, status in zip(("earlier", "later"), found.status, strict=True)
        if status != "done"
    ]
    both = [(node.before, node.after) for node in found.nodes]
    for before, after in (*both, *found.untimed):
        if before.title != after.title:
            lines.append(f"{before.place} was renamed: {after.place}")
        if before.state != after.state:
            lines.append(f"{after.place} was {before.state} before and {after.state} after")
        if before.where != after.where and before.where and after.where:
            moved = f"ran on {short(before.where)[1:-1]} before and on {short(after.where)[1:-1]}"
            lines.append(f"{after.place} {moved} after")
    old, new = _by_name(found.only_before), _by_name(found.only_after)
    for node in found.only_before:
        name = (node.type, node.title)
        # A node that was deleted and added again has another id.
        again = new[name][0].place if len(old[name]) == len(new.get(name, ())) == 1 else ""
        like = f"; the later run has its like: {again}" if again else ""
        lines.append(f"{node.place} is only in the earlier run{like}")
    lines += [f"{node.place} is only in the later run" for node in found.only_after]
    return tuple(lines)


def _by_name(nodes: tuple[SavedNode, ...]) -> dict[tuple[str, str], list[SavedNode]]:
    named: dict[tuple[str, str], list[SavedNode]] = {}
    for node in nodes:
        named.setdefault((node.type, node.title), []).append(node)
    return named


def to_json(found: Comparison) -> dict[str, Json]:
    """Give a comparison as JSON; times in seconds, ratio null where there was nothing before."""
    return {
        "vinode_comparison": 1,
        "status": {"before": found.status[0], "after": found.status[1]},
        "run": _difference_json(found.run),
        "figures": {figure.name: _difference_json(figure) for figure in found.figures},
        "nodes": [
            {
                "id": node.after.id,
                "type": node.after.type,
                "title": node.after.title,
                "where": {"before": node.before.where, "after": node.after.where},
                **_difference_json(node.total),
                "phases": {phase.name: _difference_json(phase) for phase in node.phases},
            }
            for node in found.nodes
        ],
        "untimed": [
            {"id": after.id, "before": before.state, "after": after.state}
            for before, after in found.untimed
        ],
        "only_before": [node.id for node in found.only_before],
        "only_after": [node.id for node in found.only_after],
        "remarks": list(remarks(found)),
    }


def _difference_json(found: Difference) -> dict[str, Json]:
    times = {"before": found.before, "after": found.after}
    return {**times, "change": found.change, "ratio": found.ratio}
