"""Models compiled and run: hints, fallbacks, wrong inputs, reuse, eviction, cancel."""

# OpenVINO's stubs leave half of each operation untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportGeneralTypeIssues=false

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import pytest
from numpy.typing import NDArray
from openvino import opset13 as op

from tests.graph.chains import chain, go_on, picture, saved, untimed
from tests.graph.engine import Engine, Nodes, Ran
from vinode import node
from vinode.graph.context import Context, Phase
from vinode.graph.devices import parse_hint
from vinode.graph.errors import DeviceError, ModelError
from vinode.graph.events import NodeFailed, NodeFinished
from vinode.graph.pool import Inference, Pool
from vinode.graph.values import Detector, ModelPart

Arrays = Mapping[str, NDArray[Any]]


def infer(pool: Pool, part: ModelPart, hint: str, inputs: Arrays | None = None) -> Inference:
    """Run a part once, without a clock and without a cancel."""
    given = {"x": picture()} if inputs is None else inputs
    return pool.infer(part, given, parse_hint(hint, "test"), untimed, go_on)


@pytest.fixture
def relu(tmp_path: Path) -> ModelPart:
    """Give a model of two operations."""
    return saved(chain("conv", "relu"), tmp_path)


@pytest.mark.parametrize("hint", ["CPU", "AUTO", "CPU!", "NPUSIM_CPU", "NPUSIM_CPU!"])
def test_a_device_that_is_here_is_taken(hint: str, relu: ModelPart) -> None:
    """And reported by the compiled model itself; there is nothing to explain."""
    done = infer(Pool(simulate=True), relu, hint)
    wanted = "NPUSIM_CPU" if hint.startswith("NPUSIM") else "CPU"
    assert (done.compiled.claimed, done.reasons) == ((wanted,), ())
    core = ov.Core()
    expected = core.compile_model(core.read_model(relu.xml), "CPU")(picture())[0]
    np.testing.assert_allclose(done.outputs["y"], expected, rtol=0.05, atol=0.02)


@pytest.mark.parametrize("hint", ["NPU", "GPU", "GPU.1", "HETERO:NPU,CPU"])
def test_a_device_that_is_not_here_is_left_with_a_reason(hint: str, relu: ModelPart) -> None:
    """The CPU does the work, and says for whom."""
    pool = Pool()
    name = hint.removeprefix("HETERO:").split(",")[0]
    if name in pool.available or f"{name}.0" in pool.available:
        pytest.skip(f"there is a {name} in this machine")
    done = infer(pool, relu, hint)
    assert done.compiled.claimed == ("CPU",)
    (reason,) = done.reasons
    assert reason.code in ("device-absent", "driver-missing")
    assert name in reason.sentence
    assert reason.fix


def test_a_strict_hint_refuses_to_fall_back(relu: ModelPart) -> None:
    """The fault has the model, the reason and the fix."""
    pool = Pool()
    if "NPU" in pool.available:
        pytest.skip("there is an NPU in this machine")
    with pytest.raises(DeviceError) as caught:
        infer(pool, relu, "NPU!")
    (fault,) = caught.value.faults
    assert (fault.place, fault.got) == ("model chain", "NPU!")
    assert fault.code in ("device-absent", "driver-missing")
    assert fault.fix


def test_a_split_model_runs_on_both_devices(tmp_path: Path) -> None:
    """All of it on the first where that takes all."""
    part = saved(chain("conv", "sin", "conv"), tmp_path)
    done = infer(Pool(simulate=True), part, "HETERO:NPUSIM_CPU,CPU")
    assert done.compiled.claimed == ("NPUSIM_CPU",)
    assert done.compiled.split is not None
    assert done.compiled.split.shares == {"NPUSIM_CPU": 1.0}


