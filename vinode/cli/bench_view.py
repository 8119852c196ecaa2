"""Reports of many runs on several devices -> medians, ratios, and what to doubt in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from statistics import median
from typing import Literal, TypeAlias

from vinode.graph.placement import Placement, Reason
from vinode.graph.timing import Figures, NodeReport, Report, figures
from vinode.graph.workflow import Json, NodeId, place_of

Code: TypeAlias = Literal[
    "fell-back",
    "remark",
    "same-device",
    "not-faster",
    "within-spread",
    "eaten",
    "no-device",
    "no-cpu",
    "few-runs",
    "setup-timed",
]


# Reasons that say something of a device without saying that the node left it.
_REMARKS = ("option-ignored", "split-too-small")


@dataclass(frozen=True, slots=True)
class NodeMedian:
    """A node over the runs of one device; `figures` has the median of each, ns."""

    id: NodeId
    type: str
    title: str
    placement: Placement
    figures: Figures

    @property
    def place(self) -> str:
        """Name the node as messages do."""
        return place_of(self.id, self.type)

    @property
    def inferred(self) -> bool:
        """Say whether a model ran in this node."""
        return bool(self.placement.requested and self.placement.actual)

    def fell_back(self, reason: Reason) -> bool:
        """Say whether a reason is why the node is not where it was asked for."""
        # A wrong answer that the user accepts is no reason to leave the device.
        accepted = reason.code == "wrong-result" and "CPU" not in self.placement.actual
        return reason.code not in _REMARKS and not accepted


@dataclass(frozen=True, slots=True)
class Measured:
    """A workflow's runs on one device, as it was asked for.

    first  wall ns of each warm-up run, which pays for load and compile
    setup  ns of convert, load and compile in the warm-up runs
    walls  wall ns of each timed run
    late   ns of convert, load and compile in a timed run, median: 0 after a warm-up
    """

    device: str
    first: tuple[int, ...]
    setup: int
    walls: tuple[int, ...]
    late: float
    nodes: tuple[NodeMedian, ...]

    @property
    def where(self) -> str:
        """Name where its models really ran, "" where none did."""
        return "; ".join(
            dict.fromkeys(node.placement.where for node in self.nodes if node.inferred)
        )

    @property
    def on_cpu(self) -> bool:
        """Say whether every model ran on the CPU, under whichever name."""
        return all("CPU" in name for node in self.nodes for name in node.placement.actual)


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why not to believe a number, or an accelerator; `device` and `node` where it is about one."""

    code: Code
    sentence: str
    device: str = ""
    node: str = ""


def measure(device: str, warmups: Sequence[Report], runs: Sequence[Report]) -> Measured:
    """Fold the runs of one device into medians."""
    found: dict[NodeId, list[NodeReport]] = {}
    for node in (node for run in runs for node in run.nodes if node.timing and node.placement):
        found.setdefault(node.id, []).append(node)
    return Measured(
        device,
        tuple(run.end - run.start for run in warmups),
        sum(_setup(run) for run in warmups),
        tuple(run.end - run.start for run in runs),
        median(_setup(run) for run in runs),
        tuple(_node(each) for each in found.values()),
    )


def _setup(run: Report) -> int:
    return sum(figures(node.timing).setup for node in run.nodes if node.timing)


def _node(runs: Sequence[NodeReport]) -> NodeMedian:
    # A node that fell back in any run is told as such: a device may be lost half-way.
    placements = [node.placement for node in runs if node.placement]
    placement = max(placements, key=lambda each: len(each.reasons))
    spent = [figures(node.timing) for node in runs if node.timing]
    names = [field.name for field in fields(Figures)]
    medians = {name: round(median(getattr(each, name) for each in spent)) for name in names}
    first = runs[0]
    return NodeMedian(first.id, first.type, first.title, placement, Figures(**medians))


def ratios(measured: Measured, reference: Measured) -> tuple[float, ...]:
    """Divide wall times run by run: those next to each other saw the same machine."""
    pairs = zip(measured.walls, reference.walls, strict=True)
    return tuple(mine / max(1, other) for mine, other in pairs)


