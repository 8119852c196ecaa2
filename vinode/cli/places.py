"""Folders of a run from options, environment and platform."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
import platformdirs

from vinode.graph.context import Folders
from vinode.graph.errors import Fault, WorkflowError, nearest
from vinode.graph.plugins import Packs, drop_in_folders, load_packs
from vinode.graph.workflow import MAX_BYTES, Workflow, parse
from vinode.graph.workflow_file import read

_PREVIEW_SECONDS = 24 * 3600

F = TypeVar("F", bound=Callable[..., Any])


def data_folder() -> Path:
    """Give the user's data folder: models, packs, pictures to use."""
    return platformdirs.user_data_path("vinode", appauthor=False)


def models_option(function: F) -> F:
    """Add --models DIR to a command."""
    return click.option(
        "--models",
        "models",
        multiple=True,
        type=click.Path(path_type=Path, file_okay=False),
        help="Folder of models; several are searched in order, the first is written to. "
        "VINODE_MODELS does the same.",
    )(function)


def nodes_option(function: F) -> F:
    """Add --nodes DIR to a command."""
    return click.option(
        "--nodes",
        "nodes",
        multiple=True,
        type=click.Path(path_type=Path),
        help="Load packs from this folder too.",
    )(function)


def model_folders(given: Sequence[Path]) -> tuple[Path, ...]:
    """Give the model folders: those given, or VINODE_MODELS, or the user's own."""
    if given:
        return tuple(given)
    named = [part for part in os.environ.get("VINODE_MODELS", "").split(os.pathsep) if part]
    return tuple(Path(part) for part in named) or (data_folder() / "models",)


def run_folders(
    workflow: Path, models: Sequence[Path], output: Path | None, named: Sequence[str]
) -> Folders:
    """Give the folders of a run from the command line, where a workflow may name any path."""
    return Folders(
        input=data_folder() / "input",
        output=output or Path("output"),
        temp=platformdirs.user_cache_path("vinode", appauthor=False) / "temp",
        models=model_folders(models),
        beside=workflow.parent,
        anywhere=True,
        named=dict(_named(text) for text in named),
    )


def _named(text: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    if not equals or not name or not path:
        fix = "write --input photo.png=/path/to/mine.png"
        raise WorkflowError(Fault("--input", "expected NAME=PATH", repr(text), fix, "bad-option"))
    if not Path(path).is_file():
        beside = Path(path).parent
        close = nearest(Path(path).name, os.listdir(beside)) if beside.is_dir() else ""
        fix = f"did you mean {beside / close}?" if close else "check the path"
        fault = Fault(f"--input {name}", "no such file", path, fix, "file-missing")
        if Path(path).is_dir():
            problem, fix = "this is a folder, not a file", "name a file in it"
            fault = Fault(f"--input {name}", problem, path, fix, "file-missing")
        raise WorkflowError(fault)
    return name, Path(path)


def read_workflow(file: Path) -> Workflow:
    """Read a workflow file; `-` is standard input."""
    if str(file) != "-":
        return read(file)
    return parse(sys.stdin.buffer.read(MAX_BYTES + 1), "standard input")


def sweep_previews(temp: Path) -> None:
    """Remove previews of yesterday and before, which nobody looks at any more."""
    limit = time.time() - _PREVIEW_SECONDS
    for path in temp.glob("vinode_temp_*"):
        with contextlib.suppress(OSError):  # somebody else removes it, or holds it open
            if path.stat().st_mtime < limit:
                path.unlink()


def packs(folders: Sequence[Path]) -> Packs:
    """Load all packs and tell of the broken ones."""
    for folder in folders:
        if not folder.exists():
            fault = Fault("--nodes", "no such folder", str(folder), code="file-missing")
            raise WorkflowError(fault)
    found = load_packs(drop_in_folders(folders))
    for pack in found.broken:
        click.echo(f"pack {pack.name} is not loaded: {pack.problem}", err=True)
    return found
