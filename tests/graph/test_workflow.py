"""JSON <-> Workflow: nothing is lost, the output is stable, every format is told apart."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vinode.graph.errors import Fault, WorkflowError
from vinode.graph.strict_json import MAX_DEPTH, load_json
from vinode.graph.workflow import (
    MAX_BYTES,
    MAX_NODES,
    Json,
    Link,
    NodeId,
    NodeSpec,
    Workflow,
    dump,
    from_json,
    link_of,
    parse,
    to_prompt,
)

# Every text that JSON can carry, half letters (lone surrogates) and the other planes among them.
# Two halves side by side are one letter to JSON, so a high half never stands before a low one.
TEXTS = st.text(st.characters(exclude_categories=()), max_size=8).filter(
    lambda text: text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass") == text
)
NAMES = st.one_of(
    st.sampled_from(
        ["1", "prompt", "class_type", "inputs", "vinode", "nodes", "_meta", "狐狸", ""]
    ),
    TEXTS,
)
NUMBERS = st.one_of(
    st.integers(-(2**63), 2**64 - 1), st.floats(allow_nan=False, allow_infinity=False)
)
LEAVES = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
VALUES: st.SearchStrategy[Json] = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=3)
LINKS = st.builds(Link, NAMES.map(NodeId), st.integers(0, 2**31))
INPUTS = st.dictionaries(
    NAMES, st.one_of(LINKS, VALUES.filter(lambda value: not isinstance(value, list))), max_size=4
)


def without(*names: str) -> st.SearchStrategy[dict[str, Json]]:
    """Make objects whose keys are none of these: they have a place of their own in a file."""
    return OBJECTS.map(lambda made: {key: made[key] for key in made if key not in names})


SPECS = st.builds(
    NodeSpec, TEXTS.filter(bool), INPUTS, OBJECTS, without("class_type", "inputs", "_meta")
)
WORKFLOWS = st.builds(
    Workflow,
    st.dictionaries(NAMES.map(NodeId), SPECS, max_size=4),
    OBJECTS,
    without("vinode", "prompt", "extra_data"),
)


@given(WORKFLOWS)
@settings(deadline=None)
def test_what_is_written_is_what_is_read(workflow: Workflow) -> None:
    """Unknown keys, seeds, half letters and the order of nodes included; writing is stable."""
    text = dump(workflow)
    found = parse(text)
    assert found == workflow
    assert list(found.nodes) == list(workflow.nodes)
    assert dump(found) == text
    in_a_file = text.encode("utf-8", "backslashreplace")
    assert parse(in_a_file) == workflow


@given(WORKFLOWS)
@settings(deadline=None)
def test_a_graph_survives_comfyui(workflow: Workflow) -> None:
    """As the body of POST /prompt, written by any JSON library."""
    body = json.dumps({"prompt": to_prompt(workflow), "client_id": "x"})
    assert parse(body).nodes == workflow.nodes


def faults_of(text: str | bytes) -> tuple[Fault, ...]:
    """Give what is wrong with a file."""
    try:
        parse(text, "file")
    except WorkflowError as error:
        return error.faults
    return ()


@given(st.text(max_size=30) | st.binary(max_size=30))
@settings(deadline=None)
def test_any_text_is_a_workflow_or_a_sentence(text: str | bytes) -> None:
    """Nothing but WorkflowError is raised, whatever is read."""
    faults = faults_of(text)
    assert all(fault.place.startswith(("file", "node")) for fault in faults)


@given(VALUES)
@settings(deadline=None)
def test_any_json_is_a_workflow_or_a_sentence(value: Json) -> None:
    """Faults are in the graph's nodes, or say what is no graph."""
    for fault in faults_of(json.dumps(value)):
        assert str(fault).isprintable()
        assert len(str(fault)) < 1000


