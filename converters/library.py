"""The models of this computer, as the command line shows and changes them. Nothing is printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from vinode.converters import sources
from vinode.converters.cards import Card, catalogue, name_problem, read_card
from vinode.converters.convert import convert, recipe_of
from vinode.converters.files import OLD, Progress, Watch, never, quiet
from vinode.converters.record import Verification
from vinode.converters.store import Artifact, Damage, Store, is_verified, read_artifact
from vinode.graph.errors import Fault, ModelError
from vinode.graph.values import ModelPart
from vinode.graph.whole_file import PART

State: TypeAlias = Literal["in catalogue", "pulled", "converted", "damaged"]
Cancelled: TypeAlias = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Listed:
    """A model as it is on this computer.

    state   "in catalogue": only its card is here; "pulled": its source is; "converted": its IR is
    bytes   of IR and kept source on the disk
    detail  what is damaged, or the model's description

    Of what is converted, else "" and None:

    dtype         of the weights
    made          when, UTC, ISO 8601
    openvino      the version that made it
    verification  how far its answers are from the source model's
    """

    name: str
    kind: str
    state: State
    bytes: int
    licence: str
    source: str
    digest: str
    detail: str
    dtype: str = ""
    made: str = ""
    openvino: str = ""
    verification: Verification | None = None


def list_models(store: Store) -> list[Listed]:
    """List all known models. Looks at names and sizes only; `verify_models` reads the files."""
    return [_listed(store, card) for _, card in sorted(store.cards().items())]


def detector_names(store: Store) -> list[str]:
    """Name the detectors there are, pulled or not."""
    cards = store.cards().items()
    return sorted(name for name, card in cards if card.kind == "detector" and digest_of(card))


def is_here(store: Store, card: Card) -> bool:
    """Say quickly whether a model can be used without a download; nothing is hashed."""
    return _listed(store, card).state != "in catalogue"


def add_model(
    store: Store,
    path: Path,
    name: str = "",
    kind: str = "",
    family: str = "",
    labels: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    licence: str = "unknown",
    copy: bool = True,
    progress: Progress = quiet,
    cancelled: Cancelled = never,
) -> Card:
    """Make a model file known by name; gives its card. Adding the same file again is fine.

    name  the file's own name where it is empty
    copy  keep a copy in the store; without it the file must stay where it is
    """
    watch = Watch(progress, cancelled)
    name = name or path.stem.lower().replace(" ", "-")
    if problem := name_problem(name):
        raise ModelError(Fault("model store", problem, name, "give another: --name NAME"))
    source = sources.describe_file(path, watch)
    card = Card(name, source, licence, kind, family, tuple(labels), options or {})
    recipe_of(card)  # refuses wrong options before anything is copied
    known = store.cards().get(name)
    if name in catalogue() or (known and known.source.key != source.key):
        fix = f"give another: --name NAME, or first: vinode models rm {name}"
        raise ModelError(Fault("model store", "this name belongs to another model", name, fix))
    if copy:
        sources.fetch(store, source, watch)
    store.save_card(card)
    return card


def pull_model(
    store: Store, name: str, progress: Progress = quiet, cancelled: Cancelled = never
) -> ModelPart:
    """Fetch a model's source where it is missing or damaged, convert it, and give the IR."""
    watch = Watch(progress, cancelled)
    card = store.card(name)
    store.sweep()
    found = store.find(recipe_of(card).digest, watch)
    damaged = store.damaged_sources(card.source, watch)
    if isinstance(found, Artifact) and not damaged:
        return found.part(name)
    if damaged or store.source(card.source, watch) is None:
        sources.fetch(store, card.source, watch)
    return convert(card, store, progress, cancelled)


def convert_file(
    store: Store, path: Path, progress: Progress = quiet, cancelled: Cancelled = never
) -> ModelPart:
    """Convert a model file to IR in the store, without making it known by name."""
    source = sources.describe_file(path, Watch(progress, cancelled))
    return convert(Card(path.stem, source), store, progress, cancelled)


