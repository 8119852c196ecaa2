"""What is ready, what waits for what, what an outcome means for the rest. Has no threads."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from vinode.graph.arguments import Values
from vinode.graph.cache import Cache, Key, Result
from vinode.graph.context import Expansion, Folders
from vinode.graph.describe import describe
from vinode.graph.devices import Hint
from vinode.graph.errors import Fault, VinodeError
from vinode.graph.events import (
    Event,
    NodeBlocked,
    NodeExpanded,
    NodeFailed,
    NodeFinished,
    NodeReused,
    NodeSkipped,
    NodeTiming,
)
from vinode.graph.expansion import Expanded, expand
from vinode.graph.held import Held
from vinode.graph.placement import Placement
from vinode.graph.plan import Plan, Step, demand
from vinode.graph.step import Given, messages_of
from vinode.graph.workflow import Link, NodeId


@dataclass(frozen=True, slots=True)
class Ran:
    """A node's calls have returned: what they gave and where the time went.

    blocked  messages of the calls that gave nothing, or that could not be made
    """

    given: Sequence[Given]
    shown: Mapping[str, Values]
    timing: NodeTiming
    placement: Placement
    blocked: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Assembly:
    """An expanded node that waits for its children.

    rows    for each call of the node its outputs: values, or links to children
    wanted  the children it waits for
    """

    ran: Ran
    rows: Sequence[Values]
    wanted: Sequence[NodeId]


class Scheduler:
    """State of one run. Every method is called with `lock` held, except `emit`.

    ready    lane -> steps whose inputs are there, with the time since when
    values   outputs of nodes that are done, as long as something may need them
    pending  steps that are neither finished, failed nor skipped
    failed   a node has failed
    crash    what ends the run: an error of ours, or of whoever listens to events
    """

    def __init__(
        self,
        plan: Plan,
        on_event: Callable[[Event], None],
        cache: Cache,
        folders: Folders,
        device_lane: Callable[[Hint], str],
    ) -> None:
        self.lock = threading.RLock()
        self.ready: dict[str, deque[tuple[Step, int]]] = {}
        self.faults: list[Fault] = []
        self.failed = False
        self.crash: BaseException | None = None
        self.skipped: dict[NodeId, NodeId] = {}
        self.pending: dict[NodeId, Step] = {}
        self._on_event, self._cache, self._folders = on_event, cache, folders
        self._device_lane = device_lane
        self._types = plan.graph.types
        self._nodes = dict(plan.graph.nodes)
        self._keys: dict[NodeId, Key | None] = dict(plan.keys)
        self._known: set[NodeId] = set()
        self._held = Held(self._nodes, self._known, plan.targets)
        self.values: Mapping[NodeId, tuple[Values, ...]] = self._held.values
        self._missing: dict[NodeId, int] = {}
        self._dependents: dict[NodeId, list[NodeId]] = {}
        self._fickle: set[NodeId] = set()
        self._broken: dict[NodeId, NodeId] = {}
        self._assemblies: dict[NodeId, Assembly] = {}
        self._complete: deque[NodeId] = deque()
        with self.lock:
            self._admit(plan.steps, plan.reused)
            self._advance()

    def emit(self, event: Event) -> None:
        """Pass an event on, one at a time. An error of the listener is kept: it ends the run."""
        with self.lock:
            if self.crash is None:
                try:
                    self._on_event(event)
                except BaseException as error:  # raised where the run was started, not in a node
                    self.crash = error

    def _admit(self, steps: Sequence[Step], reused: Mapping[NodeId, Result]) -> None:
        """Take up steps: each waits for its needs, or is ready, or is skipped."""
        for step in steps:
            self._known.add(step.id)
            self.pending[step.id] = step
        self._known.update(reused)
        for id in reused:
            self._held.settle(id)
        self._held.expect(step.id for step in steps)
        for id, result in reused.items():
            self._held.put(id, result.outputs)
            for message in result.blocked:
                self.emit(NodeBlocked(id, message))
            self.emit(NodeReused(id, result.shown))
        for step in steps:
            if step.id in self.pending:
                self._await(step.id, step.needs)

    def _await(self, id: NodeId, needs: Iterable[NodeId]) -> None:
        """Let a step wait for those of its needs that are not there yet."""
        absent = [need for need in dict.fromkeys(needs) if need not in self.values]
        broken = next((need for need in absent if need in self._broken), None)
        if broken is not None:
            self._skip(id, self._broken[broken])
            return
        for need in absent:
            self._dependents.setdefault(need, []).append(id)
        self._missing[id] = len(absent)
        if not absent:
            self._complete.append(id)

    def _advance(self) -> None:
        """Go on with the steps that wait for nothing more; no recursion, since chains are long."""
        now = time.perf_counter_ns()
        while self._complete:
            id = self._complete.popleft()
            assembly = self._assemblies.pop(id, None)
            if assembly:
                step = self.pending[id]
                self._finish(step, assembly.ran, self._joined(step, assembly.rows))
                self._held.release(list(assembly.wanted))
            elif id in self.pending:
                self.place(self.pending[id], now)

    def place(self, step: Step, since: int) -> None:
        """Put a ready step on its lane; on "device" while the devices are not known."""
        if step.lane == "device":
            step = replace(step, lane=self._device_lane(step.node.hint))
        self.ready.setdefault(step.lane, deque()).append((step, since))

    def need(self, step: Step, name: str) -> None:
        """Compute a lazy input, then run the step again."""
        source = step.node.links[name].node
        self._demand([source])
        self._await(step.id, [source])
        self._advance()

    def _demand(self, wanted: Sequence[NodeId]) -> None:
        self._admit(*demand(wanted, self._nodes, self._keys, self._cache, self._known))

    def ran(self, step: Step, ran: Ran) -> None:
        """A step's calls have returned."""
        if any(isinstance(given, Expansion) for given in ran.given):
            try:
                self._expand(step, ran)
            except VinodeError as error:
                self.fail(step, NodeFailed(step.id, error.faults, ran.timing, ran.placement))
        else:
            self._finish(step, ran, self._joined(step, cast(Sequence[Values], ran.given)))
        self._advance()

    def _expand(self, step: Step, ran: Ran) -> None:
        """Put nodes in the place of a step; it finishes when those it takes outputs from have."""
        parts: list[Expanded] = []
        for number, given in enumerate(ran.given):
            if isinstance(given, Expansion):
                part = expand(step.node, number, given, self._types, self._keys, self._folders)
            else:
                part = Expanded({}, {}, given, (), True)
            parts.append(part)
            self._nodes.update(part.nodes)
            self._keys.update(part.keys)
            if not part.fixed:
                self._fickle.add(step.id)
        self.emit(NodeExpanded(step.id, tuple(id for part in parts for id in part.nodes)))
        linked = [i.node for part in parts for i in part.outputs if isinstance(i, Link)]
        wanted = list(dict.fromkeys([*linked, *(id for part in parts for id in part.ends)]))
        self._held.use(wanted)
        self._assemblies[step.id] = Assembly(ran, [part.outputs for part in parts], wanted)
        self._demand(wanted)
        self._await(step.id, wanted)

    def _joined(self, step: Step, rows: Sequence[Values]) -> tuple[Values, ...]:
        """Give for each output the values of all calls, in order."""
        ports = step.node.type.outputs
        return tuple(
            tuple([value for row in rows for value in self._items(row[slot], port.many)])
            for slot, port in enumerate(ports)
        )

    def _items(self, item: object, many: bool) -> Values:
        if isinstance(item, Link):
            return self.values[item.node][item.slot]
        return tuple(cast(list[object], item)) if many and isinstance(item, list) else (item,)

    def _finish(self, step: Step, ran: Ran, outputs: tuple[Values, ...]) -> None:
        id = step.id
        del self.pending[id]
        self._held.put(id, outputs)
        blocked = tuple(
            dict.fromkeys([*ran.blocked, *(m for v in outputs for m in messages_of(v))])
        )
        if not self._is_fickle(step):
            self._cache.put(step.key, Result(outputs, ran.shown, blocked))
        for message in blocked:
            self.emit(NodeBlocked(id, message))
        carried = tuple(_carried(values) for values in outputs)
        self.emit(NodeFinished(id, ran.timing, ran.placement, carried, ran.shown))
        self._held.settle(id)
        for dependent in self._dependents.pop(id, ()):
            if dependent in self.pending:
                self._missing[dependent] -= 1
                if self._missing[dependent] == 0:
                    self._complete.append(dependent)

    def _is_fickle(self, step: Step) -> bool:
        """Say whether its key does not tell all: inside an expansion something may change."""
        if self._fickle and any(link.node in self._fickle for link in step.node.links.values()):
            self._fickle.add(step.id)
        return step.id in self._fickle

    def fail(self, step: Step, event: NodeFailed) -> None:
        """A step failed: what needs it is skipped, the rest goes on."""
        self.failed = True
        self.faults += event.faults
        self.emit(event)
        self._drop(step.id, step.id)
        self._advance()

    def _skip(self, id: NodeId, because: NodeId) -> None:
        self.skipped[id] = because
        self.emit(NodeSkipped(id, because))
        self._drop(id, because)

    def _drop(self, id: NodeId, because: NodeId) -> None:
        """Take a step out, and with it all that waits for it."""
        dropped = deque([id])
        while dropped:
            id = dropped.popleft()
            step = self.pending.pop(id, None)
            if step is None:
                continue
            self._broken[id] = because
            assembly = self._assemblies.pop(id, None)
            if assembly:
                self._held.release(list(assembly.wanted))
            if id != because and id not in self.skipped:
                self.skipped[id] = because
                self.emit(NodeSkipped(id, because))
            self._held.settle(id)
            dropped += self._dependents.pop(id, ())


def _carried(values: Values) -> str:
    if len(values) == 1:
        return describe(values[0])
    return f"{describe(values[0])} and {len(values) - 1} more" if values else "nothing"
