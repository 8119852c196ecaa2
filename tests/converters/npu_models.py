"""Models of one operation that the NPU compiler refuses, and what it is to say of each."""

# OpenVINO's stubs leave half of each operation untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportGeneralTypeIssues=false

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
from openvino import opset15 as op

from vinode.graph.placement import Code
from vinode.graph.values import ModelPart

SHAPE = [1, 16, 32, 32]


def given(*shape: int, dtype: Any = np.float32, name: str = "x") -> Any:
    """Make an input."""
    return op.parameter(list(shape), dtype, name=name)


def held(values: object, dtype: Any = np.int64) -> Any:
    """Make a constant."""
    return op.constant(np.array(values, dtype))


def saved(folder: Path, result: Any, inputs: list[Any]) -> ModelPart:
    """Write a model as an IR."""
    ends = list(result.outputs())
    ov.save_model(ov.Model(ends, inputs, "one"), folder / "model.xml", compress_to_fp16=False)
    return ModelPart("one", folder / "model.xml", "0" * 64, 0)


@dataclass(frozen=True, slots=True)
class Refused:
    """A model, and the answer that is right for it on platform 4000."""

    make: Callable[[], tuple[Any, list[Any]]]
    code: Code
    op: str
    says: str
    rewrite: str = ""


def _unary(function: Callable[[Any], Any], *shape: int, dtype: Any = np.float32) -> Any:
    def make() -> tuple[Any, list[Any]]:
        x = given(*(shape or SHAPE), dtype=dtype)
        return function(x), [x]

    return make


def _boxes(function: Callable[[Any, Any], Any]) -> Any:
    def make() -> tuple[Any, list[Any]]:
        boxes, scores = given(1, 200, 4, name="boxes"), given(1, 2, 200, name="scores")
        return function(boxes, scores), [boxes, scores]

    return make


def _conditional() -> tuple[Any, list[Any]]:
    which, x = given(dtype=np.bool_, name="which"), given(4, 4)
    a, b = given(4, 4, name="a"), given(4, 4, name="b")
    yes = ov.Model([op.add(a, held(1, np.float32))], [a])
    no = ov.Model([op.multiply(b, held(2, np.float32))], [b])
    both = op.if_op(which)
    both.set_then_body(yes)
    both.set_else_body(no)
    both.set_input(x.output(0), yes.get_parameters()[0], no.get_parameters()[0])
    both.set_output(yes.get_results()[0], no.get_results()[0])
    return both, [which, x]


def _col2im(x: Any) -> Any:
    return op.col2im(x, held([8, 8]), held([2, 2]), [2, 2], [1, 1], [0, 0], [0, 0])


def _resized(x: Any) -> Any:
    axes, none = held([2, 3]), [0] * 4
    return op.interpolate(
        x, held([64, 64]), "bicubic_pillow", "sizes", none, none, "half_pixel", axes=axes
    )


REFUSED: Mapping[str, Refused] = {
    "col2im": Refused(_unary(_col2im, 1, 12, 16), "op-unsupported", "Col2Im", "Attribute strides"),
    "if": Refused(_conditional, "op-unsupported", "If", "Invalid type of parent operation"),
    "multiclass_nms": Refused(
        _boxes(op.multiclass_nms), "op-unsupported", "MulticlassNms", "sort_result_type"
    ),
    "matrix_nms": Refused(_boxes(op.matrix_nms), "op-unsupported", "MatrixNms", "sort_result_type"),
    "unique": Refused(_unary(op.unique, 64), "op-unsupported", "Unique", "index_element_type"),
    "bicubic_pillow": Refused(
        _unary(_resized), "op-unsupported", "Interpolate", "attribute mode is not supported"
    ),
    "rank_6": Refused(_unary(op.relu, 1, 2, 2, 2, 2, 2), "op-unsupported", "Parameter", "BLOCKED"),
    "log_softmax": Refused(
        _unary(lambda x: op.log_softmax(x, -1)),
        "op-unsupported",
        "LogSoftmax",
        "negative index",
        "log-softmax-axis",
    ),
    "bucketize": Refused(
        _unary(lambda x: op.bucketize(x, held([0, 1], np.float32), "i64"), 16),
        "op-unsupported",
        "Bucketize",
        "only SI32",
        "bucketize-i32",
    ),
    "to_i16": Refused(
        _unary(lambda x: op.convert(x, "i16")), "precision-unsupported", "Convert", "f32 -> si16"
    ),
    "add_i8": Refused(
        _unary(lambda x: op.add(x, x), dtype=np.int8), "precision-unsupported", "Add", "IE.Add"
    ),
}
