"""The Context of one running node: what a node may ask of the engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinode.graph.account import Used, placement
from vinode.graph.arguments import Values
from vinode.graph.clock import Clock
from vinode.graph.compiled import Compiled, Usage
from vinode.graph.context import Folders, Phase
from vinode.graph.devices import halves_apart, in_float32
from vinode.graph.errors import Cancelled, NodeError, short
from vinode.graph.placement import PYTHON_NODE, Placement, Reason
from vinode.graph.plan import Step
from vinode.graph.pool import Pool
from vinode.graph.session import Session
from vinode.graph.sharing import SHARED_PREFIX
from vinode.graph.values import Image, ModelPart
from vinode.graph.workflow import NodeId


@dataclass(frozen=True, slots=True)
class Services:
    """What steps share: folders, compiled models, the text for pictures, and the way to cancel.

    tell       takes (node, done, total, preview, note) as a node reports progress
    cancelled  says whether the run is to end
    """

    folders: Folders
    pool: Pool
    file_text: Mapping[str, str]
    tell: Callable[[NodeId, float, float, Image | None, str], None]
    cancelled: Callable[[], bool]


@dataclass(slots=True)
class StepContext:
    """The Context of one running node; it stays while the node waits for a lazy input.

    asked    lazy inputs that the node has asked for
    blocked  messages of the calls that a Blocked value kept from running, or that gave one
    """

    step: Step
    services: Services
    clock: Clock
    asked: set[str] = field(default_factory=set[str])
    blocked: list[str] = field(default_factory=list[str])
    shown: dict[str, Values] = field(default_factory=dict[str, Values])
    usage: Usage = field(default_factory=Usage)
    computed: dict[Compiled, int] = field(default_factory=dict["Compiled", int])
    reasons: dict[Reason, None] = field(default_factory=dict[Reason, None])

    def begin(self) -> None:
        """Begin, or begin again from the start: what an earlier attempt showed does not count."""
        self.shown = {}
        self.blocked = []
        self.clock.begin()

    @property
    def node_id(self) -> str:
        """Give the id of the running node."""
        return self.step.id

    @property
    def folders(self) -> Folders:
        """Give the folders of this run."""
        return self.services.folders

    @property
    def file_text(self) -> Mapping[str, str]:
        """Give the text that a saved picture carries."""
        return self.services.file_text

    def progress(self, done: float, total: float, preview: Image | None = None) -> None:
        """Tell how far the node is; raises Cancelled where the run was cancelled."""
        self.check_cancelled()
        self.clock.mark(done)
        self.services.tell(self.step.id, _plain(done), _plain(total), preview, "")

    def check_cancelled(self) -> None:
        """Raise Cancelled where the run was cancelled."""
        if self.services.cancelled():
            raise Cancelled

    def phase(self, phase: Phase) -> AbstractContextManager[None]:
        """Time a stretch of work as `phase`; the phase around it goes on afterwards."""
        return self._timed(phase)

    @contextmanager
    def _timed(self, phase: Phase) -> Generator[None]:
        number = self.clock.enter(phase)
        try:
            yield
        finally:
            self.clock.exit(number)

    def infer(
        self, part: ModelPart, inputs: Mapping[str, NDArray[Any]], exact: bool = False
    ) -> Mapping[str, NDArray[np.float32]]:
        """Run a model on the node's device; `exact` in float32, which the placement tells."""
        hint = self.step.node.hint
        if exact:
            hint = in_float32(hint)
            self.reasons[_overflowed(part)] = None
        done = self.services.pool.infer(
            part, inputs, hint, self.phase, self.check_cancelled, self.usage, self._compiling
        )
        self._account(done.compiled, done.reasons, done.computed)
        return done.outputs

    @contextmanager
    def open(
        self, part: ModelPart, shapes: Mapping[str, tuple[int, ...]], shared: bool = False
    ) -> Generator[Session]:
        """Hold a model's request for many inferences: its memory is written without a copy."""
        hint = self.step.node.hint
        if shared:
            hint = replace(hint, rewrites=(*hint.rewrites, SHARED_PREFIX))
        given = tuple(shapes.items())
        with self.services.pool.open(
            part, given, hint, self.phase, self.check_cancelled, self.usage, self._compiling
        ) as session:
            try:
                yield session
            finally:
                self._account(session.compiled, session.reasons, session.computed)

    def prefers_single(self, part: ModelPart) -> bool:
        """Say whether two calls of batch 1 will do better than one of batch 2."""
        return halves_apart(self.services.pool.likely(part, self.step.node.hint))

    def _compiling(self, seconds: float, limit: float) -> None:
        self.services.tell(self.step.id, seconds, limit, None, "compiling")

    def _account(self, compiled: Compiled, reasons: Sequence[Reason], ns: int) -> None:
        self.computed[compiled] = self.computed.get(compiled, 0) + ns
        self.reasons.update(dict.fromkeys(reasons))

    def show(self, name: str, items: Sequence[object]) -> None:
        """Hand JSON values to whoever watches; what is no JSON is refused here, at its source."""
        try:
            json.dumps(items, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            fix = "hand over numbers, texts, lists and dicts"
            problem = f"show({name!r}) takes JSON values: {error}"
            raise NodeError(problem, short(items), fix) from error
        self.shown[name] = (*self.shown.get(name, ()), *items)

    def placement(self) -> Placement:
        """Say where the node ran. May wait for another node that uses the same model."""
        if not self.step.node.type.uses_device:
            return PYTHON_NODE
        used: list[Used] = []
        for compiled, ns in self.computed.items():
            self.services.pool.settle(compiled, self.usage)
            used.append(Used(compiled, self.usage.ops.get(compiled, ()), ns))
        reasons = dict.fromkeys((*self.reasons, *self.usage.refused))
        return placement(self.step.node.hint, used, tuple(reasons))


def _overflowed(part: ModelPart) -> Reason:
    sentence = f"{part.name} overflowed in half precision and was run again in float32"
    fix = "set the node's precision to f32, which saves the first attempt"
    return Reason("precision-unsupported", sentence, fix)


def _plain(value: float) -> float:
    """Give a number that JSON takes: nodes count with NumPy's."""
    return value if type(value) in (int, float) else float(value)
