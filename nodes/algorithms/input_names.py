"""Find the file that a workflow names, and nothing outside of the folders it may read."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Iterator, Sequence
from pathlib import Path, PureWindowsPath

from vinode.graph.context import Folders
from vinode.graph.errors import Fault, nearest, short
from vinode.nodes.algorithms.picture_file import SUFFIXES

LATENT = ".latent"  # suffix of saved latents, which are safetensors inside
_MAX_LISTED = 10_000
# ComfyUI's way to name a file of another folder: "fox_00001_.png [output]".
_FOLDER_SUFFIX = re.compile(r"(.*?) ?\[(input|output|temp)\]", re.DOTALL)


def list_pictures(folders: Folders) -> list[str]:
    """List the names of pictures that may be loaded: given ones, then files in the input folder."""
    given = sorted(folders.named or {})
    return given + sorted(_files_below(folders.input, SUFFIXES), key=str.casefold)


def list_latents(folders: Folders) -> list[str]:
    """List the names of saved latents that may be loaded: given ones, then files."""
    given = sorted(name for name, path in (folders.named or {}).items() if path.suffix == LATENT)
    return given + sorted(_files_below(folders.input, {LATENT}), key=str.casefold)


def locate(
    name: str,
    folders: Folders,
    what: str = "picture",
    names: Callable[[Folders], Sequence[str]] = list_pictures,
) -> Path | Fault:
    """Find the file behind a name.

    Tried in this order: names given on the command line; the input folder, or the output or temp
    folder where the name ends in "[output]" or "[temp]"; and only where any path is allowed, the
    path itself, seen from the current folder and from the workflow's own. Backslashes from Windows
    are understood everywhere.
    what   the file is called in messages
    names  lists those that there are, for a mistyped one
    """
    named = (folders.named or {}).get(name)
    if named is not None:
        return named
    plain, folder = _split_folder(name, folders)
    if not plain.strip() or "\0" in plain:
        return Fault(what, "no file is named", short(name), "choose one", "file-missing")
    # Following a network path of Windows would already send the user's name to that server.
    outside = not folders.anywhere and bool(PureWindowsPath(plain).anchor)
    for path in () if outside else _candidates(plain, folder, folders):
        if folders.anywhere or _is_inside(path, folder):
            if _exists(path):
                return path
        else:
            outside = True
    if outside:
        fix = f"copy the file into {folder.name!r} and name it without the path"
        return Fault(what, "the path leaves its folder", short(name), fix, "file-unreadable")
    close = nearest(name, names(folders))
    fix = f"copy it to {folder}"
    if folders.anywhere:
        fix = f"give its path, name it with --input {short(name)[1:-1]}=PATH, or {fix}"
    fix = f"did you mean {close!r}?" if close else fix
    return Fault(what, "there is no such file", short(name), fix, code="file-missing")


def _split_folder(name: str, folders: Folders) -> tuple[str, Path]:
    matched = _FOLDER_SUFFIX.fullmatch(name)
    if not matched:
        return name, folders.input
    by_name = {"input": folders.input, "output": folders.output, "temp": folders.temp}
    return matched[1], by_name[matched[2]]


def _candidates(plain: str, folder: Path, folders: Folders) -> Iterator[Path]:
    spellings = [plain, plain.replace("\\", "/")] if "\\" in plain else [plain]
    for spelling in spellings:
        yield folder / spelling
    if folders.anywhere:
        for spelling in spellings:
            yield Path(spelling)
            if spelling.startswith("~"):
                yield Path(os.path.expanduser(spelling))
            if folders.beside:
                yield folders.beside / spelling


def _is_inside(path: Path, folder: Path) -> bool:
    """Say whether a path stays in a folder once every link and `..` in it is followed."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # too long, not a name here, a circle of links
        return False


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # too long, or not a name on this system
        return False


def _files_below(folder: Path, suffixes: Container[str]) -> Iterator[str]:
    left = _MAX_LISTED
    for place, subfolders, names in os.walk(folder):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        below = "" if Path(place) == folder else f"{Path(place).relative_to(folder).as_posix()}/"
        for name in names:  # texts, not paths: a server lists thousands whenever a page is loaded
            if os.path.splitext(name)[1].lower() in suffixes and not name.startswith("."):
                yield below + name
                left -= 1
                if not left:
                    return
