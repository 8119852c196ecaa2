"""Compiled blobs on disk: keyed by all that they depend on; whole, or not there."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class BlobKey:
    """All that a compiled blob depends on. One made with another driver has another key.

    shapes    input -> shape
    options   OpenVINO properties
    device    name and full name
    driver    driver and compiler version as the plugin tells them; "" where it tells none
    rewrites  what was done to the model beforehand
    """

    digest: str
    shapes: Mapping[str, Sequence[int]]
    options: Mapping[str, str]
    device: str
    driver: str
    openvino: str
    rewrites: Sequence[str] = ()

    @property
    def name(self) -> str:
        """Give the key as a file name."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


class Blobs:
    """A folder of blobs, each with a note that holds its hash and what it was made for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, key: BlobKey) -> Path | None:
        """Give the blob of a key where it is there and whole; a damaged one is removed."""
        blob, note = self._files(key)
        try:
            noted = json.loads(note.read_text(encoding="utf-8"))
            with blob.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except (OSError, ValueError):
            return None
        if found == noted.get("sha256"):
            return blob
        note.unlink(missing_ok=True)
        return None

    def begin(self) -> Path:
        """Give a path to write a new blob to; `keep` puts it in its place."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / f"{secrets.token_hex(8)}.part"

    def keep(self, key: BlobKey, part: Path) -> Path:
        """Put a written blob in its place; its note last, so that half a blob is never found."""
        blob, note = self._files(key)
        with part.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        text = json.dumps({"sha256": digest, "made_for": asdict(key)}, indent=1)
        beside = part.with_suffix(".note")
        beside.write_text(text, encoding="utf-8")
        os.replace(part, blob)
        os.replace(beside, note)
        return blob

    def _files(self, key: BlobKey) -> tuple[Path, Path]:
        return self.folder / f"{key.name}.blob", self.folder / f"{key.name}.json"
