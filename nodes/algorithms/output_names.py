"""Name the files that a run leaves, keep them inside their folder, and let them appear whole."""

from __future__ import annotations

import errno
import os
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from vinode.graph.errors import NodeError, short

_DATE = re.compile(r"%date:([^%]*)%")
_DATE_PART = re.compile(r"yyyy|yy|MM?|dd?|hh?|HH?|mm?|ss?")
_FORBIDDEN = re.compile(r'[<>:"|?*\x00-\x1f\x7f]')
# Names that are devices on Windows, with whatever suffix.
_DEVICE = re.compile(r"(?i)(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(\..*)?")
_MAX_NAME_BYTES = 200
_BATCH_NUMBER = "%batch_num%"
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


@dataclass(frozen=True, slots=True)
class Target:
    """Where a batch of pictures goes, or another file.

    folder     exists, and is inside the folder that may be written
    subfolder  the same as seen from there, with slashes; "" for the folder itself
    stem       start of every file name; may still hold %batch_num%
    suffix     end of every file name
    """

    folder: Path
    subfolder: str
    stem: str
    suffix: str = ".png"


def expand(prefix: str, now: datetime, width: int, height: int) -> str:
    """Fill in %date:yyyy-MM-dd%, %year% to %second%, %width% and %height%.

    >>> expand("%date:yyMMdd%/%width%x%height%", datetime(2026, 3, 9), 640, 480)
    '260309/640x480'
    """
    parts = {
        "%year%": f"{now.year}",
        "%month%": f"{now.month:02}",
        "%day%": f"{now.day:02}",
        "%hour%": f"{now.hour:02}",
        "%minute%": f"{now.minute:02}",
        "%second%": f"{now.second:02}",
        "%width%": f"{width}",
        "%height%": f"{height}",
    }
    # A clock time is written with colons, which no Windows name may hold.
    text = _DATE.sub(lambda match: _date(match[1], now).replace(":", "-"), prefix)
    for token, value in parts.items():
        text = text.replace(token, value)
    return text


def _date(form: str, now: datetime) -> str:
    values = {
        "y": now.year,
        "M": now.month,
        "d": now.day,
        "h": now.hour,
        "H": now.hour,
        "m": now.minute,
        "s": now.second,
    }

    def part(match: re.Match[str]) -> str:
        letters = match[0]
        value = values[letters[0]]
        return f"{value % 100:02}" if letters == "yy" else f"{value:0{len(letters)}}"

    return _DATE_PART.sub(part, form)


def split_prefix(prefix: str) -> tuple[list[str], str]:
    """Give the subfolders and the name in a prefix; NodeError says what may not stand in it."""
    path = prefix.replace("\\", "/")
    if path.startswith("/") or re.match(r"[A-Za-z]:", path):
        fix = "give a name, or subfolder/name; files go into the output folder"
        raise NodeError("filename_prefix is an absolute path", short(prefix), fix)
    *subfolders, stem = path.split("/")
    subfolders = [name for name in subfolders if name]
    for name in (*subfolders, stem):
        _check_name(name, prefix)
    return subfolders, stem


def plan_target(prefix: str, root: Path, suffix: str = ".png") -> Target:
    """Check a prefix and make its folder below `root`."""
    subfolders, stem = split_prefix(prefix)
    folder = root.joinpath(*subfolders)
    try:
        _make_folder(folder, root, prefix)
    except OSError as error:
        raise write_error(error, folder) from error
    return Target(folder, "/".join(subfolders), stem, suffix)


def _check_name(name: str, prefix: str) -> None:
    problem = ""
    forbidden = _FORBIDDEN.search(name)
    if name in (".", ".."):
        problem = "filename_prefix may not leave the output folder"
    elif forbidden:
        problem = f"filename_prefix holds {forbidden[0]!r}, which no file name may hold on Windows"
    elif name.endswith((".", " ")) or name.startswith(" "):
        problem = "a name in filename_prefix begins with a space or ends in a dot or a space"
    elif _DEVICE.fullmatch(name):
        problem = f"{name!r} is the name of a device on Windows"
    elif len(name.encode("utf-8", "replace")) > _MAX_NAME_BYTES:
        problem = f"a name in filename_prefix is longer than {_MAX_NAME_BYTES} bytes"
    if problem:
        raise NodeError(problem, short(prefix), "give a plain name, or subfolder/name")


def _make_folder(folder: Path, root: Path, prefix: str) -> None:
    root.mkdir(parents=True, exist_ok=True)
    if not folder.resolve().is_relative_to(root.resolve()):
        problem = "filename_prefix leaves the output folder through a link"
        raise NodeError(problem, short(prefix), "name another subfolder")
    folder.mkdir(parents=True, exist_ok=True)


def next_number(target: Target) -> int:
    """Give the number after the largest that a file with this stem has in the folder."""
    stem = re.escape(target.stem).replace(re.escape(_BATCH_NUMBER), r"\d+")
    pattern = re.compile(rf"{stem}_(\d{{1,18}})_?\..+", re.IGNORECASE)
    names = (pattern.fullmatch(entry.name) for entry in os.scandir(target.folder))
    return max((int(name[1]) for name in names if name), default=0) + 1


def publish(target: Target, place: int, number: int, write: Callable[[BinaryIO], None]) -> int:
    """Write a file beside its place and let it appear there whole, under the first free number.

    place    of the picture in its batch, for %batch_num%
    number   to try first
    returns  the number that the file got
    """
    temporary = target.folder / f".{uuid.uuid4().hex}.tmp"
    try:
        with temporary.open("xb") as file:
            write(file)
        while not _appear(temporary, target.folder / file_name(target, place, number)):
            number += 1
    finally:
        temporary.unlink(missing_ok=True)
    return number


def file_name(target: Target, place: int, number: int) -> str:
    """Give the name of a file: stem_00001_.png."""
    return f"{target.stem.replace(_BATCH_NUMBER, str(place))}_{number:05}_{target.suffix}"


def _appear(temporary: Path, final: Path) -> bool:
    """Move a finished file to its name, or say that the name is taken; never replaces a file."""
    try:
        if os.name == "nt":
            temporary.rename(final)  # refuses an existing file, on Windows only
        else:
            os.link(temporary, final)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        return _appear_behind_lock(temporary, final)
    return True


def _appear_behind_lock(temporary: Path, final: Path) -> bool:
    """Do the same on a disk without hard links (FAT): who makes the lock file may take the name."""
    lock = final.with_name(f".{final.name}.lock")
    try:
        lock.open("xb").close()
    except FileExistsError:
        return False
    try:
        if final.exists():
            return False
        temporary.replace(final)
    finally:
        lock.unlink(missing_ok=True)
    return True


def write_error(error: OSError, folder: Path) -> NodeError:
    """Say in words why a file could not be written."""
    got = str(folder)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return NodeError("the disk is full, the file is not saved", got, "make room on it")
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        fix = "choose a folder that you may write to"
        return NodeError("the output folder may not be written to", got, fix)
    if isinstance(error, FileExistsError | NotADirectoryError):
        problem = "a file stands where the output folder should be"
        return NodeError(problem, got, "move the file, or change filename_prefix")
    problem = f"the file could not be written: {error.strerror or error}"
    return NodeError(problem, got, "choose another output folder")
