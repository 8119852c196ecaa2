"""What an artifact of the store tells about itself: record.json."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, cast

from vinode.converters.cards import Source, known
from vinode.converters.files import canonical_json


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that decides what an artifact is: the same recipe has the same address.

    source   key of the source, which is its hash
    version  of the converter: raised when the same source gives another artifact
    options  JSON values only
    """

    source: str
    converter: str
    version: int
    options: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)

    @property
    def digest(self) -> str:
        """Give the content address, hex."""
        return hashlib.sha256(canonical_json(asdict(self)).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output of a model; a dynamic dimension is -1."""

    name: str
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a conversion, with what it had to say."""

    name: str
    seconds: float
    log: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """How far the artifact's answers are from the source model's, on one fixed input.

    Worst of all outputs; both run on the CPU in float32.

    max_error  largest absolute difference, in the unit of the output
    snr_db     power of the answer over power of the difference; None: no difference at all
    cosine     -1..1; 1 is the same direction
    """

    max_error: float
    snr_db: float | None
    cosine: float
    input: str


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of the artifact, as it was written."""

    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Record:
    """Where an artifact comes from, how it was made, and what is in it.

    quantisation, calibration  how weights were made smaller, and with which pictures; None: not
    device, driver, platform   None: the IR is for any device; a compiled blob is not
    date                       when it was made, UTC, ISO 8601
    """

    name: str
    recipe: Recipe
    source: Source
    licence: str
    packages: Mapping[str, str] = field(hash=False)
    openvino: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    weights_dtype: str
    date: str
    steps: tuple[Step, ...]
    verification: Verification | None
    files: Mapping[str, StoredFile] = field(default_factory=dict[str, StoredFile], hash=False)
    quantisation: str | None = None
    calibration: str | None = None
    device: str | None = None
    driver: str | None = None
    platform: str | None = None


def record_text(record: Record) -> str:
    """Write a record as JSON."""
    plain: dict[str, Any] = {"vinode_record": 1, **asdict(record)}
    plain["source"]["file"] = record.source.file
    return json.dumps(plain, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def record_from(text: str) -> Record:
    """Read a record; fields of later versions are passed over. ValueError where it is damaged."""
    try:
        row = cast(dict[str, Any], json.loads(text))
        checked = row.get("verification")
        parts: dict[str, Any] = {
            "recipe": known(Recipe, row["recipe"]),
            "source": known(Source, row["source"]),
            "inputs": tuple(_port(port) for port in row["inputs"]),
            "outputs": tuple(_port(port) for port in row["outputs"]),
            "steps": tuple(
                known(Step, {**step, "log": tuple(step["log"])}) for step in row["steps"]
            ),
            "verification": known(Verification, checked) if checked else None,
            "files": {name: known(StoredFile, file) for name, file in row["files"].items()},
        }
        record = cast(Record, known(Record, {**row, **parts}))
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"not a record: {error}") from error
    for name in record.files:
        if name != name.strip(" .") or any(mark in name for mark in '/\\:*?"<>|'):
            raise ValueError(f"not a file name: {name!r}")
    return record


def _port(row: Mapping[str, Any]) -> Port:
    return cast(Port, known(Port, {**row, "shape": tuple(row["shape"])}))
