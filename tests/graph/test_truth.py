"""Where OpenVINO's word is not the truth: each of its traps, met on the OpenVINO that is here."""

# OpenVINO's stubs leave half of each operation untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportGeneralTypeIssues=false

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import openvino as ov
import pytest

from tests.graph.chains import chain, go_on, picture, saved, untimed, used
from vinode.graph import compile as compiling
from vinode.graph.account import Used, placement, truth
from vinode.graph.child import compile_in_child
from vinode.graph.compile import reported, without_effect
from vinode.graph.compiled import Compiled, Usage
from vinode.graph.devices import SIMULATED, candidates, parse_hint
from vinode.graph.errors import Cancelled, DeviceError, VinodeError
from vinode.graph.part import Simulation
from vinode.graph.placement import Placement
from vinode.graph.pool import Pool
from vinode.graph.values import ModelPart

CORE = ov.Core()
HERE = tuple(CORE.available_devices)

without_npu = pytest.mark.skipif("NPU" in HERE, reason="an NPU is here")


@pytest.fixture(name="part")
def a_part(tmp_path: Path) -> ModelPart:
    """Give a model of two operations."""
    return saved(chain("conv", "sin"), tmp_path)


def placed(pool: Pool, part: ModelPart, hint: str) -> Placement:
    """Run a part once and say where it ran."""
    user = Usage()
    done = used(pool, part, hint, user)
    pool.settle(done.compiled, user)
    model = Used(done.compiled, user.ops[done.compiled], done.computed)
    return placement(parse_hint(hint, ""), [model], done.reasons)


def wrapped(made: ov.CompiledModel, device: str) -> Compiled:
    """Make a Compiled of what OpenVINO compiled."""
    return Compiled(made.create_infer_request(), device, reported(made), {}, {}, ("y",), 0)


def counted(
    model: Compiled, x: Mapping[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]]
) -> Placement:
    """Run it once, and say where it ran."""
    user = Usage()
    model.use(user)
    for name, array in x.items():
        model.request.set_tensor(name, ov.Tensor(array))
    model.run(go_on)
    model.settle()
    return placement(parse_hint(model.device, ""), [Used(model, user.ops[model], 1)], ())


@without_npu
def test_a_model_that_claims_the_npu_and_ran_on_the_cpu() -> None:
    """OpenVINO's NPUW compiles for the CPU where there is no NPU, and says NPU."""
    options = {"NPU_USE_NPUW": "YES", "PERF_COUNT": True}
    made = CORE.compile_model(chain("conv", "sin"), "NPU", options)
    model = wrapped(made, "NPU")
    assert model.claimed == ("NPU",)
    found = counted(model, {"x": picture()})
    assert found.actual == {"CPU": 1.0}
    (reason,) = found.reasons
    assert reason.code == "device-absent"
    assert reason.sentence.startswith("the compiled model claims NPU, but the kernels")


@without_npu
def test_a_stand_in_that_is_called_the_cpu_in_parentheses() -> None:
    """AUTO says so while it compiles, and for ever where that failed: it is the CPU."""
    made = CORE.compile_model(chain("sin"), "AUTO:NPU,CPU", {"PERF_COUNT": True})
    assert made.get_property("EXECUTION_DEVICES") == ["(CPU)"]
    model = wrapped(made, "AUTO:NPU,CPU")
    assert model.claimed == ("CPU",)
    assert truth(model.claimed, ()) == ("CPU",)


def test_a_bare_text_is_one_device() -> None:
    """The NPU's plugin gives no list."""
    made = CORE.compile_model(chain("sin"), "CPU")
    assert reported(made) == ("CPU",)


def test_a_mistyped_device_is_refused_though_openvino_takes_it() -> None:
    """`AUTO:FOO,CPU` compiles for the CPU without a word."""
    made = CORE.compile_model(chain("sin"), "AUTO:FOO,CPU")
    assert [name.strip("()") for name in made.get_property("EXECUTION_DEVICES")] == ["CPU"]
    for hint in ("AUTO:FOO,CPU", "FOO", "HETERO:FOO,CPU", "MULTI:FOO,CPU"):
        with pytest.raises(VinodeError) as refused:
            parse_hint(hint, "node 3")
        assert refused.value.faults[0].code == "bad-hint"


