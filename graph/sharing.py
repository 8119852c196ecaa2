"""One row for several: inputs that have fewer rows than others are repeated where they meet.

A guided step asks a denoising model for the same latent with several prompts. What is computed
before the prompt comes in is the same for each of them, and is computed once.
"""

# OpenVINO's stubs leave half of each operation untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportGeneralTypeIssues=false

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # for its types only: importing OpenVINO costs a quarter of a second
    import openvino as ov

# Stands among a part's rewrites. A node asks for it, not a user: shapes and rows go with it.
SHARED_PREFIX = "shared-prefix"
_SIZES = 64  # numbers that a computation of sizes gives at most


def full(shapes: Iterable[tuple[str, tuple[int, ...]]]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Give all inputs the most rows that one of them has; an input of one axis has no rows.

    >>> full((("sample", (1, 4, 8, 8)), ("timestep", (1,)), ("context", (2, 77, 768))))
    (('sample', (2, 4, 8, 8)), ('timestep', (1,)), ('context', (2, 77, 768)))
    """
    given = tuple(shapes)
    rows = max((shape[0] for _, shape in given if len(shape) > 1), default=1)
    return tuple((name, (rows, *shape[1:]) if len(shape) > 1 else shape) for name, shape in given)


def share(model: ov.Model, shapes: Mapping[str, Sequence[int]]) -> ov.Model:
    """Give a model that takes these shapes: some inputs with B rows, the others with n B.

    model   has the shapes of `full`, and answers each row by itself
    shapes  input -> shape

    What does not depend on the inputs of n B rows is computed for B rows, and repeated n times
    where it meets what does: the answer is the one for inputs that are repeated themselves. They
    are where a model cannot be taken apart.
    """
    axes = {port.get_any_name(): list(port.get_shape()) for port in model.inputs}
    few = {name: shape[0] for name, shape in shapes.items() if axes[name][0] != shape[0]}
    if not few:
        return model
    first = min(few.values())
    small = model.clone()
    wanted = {name: [first, *axis[1:]] for name, axis in axes.items() if len(axis) > 1}
    try:
        small.reshape(wanted)  # pyright: ignore[reportArgumentType]
    except RuntimeError:  # made for one number of rows
        return _inputs_repeated(model, few)
    many = {name for name in wanted if name not in few}
    if set(few.values()) == {first} and not model.get_sinks():
        met = _met(model, many), _met(small, many)
        if met[0].keys() == met[1].keys() and all(
            _fits(port, met[1][key], first) for key, port in met[0].items()
        ):
            return _joined(model, small, met, many)
    return _inputs_repeated(model, few)


def _met(model: ov.Model, many: set[str]) -> dict[tuple[str, int], Any]:
    """Find outputs that depend on few rows alone, and are read by what depends on many.

    returns  name of the operation and number of its output -> output
    """
    _fold_sizes(model)
    before, after = set[str](), set[str]()
    met: dict[tuple[str, int], Any] = {}
    for op in model.get_ordered_ops():
        name, type = op.get_friendly_name(), op.get_type_name()
        sources = [op.input_value(index) for index in range(op.get_input_size())]
        names = {port.get_node().get_friendly_name() for port in sources}
        if type == "Parameter":
            (after if op.output(0).get_any_name() in many else before).add(name)
        elif type == "Result" or names & after:
            after.add(name)
            for port in sources:
                if port.get_node().get_friendly_name() in before:
                    met[port.get_node().get_friendly_name(), port.get_index()] = port
        elif names & before:
            before.add(name)
    return met


def _fold_sizes(model: ov.Model) -> None:
    """Compute beforehand what follows from shapes alone, for those are no values of a row.

    Not by OpenVINO's own folding: it would turn all weights into float32.
    """
    from openvino import opset13 as make
    from openvino.utils import replace_node

    folded = set[str]()
    for op in model.get_ordered_ops():
        name = op.get_friendly_name()
        sources = [op.input_value(index).get_node() for index in range(op.get_input_size())]
        value = None
        if op.get_type_name() == "ShapeOf":
            value = _shape(op)
        elif folded.intersection(source.get_friendly_name() for source in sources):
            value = _size(op, sources)
        if value is not None:
            constant = make.constant(value)
            replace_node(op, constant)
            constant.set_friendly_name(name)
            folded.add(name)


def _shape(op: Any) -> NDArray[Any] | None:
    """Give the answer of ShapeOf, where it is known."""
    shape = op.input_value(0).get_partial_shape()
    dtype = op.get_output_element_type(0).to_dtype()
    return np.array(list(shape.to_shape()), dtype) if shape.is_static else None


def _size(op: Any, sources: Sequence[Any]) -> NDArray[Any] | None:
    """Compute a size from sizes; None for what is none."""
    import openvino as ov

    constant = all(source.get_type_name() == "Constant" for source in sources)
    if not constant or op.get_output_size() != 1 or op.get_output_partial_shape(0).is_dynamic:
        return None
    shape = op.get_output_shape(0)
    if math.prod(shape) > _SIZES:
        return None
    answer = ov.Tensor(op.get_output_element_type(0), shape)
    if not op.evaluate([answer], [ov.Tensor(source.data) for source in sources]):
        return None
    value: NDArray[Any] = answer.data.copy()
    return value


def _fits(port: Any, small: Any, first: int) -> bool:
    """Say whether an output has the same shape for fewer rows, or its rows along the first axis."""
    shapes = port.get_partial_shape(), small.get_partial_shape()
    if shapes[0].is_dynamic or shapes[1].is_dynamic:
        return False
    whole, part = list(shapes[0].to_shape()), list(shapes[1].to_shape())
    return whole == part or (whole[1:] == part[1:] and part[0] == first and whole[0] > first)


def _joined(
    model: ov.Model, small: ov.Model, met: Sequence[Mapping[tuple[str, int], Any]], many: set[str]
) -> ov.Model:
    """Put the small model's beginning in the place of the model's own."""
    import openvino as ov

    for key, port in met[0].items():
        least = met[1][key]
        times = port.get_shape()[0] // least.get_shape()[0] if port.get_shape() else 1
        _redirect(port, _repeated(least, times) if times > 1 else least)
    parameters = [
        own if own.output(0).get_any_name() in many else other
        for own, other in zip(model.get_parameters(), small.get_parameters(), strict=True)
    ]
    return ov.Model(model.get_results(), parameters, model.get_friendly_name())


def _inputs_repeated(model: ov.Model, few: Mapping[str, int]) -> ov.Model:
    """Repeat the inputs themselves: right for every model, and saves nothing but copies."""
    import openvino as ov
    from openvino import opset13 as make

    parameters = list(model.get_parameters())
    for index, own in enumerate(parameters):
        port = own.output(0)
        name = port.get_any_name()
        if name not in few:
            continue
        rows, *rest = port.get_shape()
        made = make.parameter([few[name], *rest], port.get_element_type(), own.get_friendly_name())
        made.output(0).get_tensor().set_names(set(port.get_names()))
        _redirect(port, _repeated(made.output(0), rows // few[name]))
        parameters[index] = made
    return ov.Model(model.get_results(), parameters, model.get_friendly_name())


def _repeated(port: Any, times: int) -> Any:
    from openvino import opset13 as make

    made = make.concat([port] * times, 0)
    made.set_friendly_name(f"{port.get_node().get_friendly_name()}.repeated")
    return made.output(0)


def _redirect(old: Any, new: Any) -> None:
    """Let all that reads one output read another; a result keeps its name."""
    targets = list(old.get_target_inputs())
    if any(one.get_node().get_type_name() == "Result" for one in targets):
        names = set(old.get_names())
        old.get_tensor().set_names(set())
        new.get_tensor().set_names(names)
    for one in targets:
        one.replace_source_output(new)
