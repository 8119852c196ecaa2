"""The queue's file: damaged, of another version, on a full disk, in a folder that is none."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.web.test_queue import NEW, end, order, submit
from vinode.web.queue import Queue
from vinode.web.queue_file import MIGRATIONS
from vinode.web.runs import QueueError


@pytest.mark.parametrize("content", [b"no database", os.urandom(20_000), b"SQLite format 3\0" * 99])
def test_a_file_that_is_no_database_is_moved_aside(tmp_path: Path, content: bytes) -> None:
    """It is not lost, the user is told where it is, and a new queue works."""
    path = tmp_path / "queue.sqlite"
    path.write_bytes(content)
    with Queue(path) as queue:
        assert queue.note.startswith(f"{path}: the queue was damaged (")
        submit(queue, "a")
        assert order(queue) == ["a"]
    (aside,) = tmp_path.glob("queue.damaged-*.sqlite")
    assert aside.read_bytes() == content
    assert aside.name in queue.note
    with Queue(path) as queue:
        assert (queue.note, order(queue)) == ("", ["a"])


def test_a_page_overwritten_is_damage(tmp_path: Path) -> None:
    """Found at the start, not in the middle of a run."""
    path = tmp_path / "queue.sqlite"
    with Queue(path) as queue:
        end(queue, *map(str, range(200)))
    content = bytearray(path.read_bytes())
    content[8192:12288] = os.urandom(4096)
    path.write_bytes(content)
    with Queue(path) as queue:
        assert "the queue was damaged" in queue.note
        assert queue.history(1) == []


def test_a_queue_of_a_newer_program_is_left_alone(tmp_path: Path) -> None:
    """It is refused with what to do."""
    path = tmp_path / "queue.sqlite"
    with Queue(path) as queue:
        submit(queue, "a")
    newer = len(MIGRATIONS) + 1
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {newer}")
    connection.close()
    with pytest.raises(QueueError, match=f"is of a newer vinode; got {newer}; update vinode"):
        Queue(path)
    assert [each.name for each in tmp_path.glob("*damaged*")] == []


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    """One sentence."""
    (tmp_path / "file").touch()
    with pytest.raises(QueueError, match="the queue cannot be opened"):
        Queue(tmp_path / "file" / "queue.sqlite")


def test_half_a_migration_is_none(tmp_path: Path) -> None:
    """A kill in the middle of making the tables leaves a file that opens."""
    path = tmp_path / "queue.sqlite"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    with Queue(path) as queue:
        submit(queue, "a")
        assert (queue.note, order(queue)) == ("", ["a"])


FULL = """
import resource, signal, sys
from dataclasses import replace
from pathlib import Path
from tests.web.test_queue import NEW
from vinode.web.queue import Queue
from vinode.web.runs import Ended, QueueError

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with Queue(Path(sys.argv[1])) as queue:
    queue.submit(replace(NEW, id="runs"))
    queue.take()
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
    accepted = 0
    try:
        while True:
            queue.submit(replace(NEW, extra_data="x" * 20_000))
            accepted += 1
    except QueueError as error:
        print(accepted, error.faults[0].code)
    assert queue.remaining() == accepted + 1
    try:
        queue.finish("runs", Ended("done", report="x" * 100_000))
    except QueueError as error:
        print(error.faults[0].fix)
    assert [run.id for run in queue.running()] == ["runs"]
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    assert queue.finish("runs", Ended("done"))
    queue.submit(NEW)
    print(queue.remaining())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows limits no process's files")
def test_a_full_disk_refuses_and_loses_nothing(tmp_path: Path) -> None:
    """What was accepted before stays; once there is room, all goes on."""
    path = tmp_path / "queue.sqlite"
    words = [sys.executable, "-c", FULL, str(path)]
    root = Path(__file__).parents[2]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", cwd=root)
    assert done.stderr == ""
    accepted, code, *fix, total = done.stdout.split()
    assert (code, " ".join(fix)) == ("disk-full", "make room on the disk")
    assert int(total) == int(accepted) + 1
    with Queue(path) as queue:
        assert len(queue.pending()) == int(total)
        assert {run.prompt for run in queue.pending()} == {NEW.prompt}
