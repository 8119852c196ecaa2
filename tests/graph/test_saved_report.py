"""Reports are read back as they were written, and refused in sentences where they are not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.graph.reports import finished, node, on, saved, saved_node
from vinode.graph.errors import Fault, WorkflowError
from vinode.graph.saved_report import read_report
from vinode.graph.timing import to_json


def faults(text: str | bytes) -> tuple[Fault, ...]:
    """Read what is no report and give its faults."""
    with pytest.raises(WorkflowError) as caught:
        read_report(text, "a.json")
    return caught.value.faults


def test_what_a_run_writes_is_read() -> None:
    """State, place and phases of each node, in order."""
    done = finished(
        9, node("2", {"host": 1}), node("1", {"compute": 4, "wait": 2}, on("NPU", "NPU"))
    )
    found = read_report(json.dumps(to_json(done)), "a.json")
    assert (found.status, found.seconds) == ("done", 0.009)
    assert [(each.id, each.title, each.state) for each in found.nodes.values()] == [
        ("2", "Title 2", "done"),
        ("1", "Title 1", "done"),
    ]
    assert [each.where for each in found.nodes.values()] == ["CPU", "NPU"]
    assert list(found.nodes.values())[1].phases == {"compute": 0.004, "wait": 0.002}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("nodes", "a.json, line 1, column 1: not JSON"),
        (b"\x89PNG\r\n\x1a\n\xff", "a.json: not text in UTF-8"),
        ('{"vinode_report": 1, "seconds": NaN}', "JSON has no such number; got NaN"),
        ('{"a": 1, "a": 2}', "the same key stands twice"),
        ("[" * 5000 + "]" * 5000, "nested deeper"),
        ('{"vinode_report": 1, "seconds": ' + "9" * 5000 + "}", "thousands of digits"),
        ("[]", "a.json: this is no report of a run; got []"),
        ("7", "a.json: this is no report of a run; got 7"),
        ("null", "a.json: this is no report of a run; got None"),
        ('{"traceEvents": []}', "a.json: this is no report of a run; got {'traceEvents': []}"),
    ],
)
def test_what_is_no_report_is_told_with_the_way_to_one(text: str | bytes, told: str) -> None:
    """Whatever the file is."""
    (fault,) = faults(text)
    assert told in str(fault)
    assert fault.fix == "write one with `vinode run FILE --report REPORT.json`"


@pytest.mark.parametrize("version", [2, 0, True, "1", None, 1.0])
def test_another_version_is_refused(version: object) -> None:
    """Its times might mean something else."""
    (fault,) = faults(json.dumps(saved(1, vinode_report=version)))
    assert (fault.code, fault.place) == ("bad-version", "a.json, vinode_report")


BAD: dict[str, dict[str, Any]] = {
    "status: expected one of": saved(1, status="great"),
    "seconds: expected seconds, 0 or more; got -1": saved(-1),
    "seconds: expected seconds, 0 or more; got True": saved(True),
    "seconds: expected seconds, 0 or more; got an integer of": saved(10**999),
    "nodes: expected a list; got {}": saved(1, nodes={}),
    "nodes[0]: expected an object; got 7": saved(1, nodes=[7]),
    "nodes[0].id: expected a text; got 3": saved(1, {**saved_node("1"), "id": 3}),
    "nodes[0].state: expected one of": saved(1, {**saved_node("1"), "state": "odd"}),
    "nodes[1].id: two nodes have this id": saved(1, saved_node("1"), saved_node("1")),
    "nodes[0].phases: expected an object": saved(1, {**saved_node("1"), "phases": [1]}),
    "nodes[0].phases: expected one of": saved(1, saved_node("1", nap=1.0)),
    "nodes[0].phases.wait: expected seconds": saved(1, saved_node("1", wait=-0.5)),
    "nodes[0].placement: expected an object": saved(1, {**saved_node("1"), "placement": None}),
    "nodes[0].placement.where: expected a text": saved(1, saved_node("1", where=3, wait=1)),
}


@pytest.mark.parametrize("told", BAD)
def test_a_wrong_value_is_told_with_its_place(told: str) -> None:
    """The same for every value that is read."""
    assert any(told in str(fault) for fault in faults(json.dumps(BAD[told])))


def test_a_file_full_of_faults_is_told_in_a_few() -> None:
    """And in sentences whose letters a terminal does not obey."""
    nodes = [saved_node(str(number), **{"\x1b[2J": 1.0}) for number in range(50)]
    told = faults(json.dumps(saved(1, *nodes)))
    assert len(told) == 20
    assert all(str(fault).isprintable() for fault in told)
