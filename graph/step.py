"""One step: gather a node's inputs, call it, check what it gave, and time it."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from vinode.graph.account import Used, placement
from vinode.graph.arguments import Call, Sources, Values, calls
from vinode.graph.compiled import Compiled, Usage
from vinode.graph.context import Blocked, Expansion, Folders, Phase
from vinode.graph.errors import Cancelled, Fault, VinodeError, short
from vinode.graph.events import NodeTiming, Span
from vinode.graph.graph import GraphNode
from vinode.graph.kinds import value_problem
from vinode.graph.placement import PYTHON_NODE, Placement, Reason
from vinode.graph.plan import Step
from vinode.graph.pool import Pool
from vinode.graph.session import Session
from vinode.graph.values import Image, ModelPart, read_only
from vinode.graph.workflow import NodeId

# Spans beyond this many are only added up: a long sampler must not fill the memory.
MAX_SPANS = 4096


class Clock:
    """A node's time: one phase at a time, so that phases add up to the whole by construction."""

    def __init__(self, ready: int) -> None:
        self.ready = ready
        self.start = ready
        self.phases: dict[Phase, int] = {}
        self.spans: list[Span] = []
        self._phase: Phase = "wait"
        self._since = ready

    def switch(self, phase: Phase) -> Phase:
        """End the current phase, begin another, and give the one that ended."""
        now = time.perf_counter_ns()
        ended, since = self._phase, self._since
        self.phases[ended] = self.phases.get(ended, 0) + now - since
        if len(self.spans) < MAX_SPANS:
            self.spans.append(Span(ended, since, now))
        self._phase, self._since = phase, now
        return ended

    def spent(self, phase: Phase) -> int:
        """Give the ns spent in a phase so far; the current one counts when it has ended."""
        return self.phases.get(phase, 0)

    def begin(self, ready: int) -> None:
        """Begin to run on the lane; what went before, since `ready`, was waiting."""
        self._phase, self._since = "wait", ready
        self.switch("host")
        self.start = self.start if self.start > self.ready else self._since

    def timing(self, lane: str, worker: int) -> NodeTiming:
        """End the current phase and give the whole."""
        self.switch(self._phase)
        end = self._since
        return NodeTiming(lane, worker, self.ready, self.start, end, self.phases, tuple(self.spans))


@dataclass(frozen=True, slots=True)
class Services:
    """What steps share: folders, compiled models, the text for pictures, and the way to cancel.

    tell       takes (node, done, total, preview, note) as a node reports progress
    cancelled  says whether the run was cancelled
    """

    folders: Folders
    pool: Pool
    file_text: Mapping[str, str]
    tell: Callable[[NodeId, float, float, Image | None, str], None]
    cancelled: Callable[[], bool]


@dataclass(slots=True)
class StepContext:
    """The Context of one running node."""

    step: Step
    services: Services
    clock: Clock
    shown: dict[str, Values] = field(default_factory=dict[str, Values])
    usage: Usage = field(default_factory=Usage)
    computed: dict[Compiled, int] = field(default_factory=dict["Compiled", int])
    reasons: dict[Reason, None] = field(default_factory=dict[Reason, None])

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
        self.services.tell(self.step.id, done, total, preview, "")

    def check_cancelled(self) -> None:
        """Raise Cancelled where the run was cancelled."""
        if self.services.cancelled():
            raise Cancelled

    def phase(self, phase: Phase) -> AbstractContextManager[None]:
        """Time a stretch of work as `phase`; the phase around it goes on afterwards."""
        return self._timed(phase)

    @contextmanager
    def _timed(self, phase: Phase) -> Generator[None]:
        outer = self.clock.switch(phase)
        try:
            yield
        finally:
            self.clock.switch(outer)

    def infer(
        self, part: ModelPart, inputs: Mapping[str, NDArray[Any]]
    ) -> Mapping[str, NDArray[np.float32]]:
        """Run a model on the node's device."""
        hint = self.step.node.hint
        before = self.clock.spent("compute")
        done = self.services.pool.infer(
            part, inputs, hint, self.phase, self.check_cancelled, self.usage, self._compiling
        )
        self._account(done.compiled, done.reasons, before)
        return done.outputs

    @contextmanager
    def open(self, part: ModelPart, shapes: Mapping[str, tuple[int, ...]]) -> Generator[Session]:
        """Hold a model's request for many inferences: its memory is written without a copy."""
        hint = self.step.node.hint
        before = self.clock.spent("compute")
        given = tuple(shapes.items())
        with self.services.pool.open(
            part, given, hint, self.phase, self.check_cancelled, self.usage, self._compiling
        ) as session:
            yield session
        self._account(session.compiled, session.reasons, before)

    def _compiling(self, seconds: float, limit: float) -> None:
        self.services.tell(self.step.id, seconds, limit, None, "compiling")

    def _account(self, compiled: Compiled, reasons: Sequence[Reason], before: int) -> None:
        spent = self.clock.spent("compute") - before
        self.computed[compiled] = self.computed.get(compiled, 0) + spent
        self.reasons.update(dict.fromkeys(reasons))

    def show(self, name: str, items: Sequence[object]) -> None:
        """Hand JSON values to whoever watches."""
        self.shown[name] = (*self.shown.get(name, ()), *items)

    def placement(self) -> Placement:
        """Say where the node ran."""
        if not self.step.node.type.uses_device:
            return PYTHON_NODE
        used: list[Used] = []
        for compiled, ns in self.computed.items():
            self.services.pool.settle(compiled, self.usage)
            used.append(Used(compiled, self.usage.ops.get(compiled, ()), ns))
        return placement(self.step.node.hint, used, tuple(self.reasons))


