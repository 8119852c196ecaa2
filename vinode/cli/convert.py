"""`vinode convert`: a model file to OpenVINO IR in the store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from vinode.cli import places
from vinode.cli.jobs import job
from vinode.converters import library
from vinode.converters.store import Store


@click.command(name="convert")
@click.argument("file", type=click.Path(path_type=Path))
@places.models_option
def command(file: Path, models: Sequence[Path]) -> None:
    """Convert a TFLite, ONNX or IR file to fp16 IR in the model store, with its record."""
    store = Store(places.model_folders(models))
    with job() as (progress, cancelled):
        part = library.convert_file(store, file, progress, cancelled)
    click.echo(str(part.xml))
