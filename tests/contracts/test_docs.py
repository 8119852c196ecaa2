"""What the documentation promises: kinds, nodes, and every block of code in it runs."""

import ast
import doctest
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import vinode
from vinode.cli.nodes import command
from vinode.cli.nodes_page import page
from vinode.cli.pack_check import known_kinds
from vinode.graph.drop_in import execute
from vinode.graph.node import collect, node
from vinode.graph.plugins import BUILTIN, from_module, load

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def text_of(name: str) -> str:
    """Read a page."""
    return (DOCS / name).read_text(encoding="utf-8")


def test_nodes_md_is_current() -> None:
    """It is written from the nodes: run `vinode nodes docs > docs/nodes.md`."""
    types = load([from_module(BUILTIN.value, BUILTIN.name)]).types
    assert text_of("nodes.md") == page(types.values())


def test_every_kind_is_in_data_md() -> None:
    """With its colour and the words of its declaration; and no other kind."""
    rows = re.findall(r"^\| (\S+) \| `(#\w+)` \| .+ \| (.+) \|$", text_of("data.md"), re.MULTILINE)
    assert {name: (colour, about) for name, colour, about in rows} == {
        kind.name: (kind.colour, kind.about) for kind in known_kinds().values()
    }


def test_the_kind_of_your_own_works(tmp_path: Path) -> None:
    """The block of data.md is a pack."""
    ((language, _, code),) = BLOCK.findall(text_of("data.md"))
    assert language == "python"
    (tmp_path / "depth.py").write_text(code, encoding="utf-8")
    types = collect([execute(tmp_path / "depth.py", "docs_depth")])
    assert [port.kind.name for port in types["my_pack.Nearest"].inputs] == ["DEPTH"]


def names_of(folders: vinode.Folders) -> list[str]:
    """List nothing: what the docs call `list_files`."""
    return []


def test_every_way_to_write_an_input_is_one() -> None:
    """The table of plugins.md: each row is declared."""
    rows = re.findall(r"^\| `(\w+: .+?)` \| .+ \|$", text_of("plugins.md"), re.MULTILINE)
    assert len(rows) > 10
    for row in rows:
        scope: dict[str, Any] = {**vars(vinode), "list_files": names_of}
        exec("from typing import Annotated, Literal", scope)
        exec(f"def f({row.replace(chr(92), '')}) -> Image: ...", scope)
        declared = node("docs.f", category="docs")(scope["f"])
        assert len(declared.inputs) == (0 if "Context" in row else 1), row


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work in an empty folder; afterwards nothing of it is imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_plugins_md_works_from_top_to_bottom(in_folder: Path) -> None:
    """Files are written where the blocks say, commands are run, their output is the one shown."""
    blocks = BLOCK.findall(text_of("plugins.md"))
    assert [language for language, _, _ in blocks].count("console") == 5
    for language, path, body in blocks:
        if language == "console":
            for line, expected in transcript(body):
                shown(line, expected)
        else:
            (in_folder / path).write_text(body, encoding="utf-8")
        if language == "toml":
            install(in_folder / Path(path).parent)


def transcript(body: str) -> Iterator[tuple[str, str]]:
    """Split a console block into commands and what each writes."""
    for part in body.split("$ ")[1:]:
        line, _, expected = part.partition("\n")
        yield line, expected


def shown(line: str, expected: str) -> None:
    """Run one command and compare; `...` stands for anything."""
    program, *words = shlex.split(line)
    if program == "vinode":
        assert words[0] == "nodes"
        result = CliRunner().invoke(command, words[1:], catch_exceptions=False)
        status, output = result.exit_code, result.stdout
    else:
        made = subprocess.run(
            [sys.executable, "-m", program, *words], capture_output=True, text=True, check=False
        )
        status, output = made.returncode, made.stdout
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert status == 0, output
    assert doctest.OutputChecker().check_output(expected, output.replace(os.sep, "/"), options), (
        f"{line}\n{output}"
    )


def install(project: Path) -> None:
    """Do what `pip install -e` does, without the network: write the metadata, extend the path."""
    code = "from setuptools import setup; setup()"
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, "-q", "egg_info"],
        cwd=project,
        check=True,
        capture_output=True,
    )
    sys.path.insert(0, str(project))


@pytest.mark.parametrize("name", ["plugins.md", "data.md"])
def test_code_in_the_docs_imports_only_through_the_door(name: str) -> None:
    """`vinode` itself is what a pack may lean on."""
    for language, _, code in BLOCK.findall(text_of(name)):
        if language != "python":
            continue
        for statement in ast.walk(ast.parse(code)):
            if isinstance(statement, ast.ImportFrom):
                assert not (statement.module or "").startswith("vinode.")
