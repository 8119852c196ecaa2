"""A request that is held for a while: write its inputs, run, read its outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinode.graph.compile import Timed
from vinode.graph.compiled import Compiled, copy
from vinode.graph.devices import SIMULATED
from vinode.graph.errors import DeviceError, Fault, ModelError, nearest
from vinode.graph.part import Asked
from vinode.graph.placement import Reason, classify


class InferenceFailed(DeviceError):
    """A device that took a model and failed in the middle of an inference."""

    def __init__(self, asked: Asked, reason: Reason) -> None:
        place = f"model {asked.part.name}"
        super().__init__(Fault(place, reason.sentence, fix=reason.fix, code=reason.code))
        self.reason = reason


class Session:
    """One compiled model, held. What is written into `inputs` is not copied again.

    inputs   name -> array of the request's own memory, of the model's shape and dtype
    reasons  why it is not on a device that was preferred
    computed ns that its inferences took
    """

    def __init__(
        self,
        compiled: Compiled,
        asked: Asked,
        timed: Timed,
        check: Callable[[], None],
        reasons: tuple[Reason, ...],
    ) -> None:
        self.compiled, self.asked, self.reasons = compiled, asked, reasons
        self._timed, self._check = timed, check
        self.computed = 0
        simulated = asked.simulation if SIMULATED in asked.devices else None
        self._speed = simulated.bytes_per_second if simulated else None
        self._noise = simulated.noise if simulated else 0.0
        self._fails = simulated.fails if simulated else ""

    @property
    def inputs(self) -> Mapping[str, NDArray[Any]]:
        """Give the memory that the next inference reads."""
        return self.compiled.inputs

    def write(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Copy arrays into the request's memory; ModelError where one does not fit."""
        with self._timed("upload"):
            for name, array in arrays.items():
                target = self._input(name)
                if array.dtype != target.dtype or array.shape != target.shape:
                    place = f"model {self.asked.part.name}, input {name}"
                    got = f"{array.shape} {array.dtype}"
                    takes = f"takes {target.shape} {target.dtype}"
                    fix = f"convert it: array.astype(np.{target.dtype})"
                    if array.shape != target.shape:
                        fix = "open the model for the shapes that are written"
                    raise ModelError(Fault(place, takes, got, fix, "bad-inputs"))
                copy(target, array, self._speed)

    def _input(self, name: str) -> NDArray[Any]:
        known = self.compiled.inputs
        if name not in known:
            close = nearest(name, known)
            fix = f"did you mean {close}?" if close else f"it takes {', '.join(known)}"
            place = f"model {self.asked.part.name}"
            raise ModelError(Fault(place, "has no such input", name, fix, "bad-inputs"))
        return known[name]

    def run(self) -> None:
        """Run one inference. Raises Cancelled, and InferenceFailed where the device fails."""
        self._check()
        with self._timed("compute"):
            try:
                self.computed += self.compiled.run(self._check)
                if self._fails:
                    raise RuntimeError(self._fails)
            except (RuntimeError, MemoryError) as error:
                reason = classify(error, self.compiled.device, running=True)
                raise InferenceFailed(self.asked, reason) from error

    def read(self) -> dict[str, NDArray[Any]]:
        """Copy the outputs out of the request's memory."""
        with self._timed("download"):
            found: dict[str, NDArray[Any]] = {}
            for index, name in enumerate(self.compiled.names):
                source = self.compiled.output(index, name)
                found[name] = np.empty_like(source)
                copy(found[name], source, self._speed)
        return {name: self._spoilt(array) for name, array in found.items()}

    def views(self) -> dict[str, NDArray[Any]]:
        """Give the outputs without a copy; the next inference overwrites them."""
        return {
            name: self._spoilt(self.compiled.output(index, name))
            for index, name in enumerate(self.compiled.names)
        }

    def _spoilt(self, array: NDArray[Any]) -> NDArray[Any]:
        """Add the simulated device's error, where it has one."""
        if not self._noise:
            return array
        error = np.random.default_rng(7).standard_normal(array.shape) * array.std()
        spoilt: NDArray[Any] = (array + self._noise * error).astype(array.dtype)
        return spoilt
