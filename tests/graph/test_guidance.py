"""Two calls of one picture, or one of two: chosen by the device that will run them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.graph.chains import chain, picture, saved
from tests.graph.engine import Engine, Nodes
from vinode import node
from vinode.graph.context import Context
from vinode.graph.devices import SIMULATED, first_here, halves_apart
from vinode.graph.part import Simulation
from vinode.graph.pool import Pool
from vinode.graph.values import Detector, ModelPart


def preferred(part: ModelPart, hint: str, pool: Pool) -> list[bool]:
    """Say what a node is told before and after it has run the model."""

    @node("Model", category="test")
    def model() -> Detector:
        """Give the handle."""
        return Detector(part, "test", ())

    @node("Ask", category="test")
    def ask(model: Detector, context: Context) -> list[bool]:
        """Ask, run, and ask again."""
        before = context.prefers_single(model.part)
        context.infer(model.part, {"x": picture()})
        return [before, context.prefers_single(model.part)]

    made = Engine({"Model": model, "Ask": ask}, pool=pool)
    nodes: Nodes = {"m": ("Model", {}), "a": ("Ask", {"model": ["m", 0]})}
    ran = made.run(nodes, ["a"], devices={"a": hint})
    (values,) = ran.outcome.outputs.values()
    return [value is True for value in values[0]]


@pytest.mark.parametrize(
    ("hint", "refused", "wanted"),
    [
        ("CPU", "", [False, False]),
        (SIMULATED, "", [True, True]),
        (f"{SIMULATED}!", "", [True, True]),
        (f"HETERO:{SIMULATED},CPU", "", [True, True]),
        (SIMULATED, "Sin", [True, False]),  # it is on the CPU from then on
    ],
)
def test_an_npu_prefers_single_pictures(
    hint: str, refused: str, wanted: list[bool], tmp_path: Path
) -> None:
    """The stand-in as an NPU; not the device that takes its place."""
    part = saved(chain("conv", "sin"), tmp_path)
    pool = Pool(simulate=Simulation(refused=frozenset({refused} - {""})))
    assert preferred(part, hint, pool) == wanted


@pytest.mark.parametrize(
    ("devices", "available", "apart"),
    [
        (("NPU", "CPU"), ("CPU", "NPU"), True),
        (("NPU.1", "CPU"), ("CPU", "NPU.0", "NPU.1"), True),
        (("NPU", "CPU"), ("CPU",), False),
        (("HETERO:NPU,CPU", "CPU"), ("CPU", "NPU"), True),
        (("GPU", "CPU"), ("CPU", "GPU", "NPU"), False),
        ((), ("CPU",), False),
    ],
)
def test_the_device_that_is_here_decides(
    devices: tuple[str, ...], available: tuple[str, ...], apart: bool
) -> None:
    """Whatever is asked for beside it."""
    assert halves_apart(first_here(devices, available)) is apart


def test_two_halves_give_what_both_at_once_give(tmp_path: Path) -> None:
    """So the choice is one of cost alone: compared bit for bit in f32."""
    import openvino as ov

    part, both = saved(chain("conv", "sin", "relu"), tmp_path), picture((2, 4, 16, 16))
    core, exact = ov.Core(), {"INFERENCE_PRECISION_HINT": "f32"}
    answers: list[np.ndarray[tuple[int, ...], np.dtype[np.float32]]] = []
    for batch in (both, both[:1], both[1:]):
        read = core.read_model(str(part.xml))  # pyright: ignore[reportUnknownMemberType]
        read.reshape({"x": ov.PartialShape(list(batch.shape))})  # pyright: ignore
        answers.append(core.compile_model(read, "CPU", exact)([batch])[0])
    assert (answers[0] == np.concatenate(answers[1:])).all()
