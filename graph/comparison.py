"""A device's first answers beside the CPU's, on fixed inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from vinode.graph.compile import Timed, blob_key, compile_part
from vinode.graph.compiled import Compiled
from vinode.graph.context import Phase
from vinode.graph.part import Asked
from vinode.graph.placement import Reason
from vinode.graph.rightness import Checks, Rightness, now, trials, worst
from vinode.graph.session import InferenceFailed, Session
from vinode.graph.sharing import SHARED_PREFIX

if TYPE_CHECKING:  # for its types only: importing OpenVINO costs a quarter of a second
    import openvino as ov

_F32 = (("INFERENCE_PRECISION_HINT", "f32"),)


def judged(
    core: ov.Core,
    made: Compiled,
    asked: Asked,
    checks: Checks | None,
    accept_wrong: bool,
    timed: Timed,
    check: Callable[[], None],
) -> Compiled | Reason:
    """Compare a device's first answer with the CPU's in f32; a wrong one is a reason.

    checks        what earlier comparisons found
    accept_wrong  use the device's answer all the same, and say so
    """
    if set(asked.devices) == {"CPU"}:
        return made
    key = blob_key(core, asked)
    found = checks.find(key.name) if checks else None
    if found is None:
        try:
            with timed("compile"):
                snr = compared(core, made, asked, check)
        except InferenceFailed as failed:
            return failed.reason
        if snr is None:
            return made
        found = Rightness(snr, asked.device, key.driver, key.openvino, now())
        if checks:
            checks.keep(key.name, found)
    made.snr_db = found.snr_db
    if not found.problem:
        return made
    fix = "update the driver, or put the node elsewhere; --accept-wrong uses it as it is"
    reason = Reason("wrong-result", f"{asked.device}: {found.problem}", fix)
    if not accept_wrong:
        return reason
    made.reasons = (*made.reasons, replace(reason, fix="you chose to accept it"))
    return made


def compared(
    core: ov.Core, made: Compiled, asked: Asked, check: Callable[[], None]
) -> float | None:
    """Run fixed inputs on the device and on the CPU in f32; gives the worst output's SNR in dB.

    The CPU runs the model without rewrites, but for the one that its shapes need. None where there
    is nothing to compare with. Raises InferenceFailed where the device fails, and what `check`
    raises.
    """
    ports = [(name, array.shape, array.dtype) for name, array in made.inputs.items()]
    given = trials(ports)
    answers = [_answer(made, asked, inputs, check) for inputs in given]
    shaping = tuple(name for name in asked.rewrites if name == SHARED_PREFIX)
    on_cpu = replace(asked, device="CPU", options=_F32, blobs=None, rewrites=shaping)
    try:
        reference = compile_part(core, on_cpu, _untimed, check)
        if isinstance(reference, Reason):
            return None
        return worst(answers, [_answer(reference, on_cpu, inputs, check) for inputs in given])
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
