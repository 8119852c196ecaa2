"""Shapes before a compile: which input is at fault, and which sizes an NPU needs fixed."""

# OpenVINO's stubs leave half of each operation untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportGeneralTypeIssues=false

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as op

from tests.graph.chains import chain, go_on, picture, saved, untimed
from vinode.graph.devices import parse_hint
from vinode.graph.errors import ModelError
from vinode.graph.part import Asked, refused_before, reshape
from vinode.graph.pool import Pool


def attention() -> ov.Model:
    """Make a model of three inputs whose batches have to be one another's: q, k, and a bias."""
    shapes = {"q": [1, 4, 8], "k": [1, 6, 8], "bias": [1, 1, 6]}
    inputs: dict[str, Any] = {}
    for name, shape in shapes.items():
        inputs[name] = op.parameter(shape, np.float32, name=name)
        inputs[name].output(0).get_tensor().set_names({name})
    scores = op.matmul(inputs["q"], inputs["k"], False, True)
    y = op.softmax(op.add(scores, inputs["bias"]), -1)
    y.output(0).get_tensor().set_names({"y"})
    return ov.Model([y], list(inputs.values()), "attention")


@pytest.mark.parametrize(
    ("given", "place", "takes"),
    [
        ({"q": (2, 4, 8), "k": (2, 6, 9), "bias": (2, 1, 6)}, "input k", "takes [1,6,8]"),
        ({"q": (2, 4, 7), "k": (2, 6, 8), "bias": (2, 1, 6)}, "input q", "takes [1,4,8]"),
        ({"q": (2, 4, 8), "k": (2, 6, 8), "bias": (2, 1, 5)}, "input bias", "takes [1,1,6]"),
        ({"q": (2, 4, 7), "k": (2, 6, 9), "bias": (1, 1, 6)}, "inputs q, k", "[1,4,8], [1,6,8]"),
        ({"q": (4, 7), "k": (2, 6, 8), "bias": (3, 1, 6)}, "inputs q, k, bias", ""),
    ],
)
def test_the_input_at_fault_is_named(
    given: dict[str, tuple[int, ...]], place: str, takes: str, tmp_path: Path
) -> None:
    """Not the first of those that change; both, where they only do not fit each other."""
    model = attention()
    part = saved(model, tmp_path)
    with pytest.raises(ModelError) as caught:
        reshape(model, part, tuple(given.items()))
    (fault,) = caught.value.faults
    assert fault.place == f"model chain, {place}"
    assert fault.problem.startswith("takes [")
    assert fault.problem.endswith(takes)
    if place.startswith("input "):
        assert fault.got == str(given[place.removeprefix("input ")])
    assert fault.fix.startswith("give shapes that ")
    assert "OpenVINO says: " in fault.fix
    assert "\n" not in fault.fix


def test_a_wrong_shape_leaves_the_model_as_it_was(tmp_path: Path) -> None:
    """So that the right one still fits."""
    model = attention()
    part = saved(model, tmp_path)
    with pytest.raises(ModelError):
        reshape(model, part, (("q", (1, 4, 7)), ("k", (1, 6, 8)), ("bias", (1, 1, 6))))
    reshape(model, part, (("q", (2, 4, 8)), ("k", (2, 6, 8)), ("bias", (2, 1, 6))))
    assert list(model.outputs[0].get_shape()) == [2, 4, 6]


def test_what_is_written_wrong_comes_with_a_fix(tmp_path: Path) -> None:
    """Into a model that is held: another type, another shape."""
    part, shapes = saved(chain("sin"), tmp_path), (("x", (1, 4, 16, 16)),)
    with Pool().open(part, shapes, parse_hint("CPU", ""), untimed, go_on) as session:
        with pytest.raises(ModelError) as caught:
            session.write({"x": picture().astype(np.float64)})
        assert caught.value.faults[0].fix == "convert it: array.astype(np.float32)"
        with pytest.raises(ModelError) as caught:
            session.write({"x": picture((1, 4, 8, 8))})
        assert caught.value.faults[0].fix == "open the model for the shapes that are written"


def test_names_that_do_not_fit_come_with_a_fix(tmp_path: Path) -> None:
    """What to give, and what to leave out."""
    model = attention()
    with pytest.raises(ModelError) as caught:
        reshape(model, saved(model, tmp_path), (("q", (1, 4, 8)), ("keys", (1, 6, 8))))
    assert caught.value.faults[0].fix == "give bias, k and leave keys out"


@pytest.mark.parametrize(
    ("shape", "layout", "refused"),
    [
        ([1, 4, 16, 16], "", False),
        ([-1, 4, 16, 16], "", True),
        ([-1, 4, 16, 16], "NCHW", False),
        ([-1, 4, 16, 16], "CNHW", True),
        ([-1, 4, -1, 16], "NCHW", True),
        ([1, 4, (8, 16), 16], "NCHW", True),
    ],
)
def test_an_npu_needs_fixed_sizes_but_for_a_batch_that_the_layout_names(
    shape: list[Any], layout: str, refused: bool, tmp_path: Path
) -> None:
    """As its compiler does: tried with each of its platforms."""
    model = chain("sin")
    part = saved(model, tmp_path)
    model.reshape({"x": ov.PartialShape([ov.Dimension(*np.atleast_1d(d).tolist()) for d in shape])})
    if layout:
        model.get_parameters()[0].set_layout(ov.Layout(layout))
    reason = refused_before(ov.Core(), model, Asked(part, (), "NPU"))
    assert (reason is not None) is refused
    if reason is not None:
        assert (reason.code, reason.ops) == ("dynamic-shape", ("x",))
        assert reason.sentence == "NPU: the input x has no fixed shape"


def test_a_size_that_is_not_fixed_inside_is_left_to_the_compiler(tmp_path: Path) -> None:
    """NonZero and NMS compile for an NPU, though their outputs have no fixed shape."""
    x = op.parameter([1, 8], np.float32, name="x")
    x.output(0).get_tensor().set_names({"x"})
    model = ov.Model([op.non_zero(op.relu(x), output_type="i64")], [x], "m")
    asked = Asked(saved(model, tmp_path), (), "NPU")
    assert refused_before(ov.Core(), model, asked) is None
