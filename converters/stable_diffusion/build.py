"""Parts -> artifacts of the store: each made in a process of its own, checked, and recorded."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from vinode.converters import ir
from vinode.converters.cards import Source
from vinode.converters.files import UNWATCHED, Watch
from vinode.converters.known_hashes import known_sha256, sha256_kept
from vinode.converters.record import Port, Recipe, Record, Step, Verification
from vinode.converters.stable_diffusion.ask import ask
from vinode.converters.stable_diffusion.found import Found, PartSource
from vinode.converters.stable_diffusion.from_torch import REFERENCE
from vinode.converters.store import Artifact, Store, is_verified, read_artifact
from vinode.graph.errors import Fault, ModelError

CONVERTER = "stable-diffusion"
VERSION = 2  # raised when the same source gives another artifact than before
NEEDED = ("torch", "diffusers", "transformers")
SPARE = 200_000_000  # bytes of the disk that stay free


def recipe_of(source: PartSource, key: str) -> Recipe:
    """Tell what makes a part's artifact, and so its address in the store."""
    options = {
        "part": source.part,
        "layout": source.layout,
        "prefix": source.prefix,
        "config": dict(source.config),
        "weights": "f16",
    }
    return Recipe(key, CONVERTER, VERSION, options)


def described(store: Store, source: PartSource, watch: Watch | None) -> Source | None:
    """Describe a part's files with their hashes; without a watch only where they are known."""
    first = source.files[0]
    hashes: dict[str, str] = {}
    for file in source.files:
        known = sha256_kept(store, file, watch) if watch else known_sha256(store, file)
        if known is None:
            return None
        hashes[file.name] = known
    own = hashes.pop(first.name)
    return Source(f"file:{first.absolute()}", own, first.stat().st_size, beside=hashes)


def ready(store: Store, source: PartSource, watch: Watch | None = None) -> Artifact | None:
    """Give a part that is converted, else None. Without a watch nothing large is read."""
    if source.layout == "ready":
        found = read_artifact(source.files[0], functools.partial(_trusted, watch), "")
        if isinstance(found, Artifact):
            return found
        fix = "copy the folder again"
        fault = Fault(str(found.folder), found.problem, fix=fix, code="model-damaged")
        raise ModelError(fault)
    described_as = described(store, source, watch)
    if described_as is None:
        return None
    digest = recipe_of(source, described_as.key).digest
    for folder in store.folders:
        target = folder / "store" / digest
        if target.is_dir():
            found = read_artifact(target, functools.partial(_trusted, watch))
            if isinstance(found, Artifact):
                return found
    return None


def _trusted(watch: Watch | None, path: Path, sha256: str) -> bool:
    return watch is None or is_verified(path, sha256, watch)


def build(store: Store, found: Found, source: PartSource, watch: Watch = UNWATCHED) -> Artifact:
    """Give a part as an artifact of the store, converting it unless that is done."""
    done = ready(store, source, watch)
    if done:
        return done
    fault = missing_packages(source)
    if fault:
        raise ModelError(fault)
    described_as = described(store, source, watch)
    if described_as is None:
        raise AssertionError("with a watch every file is hashed")
    recipe = recipe_of(source, described_as.key)
    name = f"{found.path.stem} {source.part}"

    def make(folder: Path) -> Record:
        _check_space(folder, source)
        return _make(source, folder, name, recipe, described_as, watch)

    return store.build(recipe, make, watch)


def missing_packages(source: PartSource) -> Fault | None:
    """Say which packages a conversion needs that are not installed, or None."""
    needed = () if source.layout in ("openvino", "ready") else NEEDED
    missing = [name for name in needed if find_spec(name) is None]
    if not missing:
        return None
    problem = f"the model is not converted yet, and that needs {', '.join(missing)}"
    fix = "pip install 'vinode[convert]'"
    return Fault(str(source.files[0]), problem, fix=fix, code="package-missing")


def _check_space(folder: Path, source: PartSource) -> None:
    free, need = shutil.disk_usage(folder).free, int(source.bytes * 1.1) + SPARE
    if free < need:
        problem = f"converting the {source.part.replace('_', ' ')} needs {need / 1e9:.1f} GB"
        fix = "free some space or give another folder: --models DIR"
        got = f"{free / 1e9:.1f} GB free"
        raise ModelError(Fault(str(folder.parent), problem, got, fix, "model-disk"))


def _make(
    source: PartSource, folder: Path, name: str, recipe: Recipe, described_as: Source, watch: Watch
) -> Record:
    asked: dict[str, Any] = {"name": name, "folder": str(folder)}
    row = {**asdict(source), "files": [str(file.absolute()) for file in source.files]}
    told = ask({**asked, "stage": "convert", "source": row}, watch)
    seen = ask({**asked, "stage": "compare"}, watch)
    (folder / REFERENCE).unlink()
    steps = [Step(step, float(seconds)) for step, seconds in told["steps"]]
    return Record(
        name=name,
        recipe=recipe,
        source=described_as,
        licence="unknown",
        packages=_versions(),
        openvino=ir.openvino_version(),
        inputs=_ports(seen["inputs"]),
        outputs=_ports(seen["outputs"]),
        weights_dtype=str(seen["weights_dtype"]),
        date=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        steps=tuple(steps),
        verification=Verification(**seen["checked"]),
    )


def _ports(rows: list[dict[str, Any]]) -> tuple[Port, ...]:
    return tuple(Port(row["name"], tuple(row["shape"]), row["dtype"]) for row in rows)


def _versions() -> Mapping[str, str]:
    found = dict(ir.package_versions())
    for name in NEEDED:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # not needed for IR that somebody else has made
            continue
    return found
