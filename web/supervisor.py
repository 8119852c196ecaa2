"""Keeps a worker alive, feeds it from the queue, and tells listeners what happens."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from vinode.graph.strict_json import Json
from vinode.web import worker_process
from vinode.web.feed import Feed
from vinode.web.queue import Queue
from vinode.web.runs import NewRun, Queued
from vinode.web.settings import Limits, WorkerSettings
from vinode.web.told import Phase, Told, WorkerState
from vinode.web.worker_process import WorkerProcess

Listener: TypeAlias = Callable[[Sequence[Told]], None]
_TICK = 0.25  # seconds between two looks at limits
_WELL = 10.0  # seconds after which a worker's start counts as a good one
_GRACE = 3.0  # seconds that a silent worker has to end by itself, which tells more
_STEP = 2**24  # bytes of growth that listeners are told of


class Supervisor:
    """Owns the worker. Everything here happens on the event loop's thread.

    queue  may be changed by others on that thread, who call `changed` afterwards
    state  of the worker; a new value at every change
    """

    def __init__(
        self,
        queue: Queue,
        settings: WorkerSettings,
        limits: Limits | None = None,
        command: Sequence[str] = worker_process.COMMAND,
    ) -> None:
        self.queue, self.settings, self.limits = queue, settings, limits or Limits()
        self.state = WorkerState()
        self._feed = Feed(queue)
        self._command = command
        self._trail = queue.path.with_name(f"running-{os.getpid()}")
        self._listeners: list[Listener] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._worker: WorkerProcess | None = None
        self._ready = self._freeing = self._stopping = False

    async def start(self) -> None:
        """Begin to start the worker and to feed it; returns at once."""
        for left in self._trail.parent.glob("running-*"):  # by servers that were killed
            with contextlib.suppress(OSError):
                left.unlink()
        self._tasks = [asyncio.create_task(self._keep()), asyncio.create_task(self._watch())]

    async def stop(self) -> None:
        """End the worker. A run in its midst waits again, and is begun anew at the next start."""
        self._stopping = True
        if self._worker and self._feed.run is None:
            await self._worker.stop()
        elif self._worker:
            self._worker.end("the server stops")
        for task in self._tasks[1:] if self._worker else self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tell(self._feed.stop())
        with contextlib.suppress(OSError):
            self._trail.unlink()
        self._set(phase="stopped", pid=0)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Tell a listener all that happens, in lists; gives what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def submit(self, new: NewRun) -> Queued:
        """Accept a run and begin it if it is the next; QueueError where that is not possible."""
        queued = self.queue.submit(new)
        self.changed()
        return queued

    def changed(self) -> None:
        """Deal with a queue that was changed: begin the next run, tell listeners."""
        self._begin()
        self._tell([self._feed.queue_told()])

    def cancel(self, id: str) -> bool:
        """Cancel a run that waits or runs; False where it does neither."""
        run = self._feed.run
        if run and run.id == id:
            if self._worker and not self._feed.cancelled:
                self._worker.send({"do": "cancel", "run": id})
                self._feed.cancelled = time.monotonic()
            return True
        if not self.queue.cancel(id):
            return False
        self.changed()
        return True

    def interrupt(self) -> bool:
        """Cancel the run that runs; False where none does."""
        run = self._feed.run
        return run is not None and self.cancel(run.id)

    def free(self, models: bool, results: bool) -> None:
        """Let the worker drop compiled models or kept results, once it does not run."""
        self._send({"do": "free", "models": models, "results": results})

    def ask_devices(self) -> None:
        """Let the worker look for devices anew, once it does not run; `state` tells."""
        self._send({"do": "devices"})

    def restart(self, reason: str) -> None:
        """End the worker and start another; a run in its midst has failed."""
        if self._worker:
            self._worker.end(reason)

    def said(self) -> list[str]:
        """Give the worker's last lines on standard error."""
        return self._worker.said if self._worker else []

    @property
    def running_nodes(self) -> list[str]:
        """Name the nodes that run now, the newest last."""
        return self._worker.nodes if self._worker and self._feed.run else []

    async def _keep(self) -> None:
        """Start a worker, and another when it has ended, for as long as the server lives."""
        failures = 0
        while not self._stopping:
            begun, ended = time.monotonic(), self._feed.ended
            how = await self._live()
            worker, self._worker = self._worker, None
            if self._stopping:
                return
            well = self._ready and time.monotonic() - begun > _WELL
            failures = 0 if well or self._feed.ended > ended or self._feed.run else failures + 1
            if worker:
                self._tell(self._feed.died(f"the worker process died: {how}", worker.nodes))
            again = self.state.restarts + 1
            self._set(phase="waiting", pid=0, problem=how, devices=None, restarts=again)
            if failures:
                await asyncio.sleep(min(self.limits.backoff, 0.25 * 2.0**failures))

    async def _live(self) -> str:
        """Start one worker and listen to it until it ends; gives how it ended."""
        self._ready = self._freeing = False
        try:
            worker = await worker_process.start(
                self.settings, self._trail, self.limits.silence, self._command
            )
        except OSError as error:
            return f"no process can be started: {error}"
        self._worker = worker
        self._set(phase="starting", pid=worker.pid)
        if self._stopping:
            worker.end("the server stops")
        return await worker.listen(self._on_frame)

    async def _watch(self) -> None:
        """Look at the limits again and again."""
        last = time.monotonic()
        while True:
            await asyncio.sleep(_TICK)
            now = time.monotonic()
            # Where the computer slept, or we were too busy to listen, the worker is not at fault.
            slept, last = now - last > 20 * _TICK, now
            self._tell(self._feed.record())
            if self._feed.problem:  # a full disk may have room again
                self._begin()
            if self._worker is None:
                continue
            if slept:
                self._worker.heard = now
            if now - self._worker.heard > self.limits.silence + _GRACE:
                self.restart(worker_process.SILENT)
            since = self._feed.cancelled if self._feed.run else 0.0
            if since and now - since > self.limits.cancel:
                self.restart(f"it did not stop within {self.limits.cancel:g} s of a cancel")

    def _on_frame(self, messages: Sequence[Mapping[str, Json]], blob: bytes) -> None:
        """Deal with what the worker says."""
        told: list[Told] = []
        at = 0
        for message in messages:
            if "run" in message:
                size = int(message.get("preview", 0))
                told += self._feed.take(message, blob[at : at + size])
                at += size
            else:
                self._on_worker(message)
        self._tell(told)
        for message in messages:
            if message["kind"] == "run-ended":
                self._after_run(message["rss"])

    def _on_worker(self, message: Mapping[str, Json]) -> None:
        """Deal with what the worker says of itself."""
        match message["kind"]:
            case "ready":
                self._ready = True
                self._set(phase="ready", nodes=message["nodes"], broken=message["broken"])
                self._begin()
            case "devices":
                self._set(**{name: value for name, value in message.items() if name != "kind"})
            case "beat":
                if abs(message["rss"] - self.state.rss) > _STEP:
                    self._set(rss=message["rss"])
            case "freed":
                self._set(rss=message["rss"])
                too_large = self._freeing and message["rss"] > self.limits.memory
                self._freeing = False
                if too_large:
                    held = f"{message['rss'] / 2**20:.0f} MiB"
                    most = f"{self.limits.memory / 2**20:.0f} MiB"
                    self.restart(f"it held {held} after its caches were dropped, of {most}")
                self._begin()
            case _:  # refused
                self.restart(message["problem"])

    def _after_run(self, rss: int) -> None:
        """Go on with the next run, unless the worker has grown too large."""
        if 0 < self.limits.memory < rss and not self._feed.stuck:
            self._freeing = True
            self.free(models=True, results=True)
        self._begin()

    def _begin(self) -> None:
        """Give the worker the next run, if it can take one."""
        worker = self._worker
        if not self._ready or self._freeing or self._stopping or worker is None or worker.reason:
            return
        run = self._feed.begin()
        if run is not None:
            asked = {"prompt": run.prompt, "extra_data": run.extra_data, "targets": run.targets}
            hint = run.options.get("device")
            worker.send({"do": "run", "run": run.id, "device": hint, **asked})
        phase: Phase = "busy" if self._feed.run else "ready"
        if phase != self.state.phase:  # told by the run's own messages
            self.state = replace(self.state, phase=phase)
        if self._feed.problem != self.state.queue_problem:
            self._set(queue_problem=self._feed.problem)

    def _send(self, message: dict[str, Json]) -> None:
        if self._worker:
            self._worker.send(message)

    def _set(self, **changes: Any) -> None:
        """Change the worker's state, and tell of it."""
        self.state = replace(self.state, **changes)
        self._tell([self.worker_told()])

    def worker_told(self) -> Told:
        """Tell how the worker is."""
        state = self.state
        return Told("worker", {name: getattr(state, name) for name in WorkerState.__slots__})

    def _tell(self, told: Sequence[Told]) -> None:
        for listener in list(self._listeners) if told else ():
            try:
                listener(told)
            except Exception as error:  # one listener's mistake must not end a worker or a run
                loop = asyncio.get_running_loop()
                loop.call_exception_handler({"message": "a listener failed", "exception": error})
