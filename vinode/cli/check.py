"""`vinode check`: all that can be known about a workflow without running it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from vinode.cli import places
from vinode.cli.edits import apply_devices, apply_sets
from vinode.graph.errors import Fault
from vinode.graph.graph import NOTHING_TO_RUN, Graph, build
from vinode.graph.workflow_file import read


@click.command(name="check")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--set", "sets", multiple=True, metavar="NODE.INPUT=VALUE", help="Change an input.")
@click.option("--input", "named", multiple=True, metavar="NAME=PATH", help="Name a picture.")
@click.option(
    "--device", "hints", multiple=True, metavar="HINT|PRESET|NODE=HINT", help="Place nodes."
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON to standard output.")
@places.models_option
@places.nodes_option
def command(
    file: Path,
    sets: Sequence[str],
    named: Sequence[str],
    hints: Sequence[str],
    as_json: bool,
    models: Sequence[Path],
    nodes: Sequence[Path],
) -> int:
    """Tell all that is wrong with a workflow, without running it; exit 2 where anything is."""
    types = places.packs(nodes).types
    folders = places.run_folders(file, models, None, named)
    workflow, default = apply_devices(apply_sets(read(file), sets, types), hints, types)
    graph = build(workflow, types, folders, default)
    faults = list(graph.faults)
    if not graph.outputs:
        faults.append(NOTHING_TO_RUN)
    if as_json:
        told = {
            "ok": not faults,
            "faults": [asdict(fault) for fault in faults],
            "warnings": [asdict(fault) for fault in graph.warnings],
        }
        click.echo(json.dumps(told, indent=1))
    else:
        _tell(file, graph, faults)
    return 2 if faults else 0


def _tell(file: Path, graph: Graph, faults: list[Fault]) -> None:
    for fault in faults:
        click.echo(str(fault), err=True)
    for warning in graph.warnings:
        click.echo(f"warning: {warning}", err=True)
    if faults:
        click.echo(f"{file}: {len(faults)} to mend", err=True)
        return
    needed = graph.needed(graph.outputs)
    idle = len(graph.nodes) - len(needed)
    more = f", {idle} that no output needs" if idle else ""
    click.echo(f"{file}: {len(needed)} nodes to run{more}; nothing to mend")
