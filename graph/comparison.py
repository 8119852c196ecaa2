"""A device's first answer beside the CPU's, on one fixed input."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from vinode.graph.compile import compile_part
from vinode.graph.compiled import Compiled
from vinode.graph.context import Phase
from vinode.graph.part import Asked
from vinode.graph.placement import Reason
from vinode.graph.rightness import fixed_inputs, worst
from vinode.graph.session import InferenceFailed, Session

if TYPE_CHECKING:  # for its types only: importing OpenVINO costs a quarter of a second
    import openvino as ov

_F32 = (("INFERENCE_PRECISION_HINT", "f32"),)


def compared(
    core: ov.Core, made: Compiled, asked: Asked, check: Callable[[], None]
) -> float | None:
    """Run one fixed input on the device and on the CPU in f32; gives the worst output's SNR in dB.

    The CPU runs the model without rewrites. None where there is nothing to compare with. Raises
    InferenceFailed where the device fails, and what `check` raises.
    """
    ports = [(name, array.shape, array.dtype) for name, array in made.inputs.items()]
    inputs = fixed_inputs(ports)
    answer = _answer(made, asked, inputs, check)
    on_cpu = replace(asked, device="CPU", options=_F32, blobs=None, rewrites=())
    try:
        reference = compile_part(core, on_cpu, _untimed, check)
        if isinstance(reference, Reason):
            return None
        return worst(answer, _answer(reference, on_cpu, inputs, check))
    except InferenceFailed:  # the CPU's trouble, such as memory, is not the device's
        return None


def _answer(
    compiled: Compiled,
    asked: Asked,
    inputs: Mapping[str, NDArray[Any]],
    check: Callable[[], None],
) -> dict[str, NDArray[Any]]:
    session = Session(compiled, asked, _untimed, check, ())
    session.write(inputs)
    session.run()
    return session.read()


def _untimed(phase: Phase) -> AbstractContextManager[None]:
    """Time nothing: the phase around it counts."""
    return nullcontext()
