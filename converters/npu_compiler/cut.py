"""Smaller models out of one: an operation alone, or all up to one, with inputs for the rest."""

# OpenVINO's stubs leave half of each operation untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportGeneralTypeIssues=false

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vinode.converters.npu_compiler.texts import MOST_DIMENSIONS

if TYPE_CHECKING:  # for its types only: importing OpenVINO costs a quarter of a second
    import openvino as ov


def working(model: ov.Model) -> list[Any]:
    """Give the operations that compute something from the inputs, sources first.

    What follows from constants alone is folded by every compiler and is none of them.
    """
    constant: set[str] = set()
    found: list[Any] = []
    for op in model.get_ordered_ops():
        name, sources = op.get_friendly_name(), op.input_values()
        if op.get_type_name() in ("Parameter", "Result"):
            continue
        if all(value.get_node().get_friendly_name() in constant for value in sources):
            constant.add(name)
        else:
            found.append(op)
    return found


def kind_of(op: Any) -> str:
    """Give all by which a compiler tells operations apart: type, attributes, shapes, formats."""
    ports = [*op.input_values(), *op.outputs()]
    told = [f"{port.get_element_type()}{port.get_partial_shape()}" for port in ports]
    return f"{op.get_type_name()} {sorted(op.get_attributes().items())} {told}"


def alone(model: ov.Model, name: str) -> ov.Model | None:
    """Cut one operation out of a copy of the model; None where a shape around it is not fixed."""
    copy = model.clone()
    ops = working(copy)
    names = {op.get_friendly_name() for op in ops}
    op = next(op for op in ops if op.get_friendly_name() == name)
    made: list[Any] = []
    for port in op.inputs():
        source = port.get_source_output()
        node = source.get_node()
        if node.get_type_name() == "Parameter" or node.get_friendly_name() in names:
            if source.get_partial_shape().is_dynamic:
                return None
            parameter, value = _input_like(source)
            port.replace_source_output(value)
            made.append(parameter)
    return _model(op.outputs(), made)


def up_to(model: ov.Model, count: int) -> ov.Model | None:
    """Cut the first operations out of a copy of the model; None where an end is not fixed."""
    ops = working(model)
    kept = {op.get_friendly_name() for op in ops[:count]}
    copy = model.clone()
    ends: list[Any] = []
    for op in working(copy)[:count]:
        for output in op.outputs():
            users = {port.get_node() for port in output.get_target_inputs()}
            if not users or any(user.get_friendly_name() not in kept for user in users):
                ends.append(output)
    return _model(ends, _reached(ends))


def _reached(ends: Sequence[Any]) -> list[Any]:
    """Give the model's inputs that these ends need."""
    found: dict[str, Any] = {}
    seen: set[str] = set()
    waiting = [end.get_node() for end in ends]
    while waiting:
        node = waiting.pop()
        name = node.get_friendly_name()
        if name in seen:
            continue
        seen.add(name)
        if node.get_type_name() == "Parameter":
            found[name] = node
        waiting += [value.get_node() for value in node.input_values()]
    return list(found.values())


def _input_like(source: Any) -> tuple[Any, Any]:
    """Make an input for a value: (parameter, value). One of many dimensions comes in flat."""
    from openvino import opset13 as op

    shape = list(source.get_shape())
    type = source.get_element_type()
    if len(shape) <= MOST_DIMENSIONS:
        parameter = op.parameter(shape, type)
        return parameter, parameter.output(0)
    size = 1
    for side in shape:
        size *= side
    parameter = op.parameter([size], type)
    return parameter, op.reshape(parameter, shape, False).output(0)


def _model(ends: Sequence[Any], inputs: Sequence[Any]) -> ov.Model | None:
    import openvino as ov
    from openvino import opset13 as op

    if not inputs or not ends:
        return None
    if any(end.get_partial_shape().rank.is_dynamic for end in ends):
        return None
    results = [
        op.reshape(end, [-1], False).output(0)
        if end.get_partial_shape().rank.get_length() > MOST_DIMENSIONS
        else end
        for end in ends
    ]
    return ov.Model(results, list(inputs), "cut")
