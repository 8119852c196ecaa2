"""Find packs, load them, collect their nodes; report the broken ones and go on without them.

A pack is a module, or a package whose modules are all walked. Packs come from the entry points of
installed distributions (group `vinode.nodes`; the built-in nodes among them) and from drop-in
folders. Loading a pack runs its code. A pack is taken whole or not at all.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points
from importlib.metadata import version as installed_version
from pathlib import Path
from pkgutil import iter_modules
from types import MappingProxyType, ModuleType

from vinode.graph import drop_in
from vinode.graph.errors import DeclarationError, Fault
from vinode.graph.node import AnyNodeType, NodeTypes, collect
from vinode.graph.pack_fault import explain

GROUP = "vinode.nodes"
BUILTIN = EntryPoint("builtin", "vinode.nodes", GROUP)


@dataclass(frozen=True, slots=True)
class Source:
    """A pack that was found and not yet imported.

    origin   the distribution or the path it comes from, for people
    module   what an entry point names, or ""
    root     folder or file of its code, where that is known before importing
    modules  imports it: every module that may hold nodes
    forget   takes back what a failed import left
    """

    name: str
    origin: str
    modules: Callable[[], list[ModuleType]]
    version: str = ""
    root: Path | None = None
    forget: Callable[[], None] = lambda: None
    module: str = ""


@dataclass(frozen=True, slots=True)
class Pack:
    """A pack after loading.

    nodes    ids of its nodes, in order; empty where it is broken
    problem  why none of it was taken, or None
    """

    name: str
    origin: str
    version: str = ""
    nodes: tuple[str, ...] = ()
    problem: Fault | None = None


@dataclass(frozen=True, slots=True)
class Packs:
    """Everything that was loaded: node types by id, and every pack, the broken ones too."""

    types: NodeTypes = field(default_factory=lambda: MappingProxyType(dict[str, AnyNodeType]()))
    packs: tuple[Pack, ...] = ()

    @property
    def broken(self) -> tuple[Pack, ...]:
        """Give the packs of which nothing was taken."""
        return tuple(pack for pack in self.packs if pack.problem)

    def pack_of(self, id: str) -> Pack | None:
        """Give the pack that brought a node."""
        return next((pack for pack in self.packs if id in pack.nodes), None)


def user_folder() -> Path:
    """Give the drop-in folder in the user's data folder; it need not exist."""
    import platformdirs  # only where the folder is asked for: a run may name all of its own

    return platformdirs.user_data_path("vinode", appauthor=False) / "nodes"


def drop_in_folders(given: Iterable[Path] = ()) -> tuple[Path, ...]:
    """Give the folders to look into: the user's, where there is one, then those given."""
    own = user_folder()
    return (*((own,) if own.is_dir() else ()), *given)


def load_packs(folders: Sequence[Path] = ()) -> Packs:
    """Load built-in nodes, then installed packs by name, then those of the folders in order.

    A folder may also be one pack itself: a .py file, or a package.
    """
    importlib.invalidate_caches()  # a pack may have been written a moment ago
    return load([*installed(), *dropped_in(folders)])


def load(sources: Iterable[Source | Pack]) -> Packs:
    """Load these packs in order; a `Pack` among them is one that cannot even be tried."""
    types: dict[str, AnyNodeType] = {}
    packs: list[Pack] = []
    for source in sources:
        pack, found = (source, {}) if isinstance(source, Pack) else _load(source, types, packs)
        packs.append(pack)
        types.update(found)
    return Packs(MappingProxyType(types), tuple(packs))


def _load(
    source: Source, known: NodeTypes, packs: Sequence[Pack]
) -> tuple[Pack, dict[str, AnyNodeType]]:
    try:
        # What a pack prints while it is imported must not end up in somebody's JSON.
        with contextlib.redirect_stdout(sys.stderr):
            modules = source.modules()
            found = collect(modules)
        _refuse_taken(source, found, known, packs)
    except (Exception, SystemExit) as error:  # a pack is somebody else's code: any error is its own
        source.forget()
        problem = explain(error, source.name, source.root)
        return Pack(source.name, source.origin, source.version, (), problem), {}
    # A pack may import another's nodes to call them; they stay the other's.
    own = {id: declared for id, declared in found.items() if known.get(id) is not declared}
    said: object = getattr(modules[0], "__version__", "")
    version = source.version or (said if isinstance(said, str) else "")
    return Pack(source.name, source.origin, version, tuple(own)), own


