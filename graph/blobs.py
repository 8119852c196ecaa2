"""Compiled blobs on disk: keyed by all that they depend on; whole, or not there."""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from vinode.graph.whole_file import PART, write_whole

# Seconds after which nobody writes to a part any more: far beyond the limit of a compile.
_ABANDONED = 2 * 86400.0


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
        return hashlib.sha256(_text(self).encode()).hexdigest()


def _text(key: BlobKey) -> str:
    return json.dumps(asdict(key), sort_keys=True)


class Blobs:
    """A folder of blobs, each with a note that holds its hash and what it was made for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, key: BlobKey) -> Path | None:
        """Give the blob of a key where it is there and whole; the note of a damaged one goes."""
        blob, note = self._files(key)
        try:
            noted: object = json.loads(note.read_text(encoding="utf-8"))
            with blob.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except (OSError, ValueError):
            return None
        if noted == {"sha256": found, "made_for": json.loads(_text(key))}:
            return blob
        note.unlink(missing_ok=True)
        return None

    def keep(self, key: BlobKey, content: bytes) -> Path:
        """Keep a blob; its note last, so that half a blob is never found. OSError: it is not kept.

        Two processes may make the same blob; on Windows the second cannot replace one that is
        being read, and need not. Blobs of the same part and device from another driver or OpenVINO
        go: they would never be found again, and are a gigabyte or two each.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self._sweep(key)
        blob, note = self._files(key)
        digest = hashlib.sha256(content).hexdigest()
        text = json.dumps({"sha256": digest, "made_for": asdict(key)}, indent=1)
        write_whole(blob, content)
        write_whole(note, text.encode())
        return blob

    def _sweep(self, key: BlobKey) -> None:
        """Remove what an ended process left half-written, and blobs that a new driver replaces."""
        for left in self.folder.glob(f"*{PART}"):
            with contextlib.suppress(OSError):  # gone meanwhile, or open in another process
                if time.time() - left.stat().st_mtime > _ABANDONED:
                    left.unlink()
        for note in self.folder.glob("*.json"):
            with contextlib.suppress(OSError, ValueError):  # gone meanwhile, or damaged
                noted: object = json.loads(note.read_text(encoding="utf-8"))
                if _outdated(noted, key):
                    for suffix in (".json", ".blob", ".check.json"):
                        note.with_suffix(suffix).unlink(missing_ok=True)

    def _files(self, key: BlobKey) -> tuple[Path, Path]:
        return self.folder / f"{key.name}.blob", self.folder / f"{key.name}.json"


def _outdated(noted: object, key: BlobKey) -> bool:
    """Say whether a note is of the key's part and device, but of another driver or OpenVINO."""
    made_for = cast(dict[str, object], noted).get("made_for") if isinstance(noted, dict) else None
    if not isinstance(made_for, dict):
        return False
    mine, told = asdict(key), cast(dict[str, object], made_for)
    whose, versions = ("digest", "device"), ("driver", "openvino")
    return all(told.get(name) == mine[name] for name in whose) and any(
        told.get(name) != mine[name] for name in versions
    )
