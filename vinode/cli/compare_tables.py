"""A comparison of two runs as tables for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.markup import escape
from rich.table import Table

from vinode.cli.tables import milliseconds, wide_console
from vinode.graph.compare import Comparison, Difference, NodeDifference
from vinode.graph.context import PHASES

_ROWS = 200  # nodes shown; --json has all of them
# The three figures that people ask for, by their names; then what else a node spends time on.
NAMES = {
    "compute": "compute",
    "movement": "data movement",
    "waiting": "waiting",
    "host": "host (Python)",
    "setup": "setup (load, compile)",
}


def new_table(title: str, texts: Sequence[str], numbers: Sequence[str]) -> Table:
    """Make a table with columns of text, then columns of numbers."""
    table = Table(title=title, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in texts:
        table.add_column(name, no_wrap=True)
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def shown(seconds: float) -> str:
    """Show seconds in ms; a 0 is left empty.

    >>> shown(0.0123), shown(0)
    ('12.3', '')
    """
    return milliseconds(round(seconds * 1e9))


def signed(seconds: float) -> str:
    """Show a change in ms with its sign.

    >>> signed(0.0123), signed(-0.5), signed(1e-6), signed(0)
    ('+12.3', '-500', '0.00', '')
    """
    told = milliseconds(round(abs(seconds) * 1e9))
    return told if told in ("", "0.00") else f"{'+' if seconds > 0 else '-'}{told}"


def print_comparison(found: Comparison, remarks: Sequence[str], title: str) -> None:
    """Print the run and its figures, then the nodes, what got slower most first."""
    console = wide_console()
    table = new_table(f"{escape(title)}, times in ms", [""], ["before", "after", "change", "ratio"])
    table.add_row("run, wall time", *_numbers(found.run))
    for figure in found.figures:
        if figure.before or figure.after:
            table.add_row(NAMES[figure.name], *_numbers(figure))
    console.print(table)
    if found.nodes:
        console.print(_nodes(found.nodes[:_ROWS]))
    if len(found.nodes) > _ROWS:
        console.print(f"{len(found.nodes) - _ROWS} more nodes are in the comparison (--json)")
    for line in remarks[:_ROWS]:
        console.print(escape(line), style="yellow", highlight=False, soft_wrap=True)
    if len(remarks) > _ROWS:
        console.print(f"{len(remarks) - _ROWS} more remarks are in the comparison (--json)")


def _numbers(found: Difference) -> tuple[str, str, str, str]:
    ratio = f"{found.ratio:.2f}" if found.ratio is not None else ""
    return shown(found.before), shown(found.after), signed(found.change), ratio


def _nodes(nodes: Sequence[NodeDifference]) -> Table:
    spent = {phase.name for node in nodes for phase in node.phases}
    phases = [phase for phase in PHASES if phase in spent]
    title = "nodes, slowed ones first; phases as changes"
    table = new_table(title, ["node", "ran on"], ["before", "after", "change", *phases])
    for node in nodes:
        changes = {phase.name: signed(phase.change) for phase in node.phases}
        before, after, change, _ = _numbers(node.total)
        places = dict.fromkeys((node.before.where, node.after.where))
        table.add_row(
            escape(node.after.place.removeprefix("node ")),
            escape(", then ".join(_printable(place) for place in places if place)),
            before,
            after,
            change,
            *(changes.get(phase, "") for phase in phases),
        )
    return table


def _printable(text: str) -> str:
    return text[:40] if text.isprintable() else repr(text[:40])[1:-1]