def remove_model(store: Store, name: str) -> int:
    """Remove a model's IR, source and card, as far as no other model needs them; gives bytes."""
    unreadable = store.home / "cards" / f"{name}.json"
    if name not in store.cards() and not name_problem(name) and unreadable.is_file():
        unreadable.unlink()
        return 0
    card = store.card(name)
    _refuse_foreign(store, card)
    others = [other for other in store.cards().values() if other.name != name]
    digest, freed = digest_of(card), 0
    if digest and all(digest_of(other) != digest for other in others):
        freed += _drop(store, "store", digest)
    if all(other.source.key != card.source.key for other in others):
        freed += _drop(store, "sources", card.source.key)
    if name not in catalogue():
        (store.home / "cards" / f"{name}.json").unlink(missing_ok=True)
    return freed


def _refuse_foreign(store: Store, card: Card) -> None:
    """Raise where a model is in another folder than the first: those are only read."""
    inside = [Path("cards") / f"{card.name}.json", Path("sources") / card.source.key]
    inside.append(Path("store") / (digest_of(card) or "-"))
    if any((store.home / path).exists() for path in inside):
        return
    for folder in store.folders[1:]:
        if any((folder / path).exists() for path in inside):
            problem = f"the model is in {folder}, and only the first folder is changed"
            fix = f"name that folder first: vinode models rm {card.name} --models {folder}"
            raise ModelError(Fault("model store", problem, card.name, fix))


def _drop(store: Store, area: str, key: str) -> int:
    """Remove a folder of the store; gives the bytes of its files."""
    folder = store.home / area / key
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    store.remove(area, key)
    return size


def verify_models(
    store: Store, progress: Progress = quiet, cancelled: Cancelled = never
) -> list[Fault]:
    """Read every file of the store again; gives what is damaged, and cleans up leftovers."""
    watch = Watch(progress, cancelled)
    store.sweep()
    faults: list[Fault] = []
    for path in store.card_files():
        try:
            read_card(path)
        except ModelError as error:
            faults.extend(error.faults)
    known = store.cards()
    names = {digest_of(card): card.name for card in known.values()}
    for folder in store.folders:
        for target in sorted((folder / "store").glob("*")):
            if target.suffix in (PART, OLD) or not target.is_dir():
                continue  # another process is at work there
            found = read_artifact(
                target, lambda path, sha256: is_verified(path, sha256, watch, True)
            )
            if isinstance(found, Damage):
                name = names.get(target.name, "")
                fix = f"vinode models pull {name}" if name else f"remove {target}"
                faults.append(Fault(str(target), found.problem, name, fix, code="model-damaged"))
    for card in known.values():
        faults.extend(_source_faults(store, card, watch))
    return faults


def _source_faults(store: Store, card: Card, watch: Watch) -> list[Fault]:
    problem = f"the source of {card.name!r} is another than its card says"
    fix = f"vinode models pull {card.name}"
    damaged = store.damaged_sources(card.source, watch, again=True)
    return [Fault(str(path), problem, fix=fix, code="model-damaged") for path in damaged]


def digest_of(card: Card) -> str:
    """Give the address of a model's IR; empty where a later version wrote a card we cannot read."""
    try:
        return recipe_of(card).digest
    except ModelError:
        return ""


def _listed(store: Store, card: Card) -> Listed:
    digest = digest_of(card)
    state: State = "in catalogue"
    size, detail = 0, card.about
    for path in store.source_places(card.source):
        if path.is_file():
            state, size = "pulled", path.stat().st_size
            break
    found = _glance(store, digest) if digest else None
    if isinstance(found, Damage):
        state, detail = "damaged", found.problem
    elif found:
        state = "converted"
        size += sum(file.bytes for file in found.record.files.values())
    source = card.source.uri
    listed = Listed(card.name, card.kind, state, size, card.licence, source, digest, detail)
    if not isinstance(found, Artifact):
        return listed
    of = found.record
    return replace(
        listed,
        dtype=of.weights_dtype,
        made=of.date,
        openvino=of.openvino,
        verification=of.verification,
    )


def _glance(store: Store, digest: str) -> Artifact | Damage | None:
    damage: Damage | None = None
    for folder in store.folders:
        target = folder / "store" / digest
        if target.is_dir():
            found = read_artifact(target, lambda path, sha256: True)
            if isinstance(found, Artifact):
                return found
            damage = damage or found
    return damage
