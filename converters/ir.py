"""Read a model, write it as IR with float16 weights, and check that it still answers the same.

OpenVINO is imported inside the functions: listing models must not wait for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from vinode.converters.formats import recognise, refusal
from vinode.converters.record import Port, Verification
from vinode.graph.errors import Fault, ModelError
from vinode.graph.rightness import FixedPort, trials

if TYPE_CHECKING:  # no cycle is hidden here: importing OpenVINO takes a quarter of a second
    import openvino as ov

Arrays = Mapping[str, NDArray[Any]]
WRONG_BELOW_DB = 20.0  # float16 weights alone leave 60 to 100 dB


def new_core() -> ov.Core:
    """Make an OpenVINO core that keeps no file open: a mapped file cannot be renamed on Windows."""
    import openvino as ov

    core = ov.Core()
    core.set_property({"ENABLE_MMAP": False})
    return core


def read(core: ov.Core, path: Path) -> ov.Model:
    """Read a TFLite, ONNX or IR file; one sentence where it cannot be read."""
    if recognise(path) == "safetensors":
        problem = "these are weights without a graph"
        raise refusal(path, problem, "no converter knows this checkpoint: give ONNX or IR")
    try:
        return read_as_it_is(core, path)
    except RuntimeError as error:
        problem = "the file is cut off, damaged, or uses what OpenVINO does not know"
        fault = Fault(str(path), problem, last_line(error), code="model-refused")
        raise ModelError(fault) from error


def read_as_it_is(core: ov.Core, path: Path) -> ov.Model:
    """Read a model that is known to be whole."""
    return core.read_model(path)  # pyright: ignore[reportUnknownMemberType]  # half of its stub


def write(model: ov.Model, xml: Path) -> None:
    """Write IR with float16 weights."""
    import openvino as ov

    try:
        ov.save_model(model, xml, compress_to_fp16=True)
    except RuntimeError as error:
        fault = Fault(str(xml), "the IR cannot be written", last_line(error), code="model-disk")
        raise ModelError(fault) from error


def ports(model: ov.Model) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
    """List inputs and outputs of a model."""
    inputs = tuple(_port(port, f"input{i}") for i, port in enumerate(model.inputs))
    return inputs, tuple(_port(port, f"output{i}") for i, port in enumerate(model.outputs))


def weights_dtype(model: ov.Model) -> str:
    """Tell the type most of the weights' bytes have."""
    weigh: dict[str, int] = {}
    for op in model.get_ops():
        if op.get_type_name() == "Constant":
            kind, size = op.get_element_type(), math.prod(op.get_output_shape(0))
            name = str(kind.to_string())
            weigh[name] = weigh.get(name, 0) + int(size) * int(kind.bitwidth)
    return max(weigh, key=weigh.__getitem__, default="none")


def package_versions() -> dict[str, str]:
    """Give the versions of the packages that a conversion depends on."""
    return {name: version(name) for name in ("numpy", "openvino")}


def openvino_version() -> str:
    """Give OpenVINO's own version, with its build."""
    import openvino as ov

    return str(ov.get_version())


def compare(
    core: ov.Core, source: ov.Model, xml: Path, fed: Callable[[Arrays], Arrays] = dict
) -> tuple[Verification | None, str]:
    """Run source and IR on the same fixed inputs, in float32 on the CPU.

    fed      turns the IR's inputs into the source's, where the IR prepares them itself
    returns  what was measured, and a line for the log; nothing where a shape is not fixed
    """
    model = read_as_it_is(core, xml)
    if model.is_dynamic():
        return None, "not compared: the model's shapes are not fixed"
    given = trials([_fixed_port(port, f"input{i}") for i, port in enumerate(model.inputs)])
    try:
        answers = _run(core, model, given)
        wanted = _run(core, source, [fed(inputs) for inputs in given])
    except RuntimeError as error:
        problem = "the model does not run on the CPU, so the conversion cannot be checked"
        fault = Fault(str(xml), problem, last_line(error), code="wrong-result")
        raise ModelError(fault) from error
    rows = [_over_all(a, b) for a, b in zip(answers, wanted, strict=True)]
    numbers = [row[1] for row in rows if row[1] is not None]
    checked = Verification(
        max_error=max(row[0] for row in rows),
        snr_db=min(numbers, default=None),
        cosine=min(row[2] for row in rows),
        input=f"noise of numpy.random.default_rng(20){' and a picture' * (len(given) > 1)}",
    )
    return checked, f"largest error {checked.max_error:.3g}, SNR {checked.snr_db} dB"


def _fixed_port(port: Any, otherwise: str) -> FixedPort:
    dtype = np.dtype(port.get_element_type().to_dtype())
    return _name(port, otherwise), tuple(int(size) for size in port.shape), dtype


def _run(core: ov.Core, model: ov.Model, given: Sequence[Arrays]) -> list[tuple[NDArray[Any], ...]]:
    """Give for each output its arrays, one for each of the inputs."""
    # Without the hint a CPU with bfloat16 units would use them, and the two would differ by that.
    compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    rows: list[list[NDArray[Any]]] = []
    for inputs in given:
        answers = compiled(list(inputs.values()))
        rows.append([np.array(answers[port]) for port in compiled.outputs])
    return list(zip(*rows, strict=True))


def _over_all(
    answers: Sequence[NDArray[Any]], wanted: Sequence[NDArray[Any]]
) -> tuple[float, float | None, float]:
    """Give the difference of an output over all inputs: what is small beside the rest counts so."""
    for answer, right in zip(answers, wanted, strict=True):
        if answer.shape != right.shape:
            return difference(answer, right)
    joined = (np.concatenate([array.ravel() for array in each]) for each in (answers, wanted))
    return difference(*joined)


def difference(answer: NDArray[Any], wanted: NDArray[Any]) -> tuple[float, float | None, float]:
    """Give the largest error, the SNR in dB (None: no difference) and the cosine of two arrays."""
    a, b = answer.astype(np.float64).ravel(), wanted.astype(np.float64).ravel()
    # The fixed input may be outside of what a model takes: log(-1) is NaN on both sides.
    finite = np.isfinite(b) if a.shape == b.shape else np.zeros(0, bool)
    if a.shape != b.shape or not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return float("inf"), float("-inf"), 0.0
    a, b = a[finite], b[finite]
    if not np.isfinite(a).all():
        return float("inf"), float("-inf"), 0.0
    noise, power = float(np.sum((a - b) ** 2)), float(np.sum(b**2))
    if noise == 0:
        return 0.0, None, 1.0
    snr = 10 * math.log10(power / noise) if power else float("-inf")
    length = math.sqrt(float(np.sum(a**2)) * power)
    return float(np.abs(a - b).max(initial=0)), snr, float(a @ b) / length if length else 0.0


def _port(port: Any, otherwise: str) -> Port:
    shape = tuple(-1 if size.is_dynamic else size.get_length() for size in port.partial_shape)
    return Port(_name(port, otherwise), shape, str(port.get_element_type().to_string()))


def _name(port: Any, otherwise: str) -> str:
    names = cast(set[str], port.get_names())
    return min(names) if names else otherwise


def last_line(error: BaseException) -> str:
    """Give what an error of OpenVINO says in its last line; the others tell where in its source."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1][:200] if lines else type(error).__name__
