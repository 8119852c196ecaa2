"""A model split over devices: what goes where and what crosses, held to what HETERO really does."""

# OpenVINO's stubs leave half of each operation untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportGeneralTypeIssues=false

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as op

from tests.graph.chains import SHAPE, TENSOR_BYTES, chain, go_on, picture, saved, untimed
from vinode.graph.compiled import Usage
from vinode.graph.devices import SIMULATED, parse_hint
from vinode.graph.part import Simulation
from vinode.graph.pool import Pool
from vinode.graph.profile import OpTime, ProfileReader
from vinode.graph.split import Crossing, Split, assign, executed, submodels, time_shares

DEVICES = (SIMULATED, "CPU")
HETERO = f"HETERO:{SIMULATED},CPU"
Edge = tuple[str, str]  # devices that a tensor goes from and to


CORE = ov.Core()
CORE.register_plugin("openvino_intel_cpu_plugin", SIMULATED)


def split_of(model: ov.Model, *refused: str) -> tuple[Split, Mapping[str, str]]:
    """Split a model whose first device does not take operations of these types."""

    def takes(device: str) -> set[str]:
        ops = model.get_ordered_ops()
        return {
            one.get_friendly_name()
            for one in ops
            if device == "CPU" or one.get_type_name() not in refused
        }

    return assign(model, DEVICES, takes)


def as_compiled(model: ov.Model) -> tuple[ov.CompiledModel, tuple[str, ...], set[Edge]]:
    """Compile a split model; gives the device of each submodel and the pairs that feed another."""
    compiled = CORE.compile_model(model, HETERO, {"PERF_COUNT": True})
    exported: Any = compiled.export_model()
    head = exported.getvalue().split(b"</hetero>")[0].decode()
    devices = re.findall(r'compiled_submodel device="(\w+)"', head)
    records = re.findall(r'in_submodel_idx="(\d+)".*?out_submodel_idx="(\d+)"', head)
    edges = {(devices[int(source)], devices[int(target)]) for target, source in records}
    return compiled, tuple(devices), {edge for edge in edges if edge[0] != edge[1]}


def named(node: Any, name: str) -> Any:
    """Give an operation a name."""
    node.set_friendly_name(name)
    return node


def ladder() -> ov.Model:
    """Make a model of which sin and cos are refused; x, a and the constant are used on both."""
    x = op.parameter(list(SHAPE), np.float32, name="x")
    one = op.constant(np.ones((1, 4, 1, 1), np.float32))
    a = named(op.add(x, one), "a")
    b = named(op.sin(x), "b")
    c = named(op.sin(a), "c")
    d = named(op.add(op.add(b, c), one), "d")
    return ov.Model([d], [x], "ladder")


def test_every_operation_has_an_affinity() -> None:
    """OpenVINO refuses a model where some have one: inputs, constants and results too."""
    model = ladder()
    _, where = split_of(model, "Sin")
    given = {
        one.get_friendly_name(): str(one.get_rt_info()["affinity"].astype(str))
        for one in model.get_ordered_ops()
    }
    assert len(given) == len(model.get_ordered_ops())
    assert set(given.values()) == set(DEVICES)
    assert {name: given[name] for name in where} == where
    assert where["a"] == SIMULATED
    assert (where["b"], where["c"]) == ("CPU", "CPU")


def test_crossings_and_bytes_of_a_graph_counted_by_hand() -> None:
    """conv0 -> sin1 (refused) -> conv2: out and back, a tensor of float32 each time."""
    split, _ = split_of(chain("conv", "sin", "conv"), "Sin")
    assert split.crossings == (
        Crossing("conv0", SIMULATED, "CPU", TENSOR_BYTES),
        Crossing("sin1", "CPU", SIMULATED, TENSOR_BYTES),
    )
    assert split.bytes == 2 * TENSOR_BYTES
    assert split.shares == {SIMULATED: 2 / 3, "CPU": 1 / 3}
    assert [one.place for one in split.refused] == ["Sin sin1"]


def test_a_tensor_with_many_readers_crosses_once() -> None:
    """The input goes to the CPU through the first device; the constant goes nowhere."""
    split, _ = split_of(ladder(), "Sin")
    assert {(one.op, one.source, one.target) for one in split.crossings} == {
        ("x", SIMULATED, "CPU"),
        ("a", SIMULATED, "CPU"),
        ("b", "CPU", SIMULATED),
        ("c", "CPU", SIMULATED),
    }
    assert split.bytes == 4 * TENSOR_BYTES


