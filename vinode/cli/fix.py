"""`vinode fix`: what keeps nodes from their devices, changed in the workflow where that helps."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from vinode.cli import CANCELLED, NODE_FAILED, OK, places
from vinode.cli.edits import apply_devices, apply_sets
from vinode.cli.fix_preflight import npu_reasons
from vinode.cli.fix_report import Told, read_reasons
from vinode.cli.jobs import cancel_on_signals
from vinode.cli.pools import PoolOptions, pool_options
from vinode.cli.run import run_plan
from vinode.converters.npu_compiler.preflight import PLATFORMS
from vinode.graph.cache import Cache
from vinode.graph.context import Folders
from vinode.graph.errors import Fault, WorkflowError
from vinode.graph.graph import Graph, build
from vinode.graph.mending import Change, change
from vinode.graph.node import NodeTypes
from vinode.graph.placement import Fix
from vinode.graph.plan import make
from vinode.graph.png_text import SIGNATURE
from vinode.graph.timing import Report
from vinode.graph.workflow import MAX_BYTES, NodeId, Workflow, place_of
from vinode.graph.workflow_file import read, write


@click.command(name="fix")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--report",
    "report_file",
    type=click.Path(path_type=Path),
    help="Take the reasons from this report instead of running the workflow.",
)
@click.option(
    "--platform",
    "platforms",
    multiple=True,
    type=click.Choice(tuple(PLATFORMS)),
    help="Take the reasons of this NPU's compiler, as `vinode check` does, instead of running.",
)
@click.option("--yes", is_flag=True, help="Take the first fix of each reason without asking.")
@click.option(
    "--output", type=click.Path(path_type=Path), help="Write this file instead of changing FILE."
)
@click.option("--set", "sets", multiple=True, metavar="NODE.INPUT=VALUE", help="For the run.")
@click.option("--input", "named", multiple=True, metavar="NAME=PATH", help="For the run.")
@click.option(
    "--device", "hints", multiple=True, metavar="HINT|PRESET|NODE=HINT", help="For the run."
)
@pool_options
@places.models_option
@places.nodes_option
def command(
    file: Path,
    report_file: Path | None,
    platforms: Sequence[str],
    yes: bool,
    output: Path | None,
    sets: Sequence[str],
    named: Sequence[str],
    hints: Sequence[str],
    devices: PoolOptions,
    models: Sequence[Path],
    nodes: Sequence[Path],
) -> int:
    """Ask, for each reason why a node did not run where it should, whether to change the workflow.

    Without a terminal and without --yes it tells what could be changed and changes nothing.
    """
    types = places.packs(nodes).types
    folders = places.run_folders(file, models, None, named)
    workflow = read(file)
    _refuse_picture(file, output)
    code = OK
    if report_file:
        told = _from_report(report_file)
    else:
        changed, default = apply_devices(apply_sets(workflow, sets, types), hints, types)
        graph = build(changed, types, folders, default)
        if platforms:
            told = npu_reasons(graph, folders, platforms)
        else:
            done = _run(changed, graph, folders, devices)
            told, code = _reasons(done), _code(done)
    told = _of(workflow, told, file)
    if code == CANCELLED or (code and not told):
        return code
    fixed, done_lines = _mend(workflow, told, types, yes)
    _finish(fixed, done_lines, output or file, bool(hints))
    return OK


def _refuse_picture(file: Path, output: Path | None) -> None:
    if output is None and _is_picture(file):
        fix = "write a workflow beside it: --output FILE.json"
        raise WorkflowError(
            Fault(str(file), "a picture is not changed", fix=fix, code="bad-option")
        )


def _finish(fixed: Workflow, done: Sequence[str], target: Path, placed: bool) -> None:
    if not done:
        click.echo("nothing was changed")
        return
    write(fixed, target)
    for line in done:
        click.echo(f"changed: {line}")
    click.echo(f"written: {target}")
    if placed:
        click.echo("run it without --device, which wins over what the file says")


def _is_picture(file: Path) -> bool:
    with file.open("rb") as opened:
        start = opened.read(16)
    return start.startswith(SIGNATURE) or start[8:12] == b"WEBP"


def _from_report(path: Path) -> list[Told]:
    try:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES + 1)
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
        fix = "write one with `vinode run FILE --report REPORT.json`"
        raise WorkflowError(Fault(str(path), problem, fix=fix, code="file-unreadable")) from None
    return read_reasons(text, str(path))


def _run(workflow: Workflow, graph: Graph, folders: Folders, devices: PoolOptions) -> Report:
    """Run the workflow for its reasons; its results are thrown away."""
    with tempfile.TemporaryDirectory(prefix="vinode-fix-", ignore_cleanup_errors=True) as name:
        here = replace(folders, output=Path(name, "output"), temp=Path(name, "temp"))
        here.output.mkdir()
        here.temp.mkdir()
        cache = Cache()
        plan = make(graph, here, cache)
        with cancel_on_signals() as cancel:
            done = run_plan(workflow, plan, here, cache, devices.pool(here), cancel, quiet=False)
    for node in done.nodes:
        for fault in node.faults:
            click.echo(str(fault), err=True)
    return done


def _code(done: Report) -> int:
    return {"done": OK, "failed": NODE_FAILED, "cancelled": CANCELLED}[done.status]


def _reasons(done: Report) -> list[Told]:
    return [
        Told(node.id, node.type, reason)
        for node in done.nodes
        if node.placement
        for reason in node.placement.reasons
    ]


def _of(workflow: Workflow, told: Sequence[Told], file: Path) -> list[Told]:
    """Give the reasons that a change may mend, each with a node that the file has.

    A node of an expansion is below one of the file, which is the one to change.
    """
    found: list[Told] = []
    for each in told:
        if each.reason.code == "python-node":
            continue
        ids = [NodeId(each.node), NodeId(each.node.split(".")[0])]
        node = next((id for id in ids if id in workflow.nodes), None)
        if node is None:
            fix = "use the report of this workflow"
            problem = "the report is of another workflow: no such node"
            raise WorkflowError(Fault(str(file), problem, each.node, fix, "bad-report"))
        found.append(replace(each, node=node))
    return list(dict.fromkeys(found))


def _mend(
    workflow: Workflow, told: Sequence[Told], types: NodeTypes, yes: bool
) -> tuple[Workflow, list[str]]:
    """Ask for each reason; gives the workflow with what was agreed to, and what that was."""
    if not told:
        click.echo("every node runs where it was asked to")
    done: list[str] = []
    moved: set[NodeId] = set()
    for each in told:
        if each.node in moved:
            continue  # what was said of its old device is no longer true
        click.echo(f"{place_of(each.node, each.type)} [{each.reason.code}] {each.reason.sentence}")
        chosen = _choose(workflow, each, types, yes)
        if chosen is None:
            continue
        fix, made = chosen
        workflow = made.workflow
        done += made.done
        if fix.kind == "device":
            moved.add(each.node)
    return workflow, done


def _choose(
    workflow: Workflow, told: Told, types: NodeTypes, yes: bool
) -> tuple[Fix, Change] | None:
    asking = sys.stdin.isatty() and not yes
    for fix in told.reason.fixes:
        made = change(workflow, told.node, fix, types)
        if made is None:
            continue
        what = f"{fix.sentence} ({'; '.join(made.done)})"
        if yes or (asking and click.confirm(f"  {what}?")):
            return fix, made
        if not asking:
            click.echo(f"  could: {what}")
    for fix in told.reason.fixes:
        if fix.kind == "advice":
            click.echo(f"  not in the workflow: {fix.sentence}")
    return None
