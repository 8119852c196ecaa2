"""The user's own files: saved workflows, and settings of the canvas. Kept below one folder."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from vinode.graph.errors import Fault, VinodeError, short
from vinode.graph.strict_json import Json, load_json
from vinode.graph.whole_file import write_whole
from vinode.web.bodies import BadRequest
from vinode.web.contained import inside

MAX_FILE = 32 * 2**20
_MOST_FILES = 10_000
_MOST_SETTINGS = 1024 * 1024  # bytes


@dataclass(frozen=True, slots=True)
class UserFile:
    """A file or folder as a list shows it; `path` with slashes, times in seconds since 1970."""

    path: str
    is_folder: bool
    size: int
    modified: float
    created: float


class UserFiles:
    """Files of the user below `root`, by names with slashes. Slow disks: call it in a thread."""

    def __init__(self, root: Path) -> None:
        self.root, self._settings = root / "files", root / "settings.json"
        self._lock = threading.Lock()

    def path(self, name: str) -> Path:
        """Give the path of a file that is there."""
        path = inside(self.root, name, "file")
        if not path.is_file():
            fault = Fault("file", "there is no such file", short(name), code="file-missing")
            raise BadRequest(fault, 404)
        return path

    def write(self, name: str, content: bytes, overwrite: bool = True) -> UserFile:
        """Write a file whole; refuses to overwrite where that was not wished."""
        path = self._target(name, overwrite)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
        return self._about(path)

    def delete(self, name: str) -> None:
        """Remove a file."""
        self.path(name).unlink()

    def move(self, name: str, target: str, overwrite: bool = False) -> UserFile:
        """Give a file another name."""
        source, path = self.path(name), self._target(target, overwrite)
        path.parent.mkdir(parents=True, exist_ok=True)
        os.replace(source, path)
        return self._about(path)

    def list(self, folder: str, recurse: bool, folders: bool = False) -> list[UserFile]:
        """List a folder's files by name, and its folders before them where asked."""
        path = inside(self.root, folder, "dir") if folder else self.root.resolve()
        if not path.is_dir():
            if not folder:
                return []
            fault = Fault("dir", "there is no such folder", short(folder), code="file-missing")
            raise BadRequest(fault, 404)
        found = [self._about(each) for each in _below(path, recurse)]
        listed = [each for each in found if folders or not each.is_folder]
        return sorted(listed, key=lambda each: (not each.is_folder, each.path.casefold()))

    def settings(self) -> dict[str, Json]:
        """Give the settings; a damaged file is none, and is left for the user to look at."""
        try:
            found: Json = load_json(self._settings.read_bytes(), "settings")
        except (OSError, VinodeError):
            return {}
        return cast(dict[str, Json], found) if isinstance(found, dict) else {}

    def change_settings(self, changes: Mapping[str, Json]) -> None:
        """Merge settings into those kept."""
        with self._lock:
            text = json.dumps({**self.settings(), **changes}, indent=1).encode()
            if len(text) > _MOST_SETTINGS:
                problem = f"they have at most {_MOST_SETTINGS // 1024} kB together"
                raise BadRequest(Fault("settings", problem, code="too-large"), 413)
            self._settings.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._settings, text)

    def _target(self, name: str, overwrite: bool) -> Path:
        path = inside(self.root, name, "file")
        if path == self.root.resolve() or path.is_dir():
            raise BadRequest(Fault("file", "this is a folder", short(name)), 400)
        if path.exists() and not overwrite:
            fault = Fault("file", "it is there already", short(name), "send overwrite=true")
            raise BadRequest(fault, 409)
        if not path.exists() and sum(1 for _ in _below(self.root, True)) >= _MOST_FILES:
            fault = Fault("file", f"{_MOST_FILES:,} files are kept already", fix="delete some")
            raise BadRequest(fault, 507)
        return path

    def _about(self, path: Path) -> UserFile:
        found = path.stat()
        created = getattr(found, "st_birthtime", found.st_ctime)
        name = path.relative_to(self.root.resolve()).as_posix()
        size = 0 if path.is_dir() else found.st_size
        return UserFile(name, path.is_dir(), size, found.st_mtime, float(created))


def _below(folder: Path, recurse: bool) -> Iterator[Path]:
    """Give files and folders below one; hidden ones and links that lead elsewhere are left out."""
    left = _MOST_FILES
    for place, subfolders, names in os.walk(folder):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        for name in (*subfolders, *sorted(names)):
            path = Path(place, name)
            if name.startswith(".") or path.is_symlink() or not path.exists():
                continue
            yield path
            left -= 1
            if not left:
                return
        if not recurse:
            return
