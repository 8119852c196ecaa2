"""The threads of a run: several for host work, one a device, an event loop for async nodes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Sequence

from vinode.graph.clock import Clock
from vinode.graph.context import NotComputedYet
from vinode.graph.errors import Cancelled
from vinode.graph.events import NodeFailed, NodeStarted
from vinode.graph.plan import Step
from vinode.graph.scheduler import Ran, Scheduler
from vinode.graph.step import Given, faults_of, run_async_calls, run_calls
from vinode.graph.step_context import Services, StepContext
from vinode.graph.workflow import NodeId

# Nodes on the host lane at once: many wait for disks or sockets, so more than there are cores.
HOST_WORKERS = max(8, os.cpu_count() or 1)
_BUSY = 0.0005  # seconds without a step taken after which a lane's threads are busy
_POLL = 0.05  # seconds until a cancel is seen by threads that have nothing to do


class Workers:
    """Threads that take ready steps from a scheduler until none is pending.

    A thread that finishes a step takes the next ready one of its lane itself, so a chain of nodes
    runs in one thread without handing over. More threads are started only where those of a lane are
    busy for a while: a thousand nodes that take no time would only be in each other's way.
    """

    def __init__(
        self, scheduler: Scheduler, services: Services, stopped: Callable[[], bool]
    ) -> None:
        self._scheduler, self._services, self._stopped = scheduler, services, stopped
        self._changed = threading.Condition(scheduler.lock)
        self._over = threading.Condition(scheduler.lock)
        self._threads: dict[str, list[threading.Thread]] = {}
        self._idle: dict[str, int] = {}
        self._taken: dict[str, int] = {}
        self._seen: dict[str, int] = {}
        self._resting = False
        self._paused: dict[NodeId, StepContext] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def run_to_end(self) -> None:
        """Run until every step is settled, or until a cancel has been seen by all threads."""
        try:
            with self._scheduler.lock:
                self._wake("")
                while self._scheduler.pending and not self._stopped():
                    self._resting = not any(map(self._lacks, self._scheduler.ready))
                    self._over.wait(_POLL if self._resting else _BUSY)
                    self._grow()
        except BaseException as error:  # Ctrl-C, and whatever else: no thread is left behind
            self._broke(error)
        with self._scheduler.lock:
            self._changed.notify_all()
            loop, tasks = self._loop, list(self._tasks)
            threads = [thread for lane in self._threads.values() for thread in lane]
        if loop is not None and self._stopped():
            for task in tasks:
                with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
                    loop.call_soon_threadsafe(task.cancel)
        for thread in threads:
            thread.join()
        if self._scheduler.crash is not None:
            raise self._scheduler.crash

    def _wake(self, mine: str) -> None:
        """See to it that every ready step has a thread; the calling one takes a step of `mine`."""
        if not self._scheduler.pending:  # the last step may have ended on another lane's thread
            self._over.notify_all()
            self._changed.notify_all()
        if self._stopped():
            return
        for lane, ready in self._scheduler.ready.items():
            if len(ready) - (lane == mine) <= 0:
                continue
            if lane not in self._threads:
                self._start(lane)
            elif self._idle.get(lane):
                self._changed.notify_all()
            elif self._resting and self._lacks(lane):
                self._resting = False
                self._over.notify_all()

    def _lacks(self, lane: str) -> bool:
        """Say whether a lane has steps for more threads than it has."""
        threads = len(self._threads.get(lane, ()))
        limit = HOST_WORKERS if lane == "host" else 1
        return 0 < threads < limit and len(self._scheduler.ready[lane]) > self._idle.get(lane, 0)

    def _grow(self) -> None:
        """Start threads for lanes that have taken no step since the last look."""
        for lane, ready in self._scheduler.ready.items():
            taken = self._taken.get(lane, 0)
            if self._lacks(lane) and taken == self._seen.get(lane):
                spare = HOST_WORKERS - len(self._threads[lane])
                for _ in range(min(len(ready) - self._idle.get(lane, 0), spare)):
                    self._start(lane)
            self._seen[lane] = taken

    def _start(self, lane: str) -> None:
        threads = self._threads.setdefault(lane, [])
        special = {"async": self._serve_async, "device": self._ask_devices}
        target = special.get(lane, self._serve)
        args = (lane, len(threads))
        thread = threading.Thread(target=target, args=args, name=f"vinode-{lane}-{args[1]}")
        threads.append(thread)
        thread.start()

    def _take(self, lane: str) -> StepContext | None:
        """Wait for the next ready step of a lane, and begin it; None where nothing is left."""
        with self._scheduler.lock:
            while self._scheduler.pending and not self._stopped():
                ready = self._scheduler.ready.get(lane)
                if ready:
                    self._taken[lane] = self._taken.get(lane, 0) + 1
                    return self._begin(*ready.popleft())
                self._idle[lane] = self._idle.get(lane, 0) + 1
                self._changed.wait()
                self._idle[lane] -= 1
            self._over.notify_all()
            self._changed.notify_all()
            return None

    def _serve(self, lane: str, worker: int) -> None:
        try:
            while (context := self._take(lane)) is not None:
                try:
                    given = run_calls(context, self._scheduler.values)
                except NotComputedYet as lazy:
                    self._wait_for(context, lazy.name)
                except Cancelled:
                    self._cancelled(context, worker)
                except BaseException as error:  # a node is somebody else's code
                    self._failed(context, worker, error)
                else:
                    self._done(context, worker, given)
        except BaseException as error:  # ours: the run ends with it
            self._broke(error)

    def _ask_devices(self, lane: str, worker: int) -> None:
        """Ask which devices there are, which imports OpenVINO, and send steps to their lanes."""
        try:
            while (context := self._take(lane)) is not None:
                step = context.step
                try:
                    with context.phase("load"):
                        _ = self._services.pool.available
                except Exception as error:  # OpenVINO cannot be had: that is the node's failure
                    self._visit(context)
                    self._failed(context, worker, error)
                    continue
                with self._scheduler.lock:
                    self._paused[step.id] = context
                    self._scheduler.place(step, context.clock.ready)
                    self._wake(lane)
        except BaseException as error:  # as in _serve
            self._broke(error)

    def _serve_async(self, lane: str, worker: int) -> None:
        async def take() -> None:
            self._loop = asyncio.get_running_loop()
            while (context := await asyncio.to_thread(self._take, lane)) is not None:
                task = self._loop.create_task(self._run_async(context, worker))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            await asyncio.gather(*self._tasks, return_exceptions=True)

        try:
            asyncio.run(take())
        except BaseException as error:  # as in _serve
            self._broke(error)

    async def _run_async(self, context: StepContext, worker: int) -> None:
        try:
            try:
                given = await run_async_calls(context, self._scheduler.values)
            except NotComputedYet as lazy:
                self._wait_for(context, lazy.name)
            except (Cancelled, asyncio.CancelledError):
                self._cancelled(context, worker)
            except BaseException as error:  # a node is somebody else's code
                self._failed(context, worker, error)
            else:
                self._done(context, worker, given)
        except BaseException as error:  # as in _serve
            self._broke(error)

    def _begin(self, step: Step, ready: int) -> StepContext:
        context = self._paused.pop(step.id, None)
        if context is None:
            context = StepContext(step, self._services, Clock(ready))
        context.step = step
        if step.lane != "device":
            self._visit(context)
        return context

    def _visit(self, context: StepContext) -> None:
        if not context.clock.begun:
            self._scheduler.emit(NodeStarted(context.step.id, context.step.lane))
        context.begin()

    def _wait_for(self, context: StepContext, name: str) -> None:
        step = context.step
        context.asked.add(name)
        context.clock.leave()
        with self._scheduler.lock:
            self._paused[step.id] = context
            self._scheduler.need(step, name)
            self._wake(_mine(step))

    def _done(self, context: StepContext, worker: int, given: list[Given]) -> None:
        step = context.step
        timing = context.clock.timing(step.lane, worker)
        blocked = _blocked(context, given) if context.blocked else ()
        ran = Ran(given, context.shown, timing, context.placement(), blocked)
        with self._scheduler.lock:
            self._scheduler.ran(step, ran)
            self._wake(_mine(step))

    def _failed(self, context: StepContext, worker: int, error: BaseException) -> None:
        step = context.step
        timing = context.clock.timing(step.lane, worker)
        faults, text = faults_of(error, step.node)
        event = NodeFailed(step.id, faults, timing, context.placement(), text)
        with self._scheduler.lock:
            self._scheduler.fail(step, event)
            self._wake(_mine(step))

    def _cancelled(self, context: StepContext, worker: int) -> None:
        """A node gave up because the run was cancelled; one that says so of itself has failed."""
        if not self._stopped():
            error = RuntimeError("the node raised Cancelled, but nobody cancelled the run")
            self._failed(context, worker, error)

    def _broke(self, error: BaseException) -> None:
        with self._scheduler.lock:
            self._scheduler.crash = self._scheduler.crash or error
            self._changed.notify_all()
            self._over.notify_all()


def _mine(step: Step) -> str:
    """Name the lane whose next step the thread takes itself; the event loop's takes none."""
    return "" if step.lane == "async" else step.lane


def _blocked(context: StepContext, given: Sequence[Given]) -> tuple[str, ...]:
    """Give why calls gave nothing; "" only where all of them did, and without a word."""
    whole = len(context.blocked) == len(given)
    return tuple(message for message in dict.fromkeys(context.blocked) if message or whole)
