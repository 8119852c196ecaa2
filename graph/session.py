"""A request that is held for a while: write its inputs, run, read its outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinode.graph.compile import Timed
from vinode.graph.compiled import Compiled, copy
from vinode.graph.errors import Fault, ModelError
from vinode.graph.part import Asked
from vinode.graph.placement import Reason


class Session:
    """One compiled model, held. What is written into `inputs` is not copied again.

    inputs   name -> array of the request's own memory, of the model's shape and dtype
    reasons  why it is not on a device that was preferred
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
        simulated = asked.simulation if compiled.device.startswith("NPUSIM") else None
        self._speed = simulated.bytes_per_second if simulated else None
        self._noise = simulated.noise if simulated else 0.0

    @property
    def inputs(self) -> Mapping[str, NDArray[Any]]:
        """Give the memory that the next inference reads."""
        return self.compiled.inputs

    def write(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Copy arrays into the request's memory; ModelError where a dtype or shape is wrong."""
        with self._timed("upload"):
            for name, array in arrays.items():
                target = self.compiled.inputs[name]
                if array.dtype != target.dtype or array.shape != target.shape:
                    place = f"model {self.asked.part.name}, input {name}"
                    got = f"{array.shape} {array.dtype}"
                    takes = f"takes {target.shape} {target.dtype}"
                    raise ModelError(Fault(place, takes, got, code="bad-inputs"))
                copy(target, array, self._speed)

    def run(self) -> None:
        """Run one inference. Raises Cancelled, and RuntimeError where the device fails."""
        self._check()
        with self._timed("compute"):
            self.compiled.run(self._check)

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
