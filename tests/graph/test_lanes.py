"""Lanes: one a device, however the hint is written; OpenVINO is asked once, and only for models."""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import replace

import pytest

from tests.graph.engine import Handle, Nodes, engine
from vinode import node
from vinode.graph.devices import lane_of, parse_hint
from vinode.graph.events import NodeStarted
from vinode.graph.pool import Pool


@pytest.mark.parametrize(
    ("hint", "available", "lane"),
    [
        ("CPU", ("CPU", "NPU"), "CPU"),
        ("CPU!", ("CPU",), "CPU"),
        ("AUTO", ("CPU",), "CPU"),
        ("AUTO", ("CPU", "GPU", "NPU"), "NPU"),
        ("AUTO", ("CPU", "GPU"), "GPU"),
        ("GPU", ("CPU", "GPU"), "GPU"),
        ("GPU.0", ("CPU", "GPU"), "GPU"),
        ("GPU", ("CPU", "GPU.0", "GPU.1"), "GPU.0"),
        ("GPU.1", ("CPU", "GPU.0", "GPU.1"), "GPU.1"),
        ("GPU.1", ("CPU", "GPU"), "CPU"),
        ("NPU", ("CPU",), "CPU"),
        ("NPU!", ("CPU",), "NPU"),
        ("HETERO:NPU,CPU", ("CPU", "NPU"), "NPU"),
        ("HETERO:NPU,CPU", ("CPU",), "CPU"),
        ("HETERO:GPU.0,CPU", ("CPU", "GPU"), "GPU"),
    ],
)
def test_a_lane_is_the_device_that_a_hint_leads_to(
    hint: str, available: tuple[str, ...], lane: str
) -> None:
    """The first candidate that is here."""
    assert lane_of(parse_hint(hint, ""), available) == lane


def test_hints_for_one_device_share_its_lane() -> None:
    """Only one node at a time, whatever their hints say, from the very first on."""
    running: list[int] = []
    most: list[int] = []

    @node("Handle", category="test")
    def handle() -> Handle:
        """Give a model."""
        return "tiny"

    @node("Use", category="test")
    def use(handle: Handle, x: int) -> int:
        """Say how many of these run."""
        running.append(x)
        most.append(len(running))
        threading.Event().wait(0.002)
        running.remove(x)
        return x

    hints = ["SIM", "HETERO:SIM,CPU", "SIM!", "SIM"]
    devices = {str(i): hint.replace("SIM", "NPUSIM_CPU") for i, hint in enumerate(hints)}
    nodes: Nodes = {
        "m": ("Handle", {}),
        **{id: ("Use", {"handle": ["m", 0], "x": int(id)}) for id in devices},
    }
    made = replace(engine(handle, use), pool=Pool(simulate=True))
    ran = made.run(nodes, list(devices), devices=devices)
    assert ran.outcome.status == "done"
    assert {ran.finished(id).timing.lane for id in devices} == {"NPUSIM_CPU"}
    assert max(most) == 1
    started = [event.lane for event in ran.of(NodeStarted)]
    assert started.count("NPUSIM_CPU") == len(devices)
    timings = [ran.finished(id).timing for id in devices]
    # The import of OpenVINO is told where it was paid, and the phases still are the whole.
    assert [bool(timing.phases.get("load")) for timing in timings].count(True) >= 1
    assert all(sum(t.phases.values()) == t.end - t.ready for t in timings)


def test_a_workflow_without_models_asks_for_no_devices() -> None:
    """OpenVINO takes a quarter of a second to import."""
    code = """
import sys
from tests.graph.engine import engine
from vinode import node

@node("One", category="test")
def one() -> int:
    "Give one."
    return 1

assert engine(one).run({"1": ("One", {})}, ["1"]).value("1") == 1
print("openvino" in sys.modules)
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "False\n"


def test_a_node_fails_where_openvino_cannot_be_had() -> None:
    """And the run goes on with the others."""
    code = """
import sys
sys.modules["openvino"] = None
from tests.graph.engine import Handle, engine
from vinode import node

@node("Handle", category="test")
def handle() -> Handle:
    "Give a model."
    return "tiny"

@node("Use", category="test")
def use(handle: Handle) -> int:
    "Use it."
    return 1

given = {"handle": ["m", 0]}
nodes = {"m": ("Handle", {}), "1": ("Use", given), "2": ("Use", given)}
ran = engine(handle, use).run(nodes, ["m", "1", "2"])
print(ran.outcome.status, sorted(ran.outcome.outputs), [fault.code for fault in ran.outcome.faults])
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "failed ['m'] ['node-crashed', 'node-crashed']\n"
