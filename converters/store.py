"""The model store: sources and artifacts by content address, verified before they are trusted.

    <models>/
      cards/<name>.json            a model that the user added; known ones are in catalogue.json
      sources/<key>/<file>         the file as it came; key is its sha256
      store/<digest>/model.xml     IR; digest is the sha256 of (source, converter, version, options)
                     model.bin     its weights
                     record.json   where it comes from, how it was made, sha256 of every file
      locks/<key or digest>.lock   who holds it may make, rebuild or remove that folder
      */<key or digest>.part, .old at work; without a lock's holder they are leftovers, and removed

Several folders may be searched; the first is written to. Readers take no lock: a folder is renamed
into place whole. A file is hashed once per process as long as its size and time stay the same.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from vinode.converters import files
from vinode.converters.cards import Card, Source, card_text, catalogue, read_card
from vinode.converters.files import UNWATCHED, Watch
from vinode.converters.record import Recipe, Record, StoredFile, record_from, record_text
from vinode.graph.errors import Fault, ModelError, nearest
from vinode.graph.values import ModelPart

RECORD = "record.json"

_verified: set[tuple[str, int, int, str]] = set()  # path, bytes, mtime in ns, sha256


@dataclass(frozen=True, slots=True)
class Artifact:
    """A folder of the store whose files are what its record says."""

    folder: Path
    record: Record

    def part(self, name: str) -> ModelPart:
        """Give the IR as a model part."""
        size = self.record.files["model.bin"].bytes
        return ModelPart(name, self.folder / "model.xml", self.record.recipe.digest, size)


@dataclass(frozen=True, slots=True)
class Damage:
    """A folder of the store that is not what its record says."""

    folder: Path
    problem: str


@dataclass(frozen=True, slots=True)
class Store:
    """The model store in one or more folders; the first is written to."""

    folders: tuple[Path, ...]

    def __post_init__(self) -> None:
        if not self.folders:
            fix = "give one: --models DIR"
            raise ModelError(Fault("model store", "no folder for models", fix=fix))

    @property
    def home(self) -> Path:
        """Give the folder that is written to."""
        return self.folders[0]

    def lock(self, key: str) -> Path:
        """Give the lock of a source or artifact."""
        return self.home / "locks" / f"{key}.lock"

    # Cards

    def cards(self) -> dict[str, Card]:
        """Give all known models by name; a card that cannot be read is left out (see `verify`)."""
        found: dict[str, Card] = dict(catalogue())
        for path in self.card_files():
            try:
                card = read_card(path)
            except ModelError:
                continue
            found.setdefault(card.name, card)
        return found

    def card_files(self) -> Iterator[Path]:
        """Go through the cards of added models, those of the first folder first."""
        for folder in self.folders:
            yield from sorted((folder / "cards").glob("*.json"))

    def card(self, name: str) -> Card:
        """Find a model by name; ModelError with the nearest name where there is none."""
        cards = self.cards()
        if name in cards:
            return cards[name]
        close = nearest(name, cards)
        fix = f"did you mean {close!r}?" if close else "see `vinode models list`"
        raise ModelError(Fault("model store", "no such model", name, fix, code="model-unknown"))

    def save_card(self, card: Card) -> None:
        """Keep the card of an added model."""
        files.write_whole(self.home / "cards" / f"{card.name}.json", card_text(card))

    # Sources

    def source(self, source: Source, watch: Watch = UNWATCHED, again: bool = False) -> Path | None:
        """Find a source's file, verified; None where it is missing or another than it was."""
        for path in self.source_places(source):
            if is_source(path, source, watch, again):
                return path
        return None

    def damaged_sources(self, source: Source, watch: Watch, again: bool = False) -> list[Path]:
        """List the kept files of a source that are another than they were."""
        places = (folder / "sources" / source.key / source.file for folder in self.folders)
        return [
            path
            for path in places
            if path.parent.is_dir() and not is_source(path, source, watch, again)
        ]

    def source_places(self, source: Source) -> Iterator[Path]:
        """Go through the places a source's file may be: the store, then the file itself."""
        for folder in self.folders:
            yield folder / "sources" / source.key / source.file
        if not source.pypi:
            yield source.path

    def keep_source(self, source: Source, fill: Callable[[Path], None], watch: Watch) -> Path:
        """Put a source into the store; `fill` writes its files into a folder."""
        target = self.home / "sources" / source.key

        def is_whole() -> bool:
            kept = self.source(source, watch)
            return kept is not None and kept.is_relative_to(target)

        files.publish(target, self.lock(source.key), is_whole, fill, watch)
        return target / source.file

    # Artifacts

    def find(
        self, digest: str, watch: Watch = UNWATCHED, again: bool = False
    ) -> Artifact | Damage | None:
        """Find an artifact: whole and verified, or what is wrong with it, or None where absent."""
        damage: Damage | None = None
        for folder in self.folders:
            target = folder / "store" / digest
            if not target.is_dir():
                continue
            found = read_artifact(target, functools.partial(is_verified, watch=watch, again=again))
            if isinstance(found, Artifact):
                return found
            damage = damage or found
        return damage

    def build(
        self, recipe: Recipe, make: Callable[[Path], Record], watch: Watch = UNWATCHED
    ) -> Artifact:
        """Make an artifact unless it is there; of two at once, one makes it and both get it.

        make  writes the files into an empty folder and gives the record, without the files
        """
        digest = recipe.digest
        target = self.home / "store" / digest

        def is_whole() -> bool:
            return isinstance(self.find(digest, watch), Artifact)

        def fill(folder: Path) -> None:
            record = make(folder)
            written = {path.name: _stored(path, watch) for path in sorted(folder.iterdir())}
            text = record_text(replace(record, files=written))
            (folder / RECORD).write_text(text, encoding="utf-8", newline="\n")

        files.publish(target, self.lock(digest), is_whole, fill, watch)
        found = self.find(digest, watch)
        if isinstance(found, Artifact):
            return found
        problem = found.problem if found else "it vanished as soon as it was written"
        raise ModelError(Fault(str(target), problem, code="model-damaged"))

    def remove(self, area: str, key: str) -> None:
        """Remove a folder of "store" or "sources" from the first folder of the store."""
        files.remove(self.home / area / key, self.lock(key))

    def sweep(self) -> list[str]:
        """Remove what killed processes left; gives the names removed."""
        locks = self.home / "locks"
        return [
            f"{area}/{name}"
            for area in ("store", "sources")
            for name in files.sweep(self.home / area, locks)
        ]


