"""Packs that are files in a folder: which there are, and how one is executed under its own name."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from vinode.graph.errors import Fault

_PREFIX = "vinode_drop_in"
_TEST_NAMES = re.compile(r"tests?|conftest|setup|test_.*|.*_test")


def is_hidden(name: str) -> bool:
    """Say whether a module holds no nodes by its name: private, tests, or switched off.

    >>> [name for name in ("blur", "_maths", "test_blur", "conftest") if is_hidden(name)]
    ['_maths', 'test_blur', 'conftest']
    """
    return name.startswith(("_", ".")) or bool(_TEST_NAMES.fullmatch(name))


def candidates(folder: Path) -> Iterator[Path | Fault]:
    """Give the paths in a folder that are packs, by name; the folder itself where it is one."""
    if _is_package(folder) or (folder.is_file() and folder.suffix == ".py"):
        yield folder
        return
    try:
        paths = sorted(folder.iterdir(), key=lambda path: path.name)
    except OSError as error:
        fix = "give a folder of .py files and packages, or one of them"
        place = f"node folder {folder}"
        yield Fault(place, "it cannot be read", error.strerror or str(error), fix, "pack-folder")
        return
    for path in paths:
        if is_hidden(path.stem) or path.suffix == ".disabled":
            continue
        if path.is_dir():
            if _is_package(path) or _looks_like_code(path):
                yield path
        elif path.suffix == ".py":
            yield path


def _is_package(path: Path) -> bool:
    return (path / "__init__.py").is_file()


def _looks_like_code(folder: Path) -> bool:
    """Tell a pack that was put here the wrong way from a folder of pictures."""
    return (folder / "pyproject.toml").is_file() or any(folder.glob("*.py"))


def shape_problem(path: Path) -> Fault | None:
    """Say why a path cannot be executed as a pack, before trying."""
    place = f"pack {path.name!r}"
    if path.is_dir() and not _is_package(path):
        if (path / "pyproject.toml").is_file():
            problem = "this is a project, and a project is installed"
            fix = f'run `pip install "{path}"` and take it out of this folder'
        else:
            problem, fix = "a folder is a pack only with a file __init__.py", "add an empty one"
        return Fault(place, problem, str(path), fix, "pack-shape")
    if path.is_file() and path.suffix != ".py":
        return Fault(place, "a pack is a .py file or a package", str(path), code="pack-shape")
    return None


def module_name(path: Path) -> str:
    """Name a drop-in's module after its whole path: two folders may each have a nodes.py.

    The same path has the same name in every process.
    """
    stem = path.stem if path.is_file() else path.name
    digest = hashlib.sha256(str(path).encode(errors="surrogatepass")).hexdigest()[:10]
    return f"{_PREFIX}_{digest}_{re.sub(r'[^0-9A-Za-z_]', '_', stem)}"


def plain(text: str) -> str:
    """Write a drop-in's modules as their author calls them.

    >>> plain("function vinode_drop_in_0123456789_blur.soften")
    'function blur.soften'
    """
    return re.sub(rf"\b{_PREFIX}_[0-9a-f]{{10}}_", "", text)


def execute(path: Path, name: str) -> ModuleType:
    """Run a drop-in's code anew as the module `name`; its own relative imports work."""
    forget(name)
    is_package = path.is_dir()
    file = path / "__init__.py" if is_package else path
    spec = importlib.util.spec_from_file_location(
        name, file, submodule_search_locations=[str(path)] if is_package else None
    )
    assert spec is not None
    assert spec.loader is not None  # a .py file always has one
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def forget(name: str) -> None:
    """Take a drop-in and all its modules out of `sys.modules`."""
    for loaded in [key for key in sys.modules if key == name or key.startswith(f"{name}.")]:
        del sys.modules[loaded]
