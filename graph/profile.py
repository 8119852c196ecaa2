"""What executed inside a compiled model, operation by operation, and for how long."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for its types only: importing OpenVINO costs a quarter of a second
    import openvino as ov

# Kernels of the CPU plugin: a model that claims another device and executed these ran on the CPU.
# OpenVINO's NPUW does just that where there is no NPU.
_CPU_KERNEL = re.compile(r"avx|sse4|amx|^jit_|^ref_|^brg|^gemm_|^acl_|mlas|^simple_")
_SUBGRAPH = re.compile(r"subgraph(\d+): (.*)", re.DOTALL)
LAYOUT_TYPES = ("Reorder", "Transpose", "Convert")


@dataclass(frozen=True, slots=True)
class OpTime:
    """One executed operation.

    name      as in the compiled model; fused operations have the name of the first
    kernel    which implementation ran
    submodel  number of the submodel where the model is split over devices, else 0
    ns        time in the inferences that were looked at
    """

    name: str
    type: str
    kernel: str
    submodel: int
    ns: int


class ProfileReader:
    """Reads what a request has executed since the last reading.

    OpenVINO reports an operation's average over all inferences since the model was compiled. With
    n inferences now and m at the last reading, the time in between is avg(n)·n − avg(m)·m.
    """

    def __init__(self) -> None:
        self._runs = 0
        self._read: dict[tuple[int, str], int] = {}
        self.unread = False

    def counted(self) -> None:
        """Count an inference: every one must be."""
        self._runs += 1
        self.unread = True

    def read(self, request: ov.InferRequest) -> tuple[OpTime, ...]:
        """Give the operations that executed, with the time they took since the last reading.

        Empty where the device cannot tell: an NPU's profile needs its compiler's library.
        """
        try:
            infos = request.profiling_info
        except RuntimeError:
            return ()
        self.unread = False
        ops: list[OpTime] = []
        for info in infos:
            if info.status.name != "EXECUTED":
                continue
            split = _SUBGRAPH.fullmatch(info.node_name)
            submodel, name = (int(split[1]), split[2]) if split else (0, info.node_name)
            total = round(info.real_time.total_seconds() * 1e9 * self._runs)
            ns = max(0, total - self._read.get((submodel, name), 0))
            self._read[submodel, name] = total
            ops.append(OpTime(name, info.node_type, info.exec_type, submodel, ns))
        return tuple(ops)


def ran_on_cpu(ops: Sequence[OpTime]) -> bool:
    """Say whether the kernels are the CPU's, whatever device the compiled model claims."""
    return any(_CPU_KERNEL.search(op.kernel) for op in ops)


def layout_share(ops: Sequence[OpTime]) -> float:
    """Give the share of time spent on changing layouts and types, 0..1."""
    total = sum(op.ns for op in ops)
    moved = sum(op.ns for op in ops if op.type in LAYOUT_TYPES)
    return moved / total if total else 0.0


def module_path(name: str) -> str:
    """Give the place in the source model of an operation's name.

    >>> module_path("__module.down_blocks.0.attn/aten::softmax/Softmax")
    'down_blocks.0.attn'
    >>> module_path("Conv_12")
    'Conv_12'
    """
    return name.removeprefix("__module.").split("/aten::")[0].split("/")[0] or name
