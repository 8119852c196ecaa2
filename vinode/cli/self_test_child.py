"""The self-test's five steps on one device, in a process of its own.

A driver may crash or hang its process; only a child may be lost. Run as
`python -m vinode.cli.self_test_child DEVICE FOLDER`: it writes a JSON line for each step to
steps.jsonl in the folder as soon as the step is done, since plugins write to standard output.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vinode.cli.tiny_model import save_tiny_model
from vinode.graph.devices import SIMULATED
from vinode.graph.errors import ModelError

if TYPE_CHECKING:  # for its types only: importing OpenVINO costs a quarter of a second
    import openvino as ov

STEPS = ("convert", "compile", "run", "compare", "profile")
FILE = "steps.jsonl"
State: TypeAlias = Literal["ok", "failed", "not reached"]


@dataclass(frozen=True, slots=True)
class Step:
    """What became of one of the five steps. `fix` says what to do where it failed."""

    name: str
    state: State
    detail: str
    fix: str = ""
    seconds: float = 0.0


@dataclass(slots=True)
class Work:
    """What the steps hand on; each fills what the later ones need.

    inputs, answers  name or place of the output -> array
    """

    device: str
    folder: Path
    core: ov.Core
    xml: Path = Path()
    request: ov.InferRequest | None = None
    inputs: dict[str, NDArray[Any]] = field(default_factory=dict[str, NDArray[Any]])
    answers: dict[str, NDArray[Any]] = field(default_factory=dict[str, NDArray[Any]])


class StepFailed(Exception):
    """A step's answer is no: what is wrong, and the fix."""

    def __init__(self, detail: str, fix: str) -> None:
        super().__init__(detail)
        self.fix = fix


def steps(device: str, folder: Path) -> Iterator[Step]:
    """Do the five steps on a device; a step that fails is the last."""
    from vinode.converters.ir import new_core
    from vinode.graph.placement import classify

    core = new_core()
    if device == SIMULATED:
        core.register_plugin("openvino_intel_cpu_plugin", SIMULATED)
    work = Work(device, folder, core)
    does = (convert, compile_it, run, compare, profile)
    for name, do in zip(STEPS, does, strict=True):
        start = time.perf_counter()
        try:
            detail = do(work)
        except StepFailed as failed:
            yield Step(name, "failed", str(failed), failed.fix, time.perf_counter() - start)
            return
        except ModelError as error:
            fault = error.faults[0]
            said = f"{fault.place}: {fault.problem}"
            yield Step(name, "failed", said, fault.fix, time.perf_counter() - start)
            return
        except RuntimeError as error:  # what OpenVINO raises, whatever went wrong
            reason = classify(error, device)
            spent = time.perf_counter() - start
            yield Step(name, "failed", f"[{reason.code}] {reason.sentence}", reason.fix, spent)
            return
        yield Step(name, "ok", detail, seconds=time.perf_counter() - start)


def convert(work: Work) -> str:
    """Convert a model that is made on the spot, through the converters and a store."""
    from vinode.converters.library import convert_file
    from vinode.converters.store import Artifact, Store

    source = save_tiny_model(work.folder / "source" / "tiny.xml")
    store = Store((work.folder / "models",))
    part = convert_file(store, source)
    work.xml = part.xml
    found = store.find(part.digest)
    checked = found.record.verification if isinstance(found, Artifact) else None
    snr = "exact" if checked is None or checked.snr_db is None else f"{checked.snr_db:.0f} dB"
    return f"IR with fp16 weights, {part.bytes} bytes; against its source: {snr}"


def compile_it(work: Work) -> str:
    """Compile the IR for the device."""
    from vinode.graph.rightness import fixed_inputs

    model: ov.Model = work.core.read_model(str(work.xml))  # pyright: ignore[reportUnknownMemberType]
    compiled = work.core.compile_model(model, work.device, {"PERF_COUNT": True})
    work.request = compiled.create_infer_request()
    work.inputs = fixed_inputs(
        [(p.get_any_name(), tuple(p.shape), p.element_type.to_dtype()) for p in model.inputs]
    )
    claimed: str | list[str] = compiled.get_property("EXECUTION_DEVICES")
    names = claimed if isinstance(claimed, str) else ", ".join(claimed)
    return f"says that it runs on {names.strip('()')}"


def run(work: Work) -> str:
    """Run the compiled model once, on a fixed input."""
    assert work.request is not None
    work.answers = _answers(work.request, work.inputs)
    shapes = ", ".join(f"{name} {array.shape}" for name, array in work.answers.items())
    if not all(np.isfinite(array).all() for array in work.answers.values()):
        raise StepFailed(f"{shapes}: not all numbers are finite", "update the device's driver")
    return shapes


def compare(work: Work) -> str:
    """Compare the answers with the CPU's in float32."""
    from vinode.graph.rightness import MIN_SNR_DB, worst

    model: ov.Model = work.core.read_model(str(work.xml))  # pyright: ignore[reportUnknownMemberType]
    exact = work.core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    wanted = _answers(exact.create_infer_request(), work.inputs)
    found = worst([work.answers], [wanted])
    said = f"{found:.1f} dB SNR against the CPU in f32 (at least {MIN_SNR_DB:.0f})"
    if found < MIN_SNR_DB:
        fix = "update the device's driver; until then run models on the CPU"
        raise StepFailed(f"it computes wrong results: {said}", fix)
    return said


def profile(work: Work) -> str:
    """Tell what executed, and by whose kernels."""
    from vinode.graph.profile import ProfileReader, ran_on_cpu

    assert work.request is not None
    reader = ProfileReader()
    reader.counted()
    ops = reader.read(work.request)
    if not ops:
        fix = "update the driver and its compiler: without a profile nobody knows where it ran"
        raise StepFailed("the device tells nothing of the operations it executed", fix)
    kernels = ", ".join(sorted({op.kernel for op in ops if op.kernel}))
    spent = sum(op.ns for op in ops) / 1e6
    # One kernel's name may be shared by two plugins; most of them are not.
    on_cpu = 2 * sum(ran_on_cpu([op]) for op in ops) > len(ops)
    said = f"{len(ops)} operations in {spent:.2f} ms, kernels {kernels}"
    if on_cpu and work.device not in ("CPU", SIMULATED):
        fix = "install or update the device's driver: `vinode doctor` says what is missing"
        raise StepFailed(f"these are the CPU's kernels, not {work.device}'s: {said}", fix)
    return f"{said}; on the {'CPU' if on_cpu else work.device}"


def _answers(request: ov.InferRequest, inputs: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    for name, array in inputs.items():
        np.copyto(request.get_tensor(name).data, array)
    request.start_async()
    request.wait()
    ports = request.model_outputs
    return {
        port.get_any_name(): np.array(request.get_output_tensor(index).data)
        for index, port in enumerate(ports)
    }


def main() -> None:
    """Do the steps and note each as soon as it is done."""
    device, folder = sys.argv[1], Path(sys.argv[2])
    with (folder / FILE).open("w", encoding="utf-8") as file:
        for step in steps(device, folder):
            file.write(json.dumps(asdict(step)) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