@without_npu
def test_a_split_with_a_device_that_is_not_here_falls_back(part: ModelPart) -> None:
    """OpenVINO throws, and what it says is of a compiler."""
    with pytest.raises(RuntimeError):
        CORE.compile_model(chain("sin"), "HETERO:NPU,CPU")
    done = used(Pool(), part, "HETERO:NPU,CPU")
    (reason,) = done.reasons
    assert (reason.code, done.compiled.device) == ("device-absent", "CPU")
    assert reason.sentence.startswith("no NPU is here; OpenVINO finds ")
    with pytest.raises(DeviceError, match="no NPU is here"):
        used(Pool(), part, "HETERO:NPU,CPU!")


@pytest.mark.skipif("GPU" in "".join(HERE), reason="a GPU is here")
def test_a_gpu_that_is_not_here_falls_back(part: ModelPart) -> None:
    """OpenVINO's AUTO throws where OpenCL's loader is missing; here each is a reason with a fix."""
    with pytest.raises(RuntimeError) as alone:
        CORE.compile_model(chain("sin"), "GPU")
    code = "device-absent"
    if "OpenCL" in str(alone.value):
        code = "driver-missing"
        with pytest.raises(RuntimeError, match="OpenCL"):
            CORE.compile_model(chain("sin"), "AUTO:GPU,CPU")
    for hint in ("GPU", "GPU.1", "HETERO:GPU,CPU"):
        done = used(Pool(), part, hint)
        (reason,) = done.reasons
        assert (reason.code, done.compiled.device) == (code, "CPU")
        assert "driver" in reason.fix


def test_an_option_that_the_device_does_not_know_is_told(part: ModelPart) -> None:
    """The NPU's plugin takes any key without a word: that it took one proves nothing."""
    ov.Core().set_property("NPU", {"BOGUS": "1"})  # a new core: nothing has asked its compiler
    options = (("MODEL_PRIORITY", "HIGH"), ("BOGUS", "1"), ("INFERENCE_PRECISION_HINT", "f32"))
    for device in ("CPU", f"HETERO:{SIMULATED},CPU"):
        hint = replace(parse_hint(device, ""), options=options)
        done = Pool(simulate=True).infer(part, {"x": picture()}, hint, untimed, go_on)
        assert [reason.code for reason in done.reasons] == ["option-ignored"] * 2
        for reason, name in zip(done.reasons, ("MODEL_PRIORITY", "BOGUS"), strict=True):
            assert f"does not know {name}" in reason.sentence


