"""What executed inside a compiled model, operation by operation, and for how long."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for its types only: importing OpenVINO costs a quarter of a second
    import openvino as ov

# Kernels of the CPU plugin: a model that claims another device and executed these ran on the CPU.
# OpenVINO's NPUW does just that where there is no NPU. A GPU has kernels named gemm_tiled_opt.
_CPU_KERNEL = re.compile(r"avx|sse4|amx_|^jit_|^ref_|^brg|^gemm_(any|blas)|^acl_|mlas|^simple_")
_SUBGRAPH = re.compile(r"subgraph(\d+): (.*)", re.DOTALL)
_MICROSECOND = timedelta(microseconds=1)
# A profile is read once the inferences since the last reading took so many times what that reading
# did: looking at a short inference may not cost a hundredth of it.
WORTH = 400
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
    """Reads what a request has executed.

    OpenVINO reports an operation's average over all inferences since the model was compiled. With
    n inferences now and m at the last reading, the time in between is avg(n)·n − avg(m)·m.
    An NPU reports the last inference alone (`averages` is False): it stands for all in between.
    """

    def __init__(self, averages: bool = True) -> None:
        self._averages = averages
        # Inferences so far, at the last reading, and those whose operations were given to somebody.
        self._runs = self._runs_read = self._given = 0
        # Of each entry of the profile: what it is, once it has executed, and its us when last read.
        self._known: list[OpTime | None] = []
        self._us: list[int] = []
        # What the last reading gave, and the ns of the inferences that it was given for; the ns it
        # cost, and those computed since.
        self._last: tuple[tuple[OpTime, ...], int] = (), 0
        self._cost = self._computed = 0

    @property
    def unread(self) -> bool:
        """Say whether there were inferences whose operations were given to nobody."""
        return self._runs > self._given

    def counted(self) -> None:
        """Count an inference: every one must be."""
        self._runs += 1

    def take(self, request: ov.InferRequest, ns: int) -> tuple[OpTime, ...]:
        """Give what the inferences since the last taking executed; together they took `ns`.

        Between readings that are worth their time, `ns` is shared out as at the last reading.
        """
        self._computed += ns
        ops, then = self._last
        if ops and then and self._computed < WORTH * self._cost:
            self._given = self._runs
            return tuple(_with_time(op, op.ns * ns // then) for op in ops)
        start = time.thread_time_ns()
        read = self.read(request)
        self._cost, self._computed = time.thread_time_ns() - start, 0
        self._last = read, ns
        return read

    def read(self, request: ov.InferRequest) -> tuple[OpTime, ...]:
        """Read the operations of the inferences whose operations were given to nobody yet.

        Their times are the mean since the last reading. Empty where the device cannot tell: an
        NPU's profile needs its compiler's library.
        """
        try:
            infos = request.profiling_info
        except RuntimeError:
            return ()
        before, self._runs_read = self._runs_read, self._runs
        count, self._given = self._runs - self._given, self._runs
        since = max(1, self._runs - before)
        if len(infos) != len(self._known):
            self._known, self._us = [None] * len(infos), [0] * len(infos)
        ops: list[OpTime] = []
        for index, info in enumerate(infos):
            # Each look at an entry goes through OpenVINO: names and kernels are asked for once.
            known = self._known[index] or _executed(info)
            if known is None:
                continue
            now, then = info.real_time // _MICROSECOND, self._us[index]
            us = _between(then, before, now, self._runs) if self._averages else now * since
            self._known[index], self._us[index] = known, now
            ops.append(_with_time(known, us * 1000 * count // since))
        return tuple(ops)


def _with_time(op: OpTime, ns: int) -> OpTime:
    return OpTime(op.name, op.type, op.kernel, op.submodel, ns)


def _executed(info: ov.ProfilingInfo) -> OpTime | None:
    """Tell which operation an entry is, without its time; None where it has not executed."""
    if info.status.name != "EXECUTED":
        return None
    split = _SUBGRAPH.fullmatch(info.node_name)
    submodel, name = (int(split[1]), split[2]) if split else (0, info.node_name)
    return OpTime(name, info.node_type, info.exec_type, submodel, 0)


def _between(then: int, m: int, now: int, n: int) -> int:
    """Give the us spent from inference m to n, from the averages in whole us at both.

    An average is cut to whole us, so avg(n)·n may lack up to n us: after a million inferences that
    is more than the next one takes. Of the sums that the averages allow, it is the one closest to
    the mean.
    """
    least, most = now * n - (then + 1) * m, (now + 1) * n - then * m
    return max(0, min(max(now * (n - m), least), most)) if m else now * n


def ran_on_cpu(ops: Sequence[OpTime]) -> bool:
    """Say whether the kernels are the CPU's, whatever device the compiled model claims."""
    return any(_CPU_KERNEL.search(op.kernel) for op in ops)


def layout_time(ops: Sequence[OpTime]) -> tuple[float, int]:
    """Give the time spent on changing layouts and types: its share, 0..1, and in ns."""
    total = sum(op.ns for op in ops)
    moved = sum(op.ns for op in ops if op.type in LAYOUT_TYPES)
    return (moved / total if total else 0.0), moved


def module_path(name: str) -> str:
    """Give the place in the source model of an operation's name.

    >>> module_path("__module.down_blocks.0.attn/aten::softmax/Softmax")
    'down_blocks.0.attn'
    >>> module_path("/down/attn/MatMul"), module_path("Conv_12")
    ('down/attn', 'Conv_12')
    """
    # Operations that the CPU adds have the name inside: x_f32_bf16___module.body/aten::linear.
    _, traced, path = name.partition("__module.")
    if traced:
        return path.split("/")[0] or name
    return name.rpartition("/")[0].strip("/") or name
