"""Every code that a reason may have: how one really comes to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import get_args

import openvino as ov
import pytest

from tests.graph.chains import chain, go_on, picture, saved, untimed
from vinode.graph.devices import SIMULATED, parse_hint
from vinode.graph.part import Asked, Simulation, refused_before
from vinode.graph.placement import PYTHON_NODE, Code, Reason, absent, classify
from vinode.graph.pool import Pool

HETERO = f"HETERO:{SIMULATED},CPU"


def ran(folder: Path, pool: Pool, hint: str, *steps: str) -> Reason:
    """Run a chain, and give the one reason why not as asked."""
    part, asked = saved(chain(*steps), folder), parse_hint(hint, "")
    (reason,) = pool.infer(part, {"x": picture()}, asked, untimed, go_on).reasons
    return reason


def said(text: str, device: str = "NPU") -> Callable[[Path], Reason]:
    """Give the reason of what a plugin says."""
    return lambda folder: classify(RuntimeError(text), device)


def dynamic(folder: Path) -> Reason:
    """Ask for the NPU with a size that is not fixed."""
    model = chain("sin")
    model.reshape({"x": ov.PartialShape([1, 4, -1, -1])})  # pyright: ignore
    reason = refused_before(ov.Core(), model, Asked(saved(model, folder), (), "NPU"))
    assert reason is not None
    return reason


def ignored(folder: Path) -> Reason:
    """Ask the CPU for an option that it does not have."""
    hint = replace(parse_hint("CPU", ""), options=(("MODEL_PRIORITY", "HIGH"),))
    part = saved(chain("sin"), folder)
    (reason,) = Pool().infer(part, {"x": picture()}, hint, untimed, go_on).reasons
    return reason


WAYS: Mapping[Code, Callable[[Path], Reason]] = {
    "device-absent": lambda folder: absent("NPU", ("CPU",)),
    "driver-missing": said("Cannot load library: libOpenCL.so.1: cannot open", "GPU"),
    "driver-too-old": said("Incompatibility between NPU plugin and driver!"),
    "compiler-missing": said("VCL compiler loading failed, aborting. Error: none"),
    "dynamic-shape": dynamic,
    "op-unsupported": lambda folder: ran(
        folder, Pool(simulate=Simulation(frozenset({"Sin"}))), SIMULATED, "conv", "sin"
    ),
    "precision-unsupported": said("Unsupported value f32. Supported values: f16, i8"),
    "compile-failed": said("[NPU_VCL] Compiler returned msg: Compilation failed"),
    "compile-timeout": lambda folder: ran(
        folder, Pool(simulate=Simulation(in_child=True), seconds=0), SIMULATED, "sin"
    ),
    "out-of-memory": said("Failed Pass StaticAllocation: Failed to statically allocate 'DDR'"),
    "device-lost": lambda folder: ran(
        folder, Pool(simulate=Simulation(fails="DEVICE_LOST")), SIMULATED, "sin"
    ),
    "inference-failed": lambda folder: ran(
        folder, Pool(simulate=Simulation(fails="something new")), SIMULATED, "sin"
    ),
    "wrong-result": lambda folder: ran(
        folder, Pool(simulate=Simulation(noise=0.5)), SIMULATED, "sin"
    ),
    "python-node": lambda folder: PYTHON_NODE.reasons[0],
    "split-too-small": lambda folder: ran(
        folder, Pool(simulate=Simulation(frozenset({"Sin"}))), HETERO, *["sin"] * 3
    ),
    "option-ignored": ignored,
}


@pytest.mark.parametrize("code", get_args(Code))
def test_a_reason_comes_to_each_code(code: Code, tmp_path: Path) -> None:
    """With a sentence; and with a fix, unless nothing is wrong."""
    reason = WAYS[code](tmp_path)
    assert reason.code == code
    assert reason.sentence
    assert "\n" not in reason.sentence
    assert bool(reason.fix) == (code != "python-node")
