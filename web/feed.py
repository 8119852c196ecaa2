"""The run that runs: taken from the queue, told as it goes, and told as over once recorded."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence

from vinode.graph.strict_json import Json
from vinode.web.chronicle import Chronicle, Message
from vinode.web.queue import TRIES, Queue
from vinode.web.runs import Ended, EndState, QueueError, Run
from vinode.web.told import Told

_PRUNED = 100  # ended runs between two cuts of the history


class Feed:
    """Between queue and worker; one run at a time. What it gives is what listeners are told.

    cancelled  monotonic time at which the run was cancelled; 0: it was not
    problem    why the queue's file cannot be written now, or ""
    ended      how many runs have ended here
    """

    def __init__(self, queue: Queue) -> None:
        self.queue = queue
        self.cancelled = 0.0
        self.problem = ""
        self.ended = 0
        self._now: Chronicle | None = None
        self._unrecorded: tuple[Ended, list[Message]] | None = None

    @property
    def run(self) -> Run | None:
        """Give the run that the worker has; None where it has none."""
        return self._now.run if self._now and not self._unrecorded else None

    @property
    def stuck(self) -> bool:
        """Say whether a run has ended, but could not be recorded."""
        return self._unrecorded is not None

    def begin(self) -> Run | None:
        """Take the next run, if none runs and one waits."""
        if self._now is not None:
            return None
        try:
            run = self.queue.take()
        except QueueError as error:
            self.problem = str(error)
            return None
        self.problem = ""
        if run is not None:
            self._now, self.cancelled = Chronicle(run), 0.0
        return run

    def take(self, message: Mapping[str, Json], preview: bytes) -> list[Told]:
        """Take what the worker says of a run."""
        now = self._now
        if now is None or self._unrecorded or message["run"] != now.run.id:
            return []  # of a run that has been ended already
        if message["kind"] == "run-ended":
            self._unrecorded = now.end(message)
            return self.record()
        run = now.run
        said = [self._execution(run, each) for each in now.add(message)]
        data = {name: value for name, value in message.items() if name not in ("kind", "run")}
        return [*said, Told(message["kind"], data, run.id, run.client_id, preview)]

    def died(self, problem: str, nodes: Sequence[str]) -> list[Told]:
        """End the run whose worker has died; `nodes` ran last."""
        now = self._now
        if now is None or self._unrecorded:
            return []
        if not (now.messages or nodes or self.cancelled) and now.run.tries < TRIES:
            # It died before it began the run, most likely of something else: once more.
            with contextlib.suppress(QueueError):
                self.queue.put_back(now.run.id, tried=True)
                self._now = None
                return [self.queue_told()]
        state: EndState = "cancelled" if self.cancelled else "failed"
        self._unrecorded = now.died(problem, nodes, state)
        return self.record()

    def record(self) -> list[Told]:
        """Record a run's end; where the disk refuses, it is to be tried again."""
        if self._now is None or self._unrecorded is None:
            return []
        run, (ended, messages) = self._now.run, self._unrecorded
        try:
            self.queue.finish(run.id, ended)
            self.ended += 1
            if self.ended % _PRUNED == 0:
                self.queue.prune()
        except QueueError as error:
            self.problem = str(error)
            return []
        self._now = self._unrecorded = None
        self.cancelled, self.problem = 0.0, ""
        over = {"state": ended.state, "seconds": max(0.0, time.time() - run.started)}
        said = [self._execution(run, each) for each in messages]
        return [*said, self.queue_told(), Told("run-ended", over, run.id, run.client_id)]

    def stop(self) -> list[Told]:
        """Let the run wait again, as the server stops; one that was cancelled has ended.

        Where the file refuses that, the next start of the server does it.
        """
        if self.cancelled:
            return self.died("the server stopped", ())
        if self._now is not None and self._unrecorded is None:
            with contextlib.suppress(QueueError):
                self.queue.put_back(self._now.run.id)
            self._now = None
        return self.record()

    def queue_told(self) -> Told:
        """Tell how many runs wait and run."""
        return Told("queue", {"remaining": self.queue.remaining(), "paused": self.queue.paused})

    @staticmethod
    def _execution(run: Run, message: Message) -> Told:
        event, data = message
        return Told("execution", {"event": event, "data": data}, run.id, run.client_id)