@pytest.mark.parametrize(
    ("inputs", "place", "problem", "got"),
    [
        ({"z": picture()}, "model chain", "takes the inputs x", "z"),
        ({}, "model chain", "takes the inputs x", "nothing"),
        ({"x": picture(), "y": picture()}, "model chain", "takes the inputs x", "x, y"),
        (
            {"x": picture().astype(np.float64)},
            "model chain, input x",
            "takes (1, 4, 16, 16) float32",
            "(1, 4, 16, 16) float64",
        ),
        (
            {"x": np.zeros((1, 3, 16, 16), np.float32)},
            "model chain, input x",
            "takes [1,4,16,16]",
            "(1, 3, 16, 16)",
        ),
        ({"x": np.zeros(5, np.float32)}, "model chain, input x", "takes [1,4,16,16]", "(5,)"),
    ],
)
def test_wrong_inputs_are_told_by_name(
    inputs: Arrays, place: str, problem: str, got: str, relu: ModelPart
) -> None:
    """What the model takes, and what it was given."""
    with pytest.raises(ModelError) as caught:
        infer(Pool(), relu, "CPU", inputs)
    (fault,) = caught.value.faults
    assert (fault.place, fault.problem, fault.got) == (place, problem, got)
    assert fault.code == "bad-inputs"


def test_a_damaged_model_is_told_with_its_name(tmp_path: Path) -> None:
    """It is read when it is used."""
    path = tmp_path / "bad.xml"
    path.write_text("<net", encoding="utf-8")
    with pytest.raises(ModelError) as caught:
        infer(Pool(), ModelPart("bad", path, "0", 0), "CPU")
    assert str(caught.value).startswith("model bad: ")
    assert caught.value.faults[0].fix


def test_another_shape_is_another_compiled_model(relu: ModelPart) -> None:
    """Both stay; the outputs have the shapes of the inputs."""
    pool = Pool()
    first = infer(pool, relu, "CPU")
    larger = infer(pool, relu, "CPU", {"x": picture((2, 4, 20, 24))})
    again = infer(pool, relu, "CPU")
    assert larger.outputs["y"].shape == (2, 4, 20, 24)
    assert again.compiled is first.compiled is not larger.compiled
    np.testing.assert_array_equal(again.outputs["y"], first.outputs["y"])


def test_outputs_are_not_overwritten_by_the_next_inference(relu: ModelPart) -> None:
    """They are copies of the request's memory."""
    pool = Pool()
    first = infer(pool, relu, "CPU").outputs["y"]
    before = first.copy()
    infer(pool, relu, "CPU", {"x": picture() * 5})
    np.testing.assert_array_equal(first, before)


def test_the_least_recently_used_model_is_dropped(tmp_path: Path) -> None:
    """By the bytes of its weights; one that is over the limit alone is kept while it is used."""
    parts = [saved(chain("conv", *["relu"] * i), tmp_path, f"m{i}") for i in range(3)]
    pool = Pool(limit=2 * infer(Pool(), parts[0], "CPU").compiled.bytes + 10)
    made = [infer(pool, part, "CPU").compiled for part in parts]
    assert infer(pool, parts[2], "CPU").compiled is made[2]
    assert infer(pool, parts[1], "CPU").compiled is made[1]
    assert infer(pool, parts[0], "CPU").compiled is not made[0]
    tiny = Pool(limit=1)
    only = infer(tiny, parts[0], "CPU").compiled
    assert infer(tiny, parts[0], "CPU").compiled is only


def test_threads_that_want_one_model_compile_it_once(relu: ModelPart) -> None:
    """The first compiles, the others wait for it, and each gets its own answer."""
    pool = Pool()
    compiles: list[Phase] = []
    done: dict[int, Inference] = {}
    barrier = threading.Barrier(6, timeout=20)

    @contextmanager
    def timed(phase: Phase) -> Generator[None]:
        compiles.extend([phase] if phase == "compile" else [])
        yield

    def work(i: int) -> None:
        barrier.wait()
        hint = parse_hint("CPU", "test")
        done[i] = pool.infer(relu, {"x": picture() * i}, hint, timed, go_on)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert compiles == ["compile"]
    assert len({id(inference.compiled) for inference in done.values()}) == 1
    for i, inference in done.items():
        alone = infer(pool, relu, "CPU", {"x": picture() * i}).outputs["y"]
        np.testing.assert_array_equal(inference.outputs["y"], alone)