@pytest.mark.parametrize("value", [0, 1, 2**53 + 1, 2**63, 2**64 - 1, -(2**63), 0.1, 1e-320])
def test_numbers_are_exact(value: float) -> None:
    """A seed is not rounded on its way through a file."""
    workflow = Workflow({NodeId("1"): NodeSpec("KSampler", {"seed": value})})
    found = parse(dump(workflow)).nodes[NodeId("1")].inputs["seed"]
    assert (found, type(found)) == (value, type(value))


GRAPH: dict[str, Any] = {"1": {"class_type": "A", "inputs": {"x": ["2", 0], "y": 1}}}


@pytest.mark.parametrize(
    "document",
    [
        GRAPH,
        {"prompt": GRAPH},
        {"vinode": 1, "prompt": GRAPH},
        {"prompt": GRAPH, "client_id": "x", "extra_data": None},
    ],
)
def test_each_format_gives_the_same_nodes(document: dict[str, Any]) -> None:
    """A bare graph, ours, and what clients post."""
    workflow = parse(json.dumps(document))
    assert workflow.nodes == {"1": NodeSpec("A", {"x": Link(NodeId("2"), 0), "y": 1})}
    assert "client_id" not in document or workflow.other == {"client_id": "x"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_bytes_of_any_unicode_are_read(encoding: str) -> None:
    """Notepad on Windows writes a mark in front, PowerShell writes UTF-16."""
    text = json.dumps(
        {"狐": {"class_type": "Note", "inputs": {"text": "火狐"}}}, ensure_ascii=False
    )
    assert parse(text.encode(encoding)).nodes == parse(text).nodes


def test_a_file_is_a_line_an_input() -> None:
    """So that one changed value is one changed line in git."""
    text = dump(parse(json.dumps({"1": {"class_type": "A", "inputs": {"x": 1, "y": "狐"}}})))
    lines = ['{\n"vinode": 1,', '"prompt": {', '"1": {', ' "class_type": "A",', ' "inputs": {']
    assert text == "\n".join([*lines, '  "x": 1,', '  "y": "狐"}}', "}", "}"]) + "\n"


@pytest.mark.parametrize(
    ("value", "link"),
    [
        (["a", 0], Link(NodeId("a"), 0)),
        (["", 3], Link(NodeId(""), 3)),
        (["a", True], None),
        (["a", -1], None),
        (["a", 0.0], None),
        ([1, 0], None),
        ("a0", None),
        ({"a": 0}, None),
    ],
)
def test_a_link_is_a_text_and_a_whole_number(value: Json, link: Link | None) -> None:
    """Python would take True for 1 and -1 for the last output."""
    assert link_of(value) == link


def nested(depth: int) -> str:
    """Write brackets inside each other."""
    return "[" * depth + "]" * depth


def test_depth_is_bounded_alike_on_every_python() -> None:
    """At the limit all goes through, beyond it and far beyond it is one sentence."""
    text = f'{{"1": {{"class_type": "A", "x": {nested(MAX_DEPTH - 3)}}}}}'
    assert parse(dump(parse(text))) == parse(text)
    for depth in (MAX_DEPTH - 2, 900, 100_000):
        with pytest.raises(WorkflowError, match=f"nested deeper than {MAX_DEPTH} levels"):
            parse(f'{{"1": {{"class_type": "A", "x": {nested(depth)}}}}}')
    with pytest.raises(WorkflowError, match="nested deeper"):
        parse("[" * 100_000)


def test_size_is_bounded() -> None:
    """Before anything is read, and before a million nodes are looked at."""
    with pytest.raises(WorkflowError, match="at most 64 MB"):
        parse(b" " * (MAX_BYTES + 1))
    with pytest.raises(WorkflowError, match="at most 200,000 nodes; got 200,001"):
        from_json(dict.fromkeys(map(str, range(MAX_NODES + 1)), None))


def test_a_key_twice_among_many_is_found_at_once() -> None:
    """A hundred thousand keys, the last of them twice."""
    keys = ", ".join(f'"{number}": 0' for number in range(100_000))
    with pytest.raises(WorkflowError, match="stands twice in one object; got '99999'"):
        load_json(f'{{{keys}, "99999": 0}}', "file")