def test_options_are_read_back() -> None:
    """Word by word: f16 is not bf16, and THROUGHPUT not CUMULATIVE_THROUGHPUT."""
    given = {"INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "CUMULATIVE_THROUGHPUT"}
    made = CORE.compile_model(chain("sin"), "CPU", given)
    assert without_effect(made, given) == []
    asked = {"INFERENCE_PRECISION_HINT": "f16", "PERFORMANCE_HINT": "THROUGHPUT"}
    reasons = without_effect(made, asked)
    assert [reason.code for reason in reasons] == ["option-ignored"] * 2
    assert "INFERENCE_PRECISION_HINT=f16 has no effect" in reasons[0].sentence
    made = CORE.compile_model(chain("sin"), "CPU", {"INFERENCE_PRECISION_HINT": "bf16"})
    said = str(made.get_property("INFERENCE_PRECISION_HINT"))
    assert bool(without_effect(made, {"INFERENCE_PRECISION_HINT": "f16"})) == ("16" in said)
    assert without_effect(made, {"NOT_A_PROPERTY": "1"}) == []


@pytest.mark.parametrize("hint", [SIMULATED, f"HETERO:{SIMULATED},CPU"])
def test_a_compiler_that_crashes_takes_nobody_along(
    part: ModelPart, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An NPU's may abort its process: alone or of a split model, it runs in a child."""
    crash = [sys.executable, "-c", "import os; os.abort()"]
    crashing = functools.partial(compile_in_child, command=crash)
    monkeypatch.setattr(compiling, "compile_in_child", crashing)
    done = used(Pool(simulate=Simulation(in_child=True)), part, hint)
    (reason,) = done.reasons
    assert (reason.code, done.compiled.device) == ("compile-failed", "CPU")
    assert "crashed" in reason.sentence


@pytest.mark.parametrize("hint", [SIMULATED, f"HETERO:{SIMULATED},CPU"])
def test_a_model_compiled_in_a_child_runs_from_its_blob(
    part: ModelPart, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second start compiles nothing; a split model stays split."""
    simulation = Simulation(frozenset({"Sin"} if "," in hint else ()), in_child=True)
    folder = tmp_path / "blobs"
    first = placed(Pool(simulate=simulation, folder=folder), part, hint)
    assert len(list(folder.glob("*.blob"))) == 1
    monkeypatch.setattr(compiling, "compile_in_child", None)  # a call would fail
    second = placed(Pool(simulate=simulation, folder=folder), part, hint)
    assert (first.reasons, second.reasons) == ((), ())
    devices = {SIMULATED, "CPU"} if "," in hint else {SIMULATED}
    assert set(first.actual) == set(second.actual) == devices
    assert first.snr_db == second.snr_db


def test_a_compile_that_takes_too_long_falls_back(part: ModelPart) -> None:
    """The node runs on the CPU, and says how to allow more time."""
    done = used(Pool(simulate=Simulation(in_child=True), seconds=0.0), part, SIMULATED)
    assert [reason.code for reason in done.reasons] == ["compile-timeout"]
    assert done.compiled.device == "CPU"


def test_a_cancel_ends_a_compile_in_a_child(part: ModelPart, tmp_path: Path) -> None:
    """Nothing half-made stays, and the next run compiles it."""
    told: list[float] = []

    def tell(seconds: float, limit: float) -> None:
        told.append(seconds)

    def check() -> None:
        if told:
            raise Cancelled

    folder, hint = tmp_path / "blobs", parse_hint(SIMULATED, "")
    pool = Pool(simulate=Simulation(in_child=True), folder=folder)
    with pytest.raises(Cancelled):
        pool.infer(part, {"x": picture()}, hint, untimed, check, tell=tell)
    # A child that ends just then has made a whole blob, which may stay.
    assert [*folder.glob("*.part"), *folder.glob("*.note")] == []
    assert used(pool, part, SIMULATED).compiled.device == SIMULATED


def test_a_dynamic_size_of_an_output_does_not_confuse_the_comparison(tmp_path: Path) -> None:
    """How many values are above zero depends on the input, which is the same for both."""
    from openvino import opset13 as op

    x = op.parameter([1, 8], np.float32, name="x")
    x.output(0).get_tensor().set_names({"x"})
    y = op.non_zero(op.relu(x), output_type="i64")
    y.output(0).get_tensor().set_names({"y"})
    part = saved(ov.Model([y], [x], "m"), tmp_path)
    done = Pool(simulate=True).infer(
        part, {"x": np.eye(1, 8, 3, np.float32)}, parse_hint("CPU", ""), untimed, go_on
    )
    assert done.outputs["y"].tolist() == [[0], [3]]
    other = Pool(simulate=True).infer(
        part, {"x": np.eye(1, 8, 3, np.float32)}, parse_hint(SIMULATED, ""), untimed, go_on
    )
    assert (other.reasons, other.compiled.device) == ((), SIMULATED)
    assert other.outputs["y"].tolist() == [[0], [3]]


def test_the_stand_in_is_never_chosen_unasked() -> None:
    """AUTO takes real devices only, and what is shown of the stand-in says simulated."""
    assert candidates(parse_hint("AUTO", ""), ("CPU", SIMULATED)) == ("CPU",)
    assert Placement(SIMULATED, {"CPU": 1.0}).simulated
    assert Placement("AUTO", {SIMULATED: 1.0}).where == f"{SIMULATED} (simulated)"
