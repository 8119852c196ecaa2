"""A path -> what is found there. Reads headers and small JSON files only."""

from __future__ import annotations

from pathlib import Path

from vinode.converters.stable_diffusion.folder import read_folder
from vinode.converters.stable_diffusion.found import Found
from vinode.converters.stable_diffusion.single_file import read_file


def look(path: Path) -> Found:
    """Tell what a file or folder has; ModelError in one sentence where nothing is converted."""
    return read_folder(path) if path.is_dir() else read_file(path)
