"""Previews that nobody looks at any more: they lie in the temp folder until they are swept."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from vinode.nodes.files import PREVIEW_STEM

KEPT = 7 * 24 * 3600.0  # seconds


def sweep(folder: Path, kept: float = KEPT) -> int:
    """Remove the previews below a folder that are older than so many seconds; gives how many."""
    removed = 0
    with contextlib.suppress(OSError), os.scandir(folder) as entries:  # there may be no folder yet
        for entry in entries:
            with contextlib.suppress(OSError):  # another server swept it, or somebody has it open
                old = time.time() - entry.stat(follow_symlinks=False).st_mtime > kept
                if old and entry.name.startswith(PREVIEW_STEM):
                    os.unlink(entry.path)
                    removed += 1
    return removed