def read_artifact(
    folder: Path, verified: Callable[[Path, str], bool], digest: str | None = None
) -> Artifact | Damage:
    """Read an artifact's record and check its files against it.

    digest  that it must have: the folder's name; "" for any, of a folder outside the store
    """
    try:
        record = record_from((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return Damage(folder, f"{RECORD} cannot be read: {error}")
    if (folder.name if digest is None else digest) not in ("", record.recipe.digest):
        return Damage(folder, f"{RECORD} belongs to another artifact")
    if not {"model.xml", "model.bin"} <= record.files.keys():
        return Damage(folder, f"{RECORD} names no model.xml and model.bin")
    for name, file in record.files.items():
        path = folder / name
        if not path.is_file() or path.stat().st_size != file.bytes:
            return Damage(folder, f"{name} is missing or has another size than its record says")
        if not verified(path, file.sha256):
            return Damage(folder, f"{name} is another than its record says")
    return Artifact(folder, record)


def is_verified(path: Path, sha256: str, watch: Watch = UNWATCHED, again: bool = False) -> bool:
    """Say whether a file has this hash. Hashed once per process and state of the file."""
    try:
        state = path.stat()
        seen = (str(path), state.st_size, state.st_mtime_ns, sha256)
        if seen in _verified and not again:
            return True
        _verified.discard(seen)
        if files.sha256_of(path, watch) != sha256:
            return False
    except OSError:  # gone or not readable: the file cannot be trusted, whatever the reason
        return False
    _verified.add(seen)
    return True


def is_source(path: Path, source: Source, watch: Watch, again: bool = False) -> bool:
    """Say whether a file, and what belongs beside it, is what the source's hashes say."""
    beside = {path.with_name(name): sha256 for name, sha256 in source.beside.items()}
    whole = {path: source.sha256, **beside}
    return all(is_verified(file, sha256, watch, again) for file, sha256 in whole.items())


def _stored(path: Path, watch: Watch) -> StoredFile:
    return StoredFile(files.sha256_of(path, watch), path.stat().st_size)
