"""Exact rewrites of a model: an operation that a device refuses, replaced by its equal.

Each is asked for by name, on a node: `_meta.rewrites`. What a model computes stays the same but for
the rounding of sums taken in another order.
"""

# OpenVINO's stubs leave half of each operation untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from vinode.graph.errors import Fault, VinodeError, nearest, short

if TYPE_CHECKING:  # for its types only: importing OpenVINO costs a quarter of a second
    import openvino as ov

# Operations that compute nothing: inputs, outputs, weights.
NO_WORK = ("Parameter", "Result", "Constant")


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A rewrite that can be asked for.

    types     operations that it replaces
    sentence  what it does, for the user who is asked
    run       applies it to a model and counts the operations it replaced
    """

    name: str
    types: tuple[str, ...]
    sentence: str
    run: Callable[[ov.Model], int]


def apply(model: ov.Model, names: Iterable[str]) -> dict[str, int]:
    """Rewrite a model whose shapes are set; gives how many operations each rewrite replaced.

    An operation keeps its name: the last of those that replace it has it, the others have it with
    a suffix, so that its place in the source model can still be told.
    """
    return {name: REWRITES[name].run(model) for name in names}


def parse_rewrites(meta: Mapping[str, object], place: str) -> tuple[str, ...]:
    """Read a node's `_meta.rewrites`, in the order in which they apply, each once.

    >>> parse_rewrites({"rewrites": ["softmax-decomposed"]}, "")
    ('softmax-decomposed',)
    """
    given = meta.get("rewrites")
    if given is None:
        return ()
    at, known = f"{place}, rewrites", ", ".join(REWRITES)
    if not isinstance(given, list):
        fix = f"write a list of {known}"
        raise VinodeError(Fault(at, "expected a list of names", short(given), fix, "bad-hint"))
    faults: list[Fault] = []
    for name in cast(list[object], given):
        if not isinstance(name, str) or name not in REWRITES:
            close = nearest(name, REWRITES) if isinstance(name, str) else ""
            fix = f"did you mean {close}?" if close else f"use one of {known}"
            faults.append(Fault(at, "no such rewrite", short(name), fix, "bad-hint"))
    if faults:
        raise VinodeError(*faults)
    return tuple(name for name in REWRITES if name in given)


def _each(model: ov.Model, type: str, replace: Callable[[Any, Names], Any]) -> int:
    """Replace each operation of a type; `replace` gives the new one, or None to leave it."""
    from openvino.utils import replace_node

    count = 0
    for old in model.get_ordered_ops():
        if old.get_type_name() != type:
            continue
        name = old.get_friendly_name()
        new = replace(old, Names(name))
        if new is None:
            continue
        replace_node(old, new)
        new.set_friendly_name(name)
        count += 1
    return count


@dataclass(frozen=True, slots=True)
class Names:
    """Names the operations that stand for one."""

    name: str

    def __call__(self, op: Any, suffix: str) -> Any:
        """Give an operation the replaced one's name with a suffix."""
        op.set_friendly_name(f"{self.name}.{suffix}")
        return op


def _axis(op: Any) -> int | None:
    """Give an operation's axis counted from the front; None where the rank is not known."""
    rank = op.input(0).get_partial_shape().rank
    axis = int(op.get_attributes()["axis"])
    return (axis if axis >= 0 else axis + rank.get_length()) if rank.is_static else None


def _log_softmax_axis(model: ov.Model) -> int:
    from openvino import opset13 as op

    def replace(old: Any, named: Names) -> Any:
        axis = _axis(old)
        if axis is None or old.get_attributes()["axis"] >= 0:
            return None
        return op.log_softmax(old.input_value(0), axis)

    return _each(model, "LogSoftmax", replace)


def _bucketize_i32(model: ov.Model) -> int:
    from openvino import opset13 as op

    def replace(old: Any, named: Names) -> Any:
        told = old.get_attributes()
        if told["output_type"] != "i64":
            return None
        right = bool(told["with_right_bound"])
        small = op.bucketize(old.input_value(0), old.input_value(1), "i32", right)
        return op.convert(named(small, "i32"), "i64")

    return _each(model, "Bucketize", replace)


def _softmax_decomposed(model: ov.Model) -> int:
    import numpy as np
    from openvino import opset13 as op

    def replace(old: Any, named: Names) -> Any:
        axis = _axis(old)
        if axis is None:
            return None
        x = old.input_value(0)
        axes = named(op.constant(np.array([axis], np.int64)), "axes")
        # Without the largest subtracted, exp overflows where the softmax itself does not.
        largest = named(op.reduce_max(x, axes, True), "max")
        raised = named(op.exp(named(op.subtract(x, largest), "shifted")), "exp")
        return op.divide(raised, named(op.reduce_sum(raised, axes, True), "sum"))

    return _each(model, "Softmax", replace)


def _layer_norm_decomposed(model: ov.Model) -> int:
    import numpy as np
    from openvino import opset13 as op

    def replace(old: Any, named: Names) -> Any:
        if old.get_input_size() != 2:  # MVN-1, which takes no axes
            return None
        x, axes = old.input_value(0), old.input_value(1)
        told = old.get_attributes()
        centred = op.subtract(x, named(op.reduce_mean(x, axes, True), "mean"))
        if not told["normalize_variance"]:
            return centred
        named(centred, "centred")
        squared = named(op.multiply(centred, centred), "squared")
        variance = named(op.reduce_mean(squared, axes, True), "variance")
        dtype = x.get_element_type().to_dtype()
        eps = named(op.constant(np.array(told["eps"], dtype)), "eps")
        if told["eps_mode"].lower() == "inside_sqrt":
            spread = named(op.sqrt(named(op.add(variance, eps), "variance_eps")), "spread")
        else:
            spread = named(op.add(named(op.sqrt(variance), "deviation"), eps), "spread")
        return op.divide(centred, spread)

    return _each(model, "MVN", replace)


def _constant_sizes(model: ov.Model) -> int:
    from openvino import passes

    before = _working(model)
    manager = passes.Manager()
    manager.register_pass(passes.ConstantFolding())
    manager.run_passes(model)
    # A constant that stood for weights in half precision is no size: it is not counted.
    return len(
        {name for name, type in before.items() if type != "Convert"} - _working(model).keys()
    )


def _working(model: ov.Model) -> dict[str, str]:
    named = {op.get_friendly_name(): op.get_type_name() for op in model.get_ordered_ops()}
    return {name: type for name, type in named.items() if type not in NO_WORK}


REWRITES: Mapping[str, Rewrite] = {
    rewrite.name: rewrite
    for rewrite in (
        Rewrite(
            "constant-sizes",
            ("ShapeOf", "Interpolate"),
            "compute sizes that follow from the inputs' sizes beforehand, those of resizing too",
            _constant_sizes,
        ),
        Rewrite(
            "log-softmax-axis",
            ("LogSoftmax",),
            "count the axis of LogSoftmax from the front",
            _log_softmax_axis,
        ),
        Rewrite(
            "bucketize-i32",
            ("Bucketize",),
            "let Bucketize give 32-bit numbers, and widen them after it",
            _bucketize_i32,
        ),
        Rewrite(
            "softmax-decomposed",
            ("Softmax",),
            "compute Softmax from maximum, exponential, sum and division",
            _softmax_decomposed,
        ),
        Rewrite(
            "layer-norm-decomposed",
            ("MVN",),
            "compute layer normalisation from means, square root and division",
            _layer_norm_decomposed,
        ),
    )
}
