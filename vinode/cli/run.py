"""`vinode run`: a saved workflow, headless."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path

import click

from vinode.cli import CANCELLED, NODE_FAILED, OK, places
from vinode.cli.edits import apply_devices, apply_sets, find_node
from vinode.cli.jobs import cancel_on_signals
from vinode.cli.watch import watch
from vinode.graph.cache import Cache
from vinode.graph.context import Folders
from vinode.graph.devices import Hint
from vinode.graph.errors import Fault, WorkflowError
from vinode.graph.events import Event
from vinode.graph.graph import Graph, build
from vinode.graph.node import NodeTypes
from vinode.graph.plan import make
from vinode.graph.pool import Pool
from vinode.graph.run import run
from vinode.graph.timing import Report, report, to_json, to_trace
from vinode.graph.workflow import Json, Workflow
from vinode.graph.workflow_file import picture_text, read


@click.command(name="run")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--set", "sets", multiple=True, metavar="NODE.INPUT=VALUE", help="Change an input.")
@click.option(
    "--input", "named", multiple=True, metavar="NAME=PATH", help="Use this file for NAME."
)
@click.option("--output", type=click.Path(path_type=Path), help="Folder for results: ./output.")
@click.option(
    "--device",
    "hints",
    multiple=True,
    metavar="HINT|NODE=HINT",
    help="Where to run: AUTO, CPU, GPU, NPU, HETERO:NPU,CPU; NPU! refuses to fall back.",
)
@click.option("--only", multiple=True, metavar="NODE", help="Run these nodes and what they need.")
@click.option(
    "--timing",
    type=click.Choice(["table", "json", "trace"]),
    default="table",
    help="What to write to standard output: a table, the report, or a trace for Perfetto.",
)
@click.option("--report", "report_file", type=click.Path(path_type=Path), help="Write the report.")
@click.option("--pull", is_flag=True, help="Fetch missing models from their known sources first.")
@click.option("--quiet", is_flag=True, help="No progress and no table; faults only.")
@places.models_option
@places.nodes_option
def command(
    file: Path,
    sets: Sequence[str],
    named: Sequence[str],
    output: Path | None,
    hints: Sequence[str],
    only: Sequence[str],
    timing: str,
    report_file: Path | None,
    pull: bool,
    quiet: bool,
    models: Sequence[Path],
    nodes: Sequence[Path],
) -> int:
    """Run a workflow: our file, ComfyUI's API format, or a picture that carries one."""
    types = places.packs(nodes).types
    folders = places.run_folders(file, models, output, named)
    workflow, default = apply_devices(apply_sets(read(file), sets, types), hints)
    targets = _targets(workflow, only)
    _writable(folders.output, "--output")
    if report_file:
        _writable(report_file.parent, "--report")
    with cancel_on_signals() as cancel:
        graph = _graph(workflow, types, folders, default, pull, cancel, quiet)
        done = _run(workflow, graph, folders, targets, cancel, quiet)
    told = to_json(done)
    if report_file:
        _write(report_file, told)
    if timing == "json":
        click.echo(json.dumps(told, indent=1))
    elif timing == "trace":
        click.echo(json.dumps(to_trace(done)))
    elif not quiet:
        from vinode.cli.tables import print_report  # imports rich, which JSON does without

        print_report(done, folders)
    for node in done.nodes:
        for fault in node.faults:
            click.echo(str(fault), err=True)
    return {"done": OK, "failed": NODE_FAILED, "cancelled": CANCELLED}[done.status]


def _targets(workflow: Workflow, only: Sequence[str]) -> list[str] | None:
    targets: list[str] = []
    for name in only:
        found = find_node(workflow, name)
        if isinstance(found, Fault):
            raise WorkflowError(Fault(f"--only {name}", found.problem, found.got, found.fix))
        targets.append(found)
    return targets or None


def _graph(
    workflow: Workflow,
    types: NodeTypes,
    folders: Folders,
    default: Hint,
    pull: bool,
    cancel: threading.Event,
    quiet: bool,
) -> Graph:
    graph = build(workflow, types, folders, default)
    missing = {
        fault.got.strip("'\""): fault for fault in graph.faults if fault.code == "model-missing"
    }
    if pull and missing:
        from vinode.cli.models import pull_models

        pull_models(folders.models, list(missing), cancel.is_set, quiet)
        graph = build(workflow, types, folders, default)
    if not quiet:
        for warning in graph.warnings:
            click.echo(f"warning: {warning}", err=True)
    return graph


def _run(
    workflow: Workflow,
    graph: Graph,
    folders: Folders,
    targets: list[str] | None,
    cancel: threading.Event,
    quiet: bool,
) -> Report:
    cache = Cache()
    plan = make(graph, folders, cache, targets)
    events: list[Event] = []
    with watch(len(plan.steps), quiet) as tell:

        def on_event(event: Event) -> None:
            events.append(event)
            tell(event)

        run(
            plan,
            on_event,
            folders=folders,
            pool=Pool(),
            cache=cache,
            file_text=picture_text(workflow),
            cancel=cancel,
        )
    return report(events, graph)


def _writable(folder: Path, option: str) -> None:
    """See before the work, not after it, that results can be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".vinode-{threading.get_native_id()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        problem = f"the folder cannot be written to: {error.strerror or error}"
        fix = f"choose another: {option} DIR"
        raise WorkflowError(Fault(str(folder), problem, fix=fix, code="not-writable")) from None


def _write(path: Path, value: Json) -> None:
    from vinode.converters.files import write_whole

    write_whole(path, json.dumps(value, indent=1) + "\n")