def long_part(folder: Path) -> ModelPart:
    """Save a model of four hundred large convolutions: x (1, 64, 128, 128), the same for y."""
    x = op.parameter([1, 64, 128, 128], np.float32, name="x")
    x.output(0).get_tensor().set_names({"x"})
    y: Any = x
    kernel = np.full((64, 64, 5, 5), 1e-3, np.float32)
    for _ in range(400):
        y = op.relu(op.convolution(y, op.constant(kernel), [1, 1], [2, 2], [2, 2], [1, 1]))
    y.output(0).get_tensor().set_names({"y"})
    path = folder / "long.xml"
    ov.save_model(ov.Model([y], [x], "long"), path, compress_to_fp16=True)
    return ModelPart("long", path, "long", path.with_suffix(".bin").stat().st_size)


def test_a_cancel_ends_an_inference_in_its_middle(tmp_path: Path) -> None:
    """Else the node would end, and the run with it. The request is free afterwards."""
    part = long_part(tmp_path)
    cancel, computing = threading.Event(), threading.Event()

    @node("Model", category="test")
    def model() -> Detector:
        """Give a model."""
        return Detector(part, "test", ())

    @node("Infer", category="test")
    def run_model(model: Detector, context: Context) -> int:
        """Say when it is compiled, and run it."""
        with context.open(model.part, {"x": (1, 64, 128, 128)}) as session:
            computing.set()
            session.run()
        return 0

    def cancel_inside() -> None:
        assert computing.wait(60)
        threading.Event().wait(0.1)
        cancel.set()

    made = Engine({"Model": model, "Infer": run_model})
    nodes: Nodes = {"m": ("Model", {}), "i": ("Infer", {"model": ["m", 0]})}
    for _ in range(2):
        thread = threading.Thread(target=cancel_inside)
        thread.start()
        ran = made.run(nodes, ["i"], cancel=cancel)
        thread.join()
        assert ran.outcome.status == "cancelled"
        assert ran.of(NodeFinished) == [e for e in ran.of(NodeFinished) if e.node == "m"]
        assert ran.of(NodeFailed) == []
        cancel.clear()
        computing.clear()


def run_on(part: ModelPart, hint: str) -> Ran:
    """Run a node that infers from a part once."""

    @node("Model", category="test")
    def model() -> Detector:
        """Give a model."""
        return Detector(part, "test", ())

    @node("Infer", category="test")
    def run_model(model: Detector, context: Context) -> float:
        """Run it."""
        return float(context.infer(model.part, {"x": picture()})["y"].mean())

    made = Engine({"Model": model, "Infer": run_model}, pool=Pool(simulate=True))
    nodes: Nodes = {"m": ("Model", {}), "i": ("Infer", {"model": ["m", 0]})}
    return made.run(nodes, ["i"], devices={"i": hint})


def test_a_node_tells_where_it_ran_and_in_which_phases(tmp_path: Path) -> None:
    """The hint is honoured; compiling is paid once."""
    part = saved(chain("conv", "relu"), tmp_path)
    first = run_on(part, "NPUSIM_CPU").finished("i")
    assert first.placement.requested == "NPUSIM_CPU"
    assert first.placement.actual == {"NPUSIM_CPU": 1.0}
    assert first.placement.where == "NPUSIM_CPU (simulated)"
    assert first.timing.lane == "NPUSIM_CPU"
    assert first.timing.phases.keys() >= {
        "load",
        "compile",
        "upload",
        "compute",
        "download",
        "host",
    }
    assert sum(first.timing.phases.values()) == first.timing.end - first.timing.ready


def test_a_fallback_is_told_with_the_node(tmp_path: Path) -> None:
    """Asked for a device that is not there, it ran on the CPU, and why."""
    part = saved(chain("conv", "relu"), tmp_path)
    if "NPU" in Pool().available:
        pytest.skip("there is an NPU in this machine")
    placement = run_on(part, "NPU").finished("i").placement
    assert (placement.requested, placement.where) == ("NPU", "CPU")
    assert placement.reasons[0].code in ("device-absent", "driver-missing")
    failed = run_on(part, "NPU!").failed("i")
    assert failed.faults[0].place.startswith("node i (Infer), model chain")
