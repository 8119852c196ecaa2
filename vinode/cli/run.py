"""`vinode run`: a saved workflow, headless."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
from collections.abc import Container, Sequence
from dataclasses import replace
from pathlib import Path

import click

from vinode.cli import CANCELLED, NODE_FAILED, OK, places, reader_may_leave
from vinode.cli.edits import apply_devices, apply_sets, find_node
from vinode.cli.jobs import cancel_on_signals
from vinode.cli.pools import PoolOptions, pool_options
from vinode.cli.watch import watch
from vinode.graph.cache import Cache
from vinode.graph.context import Folders
from vinode.graph.devices import PRESETS
from vinode.graph.errors import Fault, WorkflowError, short
from vinode.graph.events import Event
from vinode.graph.graph import Graph, build
from vinode.graph.plan import Plan, make
from vinode.graph.pool import Pool
from vinode.graph.run import run
from vinode.graph.strict_json import Json
from vinode.graph.timing import Report, report, to_json
from vinode.graph.trace import to_trace
from vinode.graph.whole_file import write_whole
from vinode.graph.workflow import NodeId, Workflow
from vinode.graph.workflow_file import picture_text


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
    metavar="HINT|PRESET|NODE=HINT",
    help="Where to run: AUTO, CPU, GPU, NPU, HETERO:NPU,CPU; NPU! refuses to fall back. "
    f"Presets for all nodes: {', '.join(PRESETS)}. NODE may be a class: all its nodes.",
)
@click.option("--only", multiple=True, metavar="NODE", help="Run these nodes and what they need.")
@click.option(
    "--timing",
    type=click.Choice(["table", "json", "trace"]),
    default="table",
    help="What to write to standard output: a table, the report, or a trace for Perfetto.",
)
@click.option("--report", "report_file", type=click.Path(path_type=Path), help="Write the report.")
@click.option("--ops", is_flag=True, help="Tell the busiest operations of each model's node.")
@click.option("--pull", is_flag=True, help="Fetch missing models from their known sources first.")
@click.option("--quiet", is_flag=True, help="No progress and no table; faults only.")
@pool_options
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
    ops: bool,
    pull: bool,
    quiet: bool,
    devices: PoolOptions,
    models: Sequence[Path],
    nodes: Sequence[Path],
) -> int:
    """Run a workflow: our file, ComfyUI's API format, or a picture that carries one."""
    types = places.packs(nodes).types
    folders = places.run_folders(file, models, output, named)
    workflow, default = apply_devices(
        apply_sets(places.read_workflow(file), sets, types), hints, types
    )
    targets = _targets(workflow, only)
    with cancel_on_signals() as cancel:
        graph = build(workflow, types, folders, default)
        if pull and _pull(graph, targets, folders, cancel, quiet):
            graph = build(workflow, types, folders, default)
        cache = Cache()
        plan = make(graph, folders, cache, targets)
        _warn(graph, graph.needed(plan.targets), quiet)
        _ready(folders, report_file)
        done = run_plan(workflow, plan, folders, cache, devices.pool(folders), cancel, quiet)
    for node in done.nodes:
        for fault in node.faults:
            click.echo(str(fault), err=True)
    with reader_may_leave():
        _tell(done, timing, ops, folders, quiet)
    if report_file:
        _write(report_file, to_json(done))
    return {"done": OK, "failed": NODE_FAILED, "cancelled": CANCELLED}[done.status]


def _ready(folders: Folders, report_file: Path | None) -> None:
    """See before the work, not after it, that its results can be written."""
    _writable(folders.output, "--output DIR")
    places.sweep_previews(folders.temp)
    if report_file:
        _replaceable(report_file)


def _tell(done: Report, timing: str, ops: bool, folders: Folders, quiet: bool) -> None:
    if timing == "json":
        click.echo(_json(to_json(done), indent=1))
    elif timing == "trace":
        click.echo(_json(to_trace(done)))
    elif not quiet:
        from vinode.cli.tables import print_report  # imports rich, which JSON does without

        print_report(done, folders, ops)


def _json(value: Json, indent: int | None = None) -> str:
    """Write JSON; what a node showed and is none, such as numpy's numbers, as a text."""
    return json.dumps(value, indent=indent, default=short)


def _warn(graph: Graph, needed: Container[NodeId], quiet: bool) -> None:
    """Tell what is odd, and which nodes are wrong but in nobody's way."""
    if quiet:
        return
    for warning in graph.warnings:
        click.echo(f"warning: {warning}", err=True)
    for fault in graph.faults:
        if NodeId(fault.node) not in needed:
            click.echo(f"warning: does not run: {fault}", err=True)


def _targets(workflow: Workflow, only: Sequence[str]) -> list[NodeId] | None:
    found = {name: find_node(workflow, name) for name in only}
    faults = [
        replace(node, place=f"--only {name}")
        for name, node in found.items()
        if isinstance(node, Fault)
    ]
    if faults:
        raise WorkflowError(*faults)
    return [node for node in found.values() if not isinstance(node, Fault)] or None


def _pull(
    graph: Graph,
    targets: list[NodeId] | None,
    folders: Folders,
    cancel: threading.Event,
    quiet: bool,
) -> bool:
    """Fetch the models that are missing, unless something else stands in the way of the run."""
    needed = graph.needed(targets or graph.outputs)
    faults = [fault for fault in graph.faults if NodeId(fault.node) in needed]
    missing = [fault.got.strip("'\"") for fault in faults if fault.code == "model-missing"]
    if not missing or len(missing) < len(faults):
        return False
    from vinode.cli.models import pull_models

    pull_models(folders.models, list(dict.fromkeys(missing)), cancel.is_set, quiet)
    return True


def run_plan(
    workflow: Workflow,
    plan: Plan,
    folders: Folders,
    cache: Cache,
    pool: Pool,
    cancel: threading.Event,
    quiet: bool,
) -> Report:
    """Run a plan, with progress on a terminal unless it is to be quiet; gives its report."""
    events: list[Event] = []
    with watch(len(plan.steps), quiet) as tell:

        def on_event(event: Event) -> None:
            events.append(event)
            tell(event)

        # What a node prints must not end up in the middle of somebody's JSON.
        with contextlib.redirect_stdout(sys.stderr):
            run(
                plan,
                on_event,
                folders=folders,
                pool=pool,
                cache=cache,
                file_text=picture_text(workflow),
                cancel=cancel,
            )
    return report(events, plan.graph)


def _writable(folder: Path, option: str) -> None:
    """See before the work, not after it, that results can be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".vinode-{threading.get_native_id()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        problem = f"the folder cannot be written to: {error.strerror or error}"
        if isinstance(error, FileExistsError | NotADirectoryError):
            problem = "a file stands where the folder should be"
        fix = f"choose another: {option}"
        raise WorkflowError(Fault(str(folder), problem, fix=fix, code="not-writable")) from None


def _replaceable(report_file: Path) -> None:
    if report_file.is_dir():
        fix = "name a file in it: --report FILE"
        fault = Fault(str(report_file), "this is a folder, not a file", fix=fix)
        raise WorkflowError(replace(fault, code="not-writable"))
    _writable(report_file.parent, "--report FILE")


def _write(path: Path, value: Json) -> None:
    try:
        write_whole(path, f"{_json(value, indent=1)}\n".encode())
    except OSError as error:
        problem = f"the report cannot be written: {error.strerror or error}"
        fix = "choose another: --report FILE"
        raise WorkflowError(Fault(str(path), problem, fix=fix, code="not-writable")) from None
