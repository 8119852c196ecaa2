"""Rewrites: the same numbers, without the operation. Run on the CPU in f32."""

# OpenVINO's stubs leave half of each operation untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportGeneralTypeIssues=false

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as op

from vinode.graph.errors import VinodeError
from vinode.graph.profile import module_path
from vinode.graph.rewrites import REWRITES, apply, parse_rewrites

SHAPE = (2, 3, 8, 8)
NAME = "__module.head.0/aten::thing/Thing"


def model_of(make: Callable[[Any], Any], shape: tuple[int, ...] = SHAPE) -> ov.Model:
    """Give a model of one operation with the name that a traced torch module gives."""
    x = op.parameter(list(shape), np.float32, name="x")
    x.output(0).get_tensor().set_names({"x"})
    made = make(x)
    made.set_friendly_name(NAME)
    made.output(0).get_tensor().set_names({"y"})
    return ov.Model([made], [x], "m")


def answer(model: ov.Model, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Run a model on the CPU in f32."""
    options = {"INFERENCE_PRECISION_HINT": "f32"}
    found: np.ndarray[Any, Any] = ov.Core().compile_model(model, "CPU", options)({"x": x})["y"]
    return found


def types(model: ov.Model) -> Counter[str]:
    """Count the operations of each type."""
    return Counter(op.get_type_name() for op in model.get_ordered_ops())


AXES = [np.array(axes, np.int64) for axes in ([-1], [1, 2, 3], [2])]
CASES: list[tuple[str, Callable[[Any], Any]]] = [
    *(("softmax-decomposed", lambda x, a=axis: op.softmax(x, a)) for axis in (-1, 0, 2)),
    *(
        (
            "layer-norm-decomposed",
            lambda x, a=axes, m=mode: op.mvn(x, op.constant(a), True, 1e-3, m),
        )
        for axes in AXES
        for mode in ("inside_sqrt", "outside_sqrt")
    ),
    (
        "layer-norm-decomposed",
        lambda x: op.mvn(x, op.constant(AXES[0]), False, 1e-3, "inside_sqrt"),
    ),
]


@pytest.mark.parametrize(("name", "make"), CASES)
def test_the_operation_is_gone_and_the_numbers_are_the_same(
    name: str, make: Callable[[Any], Any]
) -> None:
    """Large values too: a softmax of 1e4 is a number, its exponential is none."""
    random = np.random.default_rng(3)
    x = (random.standard_normal(SHAPE) * 1e3).astype(np.float32)
    wanted = answer(model_of(make), x)
    model = model_of(make)
    assert apply(model, [name]) == {name: 1}
    assert not types(model).keys() & set(REWRITES[name].types)
    np.testing.assert_allclose(answer(model, x), wanted, rtol=1e-6, atol=1e-6)
    assert np.isfinite(wanted).all()


@pytest.mark.parametrize("origin", [NAME, "/head/0/Softmax"])
@pytest.mark.parametrize(("name", "make"), [CASES[0], CASES[3]])
def test_names_still_tell_the_place_in_the_source_model(
    name: str, make: Callable[[Any], Any], origin: str
) -> None:
    """The last operation has the old name, the others begin with it."""
    model = model_of(make)
    model.get_results()[0].input_value(0).get_node().set_friendly_name(origin)
    apply(model, [name])
    work = [
        op for op in model.get_ordered_ops() if op.get_type_name() not in ("Parameter", "Result")
    ]
    made = [op.get_friendly_name() for op in work if op.get_type_name() != "Constant"]
    assert len(made) == len(set(made)) > 3
    assert {module_path(one) for one in made} == {module_path(origin)}
    assert made[-1] == origin
    assert [port.get_any_name() for port in model.outputs] == ["y"]


def test_log_softmax_keeps_its_operation_and_counts_its_axis_from_the_front() -> None:
    """A second time there is nothing left to do."""
    x = np.random.default_rng(3).standard_normal(SHAPE).astype(np.float32)
    model = model_of(lambda x: op.log_softmax(x, -1))
    wanted = answer(model_of(lambda x: op.log_softmax(x, -1)), x)
    assert apply(model, ["log-softmax-axis"]) == {"log-softmax-axis": 1}
    found = [op for op in model.get_ordered_ops() if op.get_type_name() == "LogSoftmax"]
    assert [op.get_attributes()["axis"] for op in found] == [3]
    np.testing.assert_allclose(answer(model, x), wanted, rtol=1e-6)
    assert apply(model, ["log-softmax-axis"]) == {"log-softmax-axis": 0}


@pytest.mark.parametrize("right", [True, False])
def test_bucketize_gives_the_same_buckets_in_the_same_type(right: bool) -> None:
    """Values on the bounds belong to the same side."""
    bounds = np.array([-1, 0, 1], np.float32)
    x = np.array([-2, -1, -0.5, 0, 1, 9], np.float32)

    def make(x: Any) -> Any:
        return op.bucketize(x, op.constant(bounds), "i64", right)

    model = model_of(make, (6,))
    assert apply(model, ["bucketize-i32"]) == {"bucketize-i32": 1}
    found = [op for op in model.get_ordered_ops() if op.get_type_name() == "Bucketize"]
    assert [op.get_attributes()["output_type"] for op in found] == ["i32"]
    got, wanted = answer(model, x), answer(model_of(make, (6,)), x)
    assert got.dtype == wanted.dtype == np.int64
    assert got.tolist() == wanted.tolist()
    assert apply(model, ["bucketize-i32"]) == {"bucketize-i32": 0}


def _doubled(x: Any) -> Any:
    """Resize to twice the size, computed from the input's, as exported models do."""
    axes = op.constant(np.array([2, 3], np.int64))
    size = op.gather(op.shape_of(x), axes, op.constant(np.int64(0)))
    return op.interpolate(
        x, op.multiply(size, op.constant(np.int64(2))), "nearest", "sizes", axes=axes
    )


def test_sizes_become_constants_once_shapes_are_fixed() -> None:
    """ShapeOf, Gather and Multiply go; the resize has a constant size and the same answer."""
    x = np.random.default_rng(3).standard_normal(SHAPE).astype(np.float32)
    model = model_of(_doubled, (-1, 3, -1, -1))
    assert apply(model, ["constant-sizes"]) == {"constant-sizes": 0}
    model.reshape({"x": ov.PartialShape(list(SHAPE))})
    assert apply(model, ["constant-sizes"]) == {"constant-sizes": 3}
    assert not types(model).keys() & {"ShapeOf", "Gather", "Multiply"}
    resize = next(op for op in model.get_ordered_ops() if op.get_type_name() == "Interpolate")
    assert resize.input_value(1).get_node().get_type_name() == "Constant"
    np.testing.assert_array_equal(answer(model, x), answer(model_of(_doubled), x))


def test_weights_in_half_precision_are_no_sizes(tmp_path: Path) -> None:
    """They are not counted, and the numbers are the same."""
    weights = np.random.default_rng(3).standard_normal((8, 5)).astype(np.float32)
    path = tmp_path / "m.xml"
    ov.save_model(model_of(lambda x: op.matmul(x, op.constant(weights), False, False)), path)
    x = np.random.default_rng(4).standard_normal(SHAPE).astype(np.float32)
    wanted = answer(ov.Core().read_model(path), x)
    model = ov.Core().read_model(path)
    assert apply(model, ["constant-sizes"]) == {"constant-sizes": 0}
    np.testing.assert_array_equal(answer(model, x), wanted)


@pytest.mark.parametrize("name", ["softmax-decomposed", "log-softmax-axis"])
def test_an_unknown_rank_is_left_alone(name: str) -> None:
    """An axis from the back cannot be counted from the front then."""
    x = op.parameter(ov.PartialShape.dynamic(), np.float32, name="x")
    made = op.softmax(x, -1) if name == "softmax-decomposed" else op.log_softmax(x, -1)
    assert apply(ov.Model([made], [x], "m"), [name]) == {name: 0}


def test_several_are_applied_and_counted_each() -> None:
    """One that finds nothing says so."""
    model = model_of(lambda x: op.softmax(op.softmax(x, 1), 2))
    assert apply(model, ["softmax-decomposed", "bucketize-i32"]) == {
        "softmax-decomposed": 2,
        "bucketize-i32": 0,
    }


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("softmax-decomposed", "node 3 (A), rewrites: expected a list of names"),
        (["softmax-decompose"], "no such rewrite; got 'softmax-decompose'; did you mean softmax-d"),
        ([3], "no such rewrite; got 3; use one of constant-sizes, "),
        ([["a"], "b"], "no such rewrite; got ['a']"),
    ],
)
def test_a_wrong_name_is_a_fault_with_the_nearest(given: object, said: str) -> None:
    """All of a list at once."""
    with pytest.raises(VinodeError) as caught:
        parse_rewrites({"rewrites": given}, "node 3 (A)")
    assert said in str(caught.value)
    wrong = given if isinstance(given, list) else [given]
    assert len(caught.value.faults) == len(wrong)  # pyright: ignore[reportUnknownArgumentType]


def test_order_and_twins_in_the_file_make_no_difference() -> None:
    """Two spellings of one wish are one compiled model."""
    given = ["softmax-decomposed", "constant-sizes", "softmax-decomposed"]
    assert parse_rewrites({"rewrites": given}, "") == ("constant-sizes", "softmax-decomposed")
    assert parse_rewrites({}, "") == ()
