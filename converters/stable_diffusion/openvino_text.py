"""Optimum-intel's text encoder -> ours: token vectors in, each layer after the final norm out."""

# OpenVINO's stubs leave half of each operation untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportGeneralTypeIssues=false, reportArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinode.converters.formats import refusal
from vinode.converters.stable_diffusion.found import PartSource
from vinode.graph.errors import ModelError

_PASSED = ("Convert", "Reshape", "Unsqueeze", "Squeeze")  # between ids and the table, or after it


def token_table(source: PartSource, model: Any) -> NDArray[Any]:
    """Give the table of token vectors, (V, D)."""
    held = _lookup(source, model).input_value(0).get_node()
    while held.get_type_name() == "Convert":
        held = held.input_value(0).get_node()
    table: NDArray[Any] = held.get_data()
    return table


def layers_of(model: Any) -> int:
    """Count the layers whose answers can be had: all where the IR gives them, else the last."""
    return max(1, len(_states(model)) - 1)


def wrap(source: PartSource, model: Any) -> None:
    """Cut the table off, and give each layer's answer after the final norm."""
    import openvino as ov
    from openvino import opset13 as op

    gather = _lookup(source, model)
    width = int(token_table(source, model).shape[1])
    ours = op.parameter(ov.PartialShape([-1, 77, width]), np.float32, name="embeddings")
    ours.output(0).get_tensor().set_names({"embeddings"})
    last = next(port for port in model.outputs if "last_hidden_state" in port.get_names())
    norm = last.get_node().input_value(0)
    states = _states(model)
    ends = [_normed(source, norm, state) for state in states[1:-1]] + [norm]
    for result in model.get_results():
        model.remove_result(result)
    _replace(gather.output(0), ours.output(0))
    ids = _ids(source, model)
    _shapes_of_ids(ids, ours)
    results = [op.result(end) for end in ends]
    for number, result in enumerate(results, 1):
        result.output(0).get_tensor().set_names({f"layer_{number}"})
    model.add_parameters([ours])
    model.add_results(results)
    model.remove_parameter(ids)
    if any(node.get_friendly_name() == ids.get_friendly_name() for node in model.get_ordered_ops()):
        raise _foreign(source, "it computes with the tokens' numbers")


def _foreign(source: PartSource, what: str) -> ModelError:
    problem = f"this IR is not a text encoder that optimum-intel writes: {what}"
    return refusal(source.files[0], problem, "give the checkpoint that it was made from")


def _ids(source: PartSource, model: Any) -> Any:
    for port in model.inputs:
        if "input_ids" in port.get_names():
            return port.get_node()
    raise _foreign(source, "it has no input input_ids")


def _lookup(source: PartSource, model: Any) -> Any:
    """Find the operation that looks token vectors up."""
    waiting = [_ids(source, model)]
    while waiting:
        node = waiting.pop()
        for target in node.output(0).get_target_inputs():
            user = target.get_node()
            if user.get_type_name() == "Gather" and target.get_index() == 1:
                return user
            if user.get_type_name() in _PASSED and target.get_index() == 0:
                waiting.append(user)
    raise _foreign(source, "it looks no token vectors up")


def _states(model: Any) -> list[Any]:
    """Give the outputs hidden_states.0 ... hidden_states.N as far as the IR has them."""
    found: dict[int, Any] = {}
    for port in model.outputs:
        for name in port.get_names():
            start, _, number = name.partition("hidden_states.")
            if not start and number.isdecimal():
                found[int(number)] = port.get_node().input_value(0)
    return [found[number] for number in sorted(found)]


def _normed(source: PartSource, norm: Any, state: Any) -> Any:
    """Repeat the final norm, MVN * gain + shift, on another layer's answer."""
    from openvino import opset13 as op

    shifted = norm.get_node()
    scaled = _operand(source, shifted, "Add", constant=False)
    mean = _operand(source, scaled.get_node(), "Multiply", constant=False).get_node()
    if mean.get_type_name() != "MVN":
        raise _foreign(source, f"its final norm is a {mean.get_type_name()}")
    told = mean.get_attributes()
    again = op.mvn(
        state, mean.input_value(1), told["normalize_variance"], told["eps"], told["eps_mode"]
    )
    gain = _operand(source, scaled.get_node(), "Multiply", constant=True)
    shift = _operand(source, shifted, "Add", constant=True)
    return op.add(op.multiply(again, gain), shift).output(0)


def _operand(source: PartSource, node: Any, kind: str, constant: bool) -> Any:
    if node.get_type_name() == kind:
        for index in range(2):
            value = node.input_value(index)
            held = value.get_node()
            while held.get_type_name() == "Convert":
                held = held.input_value(0).get_node()
            if (held.get_type_name() == "Constant") is constant:
                return value
    raise _foreign(source, "its final norm is not one that is known")


def _shapes_of_ids(ids: Any, ours: Any) -> None:
    """Where the graph asks for the shape of the ids, let it ask for that of the vectors."""
    from openvino import opset13 as op

    waiting = [ids]
    while waiting:
        node = waiting.pop()
        for target in list(node.output(0).get_target_inputs()):
            user = target.get_node()
            if user.get_type_name() == "ShapeOf":
                kind = user.get_output_element_type(0).to_dtype()
                sizes = op.shape_of(ours, np.dtype(kind).name.replace("int", "i"))
                two = op.gather(sizes, op.constant(np.array([0, 1])), op.constant(np.int64(0)))
                _replace(user.output(0), two.output(0))
            elif user.get_type_name() in _PASSED and target.get_index() == 0:
                waiting.append(user)


def _replace(old: Any, new: Any) -> None:
    for target in list(old.get_target_inputs()):
        target.replace_source_output(new)