def test_bytes_of_a_dynamic_shape_are_not_known() -> None:
    """They are None, and what is known is added up."""
    model = chain("conv", "sin", "conv")
    model.reshape({"x": ov.PartialShape([1, 4, -1, -1])})
    split, _ = split_of(model, "Sin")
    assert [one.bytes for one in split.crossings] == [None, None]
    assert split.bytes == 0


@pytest.mark.parametrize(
    ("make", "refused"),
    [
        (lambda: chain("conv", "sin", "conv"), ("Sin",)),
        (lambda: chain("sin", "conv", "sin"), ("Sin",)),
        (lambda: chain("conv", "sin", "cos", "conv", "sin"), ("Sin", "Cos")),
        (lambda: chain("sin", "cos"), ("Sin",)),
        (ladder, ("Sin",)),
        (lambda: chain("sin", "cos"), ()),
        (lambda: chain("sin", "cos"), ("Sin", "Cos")),
    ],
)
def test_what_is_told_is_what_openvino_does(
    make: Callable[[], ov.Model], refused: Sequence[str]
) -> None:
    """Number and devices of the submodels that ran, and between which devices tensors go."""
    model = make()
    split, where = split_of(model, *refused)
    compiled, devices, edges = as_compiled(model)
    reader, request = ProfileReader(), compiled.create_infer_request()
    reader.counted()
    request.infer({0: picture()})
    ran = submodels(reader.read(request), where)
    assert tuple(device for device, _ in ran) == devices
    assert len(ran) == compiled.get_property("HETERO_NUMBER_OF_SUBMODELS")
    assert {(one.source, one.target) for one in split.crossings} == edges


def test_the_time_of_submodels_is_shared_out_by_device() -> None:
    """An operation that a plugin added belongs to the submodel that it stands in."""
    where = {"conv0": SIMULATED, "sin1": "CPU", "conv2": SIMULATED}
    ops = [
        OpTime("x_f32_abcd_bf16_acdb_conv0", "Reorder", "", 0, 10),
        OpTime("conv0", "Convolution", "", 0, 20),
        OpTime("sin1", "Eltwise", "", 1, 30),
        OpTime("conv2_acdb_abcd_Result_9", "Reorder", "", 2, 40),
    ]
    assert time_shares(ops, where) == {SIMULATED: 0.7, "CPU": 0.3}
    assert submodels(ops, where) == ((SIMULATED, 2), ("CPU", 1), (SIMULATED, 1))
    assert executed(ops, where) == {SIMULATED: 3, "CPU": 1}
    assert time_shares([], where) == {}
    assert time_shares([OpTime("other", "", "", 0, 5)], where) == {"?": 1.0}


def test_a_model_split_by_the_pool_says_so(tmp_path: Path) -> None:
    """The shares of operations are in the compiled model, the submodels come when it has run."""
    pool = Pool(simulate=Simulation(refused=frozenset({"Sin"})))
    part, user = saved(chain("conv", "sin", "conv"), tmp_path), Usage()
    hint = parse_hint(HETERO, "")
    done = pool.infer(part, {"x": picture()}, hint, untimed, go_on, user)
    pool.settle(done.compiled, user)
    split, ops = done.compiled.split, user.ops[done.compiled]
    assert split is not None
    assert split.bytes == 2 * TENSOR_BYTES
    assert [device for device, _ in submodels(ops, done.compiled.where)] == [
        SIMULATED,
        "CPU",
        SIMULATED,
    ]
    assert done.compiled.claimed == DEVICES
    assert set(time_shares(ops, done.compiled.where)) == set(DEVICES)


def test_a_device_that_takes_almost_nothing_is_left_out(tmp_path: Path) -> None:
    """One operation of twelve is not worth the crossings: the whole model goes to the CPU."""
    pool = Pool(simulate=Simulation(refused=frozenset({"Sin"})))
    part = saved(chain("relu", *["sin"] * 11), tmp_path)
    done = pool.infer(part, {"x": picture()}, parse_hint(HETERO, ""), untimed, go_on)
    (reason,) = done.reasons
    assert (reason.code, done.compiled.device) == ("split-too-small", "CPU")
    assert reason.sentence == f"{SIMULATED} takes only 8% of the operations"
    assert reason.ops[0] == "Sin sin1"