Given = Values | Expansion


def run_calls(step: Step, context: StepContext, sources: Sources) -> list[Given]:
    """Call a node for each set of its inputs and check what it gives."""
    given: list[Given] = []
    for call in calls(step, sources):
        context.check_cancelled()
        answer = call if isinstance(call, Blocked) else step.node.type(**_with(step, context, call))
        given.append(_outputs(step.node, answer))
    return given


async def run_async_calls(step: Step, context: StepContext, sources: Sources) -> list[Given]:
    """Call an async node for each set of its inputs, all at once."""

    async def one(call: Call | Blocked) -> Given:
        if isinstance(call, Blocked):
            return _outputs(step.node, call)
        return _outputs(step.node, await step.node.type(**_with(step, context, call)))

    context.check_cancelled()
    return list(await asyncio.gather(*(one(call) for call in calls(step, sources))))


def _with(step: Step, context: StepContext, call: Call) -> Call:
    name = step.node.type.signature.context
    return {**call, name: context} if name else call


def _outputs(node: GraphNode, answer: object) -> Given:
    """Check one answer of a node against its signature, and make its arrays read-only."""
    ports = node.type.outputs
    if isinstance(answer, Expansion):
        return answer
    if isinstance(answer, Blocked):
        return (answer,) * len(ports)
    values: Values = (answer,) if ports else ()
    if node.type.signature.several and isinstance(answer, tuple):
        values = cast(Values, answer)
    if len(values) != len(ports):
        problem = f"gave {len(values)} outputs instead of {len(ports)}"
        raise VinodeError(Fault(node.place, problem, code="bad-output", node=node.id))
    for port, value in zip(ports, values, strict=True):
        if port.many and not isinstance(value, list | Blocked):
            fault = Fault(node.place, f"output {port.name} must be a list", short(value))
            raise VinodeError(replace(fault, code="bad-output", node=node.id))
        several = port.many and isinstance(value, list)
        items: list[object] = cast(list[object], value) if several else [value]
        for item in items:
            wrong = None if isinstance(item, Blocked) else value_problem(item, port.kind)
            if wrong:
                fault = Fault(f"{node.place}, output {port.name}", wrong, short(item))
                raise VinodeError(replace(fault, code="bad-output", node=node.id))
            if isinstance(item, np.ndarray):
                read_only(cast(NDArray[Any], item))
    return values


def faults_of(error: BaseException, node: GraphNode) -> tuple[tuple[Fault, ...], str]:
    """Turn what a node raised into faults with its place, and a traceback where it is a bug."""
    if isinstance(error, VinodeError):
        return tuple(_at(fault, node) for fault in error.faults), ""
    text = "".join(traceback.format_exception(error))
    said = str(error) or "no message"
    fix = ""
    if "read-only" in said and isinstance(error, ValueError):
        fix = "inputs are read-only: work on `pixels.copy()`"
    problem = f"{type(error).__name__}: {said[:2000]}"
    if isinstance(error, MemoryError):
        problem, fix = "memory ran out", "use smaller pictures or batches, or close other programs"
    return (Fault(node.place, problem, fix=fix, code="node-crashed", node=node.id),), text


def _at(fault: Fault, node: GraphNode) -> Fault:
    if fault.node:
        return fault
    own = fault.place in ("", "the node")
    place = node.place if own else f"{node.place}, {fault.place}"
    return replace(fault, place=place, node=node.id)
