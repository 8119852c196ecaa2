"""Hashes of large files that are kept, so that a checkpoint is read once and not at each start.

    <models>/hashes/<sha256 of the path>.json   path, bytes, mtime in ns, sha256

A file whose size or time is another is hashed again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path
from typing import Any, cast

from vinode.converters.files import Watch, canonical_json, disk_errors, sha256_of, write_whole
from vinode.converters.store import Store
from vinode.graph.errors import ModelError


def known_sha256(store: Store, path: Path) -> str | None:
    """Give the hash of a file that was hashed before and is unchanged, else None."""
    path = path.absolute()
    try:
        state = path.stat()
        row: Any = json.loads(_place(store, path).read_text(encoding="utf-8"))
        same = row["bytes"] == state.st_size and row["mtime_ns"] == state.st_mtime_ns
        return cast(str, row["sha256"]) if same and row["path"] == str(path) else None
    except (OSError, ValueError, KeyError, TypeError):  # never hashed, or damaged: hash again
        return None


def sha256_kept(store: Store, path: Path, watch: Watch) -> str:
    """Hash a file unless that is done, and keep the hash where the store can be written to."""
    path = path.absolute()
    known = known_sha256(store, path)
    if known:
        return known
    with disk_errors(path):
        state = path.stat()
        digest = sha256_of(path, watch)
    row = {"path": str(path), "bytes": state.st_size, "mtime_ns": state.st_mtime_ns}
    with contextlib.suppress(ModelError):
        write_whole(_place(store, path), canonical_json({**row, "sha256": digest}))
    return digest


def _place(store: Store, path: Path) -> Path:
    name = hashlib.sha256(str(path).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return store.home / "hashes" / f"{name}.json"
