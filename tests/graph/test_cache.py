"""Results by content key: what changes re-runs, what does not stands; bytes are bounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest

from tests.graph.engine import Engine, Nodes, engine
from vinode import Conditioning, Image, Latent, Prompt, node
from vinode.graph.cache import Cache, Result, size_of
from vinode.graph.context import Context, Expansion, Subgraph
from vinode.graph.kinds import Kind
from vinode.graph.workflow import Json

Handle = Annotated[str, Kind("HANDLE", "a model", python=str, is_model=True)]


def mark_of(path: str) -> str | None:
    """Tell a file by its content; None for a file that is never the same twice."""
    return None if path == "random" else Path(path).read_text(encoding="utf-8")


@node("Read", category="test", fingerprint=mark_of)
def read(path: str) -> str:
    """Read a file."""
    return path if path == "random" else Path(path).read_text(encoding="utf-8")


@node("Add", category="test")
def add(x: int = 0, y: int = 1) -> int:
    """Add."""
    return x + y


@node("Length", category="test")
def length(text: str) -> int:
    """Count letters."""
    return len(text)


@node("Show", category="test")
def show(x: int, context: Context) -> None:
    """End a workflow."""
    context.show("numbers", [x])


@node("Use", category="test")
def use(handle: Handle) -> str:
    """Use a model."""
    return handle


@node("Handle", category="test")
def handle() -> Handle:
    """Give a model."""
    return "tiny"


@node("ReadInside", category="test")
def read_inside(path: str) -> int | Expansion:
    """Read a file through other nodes."""
    graph = Subgraph()
    return graph.result(graph.add("Length", text=graph.add("Read", path=path)[0])[0])


NODES = (read, add, length, show, use, handle, read_inside)


def tree(**changed: Json) -> Nodes:
    """Make two chains that meet; inputs of their nodes may be changed."""
    given: Mapping[str, Json] = {"a": 1, "b": 2, "c": 3, **changed}
    return {
        "a": ("Add", {"x": given["a"]}),
        "a2": ("Add", {"x": ["a", 0]}),
        "b": ("Add", {"x": given["b"]}),
        "b2": ("Add", {"x": ["b", 0], "y": given["c"]}),
        "end": ("Add", {"x": ["a2", 0], "y": ["b2", 0]}),
    }


@pytest.mark.parametrize(
    ("changed", "again"),
    [
        ({}, set[str]()),
        ({"a": 9}, {"a", "a2", "end"}),
        ({"c": 9}, {"b2", "end"}),
        ({"a": 9, "b": 9}, {"a", "a2", "b", "b2", "end"}),
    ],
)
def test_a_changed_widget_runs_again_what_depends_on_it(
    changed: dict[str, Json], again: set[str]
) -> None:
    """And nothing else; changed back, nothing runs at all."""
    few = engine(*NODES)
    first = few.run(tree(), ["end"]).value("end")
    assert set(few.run(tree(**changed), ["end"]).started) == again
    back = few.run(tree(), ["end"])
    assert (back.started, back.reused, back.value("end")) == ([], ["end"], first)


def test_ids_titles_and_the_order_of_a_file_are_no_content() -> None:
    """A copy of a workflow under other ids is served from the cache."""
    few = engine(*NODES)
    few.run({"1": ("Add", {"x": 1}), "2": ("Add", {"x": ["1", 0]})}, ["2"])
    ran = few.run({"z": ("Add", {"y": 1, "x": ["y", 0]}), "y": ("Add", {"y": 1, "x": 1})}, ["z"])
    assert (ran.started, ran.value("z")) == ([], 3)


def test_what_a_node_showed_is_shown_again() -> None:
    """An end that stands sends its results as if it had run."""
    few = engine(*NODES)
    nodes: Nodes = {"1": ("Add", {}), "2": ("Show", {"x": ["1", 0]})}
    few.run(nodes)
    ran = few.run(nodes)
    assert [(event.node, event.shown) for event in ran.events[1:-1]] == [("2", {"numbers": (1,)})]  # type: ignore[union-attr]


def test_a_file_that_changes_runs_again(tmp_path: Path) -> None:
    """The fingerprint is its content, not its name; the same content later stands again."""
    few = engine(*NODES)
    path = tmp_path / "text"
    nodes: Nodes = {"r": ("Read", {"path": str(path)}), "l": ("Length", {"text": ["r", 0]})}
    for content, started in (("one", 2), ("three", 2), ("three", 0), ("one", 0)):
        path.write_text(content, encoding="utf-8")
        ran = few.run(nodes, ["l"])
        assert (ran.value("l"), len(ran.started)) == (len(content), started)


def test_what_is_never_the_same_twice_runs_each_time() -> None:
    """And so does all that depends on it."""
    few = engine(*NODES)
    nodes: Nodes = {
        "r": ("Read", {"path": "random"}),
        "l": ("Length", {"text": ["r", 0]}),
        "a": ("Add", {"x": 1}),
        "s": ("Add", {"x": ["l", 0], "y": ["a", 0]}),
    }
    few.run(nodes, ["s"])
    ran = few.run(nodes, ["s"])
    assert (sorted(ran.started), ran.reused) == (["l", "r", "s"], ["a"])
    assert len(few.cache) == 1


def test_a_fingerprint_that_fails_is_no_fault_of_the_plan() -> None:
    """The node runs, and says itself what is wrong."""
    ran = engine(*NODES).run({"r": ("Read", {"path": "/no/such/file"})}, ["r"])
    assert ran.failed("r").faults[0].problem.startswith("FileNotFoundError: ")


def test_a_file_read_inside_an_expansion_is_read_again(tmp_path: Path) -> None:
    """The expanding node's own inputs do not tell that the file has changed."""
    few = engine(*NODES)
    path = tmp_path / "text"
    nodes: Nodes = {
        "r": ("ReadInside", {"path": str(path)}),
        "s": ("Add", {"x": ["r", 0]}),
    }
    for content in ("one", "three", "three"):
        path.write_text(content, encoding="utf-8")
        ran = few.run(nodes, ["s"])
        assert ran.value("s") == len(content) + 1
    assert ran.reused == ["r.0.2"]


