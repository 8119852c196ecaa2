"""One compiled model: its request, its memory, and what executed in it."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vinode.graph.errors import Cancelled
from vinode.graph.placement import Reason
from vinode.graph.profile import OpTime, ProfileReader
from vinode.graph.split import Split

if TYPE_CHECKING:  # for its types only: importing OpenVINO costs a quarter of a second
    import openvino as ov

# How long an inference may go on after a cancel, in milliseconds.
POLL_MS = 20
# An inference that took less, in ns, is not cut by a cancel: starting one asynchronously costs
# about 0.1 ms, which is 1 % of 10 ms and more than a small model itself.
QUICK = 50_000_000


@dataclass(slots=True, eq=False)
class Usage:
    """What one node executed; filled when it ends, or when another begins to use its model.

    ops      compiled model -> its operations, with the ns they took in all of the node's inferences
    refused  why no device took a model: the node has failed
    lost     what failed in the middle of an inference -> the reason; the node tries it no more
    """

    ops: dict[Compiled, tuple[OpTime, ...]] = field(
        default_factory=dict["Compiled", tuple[OpTime, ...]]
    )
    refused: tuple[Reason, ...] = ()
    lost: dict[object, Reason] = field(default_factory=dict[object, Reason])


@dataclass(slots=True, eq=False)
class Compiled:
    """A model compiled for one device and one set of shapes, with its one request.

    device   as it was asked of OpenVINO: "CPU", "NPU", "HETERO:NPU,CPU"
    claimed  devices that the compiled model reports; what executed is read from the profile
    inputs   name -> the request's own memory: write here and nothing is copied
    outputs  name -> memory that an inference writes into; absent where the shape is dynamic
    split    how it is split over devices, with where: operation -> device
    snr_db   how close its answer is to the CPU's in f32; None where it is the CPU
    lock     held by whoever uses the request
    """

    request: ov.InferRequest
    device: str
    claimed: tuple[str, ...]
    inputs: Mapping[str, NDArray[Any]]
    outputs: Mapping[str, NDArray[Any]]
    names: tuple[str, ...]
    bytes: int
    split: Split | None = None
    where: Mapping[str, str] = field(default_factory=dict[str, str])
    reasons: tuple[Reason, ...] = ()
    snr_db: float | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    reader: ProfileReader = field(init=False)
    user: Usage | None = None
    _quick: bool = False
    _computed: int = 0  # ns of the current user's inferences

    def __post_init__(self) -> None:
        self.reader = ProfileReader(averages=self.device.split(".")[0] != "NPU")

    def use(self, user: Usage) -> None:
        """Begin to count for another user; what has run so far is the last one's."""
        if self.user is not user:
            self.settle()
            if self.reader.unread:  # inferences that were nobody's, such as the first comparison
                self.reader.read(self.request)
            self.user, self._computed = user, 0

    def settle(self) -> None:
        """Give the current user what has executed since it began."""
        if self.user is not None:
            before = self.user.ops.get(self, ())
            ops = self.reader.take(self.request, self._computed)
            self.user.ops[self] = merged(before, ops)
            self.user, self._computed = None, 0

    def run(self, check: Callable[[], None]) -> int:
        """Run one inference, and give the ns it took.

        Where `check` raises Cancelled, a long one is stopped inside.
        """
        start = time.perf_counter_ns()
        self.reader.counted()
        if self._quick:
            self.request.infer(share_outputs=True)
        else:
            self._run_in_pieces(check)
        spent = time.perf_counter_ns() - start
        self._quick = spent < QUICK
        self._computed += spent
        return spent

    def _run_in_pieces(self, check: Callable[[], None]) -> None:
        self.request.start_async()
        try:
            while not self.request.wait_for(POLL_MS):
                check()
        except Cancelled:
            self.request.cancel()
            # OpenVINO reports the cancel that we asked for as an error.
            with contextlib.suppress(RuntimeError):
                self.request.wait()
            raise

    def output(self, index: int, name: str) -> NDArray[Any]:
        """Give an output: memory that the next inference writes into again."""
        kept = self.outputs.get(name)
        return self.request.get_output_tensor(index).data if kept is None else kept


def merged(first: tuple[OpTime, ...], second: tuple[OpTime, ...]) -> tuple[OpTime, ...]:
    """Add up the times of operations that stand in both."""
    if not first or not second:
        return first or second
    spent = {(op.submodel, op.name): op.ns for op in first}
    return tuple(
        OpTime(
            op.name, op.type, op.kernel, op.submodel, op.ns + spent.get((op.submodel, op.name), 0)
        )
        for op in second
    )


def copy(target: NDArray[Any], source: NDArray[Any], bytes_per_second: float | None) -> None:
    """Copy an array; a simulated device's link may be slow."""
    start = time.perf_counter()
    np.copyto(target, source)
    if bytes_per_second:
        rest = source.nbytes / bytes_per_second - (time.perf_counter() - start)
        if rest > 0:
            time.sleep(rest)
