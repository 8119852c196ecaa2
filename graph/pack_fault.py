"""Why a pack did not load: file and line in the author's code, the problem, and the fix."""

from __future__ import annotations

import traceback
from dataclasses import replace
from pathlib import Path

from vinode.graph.drop_in import plain
from vinode.graph.errors import DeclarationError, Fault, short


def explain(error: BaseException, name: str, root: Path | None) -> Fault:
    """Turn what loading a pack raised into one fault.

    root  folder or file of the pack's code, for naming the line that is its own
    """
    line = _own_line(error, root)
    place = f"pack {name!r}" + (f", {line}" if line else "")
    match error:
        case DeclarationError():
            fault = error.faults[0]
            more = len(error.faults) - 1
            problem = f"{fault.problem} (and {more} more)" if more else fault.problem
            where = place if fault.place.startswith("pack ") else f"{place}, {fault.place}"
            return replace(fault, place=plain(where), problem=plain(problem))
        case SyntaxError():
            where = f"pack {name!r}, {error.filename}, line {error.lineno}"
            return _fault(where, f"not Python: {error.msg}", (error.text or "").strip(), "mend it")
        case ModuleNotFoundError():
            fix = _missing_fix(error.name or "", name, root)
            return _fault(place, "a module that it imports is missing", error.name or "", fix)
        case SystemExit():
            fix = "a module is imported, not run: put that under `if __name__ == '__main__':`"
            return _fault(place, "it ends the program while it is imported", short(error.code), fix)
        case _:
            problem = f"it fails while it is imported: {type(error).__name__}"
            return _fault(place, problem, str(error), "mend that line, or remove the pack")


def _fault(place: str, problem: str, got: str, fix: str) -> Fault:
    return Fault(place, problem, got, fix, code="pack-broken")


def _own_line(error: BaseException, root: Path | None) -> str:
    """Name the last line of the pack's own code on the way to the error."""
    if root is None:
        return ""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = Path(frame.filename)
        if file == root or root in file.parents:
            return f"{file}, line {frame.lineno}"
    return ""


def _missing_fix(missing: str, name: str, root: Path | None) -> str:
    top = missing.partition(".")[0]
    if root is not None:
        folder = root if root.is_dir() else root.parent
        beside = [folder / f"{top}.py", folder / top / "__init__.py"]
        if top == name and root.is_dir():
            return f"inside a drop-in package write `from . import ...` instead of `import {top}`"
        if any(path.exists() for path in beside):
            if root.is_dir():
                return f"write `from . import {top}`"
            return f"make a package of both files: a folder with __init__.py, {root.name} and {top}"
    return f"install it into vinode's Python, for example `pip install {top}`"
