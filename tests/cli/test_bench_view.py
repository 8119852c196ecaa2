"""Medians, ratios and doubts, from runs whose times are known."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from tests.graph.reports import ABSENT, MS, finished, node, on
from vinode.cli.bench_tables import print_bench
from vinode.cli.bench_view import Measured, doubts, measure, ratios, to_json
from vinode.graph.context import Phase
from vinode.graph.placement import Placement, Reason
from vinode.graph.timing import Report

HEAVY: dict[Phase, int] = {"compute": 80, "upload": 1, "download": 2, "host": 3, "wait": 4}
LIGHT: dict[Phase, int] = {"compute": 2, "upload": 1, "download": 1, "host": 3, "wait": 90}


def runs(walls: Sequence[int], place: Placement, light: bool = False) -> list[Report]:
    """Make runs of these milliseconds with one node that infers and one of Python."""
    model = node("1", LIGHT, place) if light else node("1", HEAVY, place)
    return [finished(ms, model, node("2", {"host": 7})) for ms in walls]


def measured(device: str, place: Placement, *walls: int, light: bool = False) -> Measured:
    """Measure them without a warm-up."""
    return measure(device, [], runs(walls, place, light))


CPU = measured("CPU", on("CPU", "CPU"), 100, 110, 90)


def codes(*found: Measured) -> list[tuple[str, str]]:
    """Give the doubts' codes with their devices."""
    return [(doubt.code, doubt.device) for doubt in doubts(found)]


def test_figures_are_medians_of_a_node_over_its_runs() -> None:
    """Each figure for itself; the node's phases are what they add up."""
    times = [
        finished(9, node("1", {"compute": compute, "upload": 1, "download": upload, "wait": 5}))
        for compute, upload in ((1, 3), (9, 1), (2, 2))
    ]
    (found,) = measure("CPU", [], times).nodes
    spent = found.figures
    assert (spent.compute, spent.movement, spent.waiting, spent.host) == (2 * MS, 3 * MS, 5 * MS, 0)


def test_the_warm_up_is_told_apart() -> None:
    """Its load and compile are in no median."""
    first = finished(500, node("1", {"compile": 300, "load": 100, **HEAVY}, on("CPU", "CPU")))
    found = measure("CPU", [first], runs([100] * 3, on("CPU", "CPU")))
    assert (found.first, found.setup, found.walls) == ((500 * MS,), 400 * MS, (100 * MS,) * 3)
    assert found.nodes[0].figures.setup == 0
    assert codes(found) == []


def test_ratios_are_paired_run_by_run() -> None:
    """What else the machine did while both ran falls out."""
    npu = measured("NPU", on("NPU", "NPU"), 50, 55, 45)
    assert ratios(npu, CPU) == (0.5, 0.5, 0.5)
    told = to_json([CPU, npu])["placements"]
    assert [each["ratio"] for each in told] == [1, 0.5]
    assert (told[0]["median"], told[0]["min"], told[0]["max"]) == (0.1, 0.09, 0.11)
    assert codes(CPU, npu) == []


def test_a_slow_accelerator_is_not_believed_in() -> None:
    """Wherever the CPU stands in the list."""
    npu = measured("NPU", on("NPU", "NPU"), 120, 120, 117)
    assert codes(CPU, npu) == codes(npu, CPU) == [("not-faster", "NPU")]
    (doubt,) = doubts([CPU, npu])
    assert "NPU takes 1.20 times as long as the CPU" in doubt.sentence
    alike = measured("NPU", on("NPU", "NPU"), 100, 110, 90)
    assert codes(CPU, alike) == [("not-faster", "NPU")]


def test_a_gain_smaller_than_the_spread_is_doubted() -> None:
    """One run of three was slower."""
    npu = measured("NPU", on("NPU", "NPU"), 90, 121, 80)
    assert codes(CPU, npu) == [("within-spread", "NPU")]
    assert "0.89 to 1.10" in doubts([CPU, npu])[0].sentence


def test_a_fall_back_is_the_first_thing_told() -> None:
    """With its reason and fix; its ratio is about the CPU alone, whichever it is."""
    fallen = measured("NPU", on("NPU", "CPU", ABSENT), 50, 50, 50)
    assert codes(CPU, fallen) == [("fell-back", "NPU"), ("same-device", "NPU")]
    doubt = doubts([CPU, fallen])[0]
    assert doubt.node == "1"
    assert doubt.sentence == (
        "NPU: node 1 (Type1) ran on CPU: [device-absent] no NPU is here; OpenVINO finds CPU; "
        "see `vinode doctor`"
    )


