"""A run's report as a table for people."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from vinode.cli.device_lines import device_lines
from vinode.graph.context import Folders, Phase
from vinode.graph.devices import shown
from vinode.graph.placement import Reason
from vinode.graph.timing import NodeReport, Report, totals

_ROWS = 200  # nodes shown; the report has all of them
_WORTH = 10_000  # ns: what shows as 0.01 ms; less is left out where a line is short


def milliseconds(ns: int) -> str:
    """Show a time in ms with three figures that count.

    >>> milliseconds(1_234_567), milliseconds(12_345_678), milliseconds(0)
    ('1.23', '12.3', '')
    """
    if ns == 0:
        return ""
    value = ns / 1e6
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def wide_console(width: int = 120) -> Console:
    """Give the console; a file or a pipe has room for this many columns, unless COLUMNS says."""
    console = Console()
    told = console.is_terminal or "COLUMNS" in os.environ
    return console if told else Console(width=width)


def print_report(done: Report, folders: Folders, ops: bool = False) -> None:
    """Print where each node ran and where its time went, then why it ran there, then the files.

    ops  with the busiest operations of each node that used a model
    """
    console = wide_console()
    table = _table(done)
    if Measurement.get(console, console.options, table).maximum > console.width:
        table = _narrow_table(done)
    console.print(table)
    if len(done.nodes) > _ROWS:
        console.print(f"{len(done.nodes) - _ROWS} more nodes are in the report (--report FILE)")
    for node in done.nodes:
        for line in _remarks(node):
            console.print(escape(line), style="yellow", highlight=False)
        for line in device_lines(node, ops):
            console.print(escape(line), highlight=False)
    for line in (line for node in done.nodes for line in _results(node, folders)):
        console.print(escape(line), highlight=False, soft_wrap=True)


def _table(done: Report) -> Table:
    """Lay out a column a phase."""
    phases = list(totals(done.nodes))
    table = _empty_table(done)
    for name in ("total", *phases):
        table.add_column(name, justify="right", no_wrap=True)
    for node in done.nodes[:_ROWS]:
        table.add_row(*_row(node, phases))
    return table


def _narrow_table(done: Report) -> Table:
    """Lay out all phases in one column that may wrap: no figure and no device is ever cut."""
    table = _empty_table(done)
    table.add_column("total", justify="right", no_wrap=True)
    table.add_column("of it")
    for node in done.nodes[:_ROWS]:
        spent = node.timing.phases.items() if node.timing else ()
        parts = [f"{phase} {milliseconds(ns)}" for phase, ns in spent if ns >= _WORTH]
        table.add_row(*_row(node, ()), ", ".join(parts))
    return table


def _empty_table(done: Report) -> Table:
    title = f"{done.status} in {(done.end - done.start) / 1e9:.2f} s, times in ms"
    table = Table(title=title, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("node", no_wrap=True, min_width=14)
    table.add_column("asked", overflow="fold", min_width=5)
    table.add_column("ran on", overflow="fold", min_width=6)
    return table


def _row(node: NodeReport, phases: Sequence[Phase]) -> list[str]:
    name = f"{node.id} {node.title}"
    if node.timing is None or node.placement is None:
        return [escape(name), "", node.state, "", *("" for _ in phases)]
    spent = node.timing.phases
    where = node.placement.where if node.state == "done" else node.state
    times = [milliseconds(spent.get(phase, 0)) for phase in phases]
    asked = shown(node.placement.requested)
    return [escape(name), asked, where, milliseconds(sum(spent.values())), *times]


def _remarks(node: NodeReport) -> list[str]:
    lines = [f"node {node.id} was blocked: {node.because}"] if node.state == "blocked" else []
    if node.state == "skipped":
        lines.append(f"node {node.id} ({node.type}) did not run: node {node.because} failed")
    reasons = node.placement.reasons if node.placement else ()
    lines += [_reason(node, reason) for reason in reasons if reason.code != "python-node"]
    return lines


def _reason(node: NodeReport, reason: Reason) -> str:
    fix = f"; {reason.fix}" if reason.fix else ""
    mark = " [simulated]" if node.placement and node.placement.simulated else ""
    return f"node {node.id} ({node.type}){mark} [{reason.code}] {reason.sentence}{fix}"


def _results(node: NodeReport, folders: Folders) -> list[str]:
    roots = {"output": folders.output, "temp": folders.temp}
    lines: list[str] = []
    for item in node.shown.get("images", ()):
        match item:
            case {"filename": str(name), "subfolder": str(folder), "type": str(kind)}:
                root = roots.get(kind)
                lines.append(f"{kind}: {root / folder / name}" if root else f"{kind}: {name}")
            case _:
                pass
    if node.type == "NonMaxSuppression":  # what it keeps is what was found
        labels = Counter(_label(item) for item in node.shown.get("boxes", ()))
        found = ", ".join(f"{count} {label}" for label, count in labels.items())
        lines.append(f"found: {found or 'nothing'}")
    return lines


def _label(item: object) -> str:
    match item:
        case {"label": str(label)}:
            return label
        case _:
            return "thing"
