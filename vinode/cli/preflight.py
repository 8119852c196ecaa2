"""Would a workflow run on an NPU? Each part it uses is compiled for it; no NPU is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vinode.converters.files import Watch
from vinode.converters.npu_compiler.find import Compiler
from vinode.converters.npu_compiler.preflight import PLATFORMS, Request, preflight
from vinode.converters.npu_compiler.verdict import Verdict, Verdicts
from vinode.graph.context import Folders
from vinode.graph.devices import SIMULATED
from vinode.graph.errors import Fault, WorkflowError
from vinode.graph.foresight import Foreseen, foresee
from vinode.graph.graph import Graph, GraphNode
from vinode.graph.values import PartUse


@dataclass(frozen=True, slots=True)
class Judged:
    """A part as a node uses it, and the verdict on it."""

    node: GraphNode
    use: PartUse
    verdict: Verdict

    @property
    def estimate(self) -> float | None:
        """Give the seconds of all calls by the compiler's estimate."""
        one = self.verdict.estimate_seconds
        return None if one is None else one * self.use.calls


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a workflow would do on one platform.

    judged   parts of the nodes that are asked to run there
    unknown  nodes that are asked to, and whose parts are not known before they run
    rest     nodes that stay on the CPU or on another device
    """

    platform: str
    compiler: Compiler
    judged: tuple[Judged, ...]
    unknown: tuple[Foreseen, ...]
    rest: tuple[GraphNode, ...]

    @property
    def fits(self) -> bool:
        """Say whether all that is asked for would run on the NPU."""
        return not self.unknown and all(part.verdict.compiles for part in self.judged)

    @property
    def seconds(self) -> float | None:
        """Add up the estimates; None where one is missing."""
        found = [part.estimate for part in self.judged]
        known = [seconds for seconds in found if seconds is not None]
        return sum(known) if len(known) == len(found) and not self.unknown else None


def is_asked(hints: Sequence[str], platforms: Sequence[str]) -> bool:
    """Say whether the command line asks about an NPU."""
    named = (hint.rpartition("=")[2].upper() for hint in hints)
    return bool(platforms) or any("NPU" in name and SIMULATED not in name for name in named)


def look(
    graph: Graph,
    folders: Folders,
    compiler: Compiler,
    platforms: Sequence[str],
    limit: float,
    watch: Watch,
) -> tuple[Outlook, ...]:
    """Compile all parts for each platform; WorkflowError where no node is to run on an NPU.

    platforms  () for all there are
    limit      seconds of one compile
    """
    foreseen = foresee(graph, graph.outputs, folders)
    asked = [each for each in foreseen if _names_npu(each.node)]
    # A node that is placed by nobody may well go to the NPU.
    asked = asked or [each for each in foreseen if not each.node.hint.devices]
    if not asked:
        fix = "give --device NPU, or --device NODE=NPU for some"
        raise WorkflowError(
            Fault("workflow", "no node that runs a model is asked to run on an NPU", fix=fix)
        )
    ids = {each.node.id for each in asked}
    needed = graph.needed(graph.outputs)
    others = needed - ids
    rest = tuple(graph.nodes[id] for id in graph.order if id in others and id in graph.nodes)
    kept = Verdicts(folders.models[0] / "verdicts")
    outlooks: list[Outlook] = []
    for platform in platforms or PLATFORMS:
        judged: list[Judged] = []
        for each in asked:
            for use in each.uses:
                asks = _request(each.node, use, platform, limit)
                judged.append(Judged(each.node, use, preflight(compiler, asks, kept, watch)))
        unknown = tuple(each for each in asked if each.problem)
        outlooks.append(Outlook(platform, compiler, tuple(judged), unknown, rest))
    return tuple(outlooks)


def _request(node: GraphNode, use: PartUse, platform: str, limit: float) -> Request:
    shapes = tuple(sorted(use.shapes.items()))
    hint = node.hint
    return Request(use.part, platform, shapes, hint.options, hint.rewrites, limit)


def _names_npu(node: GraphNode) -> bool:
    return any(name.startswith("NPU") and name != SIMULATED for name in node.hint.devices)


def told(outlook: Outlook) -> Mapping[str, object]:
    """Give an outlook as JSON values; what is an estimate has it in its name."""
    return {
        "platform": outlook.platform,
        "processors": PLATFORMS[outlook.platform],
        "compiler": outlook.compiler.identity,
        "fits": outlook.fits,
        "estimate_seconds": outlook.seconds,
        "parts": [_told_part(part) for part in outlook.judged],
        "unknown": [{"node": each.node.id, "problem": each.problem} for each in outlook.unknown],
        "elsewhere": [{"node": node.id, "type": node.type.id} for node in outlook.rest],
    }


def _told_part(part: Judged) -> Mapping[str, object]:
    from dataclasses import asdict

    return {
        "node": part.node.id,
        "type": part.node.type.id,
        "part": part.use.part.name,
        "shapes": {name: list(shape) for name, shape in part.use.shapes.items()},
        "calls": part.use.calls,
        "compiles": part.verdict.compiles,
        **asdict(part.verdict),
    }
