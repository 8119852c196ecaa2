"""Names that come over the network, and the one file or folder below a root that each may mean."""

from __future__ import annotations

import re
from pathlib import Path

from vinode.graph.errors import Fault, VinodeError, short

_FORBIDDEN = re.compile(r'[<>:"|?*\x00-\x1f\x7f]')
# Names that are devices on Windows, with whatever suffix.
_DEVICE = re.compile(r"(?i)(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(\..*)?")
_LONGEST_NAME = 200  # bytes; file systems allow 255, and what is beside a file has a longer name
_LONGEST = 1000


class NameRefused(VinodeError):
    """A name that leaves its folder, or that no file has on every system."""


def inside(root: Path, name: str, what: str = "filename") -> Path:
    """Give the path below a root that a name means, with every link followed.

    Raises NameRefused where it leaves the root: by `..`, as an absolute path, by a drive letter or
    a network path of Windows, or through a link. It also refuses names that are no file's on
    Windows, on every system, for a folder moves from one to the other.
    """
    parts = name.replace("\\", "/").split("/")
    problem = _problem(name, parts)
    if problem:
        raise _refused(what, problem, name)
    path = root.joinpath(*(part for part in parts if part))
    try:
        whole = path.resolve()
        if whole.is_relative_to(root.resolve()):
            return whole
    except (OSError, ValueError, RuntimeError):  # too long, not a name here, a circle of links
        pass
    raise _refused(what, "it leaves its folder", name)


def _problem(name: str, parts: list[str]) -> str:
    if len(name) > _LONGEST:
        return f"it is longer than {_LONGEST} letters"
    if name.startswith(("/", "\\")):
        return "it is an absolute path"
    if re.match(r"[A-Za-z]:", name):
        return "it begins with a drive letter"
    if ".." in parts:
        return "it leaves its folder"
    return next((found for part in parts if (found := _part_problem(part))), "")


def _part_problem(part: str) -> str:
    forbidden = _FORBIDDEN.search(part)
    if forbidden:
        return f"it holds {forbidden[0]!r}, which no file name may hold on Windows"
    if part.endswith((".", " ")) and part != ".":
        return "a part of it ends in a dot or a space"
    if _DEVICE.fullmatch(part):
        return f"{part!r} is the name of a device on Windows"
    if len(part.encode("utf-8", "surrogatepass")) > _LONGEST_NAME:
        return f"a part of it is longer than {_LONGEST_NAME} bytes"
    if any("\ud800" <= letter <= "\udfff" for letter in part):
        return "it is no text"
    return ""


def _refused(what: str, problem: str, name: str) -> NameRefused:
    fix = "give a plain name, or subfolder/name"
    return NameRefused(Fault(what, problem, short(name), fix, "bad-name"))
