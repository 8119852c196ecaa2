"""Where a node ran, and why not where it was asked to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from vinode.graph.devices import SIMULATED, shown
from vinode.graph.profile import OpTime
from vinode.graph.split import Split

if TYPE_CHECKING:  # for its types only: importing OpenVINO costs a quarter of a second
    import openvino as ov

Code: TypeAlias = Literal[
    "device-absent",
    "driver-missing",
    "driver-too-old",
    "compiler-missing",
    "dynamic-shape",
    "op-unsupported",
    "precision-unsupported",
    "compile-failed",
    "compile-timeout",
    "out-of-memory",
    "device-lost",
    "inference-failed",
    "wrong-result",
    "python-node",
    "split-too-small",
    "option-ignored",
]


@dataclass(frozen=True, slots=True)
class Fix:
    """One thing that may mend a reason, for `vinode fix` and for buttons.

    kind   device: run the node there; rewrite: change the model exactly; option: change the
           node's `_meta`; input: change the workflow's size or batch; advice: for a person
    value  the hint; the rewrite's name; "precision=f32" to set, "precision" or "rewrites.NAME"
           to drop; one of graph/fixes.py's rules for the input; "" for advice
    """

    kind: Literal["device", "rewrite", "option", "input", "advice"]
    value: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something ran elsewhere, and what the user can do about it.

    ops    names of the operations concerned, where they are known
    fixes  what `fix` says, as values that can be applied; the first is the least change
    """

    code: Code
    sentence: str
    fix: str = ""
    ops: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a node was asked to run, and where it ran.

    requested  the hint as written; "" for a node that is Python by nature
    actual     device -> share of the measured time there, 0..1; empty: no inference ran
    ops        device -> share of the executed operations
    layout     share of the time spent on changing layouts and types, 0..1; layout_ns: that time
    busiest    operations that took most of the time, the first the most
    splits     how models are split over devices
    between    ns of inference spent in no operation of a split model: crossings and calls
    snr_db     how close the device's answer is to the CPU's in f32; None where it is the CPU
    """

    requested: str = ""
    actual: Mapping[str, float] = field(default_factory=dict[str, float])
    reasons: tuple[Reason, ...] = ()
    ops: Mapping[str, float] = field(default_factory=dict[str, float])
    layout: float = 0.0
    busiest: tuple[OpTime, ...] = ()
    splits: tuple[Split, ...] = ()
    between: int = 0
    snr_db: float | None = None
    layout_ns: int = 0

    @property
    def simulated(self) -> bool:
        """Say whether a device of it was the CPU under another name."""
        return any(SIMULATED in name for name in (*self.actual, self.requested))

    @property
    def where(self) -> str:
        """Name the device or devices, the busiest first."""
        by_share = sorted(self.actual.items(), key=lambda item: -item[1])
        marked = [(shown(name), share) for name, share in by_share]
        if len(marked) == 1:
            return marked[0][0]
        return ", ".join(f"{name} {share:.0%}" for name, share in marked)


PYTHON_NODE = Placement(
    actual={"CPU": 1.0},
    reasons=(Reason("python-node", "it is Python by nature and runs on the CPU"),),
)

# Texts of OpenVINO 2026.4's plugins; the first that matches decides.
_TEXTS: tuple[tuple[str, Code, str], ...] = (
    (
        r"libOpenCL\.so|OpenCL\.dll",
        "driver-missing",
        "install the GPU's driver (on Linux Intel's compute runtime and the OpenCL loader)",
    ),
    (
        r"libze_loader|ze_loader\.dll|None of the backends were initialized",
        "driver-missing",
        "install the NPU driver; `vinode doctor` tells which part of it is missing",
    ),
    (
        r"to_shape was called on a dynamic shape|Upper bounds (were|are) not specified"
        r"|Missing upper bound|get_shape was called on a descriptor::Tensor with dynamic shape"
        r"|[Dd]ynamic rank is not supported",
        "dynamic-shape",
        "give the node a fixed size: the device takes static shapes only",
    ),
    (
        r"no supported devices found|Context was not initialized|Could not find an NPU device"
        r"|No available (devices|backend)|No backend registered|Level zero backend is not found"
        r"|is not registered in the OpenVINO Runtime|as device id"
        r"|no supported devices can be used",
        "device-absent",
        "pick a device that `vinode doctor` lists",
    ),
    (
        r"VCL compiler loading failed|requires the NPU plugin compiler library",
        "compiler-missing",
        "install the NPU driver of this machine's maker, which brings the compiler",
    ),
    (
        r"Incompatibility between NPU plugin and driver|not supported by the current [Dd]river"
        r"|cannot locate method 'ze",
        "driver-too-old",
        "update the driver; `vinode doctor` shows its version",
    ),
    (
        r"OUT_OF_(HOST|DEVICE)_MEMORY|Failed to statically allocate|bad_alloc|MemoryError"
        r"|CL_OUT_OF_RESOURCES|CL_MEM_OBJECT_ALLOCATION_FAILURE|[Ee]xceeded max size of memory",
        "out-of-memory",
        "use a smaller size or batch, or put the node on another device",
    ),
    (
        r"DEVICE_LOST|CL_DEVICE_NOT_AVAILABLE|device (hung|removed|was reset)",
        "device-lost",
        "close other programs that use the device and run again",
    ),
    (
        r"Unsupported operation of type|were not able to be assigned",
        "op-unsupported",
        "replace the operation by its equal, or put the node on a device that has it",
    ),
    (
        r"Supported values: (f16|bf16)|[Uu]nsupported (precision|element type)"
        r"|precision .* is not supported",
        "precision-unsupported",
        "convert the model to fp16 or int8",
    ),
)
_OPS = re.compile(
    r"operation of type: (?P<type>\S+) name: (?P<name>\S+)|\(Name:\s?([^,]+), Type: ([^)]+)\)"
)


def classify(error: BaseException, device: str, running: bool = False) -> Reason:
    """Turn what OpenVINO throws into a reason with a fix.

    running  it was thrown by an inference, not by the compile
    """
    text = str(error) or type(error).__name__
    sentence = f"{device}: {last_line(text)}"
    ops = tuple(" ".join(part for part in found if part) for found in _OPS.findall(text))
    for pattern, code, fix in _TEXTS:
        if re.search(pattern, text):
            return Reason(code, sentence, fix, ops)
    if running:
        fix = "run again; where it fails again, run the node on another device and report the text"
        return Reason("inference-failed", sentence, fix, ops)
    fix = "run the node on the CPU, and report the text with the model"
    return Reason("compile-failed", sentence, fix, ops)


def missing(core: ov.Core, device: str, available: tuple[str, ...]) -> Reason:
    """Say why a device is not here; what its plugin says tells driver from hardware."""
    try:
        core.get_property(device, "NPU_DRIVER_VERSION")
    except RuntimeError as error:
        found = classify(error, device)
        if found.code == "driver-missing":
            return found
    return absent(device, available)


def absent(device: str, available: tuple[str, ...]) -> Reason:
    """Give the reason of a device that is not there; its own error texts mislead."""
    here = ", ".join(available)
    fix = "`vinode doctor` tells what is missing: hardware, driver or permission"
    return Reason("device-absent", f"no {device} is here; OpenVINO finds {here}", fix)


def last_line(text: str) -> str:
    """Give the line of an OpenVINO error that says something: the last that is no source place."""
    lines = [line.strip() for line in text.splitlines()]
    telling = [
        line for line in lines if re.search(r"\w", line) and "Exception from src" not in line
    ]
    return telling[-1] if telling else text.strip()
