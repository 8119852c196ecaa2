"""`vinode npu-compiler`: Intel's NPU compiler for `vinode check --device NPU`, without an NPU."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

import click

from vinode.cli import OK, places
from vinode.cli.jobs import job
from vinode.converters.files import Watch
from vinode.graph.errors import Fault, ModelError


@click.group(name="npu-compiler")
def command() -> None:
    """Set up, show and remove Intel's NPU compiler; no NPU is needed."""


@command.command(name="install")
@click.option("--yes", is_flag=True, help="Do it without asking.")
def install(yes: bool) -> int:
    """Set up the compiler of OpenVINO's Windows wheel under Wine (Linux)."""
    from vinode.converters.npu_compiler import install as setup

    wanted = setup.plan(places.data_folder())
    setup.refuse_impossible(wanted)
    click.echo("This will:")
    for sentence in wanted.sentences:
        click.echo(f"- {sentence}")
    if not yes and not sys.stdin.isatty():
        fix = "add --yes"
        raise ModelError(Fault("npu-compiler install", "nobody is here to agree", fix=fix))
    if not yes and not click.confirm("Go on?"):
        return OK
    with job() as (progress, cancelled):
        setup.install(wanted, Watch(progress, cancelled))
    return _tell()


@command.command(name="status")
@click.option("--json", "as_json", is_flag=True, help="Write JSON to standard output.")
def status(as_json: bool) -> int:
    """Tell which compiler `vinode check` would ask; exit 2 where there is none."""
    from vinode.converters.npu_compiler.find import find

    if not as_json:
        return _tell()
    found = find(places.data_folder())
    click.echo(json.dumps(asdict(found), indent=1, default=str))
    return OK


@command.command(name="remove")
def remove() -> int:
    """Remove what `install` put into the data folder; packages of the system stay."""
    from vinode.converters.npu_compiler.install import uninstall

    click.echo("removed" if uninstall(places.data_folder()) else "there was nothing to remove")
    return OK


def _tell() -> int:
    from vinode.converters.npu_compiler.find import find

    found = find(places.data_folder())
    click.echo(f"the NPU compiler is {found.where}: {found.identity}")
    return OK
