"""Inputs of fewer rows: the same answer as for repeated ones, and less is computed."""

# OpenVINO's stubs leave half of each operation untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportGeneralTypeIssues=false

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openvino import opset13 as op

from tests.graph.engine import Engine, Nodes
from vinode import node
from vinode.graph.context import Context
from vinode.graph.devices import SIMULATED
from vinode.graph.part import Simulation
from vinode.graph.pool import Pool
from vinode.graph.sharing import full, share
from vinode.graph.values import Detector, ModelPart

C, T, H, W = 8, 5, 4, 6  # channels, tokens, cells
Shapes = tuple[tuple[str, tuple[int, ...]], ...]
ROUNDING = 1e-5  # kernels may sum in another order for other rows


def parameter(name: str, shape: list[int]) -> Any:
    """Make an input."""
    made = op.parameter(shape, np.float32, name=name)
    made.output(0).set_names({name})
    return made


def weight(*shape: int) -> Any:
    """Make weights, kept as float16 as a converter does."""
    values = np.random.default_rng(sum(shape)).standard_normal(shape) / np.sqrt(shape[-1])
    return op.convert(op.constant(values.astype(np.float16)), np.float32)


def rows_of(value: Any) -> Any:
    """Give the number of rows, computed from the shape as traced models do."""
    return op.gather(op.shape_of(value), op.constant(np.array([0])), op.constant(0))


def unet(rows: int = -1, late: bool = False) -> ov.Model:
    """Make what a UNet is made of: time, a convolution, attention to the text, a skip over it.

    rows  fixed in the model; -1: any
    late  the rows of the attention are taken from the text, as diffusers does
    """
    sample = parameter("sample", [rows, 4, -1, -1])
    timestep = parameter("timestep", [1])
    context = parameter("context", [rows, -1, C])
    times = op.broadcast(timestep, rows_of(sample))
    moment = op.unsqueeze(op.sin(times), op.constant(np.array([1, 2, 3])))
    edges, steps = [1, 1], [1, 1]
    first: Any = op.convolution(sample, weight(C, 4, 3, 3), steps, edges, edges, steps)
    first = op.relu(op.add(first, moment))
    ends = op.constant(np.array([C, -1]))
    flat = op.reshape(first, op.concat([rows_of(sample), ends], 0), False)
    tokens = op.transpose(flat, op.constant(np.array([0, 2, 1])))
    asked: Any = op.matmul(tokens, weight(C, C), False, False)
    if late:
        end = op.constant(np.array([-1, C]))
        asked = op.reshape(asked, op.concat([rows_of(context), end], 0), False)
    seen = op.scaled_dot_product_attention(asked, context, context)
    back = op.transpose(op.add(tokens, seen), op.constant(np.array([0, 2, 1])))
    state = op.reshape(back, op.shape_of(first), False)
    joined = op.concat([state, first], 1)
    answer = op.add(
        op.convolution(joined, weight(4, 2 * C, 1, 1), steps, [0, 0], [0, 0], steps), moment
    )
    answer.output(0).set_names({"prediction"})
    return ov.Model([answer], [sample, timestep, context], "unet")


def shapes_for(batch: int, prompts: int) -> Shapes:
    """Give the shapes of a call."""
    context = (batch * prompts, T, C)
    return (("sample", (batch, 4, H, W)), ("timestep", (1,)), ("context", context))


def shaped(model: ov.Model, shapes: Shapes) -> ov.Model:
    """Give a model its shapes."""
    model.reshape({name: ov.PartialShape(list(shape)) for name, shape in shapes})
    return model


def given_for(shapes: Shapes) -> dict[str, np.ndarray[Any, Any]]:
    """Make inputs."""
    random = np.random.default_rng(5)
    return {name: random.standard_normal(shape, np.float32) for name, shape in shapes}


def answer(model: ov.Model, inputs: dict[str, Any]) -> list[np.ndarray[Any, Any]]:
    """Run on the CPU in float32; all outputs."""
    options = {"INFERENCE_PRECISION_HINT": "f32"}
    found = ov.Core().compile_model(model, "CPU", options)(inputs)
    return [np.array(array) for array in found.values()]