def test_a_remark_is_no_fall_back() -> None:
    """A split that is asked for runs on the CPU in part, and a wrong answer may be accepted."""
    small = Reason("split-too-small", "the NPU's part is too small to pay")
    split = measured("HETERO:NPU,CPU", on("HETERO:NPU,CPU", "NPU", small), 50, 50, 50)
    assert codes(CPU, split) == [("remark", "HETERO:NPU,CPU")]
    wrong = Reason("wrong-result", "NPU: its answer is 3 dB from the CPU's")
    assert codes(CPU, measured("NPU", on("NPU", "NPU", wrong), 50, 50, 50)) == [("remark", "NPU")]
    fallen = measured("NPU", on("NPU", "CPU", wrong), 50, 50, 50)
    assert codes(CPU, fallen)[0] == ("fell-back", "NPU")


def test_the_cpu_under_another_name_is_the_cpu() -> None:
    """A simulated device proves nothing."""
    simulated = measured("NPUSIM_CPU", on("NPUSIM_CPU", "NPUSIM_CPU"), 50, 50, 50)
    assert codes(CPU, simulated) == [("same-device", "NPUSIM_CPU")]


def test_a_fall_back_in_one_run_counts() -> None:
    """A device may be lost half-way."""
    times = [*runs([50, 50], on("NPU", "NPU")), *runs([50], on("NPU", "CPU", ABSENT))]
    assert ("fell-back", "NPU") in codes(CPU, measure("NPU", [], times))


def test_copies_and_python_that_eat_the_gain_are_told_once_a_place() -> None:
    """Data movement and Python together, against compute; a node of Python alone is no case."""
    cpu = measured("CPU", on("CPU", "CPU"), 100, 100, 100, light=True)
    npu = measured("NPU", on("NPU", "NPU"), 50, 50, 50, light=True)
    fallen = measured("GPU", on("GPU", "CPU", ABSENT), 50, 50, 50, light=True)
    found = [doubt for doubt in doubts([cpu, npu, fallen]) if doubt.code == "eaten"]
    assert [(doubt.device, doubt.node) for doubt in found] == [("CPU", "1"), ("NPU", "1")]
    assert "moving data takes 2.00 ms and its Python 3.00 ms" in found[0].sentence


def test_what_measures_nothing_is_said() -> None:
    """No model, no CPU beside it, too few runs, no warm-up."""
    python = measure("NPU", [], [finished(9, node("2", {"host": 7}))] * 3)
    assert codes(python) == [("no-device", "")]
    gpu = measured("GPU.1", on("GPU.1", "GPU.1"), 9, 9)
    assert codes(gpu) == [("no-cpu", ""), ("few-runs", "")]
    cold = [finished(9, node("1", {"compile": 5, **HEAVY}, on("CPU", "CPU")))] * 3
    assert codes(measure("CPU", [], cold)) == [("setup-timed", "CPU")]


def test_json_has_every_run() -> None:
    """And where each node really ran."""
    fallen = measured("NPU", on("NPU", "CPU", ABSENT), 50, 55, 45)
    told = json.loads(json.dumps(to_json([CPU, fallen])))
    assert (told["vinode_bench"], told["runs"], told["warmup"]) == (1, 3, 0)
    assert [each["device"] for each in told["placements"]] == ["CPU", "NPU"]
    assert [each["where"] for each in told["placements"]] == ["CPU", "CPU"]
    assert told["placements"][1]["seconds"] == [0.05, 0.055, 0.045]
    first = told["placements"][1]["nodes"][0]
    assert first["placement"]["reasons"][0]["code"] == "device-absent"
    assert first["figures"]["movement"] == 0.003
    assert [warning["code"] for warning in told["warnings"]] == ["fell-back", "same-device"]


def test_the_tables_say_what_is_asked_and_what_is_so(capsys: pytest.CaptureFixture[str]) -> None:
    """A row a device, a row a node and device, doubts last; names are not markup."""
    fallen = measured("NPU", on("NPU", "CPU", ABSENT), 50, 55, 45)
    found = [CPU, fallen]
    print_bench(found, doubts(found), "a[b].json")
    out = capsys.readouterr().out
    lines = [line.split() for line in out.splitlines()]
    assert "a[b].json, 3 runs each in turns, times in ms" in out
    assert ["CPU", "CPU", "100", "90.0..110", "1"] in lines
    assert ["NPU", "CPU", "50.0", "45.0..55.0", "0.50", "0.50..0.50"] in lines
    assert ["1", "(Type1)", "CPU", "CPU", "80.0", "3.00", "4.00", "3.00"] in lines
    assert ["NPU", "CPU", "80.0", "3.00", "4.00", "3.00"] in lines
    assert out.index("FELL BACK: NPU: node 1 (Type1)") < out.index("warning: NPU ran on the CPU")
