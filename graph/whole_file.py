"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
import time
from pathlib import Path

PART = ".part"  # ends the names of files that are being written
_ATTEMPTS = 5


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old or the new one, never a part of it."""
    if path.exists() and not path.is_file():  # a device or a pipe is written to, never replaced
        path.write_bytes(content)
        return
    beside = path.with_name(f".{secrets.token_hex(8)}{PART}")
    try:
        beside.write_bytes(content)
        put(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def put(source: Path, target: Path) -> None:
    """Give a file or folder a name on the same disk, in the place of what has it."""
    # A virus scanner on Windows holds new files open for a moment: ask again before giving up.
    for attempt in range(_ATTEMPTS):
        try:
            os.replace(source, target)
            return
        except PermissionError:
            if os.name != "nt" or attempt == _ATTEMPTS - 1:
                raise
            time.sleep(0.05 * 2**attempt)
