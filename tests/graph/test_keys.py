"""The key of a node: equal just where its content is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np

from tests.graph.engine import FOLDERS
from vinode import node
from vinode.graph.cache import Key, key_of
from vinode.graph.graph import GraphNode
from vinode.graph.kinds import ANY
from vinode.graph.workflow import Link, NodeId

Anything = Annotated[object, ANY]


@node("Keep", category="test")
def keep(thing: Anything) -> Anything:
    """Give what it got."""
    return thing


def key(constants: Mapping[str, object], salt: bytes | None = None, **links: Link) -> Key | None:
    """Give the key of a node with these inputs."""
    sources: dict[NodeId, Key | None] = {NodeId("1"): b"one", NodeId("2"): b"two"}
    return key_of(GraphNode(NodeId("n"), keep, constants, links), sources, FOLDERS, salt)


VALUES: list[object] = [
    0,
    1,
    True,
    1.0,
    -0.0,
    0.0,
    "1",
    "",
    None,
    "None",
    [1],
    [1.0],
    ["1"],
    "a\0b",
]
MORE: list[object] = [{"a": 1}, 10**5000, 10**5000 + 1]
DIFFERENT: list[dict[str, object]] = [{"thing": value} for value in (*VALUES, *MORE)]
DIFFERENT.append({"thing": "a", "b": ""})


def test_different_inputs_have_different_keys() -> None:
    """Also where they are equal in Python or look alike in print."""
    keys = [key(constants) for constants in DIFFERENT]
    keys += [key({}, thing=Link(NodeId(node), slot)) for node in "12" for slot in (0, 1)]
    assert len(set(keys)) == len(DIFFERENT) + 4
    assert [key(constants) for constants in DIFFERENT] == keys[: len(DIFFERENT)]


def test_a_value_that_is_no_json_needs_a_salt() -> None:
    """Its text says nothing: two arrays of a million numbers print alike."""
    value = {"thing": np.zeros(3)}
    assert key(value, b"") is None
    assert key(value, b"here") == key({"thing": np.ones(3)}, b"here") != key(value, b"there")
    assert key({"thing": 1}, b"here") == key({"thing": 1}, b"") == key({"thing": 1})
