"""`vinode models`: list, add, pull, remove and verify."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import cast

import click

from vinode.cli import places
from vinode.cli.jobs import bars, cancel_on_signals, job
from vinode.converters import library
from vinode.converters.store import Store
from vinode.graph.strict_json import Json


@click.group(name="models")
def command() -> None:
    """List, add, pull, remove and verify models."""


@command.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Write JSON to standard output.")
@places.models_option
def list_models(models: Sequence[Path], as_json: bool) -> None:
    """List the models: what is here, and what can be pulled."""
    found = library.list_models(Store(places.model_folders(models)))
    if as_json:
        click.echo(json.dumps([asdict(model) for model in found], indent=1))
        return
    from rich.markup import escape
    from rich.table import Table

    from vinode.cli.tables import wide_console

    table = Table("name", "kind", "state", "size", "licence", "detail")
    table.columns[0].no_wrap = True  # it is typed again, and looked for by scripts
    for model in found:
        size = f"{model.bytes / 1e6:.1f} MB" if model.bytes else ""
        cells = (model.name, model.kind, model.state, size, model.licence, model.detail)
        table.add_row(*map(escape, cells))
    wide_console(160).print(table)


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


@command.command(name="add")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--name", default="", help="Name in workflows; the file's own where left out.")
@click.option("--kind", default="", help="detector, ...")
@click.option("--family", default="", help="How its outputs are read: blazeface, ...")
@click.option("--label", "labels", multiple=True, help="Name of a class; in the model's order.")
@click.option("--options", default="{}", help="JSON the family needs: input size, strides.")
@click.option("--licence", default="unknown", help="The model's licence.")
@places.models_option
def add(
    file: Path,
    name: str,
    kind: str,
    family: str,
    labels: Sequence[str],
    options: str,
    licence: str,
    models: Sequence[Path],
) -> None:
    """Make a model file known by name."""
    try:
        parsed: Json = json.loads(options, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise click.BadParameter("expected JSON, such as '{\"input\": 128}'")
    with job() as (progress, cancelled):
        card = library.add_model(
            Store(places.model_folders(models)),
            file,
            name,
            kind,
            family,
            labels,
            cast(dict[str, Json], parsed),
            licence,
            progress=progress,
            cancelled=cancelled,
        )
    click.echo(f"{card.name} is added")


@command.command(name="pull")
@click.argument("names", nargs=-1, required=True)
@places.models_option
def pull(names: Sequence[str], models: Sequence[Path]) -> None:
    """Fetch models from their known sources and convert them."""
    with cancel_on_signals() as cancel:
        pull_models(places.model_folders(models), names, cancel.is_set, False)


def pull_models(
    folders: tuple[Path, ...], names: Sequence[str], cancelled: Callable[[], bool], quiet: bool
) -> None:
    """Fetch and convert; ModelError says why one cannot be had."""
    for name in names:
        with bars(quiet) as progress:
            part = library.pull_model(Store(folders), name, progress, cancelled)
        if not quiet:
            click.echo(f"{name}: {part.bytes / 1e6:.1f} MB of weights, {part.xml}", err=True)


@command.command(name="rm")
@click.argument("name")
@places.models_option
def remove(name: str, models: Sequence[Path]) -> None:
    """Remove a model's files, as far as no other model needs them."""
    freed = library.remove_model(Store(places.model_folders(models)), name)
    click.echo(f"{name} is removed, {freed / 1e6:.1f} MB freed")


@command.command(name="verify")
@places.models_option
def verify(models: Sequence[Path]) -> int:
    """Read every file of the store again and tell what is damaged; exit 1 where anything is."""
    with job() as (progress, cancelled):
        faults = library.verify_models(Store(places.model_folders(models)), progress, cancelled)
    for fault in faults:
        click.echo(str(fault), err=True)
    click.echo(f"{len(faults)} damaged" if faults else "all models are whole")
    return 1 if faults else 0
