"""`vinode bench`: the same workflow on several devices, in turns, after a warm-up."""

from __future__ import annotations

import json
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from vinode.cli import NODE_FAILED, OK, places
from vinode.cli.bench_view import Measured, doubts, measure, to_json
from vinode.cli.edits import apply_devices, apply_sets
from vinode.cli.jobs import cancel_on_signals
from vinode.cli.pools import PoolOptions, pool_options
from vinode.graph.cache import Cache
from vinode.graph.context import Folders
from vinode.graph.devices import preset_hints
from vinode.graph.errors import Cancelled, Fault
from vinode.graph.events import Event, NodeProgress
from vinode.graph.graph import Graph, build
from vinode.graph.node import NodeTypes
from vinode.graph.plan import make
from vinode.graph.pool import Pool
from vinode.graph.run import run
from vinode.graph.timing import Report, report
from vinode.graph.workflow import Workflow
from vinode.graph.workflow_file import picture_text, read


@dataclass(frozen=True, slots=True)
class _Placed:
    """The workflow with the hints of one --device."""

    device: str
    workflow: Workflow
    graph: Graph


class _Failed(Exception):
    """A run failed, so there is nothing to measure."""

    def __init__(self, device: str, faults: tuple[Fault, ...]) -> None:
        super().__init__(device)
        self.device, self.faults = device, faults


@click.command(name="bench")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--device",
    "hints",
    multiple=True,
    required=True,
    metavar="HINT|NODE=HINT",
    help="Measure it there. Give it several times; ratios are to the first.",
)
@click.option("--runs", type=click.IntRange(1, 1000), default=5, show_default=True)
@click.option(
    "--warmup",
    type=click.IntRange(0, 100),
    default=1,
    show_default=True,
    help="Runs before the timed ones; they pay for load and compile.",
)
@click.option("--set", "sets", multiple=True, metavar="NODE.INPUT=VALUE", help="Change an input.")
@click.option(
    "--input", "named", multiple=True, metavar="NAME=PATH", help="Use this file for NAME."
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON to standard output.")
@places.models_option
@places.nodes_option
@pool_options
def command(
    file: Path,
    hints: Sequence[str],
    runs: int,
    warmup: int,
    sets: Sequence[str],
    named: Sequence[str],
    as_json: bool,
    models: Sequence[Path],
    nodes: Sequence[Path],
    devices: PoolOptions,
) -> int:
    """Run a workflow n times on each device, in turns, and say whether a device pays.

    Results are thrown away, and nothing is reused from one run to the next but compiled models.
    """
    types = places.packs(nodes).types
    folders = places.run_folders(file, models, None, named)
    workflow = apply_sets(read(file), sets, types)
    placed = [_place(workflow, hint, types, folders) for hint in hints]
    for warning in placed[0].graph.warnings:
        click.echo(f"warning: {warning}", err=True)
    try:
        with cancel_on_signals() as cancel:
            measured = _measure(placed, folders, devices.pool(folders), warmup, runs, cancel)
    except _Failed as failed:
        for fault in failed.faults:
            click.echo(f"--device {failed.device}: {fault}", err=True)
        return NODE_FAILED
    if as_json:
        click.echo(json.dumps(to_json(measured), indent=1))
    else:
        from vinode.cli.bench_tables import print_bench  # imports rich, which JSON does without

        print_bench(measured, doubts(measured), file.name)
    return OK


def _place(workflow: Workflow, hint: str, types: NodeTypes, folders: Folders) -> _Placed:
    changed, default = apply_devices(workflow, [hint], types)
    name = hint.strip() if "=" in hint or preset_hints(hint) else default.text
    return _Placed(name, changed, build(changed, types, folders, default))


def _measure(
    placed: Sequence[_Placed],
    folders: Folders,
    pool: Pool,
    warmup: int,
    runs: int,
    cancel: threading.Event,
) -> list[Measured]:
    """Run in turns, A B A B: what else the machine does then falls on all alike."""
    told: list[list[Report]] = [[] for _ in placed]
    try:
        for turn in range(warmup + runs):
            for number, each in enumerate(placed):
                _tell(f"run {turn * len(placed) + number + 1} of {(warmup + runs) * len(placed)}")
                told[number].append(_run(each, folders, pool, cancel))
    finally:
        _tell("")
    return [
        measure(each.device, reports[:warmup], reports[warmup:])
        for each, reports in zip(placed, told, strict=True)
    ]


def _run(placed: _Placed, folders: Folders, pool: Pool, cancel: threading.Event) -> Report:
    """Run once, with results in a folder that is gone afterwards."""
    events: list[Event] = []

    def on_event(event: Event) -> None:
        if not isinstance(event, NodeProgress):  # it may hold a picture
            events.append(event)

    # On Windows a virus scanner may still hold a file; it is the system's folder for such.
    with tempfile.TemporaryDirectory(prefix="vinode-bench-", ignore_cleanup_errors=True) as name:
        output, temp = Path(name, "output"), Path(name, "temp")
        output.mkdir()
        temp.mkdir()
        here = replace(folders, output=output, temp=temp)
        cache = Cache()
        outcome = run(
            make(placed.graph, here, cache),
            on_event,
            folders=here,
            pool=pool,
            cache=cache,
            file_text=picture_text(placed.workflow),
            cancel=cancel,
        )
    if outcome.status == "cancelled":
        raise Cancelled
    if outcome.status == "failed":
        raise _Failed(placed.device, outcome.faults)
    return report(events, placed.graph)


def _tell(progress: str) -> None:
    """Say how far it is, between runs: a bar that moves on its own would take their time."""
    if sys.stderr.isatty():
        click.echo(f"\r{progress:<40}\r{progress}", nl=False, err=True)