def test_the_device_is_content_where_a_model_is_used() -> None:
    """A node of Python gives the same on any device."""
    few = engine(*NODES)
    nodes: Nodes = {"h": ("Handle", {}), "u": ("Use", {"handle": ["h", 0]})}
    few.run(nodes, ["u"], devices={"u": "CPU"})
    assert few.run(nodes, ["u"], devices={"u": "NPU", "h": "NPU"}).started == ["u"]


@dataclass(frozen=True)
class Holder:
    """Something with an array in it."""

    array: Any


@pytest.mark.parametrize(
    ("value", "bytes"),
    [
        (Image(np.zeros((1, 100, 100, 3), np.uint8)), 30_000),
        ([np.zeros(1000), np.zeros(1000)], 16_000),
        ({"a": Holder(np.zeros(1000))}, 8_000),
        (Latent(np.zeros((2, 4, 50, 5), np.float32), np.zeros((1, 50, 20), np.float32)), 12_000),
        (Conditioning((Prompt(np.zeros((1, 77, 9), np.float32)),)), 2_772),
        (
            Conditioning(
                (
                    Prompt(np.zeros((1, 77, 9), np.float32), {"pooled": np.zeros((1, 2000))}),
                    Prompt(np.zeros((1, 77, 9), np.float32)),
                )
            ),
            2 * 2_772 + 16_000,
        ),
        ("x" * 5000, 5_000),
        (5, 0),
    ],
)
def test_the_size_of_a_result_is_that_of_its_arrays_and_texts(value: object, bytes: int) -> None:
    """The same array twice is one array."""
    assert (
        bytes
        <= size_of(Result(((value, value),)))
        <= bytes * (2 if type(value) is str else 1) + 1200
    )


def test_the_least_recently_used_go_first() -> None:
    """And the sum of bytes is that of what is there."""
    cache = Cache(3500)
    for name in (b"a", b"b", b"c"):
        cache.put(name, Result(((name.decode() * 800,),)))
    assert cache.bytes == 3000
    assert cache.get(b"a") is not None
    cache.put(b"d", Result((("d" * 800,),)))
    assert [name for name in (b"a", b"b", b"c", b"d") if cache.get(name)] == [b"a", b"c", b"d"]
    cache.put(b"a", Result((("a" * 100,),)))
    assert (cache.bytes, len(cache)) == (2300, 3)


def test_a_result_over_the_limit_is_not_kept() -> None:
    """It pushes nothing else out; the run has its own hold on it."""
    cache = Cache(3500)
    cache.put(b"a", Result((("a" * 800,),)))
    cache.put(b"b", Result((("b" * 9000,),)))
    assert (cache.get(b"a") is not None, cache.get(b"b"), cache.bytes) == (True, None, 1000)
    cache.clear()
    assert (len(cache), cache.bytes) == (0, 0)


def test_eviction_breaks_no_run() -> None:
    """A cache that keeps nothing costs time, not results."""
    few = Engine({type.id: type for type in NODES}, Cache(0))
    nodes: Nodes = {str(i): ("Add", {"x": [str(i - 1), 0]} if i else {}) for i in range(50)}
    for _ in range(2):
        ran = few.run(nodes, ["49", "10"])
        assert (ran.value("49"), ran.value("10"), len(ran.started)) == (50, 11, 50)
    assert len(few.cache) == 0


def test_a_newer_version_of_a_node_is_other_content() -> None:
    """Its author says when the same inputs give another result."""

    def make(version: int, value: int) -> Engine:
        @node("Value", category="test", version=version)
        def give() -> int:
            """Give a number."""
            return value

        return Engine({"Value": give}, cache)

    cache = Cache()
    assert make(1, 1).run({"1": ("Value", {})}, ["1"]).value("1") == 1
    assert make(1, 2).run({"1": ("Value", {})}, ["1"]).value("1") == 1
    assert make(2, 3).run({"1": ("Value", {})}, ["1"]).value("1") == 3
