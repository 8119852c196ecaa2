"""What the NPU compiler says -> a reason, and which operations it may mean. One row a text.

The texts are those of compiler 8.4 of OpenVINO 2026.4. Few name an operation by its name; some
name its type, an attribute or a number format, which makes the search short.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from vinode.graph.placement import Code, classify, last_line

if TYPE_CHECKING:  # for its types only: importing OpenVINO costs a quarter of a second
    import openvino as ov

MOST_DIMENSIONS = 5
Means: TypeAlias = Callable[[re.Match[str], "ov.Node"], bool]

_ERROR = re.compile(r"^\[ERROR\] [\d:.]+ \[[^\]]*\]\s*(.*)$", re.MULTILINE)
_RETURNED = "Compiler returned msg:"
_ESTIMATE = re.compile(r"Estimated inference latency: ([\d.]+) us")
_WEAK = re.compile(r"tasks? with invalid cost|can influence the estimation")


@dataclass(frozen=True, slots=True)
class Row:
    """A text of the compiler.

    means   may an operation be the one that this text is of? None: any may
    sure    the text alone decides: where one operation fits, it needs no compile to prove it
    """

    text: re.Pattern[str]
    code: Code
    fix: str
    means: Means | None = None
    sure: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """What a failed compile said.

    sentence  the line that tells
    match     of the row's text; None where no row has it
    plugin    OpenVINO's plugin refused it before the compiler saw a model: an option, mostly
    """

    sentence: str
    row: Row
    match: re.Match[str] | None
    plugin: bool


def resembles(first: Said, second: Said) -> bool:
    """Say whether two failures are of one cause: a piece may fail for a cause of its own."""
    if first.match or second.match:
        return first.row is second.row
    return first.sentence.partition(":")[0] == second.sentence.partition(":")[0]


def estimate_seconds(log: str) -> tuple[float | None, bool]:
    """Read the compiler's own estimate of an inference: (seconds, it calls itself weak)."""
    found = _ESTIMATE.findall(log)
    return (float(found[-1]) / 1e6 if found else None), bool(_WEAK.search(log))


def read_failure(message: str, log: str) -> Said:
    """Find the row of what a failed compile said."""
    text = message.partition(_RETURNED)[2].strip() or message
    errors = [line for line in _ERROR.findall(log) if not line.startswith("Failed Pass")]
    plugin = not errors and _RETURNED not in message
    whole = "\n".join((*errors, text))
    # The message is often "Compilation failed" alone; the log then has the cause.
    sentence = errors[-1] if errors else last_line(text)
    for row in ROWS:
        match = row.text.search(whole)
        if match:
            return Said(sentence, row, match, plugin)
    known = classify(RuntimeError(message), "NPU")  # what the plugin says before it compiles
    return Said(sentence, replace(OTHER, code=known.code, fix=known.fix), None, plugin)


def _type(match: re.Match[str], op: ov.Node) -> bool:
    """Compare types as the compiler writes them, IE.ReLU, with OpenVINO's, Relu."""
    return bool(op.get_type_name().lower() == match["type"].lower())


def _only(*types: str) -> Means:
    def means(match: re.Match[str], op: ov.Node) -> bool:
        return op.get_type_name() in types

    return means


def _attribute(match: re.Match[str], op: ov.Node) -> bool:
    names = cast("dict[str, object]", op.get_attributes())  # pyright: ignore[reportUnknownMemberType]
    return match["name"] in names


def _number_format(match: re.Match[str], op: ov.Node) -> bool:
    return any(port.get_element_type().get_type_name() == match["name"] for port in op.outputs())


def _converts(match: re.Match[str], op: ov.Node) -> bool:
    """Say whether an operation converts so; the compiler writes si16 and ui16 for i16 and u16."""
    if op.get_type_name() != "Convert":
        return False
    ports: tuple[Any, ...] = (op.input(0), op.output(0))
    names = [port.get_element_type().get_type_name() for port in ports]
    # It computes in f16, so what was asked for as f32 may be named f16.
    wanted = [match[side].removeprefix("s").replace("ui", "u") for side in ("source", "target")]
    pairs = zip(names, wanted, strict=True)
    return all(name == other or {name, other} == {"f16", "f32"} for name, other in pairs)


def _too_many_dimensions(match: re.Match[str], op: ov.Node) -> bool:
    """Say whether it is an input or output of the model with more dimensions than the NPU takes."""
    if op.get_type_name() not in ("Parameter", "Result"):
        return False
    rank: Any = op.input(0).get_partial_shape().rank if op.get_input_size() else None
    rank = rank or op.output(0).get_partial_shape().rank
    return bool(rank.is_static and rank.get_length() > MOST_DIMENSIONS)


def _conditional(match: re.Match[str], op: ov.Node) -> bool:
    return bool(op.get_type_name() == "If")


def _row(text: str, code: Code, fix: str, means: Means | None = None, sure: bool = False) -> Row:
    return Row(re.compile(text), code, fix, means, sure)


_ELSEWHERE = "leave this step out of the model and do it on the CPU, or run the node on the CPU"
_FORMATS = "convert to float16, float32 or int32 before it, or run the node on the CPU"

ROWS = (
    _row(
        r"'IE\.(?P<type>\w+)' op (operand|result) #\d+ must be .* but got",
        "precision-unsupported",
        _FORMATS,
        _type,
        sure=True,
    ),
    _row(
        r"Unsupported ConvertOp configuration: (?P<source>\w+) -> (?P<target>\w+)",
        "precision-unsupported",
        _FORMATS,
        _converts,
        sure=True,
    ),
    _row(
        r"Unsupported data type '(?P<name>\w+)'",
        "precision-unsupported",
        "compress the weights to int8 or int4 instead",
        _number_format,
        sure=True,
    ),
    _row(
        r"Bucketize output_type attribute",
        "op-unsupported",
        "use the rewrite bucketize-i32",
        _only("Bucketize"),
        sure=True,
    ),
    _row(
        r"(String attribute|Attribute) (?P<name>\w+) (is not supported|can't be processed)",
        "op-unsupported",
        _ELSEWHERE,
        _attribute,
    ),
    _row(
        r"Failed to find BLOCKED for \d",
        "op-unsupported",
        f"reshape the model's inputs and outputs to at most {MOST_DIMENSIONS} dimensions",
        _too_many_dimensions,
        sure=True,
    ),
    _row(
        r"AlignDimensionsForDPU.* negative index -\d+ for Dim|Got negative index -\d+ for Dim",
        "op-unsupported",
        "use the rewrite log-softmax-axis",
        _only("LogSoftmax"),
    ),
    _row(
        r"Antialiasing is not supported",
        "op-unsupported",
        "resize without antialiasing, or resize on the CPU",
        _only("Interpolate"),
    ),
    _row(
        r"Invalid type of parent operation",
        "op-unsupported",
        "make two models of the two branches, and choose between them in the workflow",
        _conditional,
    ),
    _row(
        r"Wrong output tile 'DimRange|output bound|bounds? dimension|Missing upper bound"
        r"|[Uu]pper bounds (were|are) not specified|HostCompile",
        "dynamic-shape",
        "give the node a fixed size: the device takes static shapes only",
    ),
    _row(
        r"bad_alloc|OUT_OF_(HOST|DEVICE)_MEMORY|[Oo]ut of memory|Cannot allocate",
        "out-of-memory",
        "close other programs, or use a smaller size or batch",
    ),
)
OTHER = _row(r"(?!)", "compile-failed", "run the node on the CPU, and report the text")