def repeated(inputs: dict[str, Any], rows: int) -> dict[str, Any]:
    """Repeat what has fewer rows."""
    return {
        name: np.concatenate([array] * (rows // len(array))) if array.ndim > 1 else array
        for name, array in inputs.items()
    }


def shape_of(model: ov.Model, type: str) -> list[list[int]]:
    """Give the shapes of the answers of an operation's kind."""
    return [
        list(one.get_output_shape(0))
        for one in model.get_ordered_ops()
        if one.get_type_name() == type
    ]


@settings(max_examples=10, deadline=None)
@given(batch=st.integers(1, 3), prompts=st.integers(2, 4), late=st.booleans())
def test_the_answer_is_that_of_repeated_inputs(batch: int, prompts: int, late: bool) -> None:
    """And all before the text runs for the latent's own rows."""
    shapes = shapes_for(batch, prompts)
    inputs, rows = given_for(shapes), batch * prompts
    wanted = answer(shaped(unet(late=late), full(shapes)), repeated(inputs, rows))
    model = share(shaped(unet(late=late), full(shapes)), dict(shapes))
    assert shape_of(model, "Convolution") == [[batch, C, H, W], [rows, 4, H, W]]
    assert shape_of(model, "MatMul")[0][0] == batch
    assert [port.get_any_name() for port in model.inputs] == [name for name, _ in shapes]
    (found,) = answer(model, inputs)
    np.testing.assert_allclose(found, wanted[0], rtol=ROUNDING, atol=ROUNDING)


def test_weights_stay_in_half_precision() -> None:
    """Only sizes are computed beforehand."""
    shapes = shapes_for(1, 2)
    before = shaped(unet(), full(shapes))
    halves = [one for one in before.get_ops() if one.get_output_element_type(0) == ov.Type.f16]
    model = share(before, dict(shapes))
    left = [one for one in model.get_ops() if one.get_output_element_type(0) == ov.Type.f16]
    assert len(left) == len(halves) == 3
    assert not {"ShapeOf", "Gather"} & {one.get_type_name() for one in model.get_ops()}


def test_with_as_many_rows_nothing_changes() -> None:
    """One prompt."""
    shapes = shapes_for(2, 1)
    model = shaped(unet(), full(shapes))
    assert share(model, dict(shapes)) is model


def test_an_output_without_the_text_has_all_rows_too() -> None:
    """And its name."""

    def made() -> ov.Model:
        sample, context = parameter("sample", [-1, 3]), parameter("context", [-1, 3])
        alone, both = op.relu(sample), op.add(op.relu(sample), context)
        alone.output(0).set_names({"alone"})
        both.output(0).set_names({"both"})
        return ov.Model([alone, both], [sample, context], "m")

    shapes: Shapes = (("sample", (2, 3)), ("context", (4, 3)))
    inputs = given_for(shapes)
    wanted = answer(shaped(made(), full(shapes)), repeated(inputs, 4))
    model = share(shaped(made(), full(shapes)), dict(shapes))
    assert [port.get_any_name() for port in model.outputs] == ["alone", "both"]
    for one, other in zip(answer(model, inputs), wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def _rows_fixed_inside(sample: Any) -> Any:
    return op.reshape(sample, op.constant(np.array([4, 3])), False)


def _rows_last(sample: Any) -> Any:
    return op.transpose(op.transpose(sample, op.constant([1, 0])), op.constant([1, 0]))


def _of_unknown_size(sample: Any) -> Any:
    places = op.reduce_max(op.non_zero(sample, "i64"), op.constant([0, 1]), False)
    stop = op.unsqueeze(op.add(places, op.constant(np.int64(3))), op.constant([0]))
    return op.slice(sample, op.constant([0]), stop, op.constant([1]), op.constant([1]))


@pytest.mark.parametrize("begin", [_rows_fixed_inside, _rows_last, _of_unknown_size])
def test_a_model_that_cannot_be_taken_apart_gets_its_inputs_repeated(begin: Any) -> None:
    """A fixed number of rows, rows along another axis, sizes that are known only as it runs."""

    def made() -> ov.Model:
        sample, context = parameter("sample", [-1, 3]), parameter("context", [-1, 3])
        x = begin(sample)
        if begin is _rows_last:
            turned = op.transpose(op.relu(sample), op.constant([1, 0]))
            x = op.transpose(
                op.add(turned, op.transpose(context, op.constant([1, 0]))), op.constant([1, 0])
            )
        return ov.Model([op.add(x, context)], [sample, context], "m")

    shapes: Shapes = (("sample", (2, 3)), ("context", (4, 3)))
    inputs = given_for(shapes)
    wanted = answer(shaped(made(), full(shapes)), repeated(inputs, 4))
    model = share(shaped(made(), full(shapes)), dict(shapes))
    assert list(model.input("sample").get_shape()) == [2, 3]
    first = model.input("sample").get_target_inputs()
    assert [one.get_node().get_type_name() for one in first] == ["Concat"] * len(first)
    np.testing.assert_array_equal(answer(model, inputs)[0], wanted[0])


def test_inputs_of_different_numbers_of_rows() -> None:
    """Each is repeated as often as it needs."""
    names = ("one", "two", "four")
    ports = [parameter(name, [-1, 3]) for name in names]
    shapes: Shapes = tuple(zip(names, ((1, 3), (2, 3), (4, 3)), strict=True))
    made = ov.Model([op.add(op.add(ports[0], ports[1]), ports[2])], ports, "m")
    inputs = given_for(shapes)
    wanted = inputs["one"] + np.concatenate([inputs["two"]] * 2) + inputs["four"]
    (found,) = answer(share(shaped(made, full(shapes)), dict(shapes)), inputs)
    np.testing.assert_array_equal(found, wanted)


def asking(part: ModelPart, hint: str, pool: Pool) -> tuple[np.ndarray[Any, Any], list[str]]:
    """Run the small UNet from a node: its prediction, and where it ran."""
    shapes = shapes_for(1, 2)

    @node("Model", category="test")
    def model() -> Detector:
        """Give the handle."""
        return Detector(part, "test", ())

    @node("Ask", category="test")
    def ask(model: Detector, context: Context) -> list[float]:
        """Write the latent once, the prompts twice."""
        with context.open(model.part, dict(shapes), shared=True) as opened:
            for name, array in given_for(shapes).items():
                opened.inputs[name][...] = array
            opened.run()
            return [float(number) for number in opened.views()["prediction"].ravel()]

    made = Engine({"Model": model, "Ask": ask}, pool=pool)
    nodes: Nodes = {"m": ("Model", {}), "a": ("Ask", {"model": ["m", 0]})}
    ran = made.run(nodes, ["a"], devices={"a": hint})
    (values,) = ran.outcome.outputs.values()
    return np.array(values[0], np.float32), list(ran.finished("a").placement.actual)


@pytest.mark.parametrize("in_child", [False, True])
def test_a_node_asks_for_it_on_any_device(in_child: bool, tmp_path: Path) -> None:
    """Through a blob of a child process too, and with the comparison that a device has to pass."""
    path = tmp_path / "unet.xml"
    ov.save_model(unet(), path, compress_to_fp16=False)
    part = ModelPart("unet", path, "digest", 1)
    pool = Pool(simulate=Simulation(in_child=in_child), folder=tmp_path)
    on_cpu, where = asking(part, "CPU", pool)
    assert where == ["CPU"]
    simulated, where = asking(part, SIMULATED, pool)
    assert where == [SIMULATED]
    shapes = shapes_for(1, 2)
    (wanted,) = answer(shaped(unet(), full(shapes)), repeated(given_for(shapes), 2))
    for found in (on_cpu, simulated):
        np.testing.assert_allclose(found, wanted.ravel(), rtol=0.1, atol=0.1)
