"""What keeps nodes from an NPU that need not be here, as reasons that `vinode fix` may mend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from vinode.cli import places
from vinode.cli.fix_report import Told
from vinode.cli.jobs import job
from vinode.cli.pools import compile_seconds
from vinode.cli.preflight import Outlook, look
from vinode.converters.files import Watch
from vinode.converters.npu_compiler.find import find
from vinode.graph.context import Folders
from vinode.graph.errors import WorkflowError
from vinode.graph.fixes import STATIC_SIZE
from vinode.graph.foresight import UNKNOWN
from vinode.graph.graph import Graph
from vinode.graph.placement import Reason


def npu_reasons(graph: Graph, folders: Folders, platforms: Sequence[str]) -> list[Told]:
    """Ask the NPU compiler about each part, as `vinode check` does; runs no node."""
    if graph.faults:
        raise WorkflowError(*graph.faults)
    compiler = find(places.data_folder())
    with job() as (progress, cancelled):
        watch = Watch(progress, cancelled)
        outlooks = look(graph, folders, compiler, platforms, compile_seconds(), watch)
    return [told for outlook in outlooks for told in _reasons(outlook)]


def _reasons(outlook: Outlook) -> Iterator[Told]:
    for part in outlook.judged:
        if part.verdict.reason:
            yield Told(part.node.id, part.node.type.id, part.verdict.reason)
    for each in outlook.unknown:
        if each.problem == UNKNOWN:
            sentence = f"NPU {outlook.platform}: {each.problem}"
            fix = "give the node a fixed size: the device takes static shapes only"
            reason = Reason("dynamic-shape", sentence, fix, (), (STATIC_SIZE,))
            yield Told(each.node.id, each.node.type.id, reason)
        else:
            click.echo(f"{each.node.place}: not known before it runs: {each.problem}", err=True)
