"""Files stay short enough to be read, and what is packaged is what is there."""

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("bench", "converters", "graph", "nodes", "tests", "tools", "vinode", "web")
LONGEST_FILE, LONGEST_FUNCTION = 300, 40


def python_files() -> list[Path]:
    """Give our files once each: the links in vinode/ show four folders a second time."""
    links = {path for path in (ROOT / "vinode").iterdir() if path.is_symlink()}
    found = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    return [path for path in found if not links.intersection(path.parents)]


def test_files_are_short() -> None:
    """Where one is not, split it by stage."""
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in python_files()}
    assert len(lengths) > 30
    assert {str(path): n for path, n in lengths.items() if n > LONGEST_FILE} == {}


def test_functions_are_short() -> None:
    """Decorators and docstrings count: they are read too."""
    long: dict[str, int] = {}
    for path in python_files():
        for found in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (found.end_lineno or found.lineno) - found.lineno + 1
                if length > LONGEST_FUNCTION:
                    long[f"{path.relative_to(ROOT)}: {found.name}"] = length
    assert long == {}


def test_every_package_is_packaged() -> None:
    """A folder that is missing in pyproject.toml is missing in the wheel, and nobody notices."""
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "setuptools"
    ]
    folders = {path.parent for path in python_files() if path.name == "__init__.py"}
    names = {".".join(path.relative_to(ROOT).parts) for path in folders}
    shipped = {name for name in names if not name.startswith(("tests", "bench", "tools"))}
    expected = {name if name.startswith("vinode") else f"vinode.{name}" for name in shipped}
    assert set(tool["packages"]) == expected
    assert len(tool["packages"]) == len(expected)
    for package, folder in tool["package-dir"].items():
        assert (ROOT / folder / "__init__.py").is_file(), package
