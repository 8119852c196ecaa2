"""Compiled models: shared, reused, evicted by bytes; each on the first device that can."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from numpy.typing import NDArray

from vinode.graph.blobs import Blobs
from vinode.graph.comparison import judged
from vinode.graph.compile import Tell, Timed, compile_part, untold
from vinode.graph.compiled import Compiled, Usage
from vinode.graph.devices import SIMULATED, Hint, candidates, first_here, here, lane_of
from vinode.graph.errors import DeviceError, Fault
from vinode.graph.fixes import offered
from vinode.graph.part import Asked, Shapes, Simulation
from vinode.graph.placement import Reason, missing
from vinode.graph.rightness import Checks
from vinode.graph.session import InferenceFailed, Session
from vinode.graph.values import ModelPart
from vinode.graph.waiting import Check, holding, waiting

if TYPE_CHECKING:  # for its types only: importing OpenVINO costs a quarter of a second
    import openvino as ov


# Digest of the part, shapes, device, options, rewrites.
_Key: TypeAlias = tuple[str, Shapes, str, tuple[tuple[str, str], ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Inference:
    """What an inference gave: arrays by output name, on which compiled model, why not elsewhere.

    computed  ns that it took
    """

    outputs: Mapping[str, NDArray[Any]]
    compiled: Compiled
    reasons: tuple[Reason, ...]
    computed: int


# Reasons that lie in model and device: asking again would give them again. Memory may be free the
# next time, and a lost device be back.
_LASTING = frozenset(
    {
        "compile-failed",
        "dynamic-shape",
        "op-unsupported",
        "precision-unsupported",
        "split-too-small",
        "wrong-result",
    }
)


class Pool:
    """Owns OpenVINO's core and the compiled models of this process; used by many threads.

    limit         bytes of weights kept compiled; the least recently used go first
    simulate      stand a second CPU device under the name NPUSIM_CPU beside the real ones
    folder        where blobs and comparisons with the CPU are kept; None: nowhere
    seconds       limit of a compile in a child process
    accept_wrong  use a device's answer even where it is far from the CPU's
    """

    def __init__(
        self,
        limit: int = 8 * 2**30,
        simulate: bool | Simulation = False,
        folder: Path | None = None,
        seconds: float = 1800.0,
        accept_wrong: bool = False,
    ) -> None:
        self.limit, self.seconds, self.accept_wrong = limit, seconds, accept_wrong
        self._simulation = Simulation() if simulate is True else simulate or None
        self._blobs = Blobs(folder) if folder else None
        self._checks = Checks(folder) if folder else None
        self._core: ov.Core | None = None
        self._available: tuple[str, ...] = ()
        self._lock = threading.RLock()
        self._building: dict[_Key, threading.Lock] = {}
        self._kept: OrderedDict[_Key, Compiled] = OrderedDict()
        self._refused: dict[_Key, Reason] = {}
        self._missing: dict[str, Reason] = {}

    @property
    def core(self) -> ov.Core:
        """Give OpenVINO's core, made at the first use."""
        with self._lock:
            if self._core is None:
                import openvino as ov

                self._core = ov.Core()
                if self._simulation:
                    self._core.register_plugin("openvino_intel_cpu_plugin", SIMULATED)
                self._available = tuple(self._core.available_devices)
            return self._core

    @property
    def available(self) -> tuple[str, ...]:
        """Name the devices that are really here."""
        _ = self.core
        return self._available

    def lane(self, hint: Hint) -> str:
        """Name the device that a hint leads to; "device" while OpenVINO has not been asked."""
        return lane_of(hint, self._available) if self._available else "device"

    def likely(self, part: ModelPart, hint: Hint) -> str:
        """Name the device that will probably run a part: the first that has not refused it."""
        with self._lock:
            refused = {device for digest, _, device, *_ in self._refused if digest == part.digest}
        left = [name for name in candidates(hint, self.available) if name not in refused]
        return first_here(left, self.available)

    def infer(
        self,
        part: ModelPart,
        inputs: Mapping[str, NDArray[Any]],
        hint: Hint,
        timed: Timed,
        check: Check,
        user: Usage | None = None,
        tell: Tell = untold,
    ) -> Inference:
        """Run a part once on the first device of the hint that can.

        timed  times a phase of the work; check raises Cancelled, which stops the inference
        tell   told (seconds so far, limit) while a child process compiles
        A device that is lost in the middle is left for the next one, as long as this user runs.
        Raises DeviceError where the hint forbids a fallback, ModelError for wrong inputs.
        """
        shapes: Shapes = tuple((name, array.shape) for name, array in inputs.items())
        user = user or Usage()
        while True:
            try:
                with self.open(part, shapes, hint, timed, check, user, tell) as held:
                    held.write(inputs)
                    held.run()
                    return Inference(held.read(), held.compiled, held.reasons, held.computed)
            except InferenceFailed:
                continue  # the next candidate; where none is left, open raises

    @contextmanager
    def open(
        self,
        part: ModelPart,
        shapes: Shapes,
        hint: Hint,
        timed: Timed,
        check: Check,
        user: Usage | None = None,
        tell: Tell = untold,
    ) -> Generator[Session]:
        """Hold a part's request: write into its inputs, run, read its outputs, again and again.

        Where an inference fails, InferenceFailed passes through, and the same user's next call
        gets the next device.
        """
        user = user or Usage()
        if self._core is None:
            with timed("load"):  # importing OpenVINO costs more than many a model
                _ = self.core
        reasons: list[Reason] = []
        for device in candidates(hint, self.available):
            asked = self._asked(part, shapes, device, hint)
            compiled = user.lost.get(_key(asked)) or self._compiled(asked, timed, check, tell)
            if isinstance(compiled, Reason):
                reasons.append(compiled)
                continue
            with holding(compiled, asked), waiting(compiled.lock, timed, check):
                compiled.use(user)
                told = (*reasons, *compiled.reasons)
                try:
                    yield Session(compiled, asked, timed, check, told)
                except InferenceFailed as failed:
                    user.lost[_key(asked)] = self._mendable(failed.reason, asked)
                    self._forget(asked, compiled)
                    raise
            return
        user.refused = tuple(reasons)
        raise DeviceError(*(_refusal(part, hint, reason) for reason in reasons))

    def _asked(self, part: ModelPart, shapes: Shapes, device: str, hint: Hint) -> Asked:
        rest = self._blobs, self.seconds, self._simulation, hint.rewrites
        return Asked(part, shapes, device, hint.options, *rest)

    def settle(self, compiled: Compiled, user: Usage) -> None:
        """Fill a user's account of what executed, unless another's use has done so already."""
        if compiled.user is not user:
            return  # and no waiting for whoever uses it now
        with compiled.lock:
            if compiled.user is user:
                compiled.settle()

    def _forget(self, asked: Asked, compiled: Compiled) -> None:
        """Drop a model whose device failed: another run of the node compiles it anew."""
        key = _key(asked)
        with self._lock:
            if self._kept.get(key) is compiled:
                del self._kept[key]

    def _compiled(self, asked: Asked, timed: Timed, check: Check, tell: Tell) -> Compiled | Reason:
        reason = self._absent(asked)
        if reason is not None:
            return self._mendable(reason, asked)
        key = _key(asked)
        with self._lock:
            building = self._building.setdefault(key, threading.Lock())
        with waiting(building, timed, check):
            with self._lock:
                if key in self._refused:
                    return self._refused[key]
                if key in self._kept:
                    self._kept.move_to_end(key)
                    return self._kept[key]
            made = compile_part(self.core, asked, timed, check, tell)
            if isinstance(made, Compiled):
                rest = self._checks, self.accept_wrong, timed, check
                made = judged(self.core, made, asked, *rest)
            if isinstance(made, Reason):
                made = self._mendable(made, asked)
            else:
                made.reasons = tuple(self._mendable(reason, asked) for reason in made.reasons)
            with self._lock:
                if isinstance(made, Reason):
                    if made.code in _LASTING:
                        self._refused[key] = made
                else:
                    self._keep(key, made)
            return made

    def _absent(self, asked: Asked) -> Reason | None:
        """Find a device that is not here. OpenVINO looks anew each time, so it is asked once."""
        for name in asked.devices:
            if here(name, self.available):
                continue
            with self._lock:
                if name not in self._missing:
                    self._missing[name] = missing(self.core, name, self.available)
                return self._missing[name]
        return None

    def _mendable(self, reason: Reason, asked: Asked) -> Reason:
        """Give a reason with what may mend it."""
        options = [name for name, _ in asked.options]
        tried = asked.device, asked.rewrites, options
        return replace(reason, fixes=offered(reason, *tried, self.available))

    def _keep(self, key: _Key, compiled: Compiled) -> None:
        self._kept[key] = compiled
        while len(self._kept) > 1 and sum(c.bytes for c in self._kept.values()) > self.limit:
            self._kept.popitem(last=False)


def _key(asked: Asked) -> _Key:
    return asked.part.digest, asked.shapes, asked.device, asked.options, asked.rewrites


def _refusal(part: ModelPart, hint: Hint, reason: Reason) -> Fault:
    return Fault(f"model {part.name}", reason.sentence, hint.text, reason.fix, reason.code)
