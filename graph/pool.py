"""Compiled models: shared, reused, evicted by bytes; inference with its phases timed."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vinode.graph.context import Phase
from vinode.graph.devices import SIMULATED, Hint, candidates
from vinode.graph.errors import Cancelled, DeviceError, Fault, ModelError
from vinode.graph.placement import Reason, absent, classify
from vinode.graph.values import ModelPart

if TYPE_CHECKING:  # for its types only: importing OpenVINO costs a quarter of a second
    import openvino as ov

Timed: TypeAlias = Callable[[Phase], AbstractContextManager[None]]
Arrays: TypeAlias = Mapping[str, NDArray[Any]]
Shapes: TypeAlias = tuple[tuple[str, tuple[int, ...]], ...]

# How long an inference may go on after a cancel, in milliseconds.
_POLL_MS = 20


@dataclass(slots=True)
class Compiled:
    """A model compiled for one device and one set of shapes, with its one request.

    shares  device -> share of the operations, as the compiled model reports it, 0..1
    """

    request: ov.InferRequest
    inputs: Mapping[str, ov.Type]
    outputs: tuple[str, ...]
    shares: Mapping[str, float]
    bytes: int
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, slots=True)
class Inference:
    """What an inference gave: arrays by output name, where it ran, and why not elsewhere."""

    outputs: Mapping[str, NDArray[Any]]
    shares: Mapping[str, float]
    reasons: tuple[Reason, ...]


class Pool:
    """Owns OpenVINO's core and the compiled models of this process; used by many threads.

    limit     bytes of weights kept compiled; the least recently used go first
    simulate  stand a second CPU device under the name NPUSIM_CPU beside the real ones
    """

    def __init__(self, limit: int = 8 * 2**30, simulate: bool = False) -> None:
        self.limit = limit
        self._simulate = simulate
        self._core: ov.Core | None = None
        self._available: tuple[str, ...] = ()
        self._lock = threading.RLock()
        self._building: dict[object, threading.Lock] = {}
        self._kept: OrderedDict[object, Compiled] = OrderedDict()
        self._refused: dict[object, Reason] = {}

    @property
    def core(self) -> ov.Core:
        """Give OpenVINO's core, made at the first use."""
        with self._lock:
            if self._core is None:
                import openvino as ov

                self._core = ov.Core()
                if self._simulate:
                    self._core.register_plugin("openvino_intel_cpu_plugin", SIMULATED)
                self._available = tuple(self._core.available_devices)
            return self._core

    @property
    def available(self) -> tuple[str, ...]:
        """Name the devices that are really here."""
        _ = self.core
        return self._available

    def infer(
        self, part: ModelPart, inputs: Arrays, hint: Hint, timed: Timed, check: Callable[[], None]
    ) -> Inference:
        """Run a part on the first device of the hint that can.

        timed  times a phase of the work; check raises Cancelled, which stops the inference
        Raises DeviceError where the hint forbids a fallback, ModelError for wrong inputs.
        """
        reasons: list[Reason] = []
        shapes: Shapes = tuple((name, array.shape) for name, array in inputs.items())
        if self._core is None:
            with timed("load"):  # importing OpenVINO costs more than many a model
                _ = self.core
        tried = candidates(hint, self.available)
        for device in tried:
            compiled = self._compiled(part, shapes, device, timed)
            if isinstance(compiled, Reason):
                reasons.append(compiled)
                continue
            with _waiting(compiled.lock, timed):
                outputs = _infer(compiled, part, inputs, timed, check)
            return Inference(outputs, compiled.shares, tuple(reasons))
        raise DeviceError(*(_refusal(part, hint, reason) for reason in reasons))

    def _compiled(
        self, part: ModelPart, shapes: Shapes, device: str, timed: Timed
    ) -> Compiled | Reason:
        missing = [
            name
            for name in device.removeprefix("HETERO:").split(",")
            if name not in self.available and f"{name}.0" not in self.available
        ]
        if missing:
            return absent(missing[0], self.available)
        key = (part.digest, shapes, device)
        with self._lock:
            building = self._building.setdefault(key, threading.Lock())
        with _waiting(building, timed):
            with self._lock:
                if key in self._refused:
                    return self._refused[key]
                if key in self._kept:
                    self._kept.move_to_end(key)
                    return self._kept[key]
            made = _compile(self.core, part, shapes, device, timed)
            with self._lock:
                if isinstance(made, Reason):
                    self._refused[key] = made
                else:
                    self._keep(key, made)
            return made

    def _keep(self, key: object, compiled: Compiled) -> None:
        self._kept[key] = compiled
        while len(self._kept) > 1 and sum(c.bytes for c in self._kept.values()) > self.limit:
            self._kept.popitem(last=False)


