"""Workflow -> Graph: what a checked node holds, which faults stand in the way of what."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.graph.built_in import TYPES, folders, graph_of, sentences
from vinode import Fault, node
from vinode.graph.errors import WorkflowError, nearest
from vinode.graph.graph import build
from vinode.graph.node import NodeTypes
from vinode.graph.workflow import Json, Link, NodeId, from_json

EMPTY = ("EmptyImage", {"width": 8, "height": 8})
SHOW = ("PreviewImage", {"images": ["a", 0]})


def scaled(root: Path, width: Json) -> object:
    """Give the width that a node would get."""
    graph = graph_of(root, a=EMPTY, b=("ImageScale", {"image": ["a", 0], "width": width}))
    assert graph.faults == ()
    return graph.nodes[NodeId("b")].constants["width"]


@pytest.mark.parametrize("width", [8, 8.0, "8", " +8 ", "008", {"__value__": 8}])
def test_a_whole_number_comes_in_many_clothes(width: Json, tmp_path: Path) -> None:
    """As ComfyUI's clients send it; nothing is lost."""
    found = scaled(tmp_path, width)
    assert (found, type(found)) == (8, int)


def test_a_seed_as_text_is_exact(tmp_path: Path) -> None:
    """It never goes through a float."""
    graph = graph_of(tmp_path, a=("PrimitiveInt", {"value": str(2**64 - 1)}))
    assert graph.nodes[NodeId("a")].constants["value"] == 2**64 - 1


def test_a_number_given_for_a_text_is_its_digits(tmp_path: Path) -> None:
    """A prompt of 5 is the text 5."""
    graph = graph_of(tmp_path, a=("StringConcatenate", {"string_a": 5, "string_b": 2**64}))
    constants = graph.nodes[NodeId("a")].constants
    assert (constants["string_a"], constants["string_b"]) == ("5", str(2**64))
    assert constants["delimiter"] == ""


def test_a_checked_node_has_its_links_defaults_and_title(tmp_path: Path) -> None:
    """An input is a constant or a link, each under its name."""
    document: dict[str, Json] = {
        "a": {"class_type": "EmptyImage", "_meta": {"title": "狐", "device": "npu!"}}
    }
    document["b"] = {"class_type": "ImageInvert", "inputs": {"image": ["a", 0]}}
    graph = build(from_json(document), TYPES, folders(tmp_path))
    first, second = graph.nodes[NodeId("a")], graph.nodes[NodeId("b")]
    assert first.constants == {"width": 512, "height": 512, "batch_size": 1, "color": 0}
    assert (first.title, first.hint.text, first.place) == ("狐", "NPU!", "node a (EmptyImage)")
    assert (second.links, second.constants) == ({"image": Link(NodeId("a"), 0)}, {})
    assert (second.title, second.hint.text) == ("", "AUTO")
    assert graph.order == ("a", "b")


def test_faults_stand_in_the_way_of_what_needs_them(tmp_path: Path) -> None:
    """A wrong node lying about stops nobody; what needs it is told all that is wrong."""
    graph = graph_of(
        tmp_path,
        a=EMPTY,
        good=SHOW,
        x=("ImageInvert", {"image": ["y", 0]}),
        y=("ImageInvert", {}),
        z=("Nonsense", {"image": ["x", 0]}),
        bad=("PreviewImage", {"images": ["z", 0]}),
        loop=("ImageInvert", {"image": ["loop", 0]}),
    )
    good, bad = NodeId("good"), NodeId("bad")
    assert graph.require([good]) == {"a", "good"}
    with pytest.raises(WorkflowError) as raised:
        graph.require([good, bad])
    assert [fault.node for fault in raised.value.faults] == ["y", "z"]
    assert {fault.node for fault in graph.faults} == {"y", "z", "loop"}
    assert graph.outputs == ("good", "bad")


def test_without_an_output_all_faults_are_told(tmp_path: Path) -> None:
    """The unknown node may be the very output that is missed."""
    with pytest.raises(WorkflowError) as raised:
        graph_of(tmp_path, a=EMPTY, b=("SaveImag", {"images": ["a", 0]})).require([])
    assert sentences(raised.value.faults) == [
        "node b (SaveImag): no such node; got 'SaveImag'; did you mean SaveImage?",
        "workflow: nothing to run; add a node that ends the workflow, such as SaveImage or "
        "PreviewImage",
    ]


def test_faults_come_in_the_order_of_the_file(tmp_path: Path) -> None:
    """The same on every run, whatever Python's hashes do."""
    names = [f"unknown {number}" for number in range(20)]
    graph = graph_of(tmp_path, a=("EmptyImage", dict.fromkeys(names, 1)))
    assert [warning.place.rpartition("input ")[2] for warning in graph.warnings] == names


def test_a_link_of_an_ignored_input_is_no_need(tmp_path: Path) -> None:
    """It neither makes a cycle nor drags a faulty node in."""
    graph = graph_of(
        tmp_path, a=("EmptyImage", {"zzz": ["b", 0], "yyy": ["c", 0]}), b=SHOW, c=("None", {})
    )
    assert graph.require([NodeId("b")]) == {"a", "b"}


def check_raises(text: str) -> Fault | None:
    """Fail as a pack's own check may."""
    raise RuntimeError("x" * 9000)


@node("test.Checked", category="test", check=check_raises)
def checked(text: str = "") -> None:
    """Do nothing.

    text  anything
    """


def test_a_check_that_fails_is_a_fault_of_its_pack(tmp_path: Path) -> None:
    """It names the author's function, and is short."""
    types: NodeTypes = {**TYPES, checked.id: checked}
    graph = build(from_json({"a": {"class_type": "test.Checked"}}), types, folders(tmp_path))
    (fault,) = graph.faults
    assert str(fault).startswith("node a (test.Checked): its check failed: RuntimeError: 'xxxx")
    assert fault.fix.startswith("tell the author of ")
    assert len(str(fault)) < 300


def test_many_faults_are_found_in_a_time_that_grows_with_them(tmp_path: Path) -> None:
    """Only the first of them come with the nearest name: seeking one takes a while."""
    specs: dict[str, Json] = {str(number): ("EmptyImag", {}) for number in range(3000)}
    graph = graph_of(tmp_path, **specs)
    assert len(graph.faults) == 3000
    helped = sum("did you mean EmptyImage?" in fault.fix for fault in graph.faults)
    assert 0 < helped <= 101


def test_the_nearest_name_is_not_sought_for_ever() -> None:
    """A page is no name; among very many names only the one in another case is found."""
    assert nearest("x" * 1000, ["x" * 999]) == ""
    many = [str(number) for number in range(10_000)] + ["KSampler"]
    assert nearest("ksampler", many) == "KSampler"
    assert nearest("ksample", many) == ""


def test_ten_thousand_nodes_are_built(tmp_path: Path) -> None:
    """No recursion anywhere."""
    specs: dict[str, Json] = {"0": EMPTY}
    for number in range(1, 10_000):
        specs[str(number)] = ("ImageInvert", {"image": [str(number - 1), 0]})
    graph = graph_of(tmp_path, **specs)
    assert graph.faults == ()
    assert len(graph.require([NodeId("9999")])) == 10_000
