"""Nodes and packs as tables in a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from vinode.cli import node_view
from vinode.graph.context import Folders
from vinode.graph.node import AnyNodeType
from vinode.graph.plugins import Pack, Packs
from vinode.graph.ports import Output


def print_list(packs: Packs) -> None:
    """Print the nodes by category: id and what each does."""
    console = Console(highlight=False)
    for category, members in node_view.by_category(packs.types.values()):
        console.print(Text(category or "no category", "bold"))
        table = _table("", "")
        for declared in members:
            table.add_row(Text(declared.id), Text(node_view.summary(declared)))
        console.print(Padding(table, (0, 0, 1, 2)))
    console.print(f"{len(packs.types)} nodes; `vinode nodes NAME` shows one in full", markup=False)


def print_packs(packs: Packs) -> None:
    """Print every pack with where it comes from; the broken ones with the reason."""
    console = Console(highlight=False)
    table = _table("pack", "version", "nodes", "from")
    for pack in packs.packs:
        count = "broken" if pack.problem else str(len(pack.nodes))
        style = "red" if pack.problem else ""
        table.add_row(Text(pack.name), pack.version, Text(count, style), Text(pack.origin))
    console.print(table)
    for pack in packs.broken:
        # soft_wrap: a path that is broken over lines can be neither copied nor searched for
        console.print(Text(str(pack.problem)), soft_wrap=True)


def print_node(declared: AnyNodeType, pack: Pack | None, folders: Folders) -> None:
    """Print one node: help, inputs, outputs, where it comes from."""
    console = Console(highlight=False)
    console.print(Text(f"{declared.id}  ·  {declared.title}  ·  {declared.category}", "bold"))
    console.print(Text(declared.signature.help or "no help"))
    if declared.inputs:
        table = _table("input", "kind", "default", "may be", "")
        for port in declared.inputs:
            table.add_row(
                Text(port.name),
                Text(node_view.kind_text(port)),
                Text(node_view.default_text(port)),
                Text(node_view.allowed_text(port, folders)),
                Text(port.help),
            )
        console.print(Padding(table, (1, 0, 0, 0)))
    if declared.outputs:
        console.print(Padding(_outputs(declared.outputs), (1, 0, 0, 0)))
    brought = f"pack {pack.name}, {pack.origin}; " if pack else ""
    ending = "; it ends a workflow" if declared.is_output else ""
    console.print(Text(f"\nfrom {brought}{declared.origin}{ending}"), soft_wrap=True)


def _outputs(outputs: tuple[Output, ...]) -> Table:
    table = _table("output", "kind", "")
    for port in outputs:
        table.add_row(Text(port.name), Text(node_view.kind_text(port)), Text(port.help))
    return table


def _table(first: str, *others: str) -> Table:
    """Make a table without lines; its first column, the names, is never broken."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=bool(first or any(others)))
    table.add_column(first, no_wrap=True, overflow="fold", header_style="dim")
    for other in others:
        table.add_column(other, overflow="fold", header_style="dim")
    return table
