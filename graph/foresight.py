"""What a run will ask of devices, told without running: each model node's parts and shapes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from vinode.graph.context import Folders
from vinode.graph.errors import VinodeError
from vinode.graph.graph import Graph, GraphNode
from vinode.graph.node import call_hook
from vinode.graph.values import PartUse
from vinode.graph.workflow import Link, NodeId

UNKNOWN = "its sizes are known only when it runs"


@dataclass(frozen=True, slots=True)
class Foreseen:
    """A node that runs models.

    uses     its parts; () where they are not known
    problem  why they are not known, or ""
    """

    node: GraphNode
    uses: tuple[PartUse, ...]
    problem: str = ""


def foresee(graph: Graph, targets: Iterable[NodeId], folders: Folders) -> tuple[Foreseen, ...]:
    """Tell which parts the nodes run that these targets need, sources first. Runs no node."""
    needed = graph.needed(targets)
    values: dict[Link, object] = {}
    problems: dict[NodeId, str] = {}
    found: list[Foreseen] = []
    for id in graph.order:
        node = graph.nodes.get(id)
        if node is None or id not in needed:
            continue
        given = {**node.constants}
        for name, link in node.links.items():
            given[name] = values.get(link)
        behind = (problems.get(link.node, "") for link in node.links.values())
        problem = _note_known(node, given, folders, values) or next(filter(None, behind), "")
        problems[id] = problem or _no_model(node, values)
        if _runs_models(node):
            found.append(_foreseen(node, given, folders, problems[id]))
    return tuple(found)


def _runs_models(node: GraphNode) -> bool:
    """Say whether a node that takes a model runs it; others, such as a LoRA's, hand it on."""
    return node.type.uses_device and not (node.type.known and not node.type.parts)


def _note_known(
    node: GraphNode, given: Mapping[str, object], folders: Folders, values: dict[Link, object]
) -> str:
    """Keep what a node tells that it will give; gives the problem, or ""."""
    if node.type.known is None:
        return ""
    try:
        told = call_hook(node.type.known, given, folders)
    except Exception as error:  # a pack's hook is somebody else's code: any error is its own
        return _problem(node, error)
    several = len(node.type.outputs) > 1
    outputs = cast(tuple[object, ...], told) if several and isinstance(told, tuple) else (told,)
    for slot, value in enumerate(outputs):
        values[Link(node.id, slot)] = value
    return ""


def _no_model(node: GraphNode, values: Mapping[Link, object]) -> str:
    """Say that a node gives a model of which nothing is known; "" where all is well."""
    for slot, output in enumerate(node.type.outputs):
        if output.kind.is_model and values.get(Link(node.id, slot)) is None:
            if node.type.known is None:
                return f"{node.place} does not tell which model it gives"
            fix = f"`vinode run FILE --only {node.id}` does it"
            return f"{node.place} has not converted its model yet; {fix}"
    return ""


def _problem(node: GraphNode, error: Exception) -> str:
    if isinstance(error, VinodeError):
        return str(error)
    return f"what {node.place} tells of its models failed: {type(error).__name__}: {error}"


def _foreseen(
    node: GraphNode, given: Mapping[str, Any], folders: Folders, problem: str
) -> Foreseen:
    if node.type.parts is None:
        return Foreseen(node, (), "the node does not tell which models it runs")
    try:
        uses = call_hook(node.type.parts, given, folders)
    except Exception as error:  # a pack's hook is somebody else's code: any error is its own
        return Foreseen(node, (), _problem(node, error))
    if not uses:
        return Foreseen(node, (), problem or UNKNOWN)
    return Foreseen(node, tuple(uses))
