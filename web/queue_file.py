"""The file of the queue: opened, brought to the newest schema, or moved aside where damaged."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path

from vinode.graph.errors import Fault
from vinode.web.runs import QueueError

# user_version n has had the first n of these. A released one is never changed, only followed.
MIGRATIONS = (
    """
    CREATE TABLE run (
        seq        INTEGER PRIMARY KEY AUTOINCREMENT,
        id         TEXT NOT NULL UNIQUE,
        state      TEXT NOT NULL,
        number     REAL NOT NULL,
        client_id  TEXT NOT NULL,
        prompt     TEXT NOT NULL,
        extra_data TEXT NOT NULL,
        targets    TEXT NOT NULL,
        options    TEXT NOT NULL,
        accepted   REAL NOT NULL,
        started    REAL NOT NULL DEFAULT 0,
        ended      REAL NOT NULL DEFAULT 0,
        tries      INTEGER NOT NULL DEFAULT 0,
        outputs    TEXT NOT NULL DEFAULT '{}',
        messages   TEXT NOT NULL DEFAULT '[]',
        report     TEXT NOT NULL DEFAULT ''
    );
    CREATE INDEX run_waiting ON run (number, seq) WHERE state = 'pending';
    CREATE INDEX run_running ON run (seq) WHERE state = 'running';
    CREATE INDEX run_ended ON run (ended) WHERE ended > 0;
    CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
    """,
)
_CHECKED = 64 * 2**20  # bytes up to which the whole file is looked through at a start: 0.1 s


@dataclass(frozen=True, slots=True)
class Opened:
    """An open queue file. `note`: what the user must know of it, or ""."""

    connection: sqlite3.Connection
    note: str = ""


def open_file(path: Path) -> Opened:
    """Open the queue's file, or make it. A damaged one is moved aside, and the note says where.

    Raises QueueError where it is of a newer program, or cannot be opened at all.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            return Opened(_open(path))
        except sqlite3.OperationalError:
            raise  # not damage: no permission, a full disk, another program's lock
        except sqlite3.DatabaseError as error:
            aside = _move_aside(path)
            note = f"{path}: the queue was damaged ({error}); it is now {aside.name}, a new one"
            return Opened(_open(path), f"{note} is begun; runs that waited in it are lost")
    except (OSError, sqlite3.Error) as error:
        fix = "see that the folder can be written to, and that the disk has room"
        fault = Fault(str(path), f"the queue cannot be opened: {error}", fix=fix, code="queue")
        raise QueueError(fault) from None


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=5.0)
    try:
        # NORMAL: what is committed outlives a kill of this process at any moment. A power cut may
        # take the last moments with it, never more, and costs no wait for the disk at every run.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > len(MIGRATIONS):
            fix = f"update vinode, or move {path.name} away"
            fault = Fault(str(path), "the queue is of a newer vinode", f"{version}", fix, "too-new")
            raise QueueError(fault)
        if version and path.stat().st_size <= _CHECKED:
            (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if found != "ok":
                raise sqlite3.DatabaseError(found)
        for number in range(version, len(MIGRATIONS)):
            step = f"BEGIN; {MIGRATIONS[number]} PRAGMA user_version = {number + 1}; COMMIT;"
            connection.executescript(step)
    except BaseException:
        connection.close()
        raise
    return connection


def _move_aside(path: Path) -> Path:
    """Rename a damaged file and what belongs to it; nothing is deleted."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    aside = path.with_name(f"{path.stem}.damaged-{stamp}-{os.getpid()}{path.suffix}")
    os.replace(path, aside)
    for end in ("-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.replace(f"{path}{end}", f"{aside}{end}")
    return aside
