"""Two reports are compared node by node; what makes them hard to compare is said."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graph.reports import finished, node, on, saved, saved_node
from vinode.graph.compare import Comparison, compare, remarks, to_json
from vinode.graph.context import PHASES
from vinode.graph.saved_report import read_report
from vinode.graph.timing import FIGURES, figures
from vinode.graph.timing import to_json as report_json


def compared(before: dict[str, Any], after: dict[str, Any]) -> Comparison:
    """Compare the JSON of two reports."""
    return compare(read_report(json.dumps(before), "a"), read_report(json.dumps(after), "b"))


def test_each_phase_is_in_one_figure() -> None:
    """So that the figures add up to the whole."""
    assert sorted(phase for phases in FIGURES.values() for phase in phases) == sorted(PHASES)


def test_a_nodes_time_is_told_in_figures() -> None:
    """Data moves to the device and back; load and compile are setup."""
    timing = node("1", {"upload": 1, "download": 2, "compile": 4, "wait": 8, "host": 16}).timing
    assert timing
    found = figures(timing)
    told = (found.compute, found.movement, found.setup, found.waiting, found.host)
    assert [ns // 1_000_000 for ns in told] == [0, 3, 4, 8, 16]


def test_a_report_has_the_three_figures() -> None:
    """Added up over its nodes, in seconds."""
    done = finished(9, node("1", {"compute": 4, "upload": 1}), node("2", {"compute": 2, "wait": 3}))
    told = report_json(done)["figures"]
    assert told == {"compute": 0.006, "movement": 0.001, "waiting": 0.003}
    assert report_json(finished(1))["figures"] == {"compute": 0, "movement": 0, "waiting": 0}


def test_what_got_slower_stands_first() -> None:
    """Nodes by their change, and phases in a node."""
    before = saved(
        3, saved_node("1", host=1), saved_node("2", compute=1, host=2), saved_node("3", host=9)
    )
    after = saved(
        4,
        saved_node("3", host=5),
        saved_node("2", compute=3, upload=1, host=1),
        saved_node("1", host=1),
    )
    found = compared(before, after)
    assert (found.run.change, found.run.ratio) == (1, 4 / 3)
    assert [(each.after.id, each.total.change) for each in found.nodes] == [
        ("2", 2),
        ("1", 0),
        ("3", -4),
    ]
    assert [(each.name, each.change) for each in found.nodes[0].phases] == [
        ("compute", 2),
        ("upload", 1),
        ("host", -1),
    ]
    assert found.nodes[0].phases[1].ratio is None
    assert [(each.name, each.before, each.after) for each in found.figures] == [
        ("compute", 1, 3),
        ("movement", 0, 1),
        ("waiting", 0, 0),
        ("host", 12, 7),
        ("setup", 0, 0),
    ]
    assert remarks(found) == ()


def test_a_reused_node_has_no_time_to_compare() -> None:
    """A run that reuses is not a faster run: it is said, and the node is in no table."""
    found = compared(saved(1, saved_node("1", host=1)), saved(1, saved_node("1")))
    assert found.nodes == ()
    assert [(a.state, b.state) for a, b in found.untimed] == [("done", "reused")]
    assert remarks(found) == ("node 1 (Title 1) was done before and reused after",)


def test_absent_renamed_and_renumbered_nodes_are_told() -> None:
    """A node with the same id and another type is another node."""
    one, two = saved_node("1", host=1), saved_node("2", host=1)
    renamed = {**one, "title": "Sharper"}
    other = {**two, "type": "Other"}
    added = {**saved_node("7", host=1), "type": "Type4", "title": "Title 4"}
    before = saved(1, one, two, saved_node("4", host=1))
    found = compared(before, saved(1, renamed, other, added, status="failed"))
    assert [each.after.id for each in found.nodes] == ["1"]
    assert [each.id for each in found.only_before] == ["2", "4"]
    assert [each.id for each in found.only_after] == ["2", "7"]
    assert remarks(found) == (
        "the later run ended as failed",
        "node 1 (Title 1) was renamed: node 1 (Sharper)",
        "node 2 (Title 2) is only in the earlier run",
        "node 4 (Title 4) is only in the earlier run; the later run has its like: node 7 (Title 4)",
        "node 2 (Title 2) is only in the later run",
        "node 7 (Title 4) is only in the later run",
    )


def test_another_device_is_told() -> None:
    """It is the first thing to know of a node that got slower."""
    npu, cpu = saved_node("1", "NPU", compute=1), saved_node("1", "CPU", compute=2)
    assert remarks(compared(saved(1, npu), saved(2, cpu))) == (
        "node 1 (Title 1) ran on NPU before and on CPU after",
    )


def test_hostile_names_stay_on_one_line() -> None:
    """Titles come from files."""
    odd = {**saved_node("1", "\x1b[2J", host=1), "title": "\x1b[2J\n" * 99}
    told = remarks(
        compared(saved(1, odd), saved(1, {**odd, "title": "x", "placement": {"where": "\n"}}))
    )
    assert len(told) == 2
    assert all(line.isprintable() and len(line) < 300 for line in told)


def test_json_says_the_same() -> None:
    """For programs: seconds, and null for a ratio to nothing."""
    done = finished(4, node("1", {"compute": 4}, on("NPU", "NPU")))
    before, after = report_json(done), saved(5, saved_node("1", "NPU", compute=0.004, upload=1))
    told = json.loads(json.dumps(to_json(compared(before, after))))
    assert told["vinode_comparison"] == 1
    assert told["run"]["change"] == pytest.approx(4.996)
    assert list(told["figures"]) == ["compute", "movement", "waiting", "host", "setup"]
    (only,) = told["nodes"]
    assert only["where"] == {"before": "NPU", "after": "NPU"}
    assert only["phases"]["upload"] == {"before": 0, "after": 1, "change": 1, "ratio": None}
    assert told["remarks"] == []


TIMES = st.dictionaries(
    st.sampled_from("123456"),
    st.dictionaries(st.sampled_from(PHASES), st.integers(1, 9), min_size=1),
)


@given(TIMES, TIMES)
def test_the_reverse_comparison_has_the_reverse_changes(
    first: dict[str, dict[str, int]], second: dict[str, dict[str, int]]
) -> None:
    """And every node is in one list."""
    before = saved(1, *(saved_node(id, **phases) for id, phases in first.items()))
    after = saved(2, *(saved_node(id, **phases) for id, phases in second.items()))
    there, back = compared(before, after), compared(after, before)
    changes = {each.after.id: each.total.change for each in there.nodes}
    assert changes == {each.after.id: -each.total.change for each in back.nodes}
    assert {each.id for each in there.only_before} == {each.id for each in back.only_after}
    assert len(there.nodes) + len(there.only_before) == len(first)
    assert [each.change for each in there.figures] == [-each.change for each in back.figures]