def doubts(measured: Sequence[Measured]) -> tuple[Doubt, ...]:
    """Say what speaks against the numbers, the gravest first."""
    found: list[Doubt] = []
    for each in measured:
        found += _reasons(each)
    cpu = next((each for each in measured if _is_cpu(each)), None)
    others = [each for each in measured if each is not cpu and each.where]
    for each in others if cpu else ():
        assert cpu
        found += _against_cpu(each, cpu)
    found += _eaten(measured)
    if not any(each.where for each in measured):
        text = "no node of this workflow ran a model, so the devices cannot differ"
        found.append(Doubt("no-device", text))
    elif cpu is None:
        text = "nothing is compared with the CPU: add --device CPU to see whether a device pays"
        found.append(Doubt("no-cpu", text))
    runs = len(measured[0].walls)
    if runs < 3:
        text = f"{runs} {'run tells' if runs == 1 else 'runs tell'} little: use --runs 5 or more"
        found.append(Doubt("few-runs", text))
    for each in (each for each in measured if each.late):
        text = f"{each.device}: load and compile are in the timed runs; use --warmup 1 or more"
        found.append(Doubt("setup-timed", text, each.device))
    return tuple(found)


def _is_cpu(measured: Measured) -> bool:
    return measured.device.rstrip("!") == "CPU"


def _reasons(measured: Measured) -> list[Doubt]:
    found: list[Doubt] = []
    for node in (node for node in measured.nodes if node.placement.requested):
        for reason in node.placement.reasons:
            fix = f"; {reason.fix}" if reason.fix else ""
            ran = f"{node.place} ran on {node.placement.where or 'nothing'}"
            text = f"{measured.device}: {ran}: [{reason.code}] {reason.sentence}{fix}"
            code: Code = "fell-back" if node.fell_back(reason) else "remark"
            found.append(Doubt(code, text, measured.device, node.id))
    return sorted(found, key=lambda doubt: doubt.code != "fell-back")


def _against_cpu(measured: Measured, cpu: Measured) -> list[Doubt]:
    paired = ratios(measured, cpu)
    name, ratio = measured.device, median(paired)
    if measured.on_cpu:
        text = f"{name} ran on the CPU, as CPU did: their ratio says nothing about another device"
        return [Doubt("same-device", text, name)]
    if ratio >= 1:
        text = f"{name} takes {ratio:.2f} times as long as the CPU: leave this workflow on the CPU"
        return [Doubt("not-faster", text, name)]
    if max(paired) >= 1:
        spread = f"{min(paired):.2f} to {max(paired):.2f}"
        text = f"{name} is not faster than the CPU in every run: its ratios are {spread}"
        return [Doubt("within-spread", text, name)]
    return []


def _eaten(measured: Sequence[Measured]) -> list[Doubt]:
    """Find nodes whose copies and Python cost more than their inference; once a real place."""
    found: dict[tuple[NodeId, str], Doubt] = {}
    for each in measured:
        for node in (node for node in each.nodes if node.inferred):
            spent = node.figures
            if spent.movement + spent.host <= spent.compute:
                continue
            text = (
                f"{node.place} on {node.placement.where}: moving data takes "
                f"{spent.movement / 1e6:.2f} ms and its Python {spent.host / 1e6:.2f} ms, more "
                f"than its compute, {spent.compute / 1e6:.2f} ms: a faster device gains little"
            )
            doubt = Doubt("eaten", text, each.device, node.id)
            found.setdefault((node.id, node.placement.where), doubt)
    return list(found.values())


def to_json(measured: Sequence[Measured]) -> dict[str, Json]:
    """Give a bench as JSON. Times in seconds; ratios are to the first device, below 1 is faster."""
    return {
        "vinode_bench": 1,
        "runs": len(measured[0].walls),
        "warmup": len(measured[0].first),
        "placements": [_measured_json(each, measured[0]) for each in measured],
        "warnings": [asdict(doubt) for doubt in doubts(measured)],
    }


def _measured_json(measured: Measured, reference: Measured) -> dict[str, Json]:
    paired = ratios(measured, reference)
    return {
        "device": measured.device,
        "where": measured.where,
        "first": [ns / 1e9 for ns in measured.first],
        "setup": measured.setup / 1e9,
        "seconds": [ns / 1e9 for ns in measured.walls],
        "median": median(measured.walls) / 1e9,
        "min": min(measured.walls) / 1e9,
        "max": max(measured.walls) / 1e9,
        "ratios": list(paired),
        "ratio": median(paired),
        "nodes": [_node_json(node) for node in measured.nodes],
    }


def _node_json(node: NodeMedian) -> dict[str, Json]:
    spent = {name: ns / 1e9 for name, ns in asdict(node.figures).items()}
    placement = {**asdict(node.placement), "where": node.placement.where}
    named = {"id": node.id, "type": node.type, "title": node.title}
    return {**named, "placement": placement, "figures": spent}
