"""`vinode check`: all that can be known about a workflow without running it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from vinode.cli import INPUT_WRONG, NODE_FAILED, OK, places, preflight
from vinode.cli.edits import apply_devices, apply_sets
from vinode.cli.jobs import job
from vinode.cli.pools import compile_seconds
from vinode.cli.preflight import Outlook
from vinode.cli.preflight_lines import lines
from vinode.converters.files import Watch
from vinode.converters.npu_compiler.find import find
from vinode.graph.context import Folders
from vinode.graph.errors import Fault, VinodeError
from vinode.graph.graph import NOTHING_TO_RUN, Graph, build


@click.command(name="check")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--set", "sets", multiple=True, metavar="NODE.INPUT=VALUE", help="Change an input.")
@click.option("--input", "named", multiple=True, metavar="NAME=PATH", help="Name a picture.")
@click.option(
    "--device", "hints", multiple=True, metavar="HINT|PRESET|NODE=HINT", help="Place nodes."
)
@click.option(
    "--platform",
    "platforms",
    multiple=True,
    type=click.Choice(["3720", "4000", "5010"]),
    help="Ask Intel's compiler about this NPU: Meteor, Lunar, Panther Lake. With --device NPU all.",
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON to standard output.")
@places.models_option
@places.nodes_option
def command(
    file: Path,
    sets: Sequence[str],
    named: Sequence[str],
    hints: Sequence[str],
    platforms: Sequence[str],
    as_json: bool,
    models: Sequence[Path],
    nodes: Sequence[Path],
) -> int:
    """Tell all that is wrong with a workflow, without running it; exit 2 where anything is.

    With --device NPU or --platform each part is compiled for an NPU, which need not be here; exit 1
    where one would not run there.
    """
    try:
        types = places.packs(nodes).types
        folders = places.run_folders(file, models, None, named)
        workflow, default = apply_devices(
            apply_sets(places.read_workflow(file), sets, types), hints, types
        )
    except VinodeError as error:
        if as_json:
            _tell_json(error.faults, (), ())
            return INPUT_WRONG
        raise
    graph = build(workflow, types, folders, default)
    faults = list(graph.faults)
    if not graph.outputs:
        faults.append(NOTHING_TO_RUN)
    outlooks = _preflight(graph, folders, hints, platforms, faults)
    if as_json:
        _tell_json(faults, graph.warnings, outlooks)
    else:
        _tell(file, graph, faults)
        for outlook in outlooks:
            click.echo("\n".join(lines(outlook)))
    if faults:
        return INPUT_WRONG
    return OK if all(outlook.fits for outlook in outlooks) else NODE_FAILED


def _tell_json(
    faults: Sequence[Fault], warnings: Sequence[Fault], outlooks: Sequence[Outlook]
) -> None:
    told: dict[str, object] = {
        "ok": not faults,
        "faults": [asdict(fault) for fault in faults],
        "warnings": [asdict(fault) for fault in warnings],
    }
    if outlooks:
        told["npu"] = [preflight.told(outlook) for outlook in outlooks]
    click.echo(json.dumps(told, indent=1))


def _preflight(
    graph: Graph,
    folders: Folders,
    hints: Sequence[str],
    platforms: Sequence[str],
    faults: list[Fault],
) -> tuple[Outlook, ...]:
    """Ask the NPU compiler where the command line asks for it; what stands in its way is added."""
    if not preflight.is_asked(hints, platforms):
        return ()
    try:
        compiler = find(places.data_folder())
        if faults:
            return ()
        with job() as (progress, cancelled):
            watch = Watch(progress, cancelled)
            limit = compile_seconds()
            return preflight.look(graph, folders, compiler, platforms, limit, watch)
    except VinodeError as error:
        faults += error.faults
        return ()


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