def _refusal(part: ModelPart, hint: Hint, reason: Reason) -> Fault:
    return Fault(f"model {part.name}", reason.sentence, hint.text, reason.fix, reason.code)


class _waiting:
    """Hold a lock; the time until it is free counts as waiting."""

    def __init__(self, lock: threading.Lock, timed: Timed) -> None:
        self._lock, self._timed = lock, timed

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            with self._timed("wait"):
                self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def _compile(
    core: ov.Core, part: ModelPart, shapes: Shapes, device: str, timed: Timed
) -> Compiled | Reason:
    with timed("load"):
        try:
            model: ov.Model = core.read_model(str(part.xml))  # pyright: ignore[reportUnknownMemberType]
        except RuntimeError as error:
            fix = f"`vinode models verify {part.name}` rebuilds it"
            raise ModelError(Fault(f"model {part.name}", _first(error), fix=fix)) from error
        _reshape(model, part, shapes)
    with timed("compile"):
        try:
            compiled = core.compile_model(model, device)
            request = compiled.create_infer_request()
        except RuntimeError as error:
            return classify(error, device)
        return Compiled(
            request,
            {port.get_any_name(): port.element_type for port in compiled.inputs},
            tuple(port.get_any_name() for port in compiled.outputs),
            _shares(core, model, compiled, device),
            part.bytes,
        )


def _reshape(model: ov.Model, part: ModelPart, shapes: Shapes) -> None:
    """Give the model the shapes of its inputs; ModelError names the input that does not fit."""
    import openvino as ov

    wanted = dict(shapes)
    known = {port.get_any_name(): port.get_partial_shape() for port in model.inputs}
    if known.keys() != wanted.keys():
        got = ", ".join(sorted(wanted)) or "nothing"
        problem = f"takes the inputs {', '.join(sorted(known))}"
        raise ModelError(Fault(f"model {part.name}", problem, got, code="bad-inputs"))
    changed = {
        name: ov.PartialShape(list(shape))
        for name, shape in wanted.items()
        if known[name] != ov.PartialShape(list(shape))
    }
    if not changed:
        return
    try:
        model.reshape(changed)
    except RuntimeError as error:
        name, shape = next((name, wanted[name]) for name in changed)
        place = f"model {part.name}, input {name}"
        fault = Fault(place, f"takes {known[name]}", str(shape), _first(error), "bad-inputs")
        raise ModelError(fault) from error


def _shares(
    core: ov.Core, model: ov.Model, compiled: ov.CompiledModel, device: str
) -> dict[str, float]:
    """Ask the compiled model where it runs; of a split model, count operations per device."""
    reported: str | list[str] = compiled.get_property("EXECUTION_DEVICES")
    names = [reported] if isinstance(reported, str) else list(reported)
    if device.startswith("HETERO:") and len(names) > 1:
        mapping: dict[str, str] = core.query_model(model, device)  # pyright: ignore
        counted = Counter(mapping.values())
        return {name: counted[name] / counted.total() for name in counted}
    return dict.fromkeys((name.strip("()") for name in names), 1 / len(names))


def _infer(
    compiled: Compiled, part: ModelPart, inputs: Arrays, timed: Timed, check: Callable[[], None]
) -> dict[str, NDArray[Any]]:
    request = compiled.request
    with timed("upload"):
        for name, array in inputs.items():
            target: NDArray[Any] = request.get_tensor(name).data
            if array.dtype != target.dtype:
                place = f"model {part.name}, input {name}"
                fault = Fault(place, f"takes {target.dtype}", str(array.dtype), code="bad-inputs")
                raise ModelError(fault)
            np.copyto(target, array)
    with timed("compute"):
        request.start_async()
        try:
            while not request.wait_for(_POLL_MS):
                check()
        except Cancelled:
            _stop(request)
            raise
    with timed("download"):
        return {
            name: np.array(request.get_output_tensor(index).data)
            for index, name in enumerate(compiled.outputs)
        }


def _stop(request: ov.InferRequest) -> None:
    request.cancel()
    try:
        request.wait()
    except RuntimeError:  # OpenVINO reports the cancel that we asked for as an error
        return


def _first(error: BaseException) -> str:
    return classify(error, "OpenVINO").sentence
