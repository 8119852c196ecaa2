"""Plan -> values and events: lanes, failures that stay local, lazy inputs, expansions, cancel."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from vinode.graph.cache import Cache
from vinode.graph.context import Folders
from vinode.graph.errors import Fault
from vinode.graph.events import Event, RunFinished, RunStarted, Status
from vinode.graph.plan import Plan
from vinode.graph.pool import Pool
from vinode.graph.progress import Progress
from vinode.graph.scheduler import Scheduler
from vinode.graph.step_context import Services
from vinode.graph.workers import Workers
from vinode.graph.workflow import NodeId


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended.

    outputs  target -> its outputs, each a tuple of values; targets that failed are absent
    faults   of the nodes that failed
    skipped  node -> the failed node it needed
    """

    status: Status
    outputs: Mapping[NodeId, tuple[tuple[object, ...], ...]]
    faults: tuple[Fault, ...] = ()
    skipped: Mapping[NodeId, NodeId] = field(default_factory=dict[NodeId, NodeId])


def run(
    plan: Plan,
    on_event: Callable[[Event], None],
    *,
    folders: Folders,
    pool: Pool,
    cache: Cache,
    file_text: Mapping[str, str] | None = None,
    cancel: threading.Event | None = None,
) -> Outcome:
    """Run a plan to its end and tell what happens.

    on_event is called from several threads, one event at a time and in order; what it raises ends
    the run and is raised here. A node that fails is an outcome, not an exception.
    """
    cancel = cancel or threading.Event()
    on_event(RunStarted(len(plan.steps), len(plan.reused), time.perf_counter_ns()))
    scheduler = Scheduler(plan, on_event, cache, folders, pool.lane)

    def stopped() -> bool:
        return cancel.is_set() or scheduler.crash is not None

    tell = Progress(scheduler.emit).tell
    services = Services(folders, pool, file_text or {}, tell, stopped)
    Workers(scheduler, services, stopped).run_to_end()
    status: Status = "done"
    if scheduler.pending:
        status = "cancelled"
    elif scheduler.failed:
        status = "failed"
    on_event(RunFinished(status, time.perf_counter_ns()))
    targets = {id: scheduler.values[id] for id in plan.targets if id in scheduler.values}
    return Outcome(status, targets, tuple(scheduler.faults), dict(scheduler.skipped))
