"""Closed lists of names that depend on folders: nothing else reaches the node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import pytest

from tests.graph.engine import FOLDERS, Engine, Nodes, Ran, engine
from vinode import node
from vinode.graph.context import Expansion, Folders, Lazy, Subgraph
from vinode.graph.graph import build
from vinode.graph.ports import Choices
from vinode.graph.workflow import Json, from_json


def texts(folders: Folders) -> list[str]:
    """List the files of the input folder."""
    return sorted(file.name for file in folders.input.iterdir())


def broken(folders: Folders) -> list[str]:
    """Fail, as an author's list may."""
    raise OSError("the disk is gone")


@node("Read", category="test")
def read(folder: str, name: Annotated[str, Choices(texts)] = "a.txt") -> str:
    """Read a file of the folder."""
    return (Path(folder) / name).read_text(encoding="utf-8")


@node("Open", category="test")
def any_name(name: Annotated[str, Choices(texts, closed=False)] = "a.txt") -> str:
    """Take any name."""
    return name


@node("ReadLazily", category="test")
def read_lazily(name: Lazy[Annotated[str, Choices(texts)]]) -> str:
    """Take a name as it is asked for."""
    return name.value


@node("ReadAll", category="test")
def read_all(names: list[Annotated[str, Choices(texts)]]) -> int:
    """Take several names."""
    return len(names)


@node("Broken", category="test")
def unlisted(name: Annotated[str, Choices(broken)] = "x") -> str:
    """Take a name of a list that cannot be had."""
    return name


@node("Say", category="test")
def say(text: str = "") -> str:
    """Give a text."""
    return text


@node("Within", category="test")
def within(name: str) -> int | Expansion:
    """Read a file by a node of its own."""
    graph = Subgraph()
    return graph.result(graph.add("ReadAll", names=[name])[0])


@pytest.fixture
def made(tmp_path: Path) -> Engine:
    """Make an engine whose input folder has two files, and a secret beside it."""
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "input").mkdir()
    for name in ("a.txt", "b.txt"):
        (tmp_path / "input" / name).write_text(name)
    types = engine(read, any_name, read_all, unlisted, say).types
    return Engine(types, folders=replace(FOLDERS, input=tmp_path / "input"))


def faults(made: Engine, type: str, inputs: dict[str, Json]) -> list[str]:
    """Give what is said of a node before the run."""
    document: dict[str, Json] = {"1": {"class_type": type, "inputs": inputs}}
    return [str(fault) for fault in build(from_json(document), made.types, made.folders).faults]


@pytest.mark.parametrize(
    ("name", "fix"), [("../secret.txt", ""), ("b.tx", "; did you mean 'b.txt'?"), ("", "")]
)
def test_a_literal_name_that_is_not_offered_is_refused(made: Engine, name: str, fix: str) -> None:
    """Before the run, with the nearest name; a way out of the folder is no name."""
    problem = f"node 1 (Read), input name: expected one of a.txt, b.txt; got {name!r}{fix}"
    assert faults(made, "Read", {"folder": str(made.folders.input), "name": name}) == [problem]


def test_a_name_that_is_offered_is_taken(made: Engine) -> None:
    """And any name where the list is open."""
    folder = str(made.folders.input)
    ran = made.run({"1": ("Read", {"folder": folder, "name": "b.txt"})}, ["1"])
    assert ran.value("1") == "b.txt"
    assert faults(made, "Open", {"name": "../secret.txt"}) == []


@pytest.mark.parametrize("type", ["Read", "ReadAll"])
def test_a_name_that_comes_over_a_wire_is_checked_as_it_arrives(made: Engine, type: str) -> None:
    """It is refused before the node sees it."""
    given: dict[str, Json] = {"names" if type == "ReadAll" else "name": ["0", 0]}
    given |= {"folder": str(made.folders.input)} if type == "Read" else {}
    nodes: Nodes = {"0": ("Say", {"text": "../secret.txt"}), "1": (type, given)}
    (fault,) = made.run(nodes, ["1"]).failed("1").faults
    assert (fault.code, fault.problem) == ("bad-value", "expected one of a.txt, b.txt")
    assert fault.got == "'../secret.txt'"


def lazily(made: Engine) -> Ran:
    """Ask for a name that another node gives."""
    types = {**made.types, "ReadLazily": read_lazily}
    nodes: Nodes = {
        "0": ("Say", {"text": "c.txt"}),
        "1": ("ReadLazily", {"name": ["0", 0]}),
    }
    return replace(made, types=types).run(nodes, ["1"])


def expanded(made: Engine) -> Ran:
    """Give a name to a node of an expansion."""
    types = {**made.types, "Within": within}
    return replace(made, types=types).run({"1": ("Within", {"name": "c.txt"})}, ["1"])


@pytest.mark.parametrize("way", [lazily, expanded])
def test_no_way_leads_around_the_list(made: Engine, way: Callable[[Engine], Ran]) -> None:
    """Neither a lazy input nor an expansion."""
    ran = way(made)
    assert ran.outcome.status == "failed"
    assert [fault.problem for fault in ran.outcome.faults] == ["expected one of a.txt, b.txt"]


def test_a_list_that_cannot_be_had_is_its_authors_fault(made: Engine) -> None:
    """And no traceback."""
    (said,) = faults(made, "Broken", {"name": "x"})
    assert "its names cannot be listed: OSError: 'the disk is gone'" in said
