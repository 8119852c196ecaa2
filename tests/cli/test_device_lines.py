"""What is said of a node's device under the table."""

from __future__ import annotations

import math
from dataclasses import replace

from vinode.cli.device_lines import device_lines
from vinode.graph.placement import PYTHON_NODE, Placement
from vinode.graph.profile import OpTime
from vinode.graph.split import Crossing, Refused, Split
from vinode.graph.timing import NodeReport
from vinode.graph.workflow import NodeId

OPS = (
    OpTime("__module.a/aten::to/Convert", "Convert", "jit_avx2", 0, 4_000_000),
    OpTime("__module.a.b/aten::conv/Conv", "Convolution", "brgconv", 0, 1_000_000),
)

CAST = OpTime("x_f32_bf16___module.a/aten::linear", "Reorder", "jit_uni", 0, 9)


def lines(where: Placement | None, ops: bool = False) -> list[str]:
    """Give the lines of a node so placed."""
    return device_lines(NodeReport(NodeId("3"), "K", "K", "done", None, where), ops)


def test_nothing_is_said_of_a_node_that_has_nothing_to_say() -> None:
    """Python, or a model on the CPU that changes few layouts, or a node that did not run."""
    assert lines(None) == lines(PYTHON_NODE) == lines(PYTHON_NODE, ops=True) == []
    assert lines(Placement("CPU", {"CPU": 1.0}, layout=0.19, busiest=OPS, layout_ns=9**9)) == []


def test_layouts_that_take_less_than_a_millisecond_are_not_worth_a_word() -> None:
    """However large their share of a small model is."""
    little = Placement("CPU", {"CPU": 1.0}, layout=0.9, busiest=OPS, layout_ns=999_999)
    assert lines(little) == []
    assert len(lines(replace(little, layout_ns=1_000_000))) == 1


def test_layouts_are_told_from_a_fifth_on_with_what_to_change() -> None:
    """The busiest kind of change decides the advice."""
    spent = Placement("CPU", {"CPU": 1.0}, layout_ns=4_000_000)
    assert lines(replace(spent, layout=0.8, busiest=OPS)) == [
        "node 3 (K) spends 80% of its time in Reorder, Transpose, Convert; "
        "convert the model to the precision in which the device computes"
    ]
    (line,) = lines(replace(spent, layout=0.5, busiest=(CAST,)))
    assert "the precision in which the device computes" in line
    turned = (replace(OPS[0], type="Transpose"), *OPS)
    assert "order in which pictures come" in lines(replace(spent, layout=0.2, busiest=turned))[0]


def test_operations_are_told_where_asked_for() -> None:
    """Time, type, place in the source model, kernel."""
    assert lines(Placement("CPU", {"CPU": 1.0}, busiest=OPS), ops=True) == [
        "node 3 (K)    4.000 ms  Convert a  [jit_avx2]",
        "node 3 (K)    1.000 ms  Convolution a.b  [brgconv]",
    ]


def test_a_split_counts_what_it_knows() -> None:
    """A tensor of unknown shape crosses too."""
    crossings = (Crossing("x", "NPU", "CPU", 2_000_000), Crossing("y", "CPU", "NPU", None))
    refused = (Refused("Tan_3", "Tan", "NPU"), Refused("Tan_4", "Tan", "NPU"))
    split = Split((("NPU", 5), ("CPU", 2)), crossings, refused, {"NPU": 0.7, "CPU": 0.3})
    where = Placement(
        "HETERO:NPU,CPU", {"NPU": 0.5, "CPU": 0.5}, splits=(split,), between=1_500_000
    )
    assert lines(where) == [
        "node 3 (K) runs as 2 submodels: NPU 5 ops, CPU 2; 2 crossings, at least 2 MB; "
        "NPU does not take Tan Tan_3 and 1 more",
        "node 3 (K) spends 1.5 ms between the submodels of a split",
    ]


def test_rightness_is_told_and_a_simulation_is_marked_in_every_line() -> None:
    """Equal answers have no figure."""
    where = Placement("NPUSIM_CPU", {"NPUSIM_CPU": 1.0}, busiest=OPS, snr_db=41.6)
    told = lines(where, ops=True)
    assert told[0] == "node 3 (K) [simulated] gives the CPU's answer within 42 dB"
    assert len(told) == 3
    assert all(line.startswith("node 3 (K) [simulated] ") for line in told)
    assert lines(Placement("NPU", {"NPU": 1.0}, snr_db=math.inf)) == [
        "node 3 (K) gives exactly the CPU's answer"
    ]
