"""`vinode nodes`: which nodes and packs there are, one node in full, and a start for a new pack."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from vinode.cli import node_view, nodes_page, pack_template, places
from vinode.graph.context import Folders
from vinode.graph.errors import VinodeError, nearest
from vinode.graph.plugins import (
    BUILTIN,
    Packs,
    drop_in_folders,
    from_module,
    load,
    load_packs,
)


class _Refused(click.ClickException):
    """One sentence for the user, and exit code 2."""

    exit_code = 2

    def show(self, file: object = None) -> None:
        click.echo(self.message, err=True)


class _NodesGroup(click.Group):
    """A group whose unknown words are names of nodes: `vinode nodes ImageScale`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and self.get_command(ctx, args[0]) is None:
            return "show", show, args
        return super().resolve_command(ctx, args)


@click.group(name="nodes", cls=_NodesGroup, invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Write JSON to standard output.")
@click.option("--packs", "packs_only", is_flag=True, help="List packs, the broken ones with why.")
@places.nodes_option
@click.pass_context
def command(ctx: click.Context, as_json: bool, packs_only: bool, nodes: tuple[Path, ...]) -> None:
    """List the nodes by category; `vinode nodes NAME` shows one in full."""
    ctx.meta["vinode.nodes.folders"] = nodes
    ctx.meta["vinode.nodes.json"] = as_json
    if ctx.invoked_subcommand is not None:
        return
    # --packs tells of broken ones itself.
    packs = load_packs(drop_in_folders(nodes)) if packs_only else _load(ctx)
    if packs_only and as_json:
        _write_json([node_view.pack_json(pack) for pack in packs.packs])
    elif as_json:
        folders_here = _run_folders(ctx)
        told = [
            node_view.as_json(declared, packs.pack_of(declared.id), folders_here)
            for _, members in node_view.by_category(packs.types.values())
            for declared in members
        ]
        _write_json(told)
    else:
        from vinode.cli import node_tables  # imports rich, which JSON does without

        (node_tables.print_packs if packs_only else node_tables.print_list)(packs)


@command.command(name="show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Write JSON to standard output.")
@click.pass_context
def show(ctx: click.Context, name: str, as_json: bool) -> None:
    """Show one node in full: inputs with limits and defaults, outputs, where it comes from."""
    packs = _load(ctx)
    declared = packs.types.get(name)
    if declared is None:
        close = nearest(name, packs.types)
        hint = f"did you mean {close!r}?" if close else "`vinode nodes` lists them"
        raise _Refused(f"node {name!r}: there is no such node; {hint}")
    pack, folders = packs.pack_of(name), _run_folders(ctx)
    if as_json or ctx.meta["vinode.nodes.json"]:
        _write_json(node_view.as_json(declared, pack, folders))
    else:
        from vinode.cli.node_tables import print_node  # imports rich, which JSON does without

        print_node(declared, pack, folders)


@command.command(name="new")
@click.argument("name")
@click.option("--to", type=click.Path(path_type=Path), default=Path(), help="Folder to write into.")
def new(name: str, to: Path) -> None:
    """Write a new pack: installable, with one node and its test."""
    try:
        folder = pack_template.write(name, to)
    except VinodeError as error:
        raise _Refused(str(error)) from error
    module = pack_template.module_name(name)
    click.echo(f"{folder} is written. Next:")
    click.echo(f'  pip install -e "{folder}"')
    click.echo(f"  vinode nodes check {module}")


@command.command(name="check")
@click.argument("pack")
@click.pass_context
def check(ctx: click.Context, pack: str) -> None:
    """Say all that is wrong with a pack; exit 1 where there is anything.

    PACK is the name of an installed pack, or the path of a file, a package or a folder of them.
    """
    from vinode.cli.pack_check import check as find_faults  # reads sources: only for authors

    packs, faults = find_faults(pack)
    for fault in faults:
        click.echo(str(fault))
    count = sum(len(found.nodes) for found in packs)
    told = f"{len(faults)} to mend" if faults else "nothing to mend"
    click.echo(f"{count} node{'' if count == 1 else 's'}, {told}")
    ctx.exit(1 if faults else 0)


@command.command(name="docs")
def docs() -> None:
    """Print docs/nodes.md: the page of all built-in nodes, as Markdown."""
    packs = load([from_module(BUILTIN.value, BUILTIN.name)])
    # As bytes: the page has the same letters and line ends wherever it is written.
    text = nodes_page.page(packs.types.values())
    sys.stdout.buffer.write(text.encode())


def _load(ctx: click.Context) -> Packs:
    return places.packs(ctx.meta["vinode.nodes.folders"])


def _run_folders(ctx: click.Context) -> Folders:
    """Give the folders in which choices are counted: the caller's, or those of a run from here."""
    found = ctx.find_object(Folders)
    return found or places.run_folders(Path("workflow.json"), (), None, ())


def _write_json(value: object) -> None:
    json.dump(value, sys.stdout, indent=1)
    sys.stdout.write("\n")
