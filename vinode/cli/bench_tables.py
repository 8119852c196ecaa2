"""A bench as tables for people: where it really ran, how long, and what to doubt."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from rich.markup import escape
from rich.table import Table

from vinode.cli.bench_view import Doubt, Measured, ratios
from vinode.cli.compare_tables import NAMES, new_table
from vinode.cli.tables import milliseconds, wide_console

_ROWS = 200  # nodes shown; --json has all of them
_LOUD = ("fell-back", "same-device", "not-faster")


def print_bench(measured: Sequence[Measured], doubts: Sequence[Doubt], name: str) -> None:
    """Print a row a device, then each node on each device, then the doubts."""
    console = wide_console()
    console.print(_devices(measured, name))
    setup = "; ".join(_warmup(each) for each in measured if each.first)
    if setup:
        console.print(escape(f"warm-up: {setup}"), highlight=False, soft_wrap=True)
    console.print(_nodes(measured))
    count = len({node.id for each in measured for node in each.nodes})
    if count > _ROWS:
        console.print(f"{count - _ROWS} more nodes are in the JSON (--json)")
    for doubt in doubts:
        style = "bold red" if doubt.code in _LOUD else "yellow"
        label = "FELL BACK" if doubt.code == "fell-back" else "warning"
        text = f"{label}: {doubt.sentence}"
        console.print(escape(text), style=style, highlight=False, soft_wrap=True)


def _devices(measured: Sequence[Measured], name: str) -> Table:
    runs, first = len(measured[0].walls), measured[0]
    title = f"{name}, {runs} {'run' if runs == 1 else 'runs'} each in turns, times in ms"
    numbers = ["median", "min..max", f"time / {first.device}", "ratios"]
    table = new_table(escape(title), ["asked", "models ran on"], [escape(text) for text in numbers])
    for each in measured:
        paired = ratios(each, first)
        low, high = milliseconds(min(each.walls)), milliseconds(max(each.walls))
        table.add_row(
            escape(each.device),
            escape(each.where or "no model"),
            milliseconds(round(median(each.walls))),
            f"{low}..{high}",
            "1" if each is first else f"{median(paired):.2f}",
            "" if each is first else f"{min(paired):.2f}..{max(paired):.2f}",
        )
    return table


def _warmup(measured: Measured) -> str:
    setup = milliseconds(measured.setup) or "0"
    return (
        f"{measured.device} {milliseconds(sum(measured.first))} ms, {setup} of it load and compile"
    )


def _nodes(measured: Sequence[Measured]) -> Table:
    late = any(node.figures.setup for each in measured for node in each.nodes)
    names = [name for name in NAMES if name != "setup" or late]
    columns = ["node", "asked", "ran on"]
    table = new_table("nodes, medians in ms", columns, [NAMES[name] for name in names])
    found = [{node.id: node for node in each.nodes} for each in measured]
    ids = dict.fromkeys(id for nodes in found for id in nodes)
    for id in list(ids)[:_ROWS]:
        label = ""
        for each, nodes in zip(measured, found, strict=True):
            node = nodes.get(id)
            if node is None:
                continue
            label, shown = label or node.place.removeprefix("node "), not label
            table.add_row(
                escape(label) if shown else "",
                escape(each.device),
                escape(node.placement.where),
                *(milliseconds(getattr(node.figures, name)) for name in names),
            )
    return table
