"""The built-in node types, and folders to build graphs with."""

from __future__ import annotations

from pathlib import Path

from vinode.graph.context import Folders
from vinode.graph.errors import Fault
from vinode.graph.graph import Graph, build
from vinode.graph.node import NodeTypes, collect
from vinode.graph.workflow import Json, from_json
from vinode.nodes import detect, files, image, mask, primitive

TYPES: NodeTypes = collect([image, mask, primitive, files, detect])


def folders(root: Path) -> Folders:
    """Give the folders of a run below one folder; none of them is made."""
    places = [root / name for name in ("input", "output", "temp", "models")]
    return Folders(places[0], places[1], places[2], (places[3],), root, anywhere=True)


def graph_of(root: Path, **nodes: Json) -> Graph:
    """Build a graph of nodes given as (class_type, {inputs}); ids are n1, n2, ... or any name."""
    specs = {id: {"class_type": kind, "inputs": inputs} for id, (kind, inputs) in nodes.items()}
    return build(from_json(specs), TYPES, folders(root))


def sentences(faults: tuple[Fault, ...]) -> list[str]:
    """Give faults as the command line writes them."""
    return [str(fault) for fault in faults]
