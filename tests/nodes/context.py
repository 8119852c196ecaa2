"""A small context for calling nodes as functions: folders, progress and what was shown."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinode.graph.context import Folders, OpenModel, Phase
from vinode.graph.errors import Cancelled
from vinode.graph.values import Image, ModelPart

Infer = Callable[[ModelPart, Mapping[str, NDArray[Any]]], Mapping[str, NDArray[np.float32]]]


def folders_below(root: Path, anywhere: bool = False, **named: Path) -> Folders:
    """Make input, output, temp and models below a folder."""
    made = [root / name for name in ("input", "output", "temp", "models")]
    for folder in made:
        folder.mkdir(parents=True, exist_ok=True)
    return Folders(made[0], made[1], made[2], (made[3],), anywhere=anywhere, named=named)


class CallContext:
    """A context that keeps what a node tells.

    shown      name and items of each `show`
    told       done and total of each `progress`
    phases     name of each phase
    exact      the last inference was asked for in float32
    cancelled  the next progress or check raises Cancelled
    """

    def __init__(
        self,
        folders: Folders,
        file_text: Mapping[str, str] | None = None,
        infer: Infer | None = None,
    ) -> None:
        self.node_id = "1"
        self.folders = folders
        self.file_text: Mapping[str, str] = file_text or {}
        self.shown: list[tuple[str, list[object]]] = []
        self.told: list[tuple[float, float]] = []
        self.phases: list[Phase] = []
        self.cancelled = False
        self.exact = False
        self._infer = infer

    def progress(self, done: float, total: float, preview: Image | None = None) -> None:
        """Keep how far the node is."""
        self.check_cancelled()
        self.told.append((done, total))

    def check_cancelled(self) -> None:
        """Raise Cancelled once `cancelled` is set."""
        if self.cancelled:
            raise Cancelled

    @contextmanager
    def phase(self, phase: Phase) -> Generator[None, None, None]:
        """Keep the name of the phase."""
        self.phases.append(phase)
        yield

    def infer(
        self, part: ModelPart, inputs: Mapping[str, NDArray[Any]], exact: bool = False
    ) -> Mapping[str, NDArray[np.float32]]:
        """Call the function that stands for the model."""
        self.exact = exact
        assert self._infer, "this test gives no model"
        return self._infer(part, inputs)

    def open(
        self, part: ModelPart, shapes: Mapping[str, tuple[int, ...]], shared: bool = False
    ) -> AbstractContextManager[OpenModel]:
        """Refuse: no node of the tests holds a model."""
        raise NotImplementedError(part.name, shapes, shared)

    def prefers_single(self, part: ModelPart) -> bool:
        """Say no: a function is no device."""
        return False

    def show(self, name: str, items: Sequence[object]) -> None:
        """Keep what is shown."""
        self.shown.append((name, list(items)))