def _refuse_taken(
    source: Source, found: NodeTypes, known: NodeTypes, packs: Sequence[Pack]
) -> None:
    for id, declared in found.items():
        other = known.get(id)
        if other is None or other is declared:
            continue
        owner = next(pack for pack in packs if id in pack.nodes)
        problem = (
            f"{id!r} is declared twice: by pack {owner.name!r} ({owner.origin}; {other.origin}) "
            f"and by pack {source.name!r} ({source.origin}; {declared.origin})"
        )
        fix = f"rename it, for example to '{source.name}.{id}', or remove one of the packs"
        raise DeclarationError(
            Fault(f"pack {source.name!r}", problem, fix=fix, code="duplicate-id")
        )


def installed() -> tuple[Source, ...]:
    """Find the packs of installed distributions: built-in nodes first, then by name."""
    found = sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))
    # Running from a checkout that was never installed, there is no entry point for the built-in.
    others = [entry for entry in found if entry.value != BUILTIN.value]
    return (from_module(BUILTIN.value, BUILTIN.name), *map(_from_entry, others))


def _from_entry(entry: EntryPoint) -> Source:
    distribution = entry.dist
    name = distribution.name if distribution else entry.value
    version = distribution.version if distribution else ""
    return from_module(entry.value, entry.name, f"{name} {version}".strip(), version)


def from_module(value: str, name: str = "", origin: str = "", version: str = "") -> Source:
    """Make a source of an importable module or package."""
    if value == BUILTIN.value:
        version = _own_version()
        origin = f"vinode {version}".strip()
    root = _root_of(value)
    return Source(
        name or value, origin or value, lambda: _import(value), version, root, module=value
    )


def _own_version() -> str:
    try:
        return installed_version("vinode")
    except PackageNotFoundError:
        return ""


def _root_of(value: str) -> Path | None:
    """Find where a package's code is without importing it, for messages that name a line."""
    # Looking for `a.b` would import `a`; ours is imported already.
    name = value if value == BUILTIN.value else re.split("[.:]", value)[0]
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # ValueError: a module without a spec, or an empty name
        return None
    if spec is None or spec.origin is None:
        return None
    file = Path(spec.origin)
    return file.parent if spec.submodule_search_locations is not None else file


def _import(value: str) -> list[ModuleType]:
    if not all(part.isidentifier() for part in value.split(".")):
        fix = 'write `name = "my_pack"`, a module or a package'
        raise DeclarationError(Fault("entry point", "it names no module", repr(value), fix))
    return list(walk(importlib.import_module(value)))


def walk(module: ModuleType) -> Iterator[ModuleType]:
    """Import a module's submodules in order of name, its tests and hidden files left out."""
    waiting: list[ModuleType | str] = [module]
    while waiting:
        first = waiting.pop()
        current = importlib.import_module(first) if isinstance(first, str) else first
        yield current
        paths = getattr(current, "__path__", None)
        names = sorted(found.name for found in iter_modules(paths)) if paths else []
        # The last is taken first, so that all below one package comes before the next.
        waiting.extend(
            f"{current.__name__}.{name}" for name in reversed(names) if not drop_in.is_hidden(name)
        )


def dropped_in(folders: Sequence[Path]) -> Iterator[Source | Pack]:
    """Find the packs of drop-in folders, in the order given and by name; each path once."""
    seen: set[Path] = set()
    for folder in folders:
        for path in drop_in.candidates(folder):
            if isinstance(path, Fault):
                yield Pack(folder.name, str(folder), problem=path)
            elif (whole := path.resolve()) not in seen:
                seen.add(whole)
                yield from_path(whole)


def from_path(path: Path) -> Source | Pack:
    """Make a source of one drop-in: a .py file or a package's folder."""
    name = path.stem if path.is_file() else path.name
    problem = drop_in.shape_problem(path)
    if problem:
        return Pack(name, str(path), problem=problem)
    module_name = drop_in.module_name(path)
    return Source(
        name,
        str(path),
        lambda: list(walk(drop_in.execute(path, module_name))),
        root=path,
        forget=lambda: drop_in.forget(module_name),
    )
