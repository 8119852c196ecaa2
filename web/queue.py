"""Runs that wait, run and have ended, in one SQLite file: a kill at any moment loses none."""

from __future__ import annotations

import json
import sqlite3
import time
import uuid
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from vinode.graph.errors import Fault
from vinode.web.queue_file import open_file
from vinode.web.run_row import FIELDS, LIGHT, LISTED, ended_with_server, run_of, whole
from vinode.web.runs import Ended, NewRun, Queued, QueueError, Run, RunState

TRIES = 2  # times a run is begun before it is taken to be what ends the server
KEPT = 10_000  # ended runs
MOST = 10_000  # waiting runs


class Queue:
    """The queue and the history. Belongs to the thread that made it; every call is one transaction.

    What happens to a run that runs while the server is killed: the next start puts it back to where
    it waited, once. If the server ends in its midst a second time, it has failed. A run whose end
    was recorded never runs again, and nobody is told of an end before it is recorded.

    note    what the user must know of the file, or ""
    paused  no run is begun; kept over a restart
    """

    def __init__(self, path: Path) -> None:
        opened = open_file(path)
        self.path, self.note = path, opened.note
        self._db = opened.connection
        # Kept beside the file, for no other process writes it: a run asks for them many times.
        self.paused = bool(self._one("SELECT count(*) FROM setting WHERE name = 'paused'"))
        self._last_seq = int(self._one("SELECT max(seq) FROM sqlite_sequence") or 0)
        self._last_end = float(self._one("SELECT max(ended) FROM run WHERE ended > 0") or 0)
        self.interrupted = self._recover()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> Queue:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # Waiting runs.

    def submit(self, new: NewRun) -> Queued:
        """Accept a run; QueueError where its id is taken, or the queue or the disk is full."""
        if self.remaining() >= MOST:
            fault = Fault("the queue", f"{MOST:,} runs wait already", fix="wait, or clear it")
            raise QueueError(replace(fault, code="queue-full"))
        id = new.id or str(uuid.uuid4())
        number = new.number
        if number is None:
            number = self._before_all() if new.front else self._last_seq + 1.0
        values = [
            id,
            number,
            *(whole(text) for text in (new.client_id, new.prompt, new.extra_data)),
            json.dumps(new.targets),
            json.dumps(dict(new.options)),
            time.time(),
        ]
        insert = (
            "INSERT INTO run (id, state, number, client_id, prompt, extra_data, targets, options,"
            " accepted) VALUES (?, 'pending', ?, ?, ?, ?, ?, ?, ?) RETURNING seq"
        )
        with self._refusing():
            try:
                ((self._last_seq,),) = self._db.execute(insert, values).fetchall()
            except sqlite3.IntegrityError:
                fix = "leave the id out to be given one"
                fault = Fault("prompt_id", "another run has it", id, fix, "id-taken")
                raise QueueError(fault) from None
        return Queued(id, number)

    def pending(self) -> list[Run]:
        """Give the runs that wait, in the order in which they will run."""
        return self._runs("WHERE state = 'pending' ORDER BY number, seq")

    def running(self) -> list[Run]:
        """Give the runs that run: one, or none."""
        return self._runs("WHERE state = 'running' ORDER BY seq")

    def remaining(self) -> int:
        """Count the runs that wait and run."""
        count = "SELECT count(*) FROM run WHERE state = "
        return int(self._one(f"SELECT ({count}'pending') + ({count}'running')") or 0)

    def take(self) -> Run | None:
        """Begin the next run; None where none waits, or the queue is paused."""
        if self.paused:
            return None
        with self._refusing():
            rows = self._db.execute(
                "UPDATE run SET state = 'running', started = ?, tries = tries + 1 WHERE seq ="
                " (SELECT seq FROM run WHERE state = 'pending' ORDER BY number, seq LIMIT 1)"
                f" RETURNING {FIELDS}",
                (time.time(),),
            ).fetchall()
        return run_of(rows[0]) if rows else None

    def put_back(self, id: str, tried: bool = False) -> bool:
        """Let a run that was begun wait again; False: it does not run. `tried`: it counts."""
        return self._touch(
            "UPDATE run SET state = 'pending', started = 0, tries = tries - ?"
            " WHERE id = ? AND state = 'running'",
            0 if tried else 1,
            id,
        )

    def finish(self, id: str, ended: Ended) -> bool:
        """Record a run's end; False where it does not run. Only then may anybody be told of it."""
        with self._refusing():
            return self._end(id, "running", ended)

    def cancel(self, id: str) -> bool:
        """Take a waiting run out; it is in the history as cancelled. False: it does not wait."""
        with self._refusing():
            return self._end(id, "pending", Ended("cancelled"))

    def delete(self, ids: Sequence[str]) -> list[str]:
        """Forget runs, waiting or ended, but not one that runs; gives those that were there."""
        statement = "DELETE FROM run WHERE id = ? AND state != 'running'"
        with self._change():
            return [id for id in ids if self._db.execute(statement, (id,)).rowcount]

    def clear(self) -> int:
        """Forget all that wait; gives how many."""
        with self._change():
            return self._db.execute("DELETE FROM run WHERE state = 'pending'").rowcount

    def prioritize(self, id: str, number: float) -> bool:
        """Give a waiting run another priority; False: it does not wait."""
        return self._touch(
            "UPDATE run SET number = ? WHERE id = ? AND state = 'pending'", number, id
        )

    def to_front(self, id: str) -> bool:
        """Let a waiting run be the next; False: it does not wait."""
        return self.prioritize(id, self._before_all())

    def move(self, id: str, position: int) -> bool:
        """Put a waiting run at a place among those that wait, from 0; False: it does not wait."""
        with self._change():
            select = "SELECT id FROM run WHERE state = 'pending' ORDER BY number, seq"
            order = [str(row[0]) for row in self._db.execute(select)]
            if id not in order:
                return False
            order.remove(id)
            order.insert(max(0, position), id)
            select = "SELECT number FROM run WHERE state = 'pending' ORDER BY number, seq"
            numbers = [float(row[0]) for row in self._db.execute(select)]
            # The numbers stay and the runs move along them; equal ones would not tell them apart.
            for place in range(1, len(numbers)):
                numbers[place] = max(numbers[place], numbers[place - 1] + 1e-6)
            update = "UPDATE run SET number = ? WHERE id = ?"
            self._db.executemany(update, zip(numbers, order, strict=True))
        return True

    def pause(self) -> None:
        """Begin no further run."""
        self._touch("INSERT OR IGNORE INTO setting VALUES ('paused', '1')")
        self.paused = True

    def resume(self) -> None:
        """Begin runs again."""
        self._touch("DELETE FROM setting WHERE name = 'paused'")
        self.paused = False

    # Runs that have ended.

    def get(self, id: str) -> Run | None:
        """Give a run, whatever its state."""
        found = self._runs("WHERE id = ?", whole(id))
        return found[0] if found else None

    def history(
        self, limit: int, before: float | None = None, offset: int = 0, light: bool = False
    ) -> list[Run]:
        """Give runs that have ended, the newest first; without reports, which `get` gives.

        before  only those that ended before this; `ended` of the last run gives the next page
        light   leave prompt, extra data and messages empty as well
        """
        where = "WHERE ended > 0 AND ended < ? ORDER BY ended DESC LIMIT ? OFFSET ?"
        until = before if before is not None else 1e300
        return self._runs(where, until, limit, offset, fields=LIGHT if light else LISTED)

    def ended(self) -> int:
        """Count the runs of the history."""
        return int(self._one("SELECT count(*) FROM run WHERE ended > 0") or 0)

    def clear_history(self) -> int:
        """Forget all that have ended; gives how many."""
        with self._change():
            return self._db.execute("DELETE FROM run WHERE ended > 0").rowcount

    def prune(self, keep: int = KEPT) -> int:
        """Forget all but the newest of those that have ended; gives how many."""
        with self._change():
            return self._db.execute(
                "DELETE FROM run WHERE ended > 0 AND ended <="
                " (SELECT ended FROM run WHERE ended > 0 ORDER BY ended DESC LIMIT 1 OFFSET ?)",
                (keep,),
            ).rowcount

    def rerun(self, id: str, client_id: str | None = None) -> Queued | None:
        """Accept a run anew under an id of its own; None where there is none of that id."""
        run = self.get(id)
        if run is None:
            return None
        client = run.client_id if client_id is None else client_id
        new = NewRun(run.prompt, client_id=client, extra_data=run.extra_data)
        return self.submit(replace(new, targets=run.targets, options=run.options))

    def _recover(self) -> tuple[str, ...]:
        """Deal with what ran when the server was killed; gives the runs that wait again."""
        with self._change():
            again = self._db.execute(
                "UPDATE run SET state = 'pending' WHERE state = 'running' AND tries < ?"
                " RETURNING id",
                (TRIES,),
            ).fetchall()
            lost = self._db.execute("SELECT id FROM run WHERE state = 'running'").fetchall()
            for (id,) in lost:
                self._end(id, "running", ended_with_server(id, TRIES))
        return tuple(str(id) for (id,) in again)

    def _end(self, id: str, state: RunState, ended: Ended) -> bool:
        # Times are told apart, for they are how the history is paged.
        now = time.time()
        if now <= self._last_end < now + 1:
            now = self._last_end + 1e-6
        update = (
            "UPDATE run SET state = ?, outputs = ?, messages = ?, report = ?, ended = ?"
            " WHERE id = ? AND state = ?"
        )
        values = (ended.state, ended.outputs, ended.messages, ended.report, now, id, state)
        found = bool(self._db.execute(update, values).rowcount)
        self._last_end = now if found else self._last_end
        return found

    def _before_all(self) -> float:
        least = self._one("SELECT min(number) FROM run WHERE state = 'pending'")
        return min(0.0, float(least or 0.0)) - 1.0

    def _one(self, statement: str) -> float | None:
        (value,) = self._db.execute(statement).fetchone()
        return None if value is None else float(value)

    def _runs(self, where: str, *values: object, fields: str = FIELDS) -> list[Run]:
        with self._refusing():
            rows = self._db.execute(f"SELECT {fields} FROM run {where}", values)
            return [run_of(row) for row in rows]

    def _touch(self, statement: str, *values: object) -> bool:
        with self._refusing():
            return bool(self._db.execute(statement, values).rowcount)

    @contextmanager
    def _change(self) -> Generator[None]:
        """Make one transaction of several statements; one alone is a transaction by itself."""
        with self._refusing():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # a full disk has rolled back by itself
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _refusing(self) -> Generator[None]:
        """Turn what the disk refuses into a QueueError; nothing has changed then."""
        try:
            yield
        except sqlite3.Error as error:
            full = "full" in str(error) or "disk I/O" in str(error)
            fix = "make room on the disk" if full else "start the server anew"
            problem = f"the queue's file refuses: {error}"
            code = "disk-full" if full else "queue"
            raise QueueError(Fault(str(self.path), problem, fix=fix, code=code)) from None
