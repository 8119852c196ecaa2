"""Files of the model store: hashes, locks, and folders that appear whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeAlias

from filelock import FileLock, Timeout

from vinode.graph import whole_file
from vinode.graph.errors import Cancelled, Fault, ModelError
from vinode.graph.whole_file import PART, put

BLOCK = 1 << 20  # bytes read at once: progress and cancel are looked at this often
LOCK_POLL_SECONDS = 0.2
OLD = ".old"

Progress: TypeAlias = Callable[[str, int, int], None]


def quiet(step: str, done: int, total: int) -> None:
    """Tell nobody."""


def never() -> bool:
    """Say that nobody cancelled."""
    return False


@dataclass(frozen=True, slots=True)
class Watch:
    """Who watches a long job.

    progress   told the step ("download"), how much is done and of how much; total 0: unknown
    cancelled  asked between blocks whether to stop
    """

    progress: Progress = quiet
    cancelled: Callable[[], bool] = never

    def tell(self, step: str, done: int = 0, total: int = 0) -> None:
        """Report progress; raises Cancelled where the job was cancelled."""
        if self.cancelled():
            raise Cancelled
        self.progress(step, done, total)


UNWATCHED = Watch()


def sha256_of(path: Path, watch: Watch = UNWATCHED) -> str:
    """Hash a file of any size, block by block."""
    digest, done, total = hashlib.sha256(), 0, path.stat().st_size
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
            done += len(block)
            watch.tell("hash", done, total)
    return digest.hexdigest()


def copy_hashed(source: IO[bytes], target: Path, total: int, watch: Watch) -> tuple[str, int]:
    """Copy a stream to a file; gives its sha256 and bytes. Stops one block beyond `total`."""
    digest, done = hashlib.sha256(), 0
    with target.open("wb") as file:
        while done <= total and (block := source.read(BLOCK)):
            file.write(block)
            digest.update(block)
            done += len(block)
            watch.tell("copy", done, total)
    return digest.hexdigest(), done


def canonical_json(value: object) -> str:
    """Write JSON that is the same for equal values: keys sorted, no spaces, no NaN.

    >>> canonical_json({"b": [1, 2], "a": None})
    '{"a":null,"b":[1,2]}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def write_whole(path: Path, text: str) -> None:
    """Write a small file so that a reader sees the old or the new text, never a part of it."""
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        whole_file.write_whole(path, text.encode())


_SENTENCES = {
    errno.ENOSPC: ("the disk is full", "free some space or give another folder: --models DIR"),
    errno.EROFS: ("the disk is read-only", "give another folder: --models DIR"),
    errno.EACCES: ("permission denied", "give a folder that you may write to: --models DIR"),
    errno.EPERM: ("permission denied", "give a folder that you may write to: --models DIR"),
    errno.EEXIST: ("a file stands where a folder is needed", "move it away"),
    errno.ENOTDIR: ("a file stands where a folder is needed", "move it away"),
}


@contextmanager
def disk_errors(place: Path) -> Generator[None, None, None]:
    """Turn an error of the disk into one sentence with the place and the fix."""
    try:
        yield
    except OSError as error:
        code = error.errno or 0
        problem, fix = _SENTENCES.get(code, (error.strerror or str(error), ""))
        where = str(error.filename or place)
        raise ModelError(Fault(where, problem, fix=fix, code="model-disk")) from error


@contextmanager
def locked(path: Path, watch: Watch = UNWATCHED) -> Generator[None, None, None]:
    """Hold a lock across processes; the system frees it when its holder dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    while not lock.is_locked:
        watch.tell("wait")
        try:
            lock.acquire(timeout=LOCK_POLL_SECONDS)
        except Timeout:
            continue
    try:
        yield
    finally:
        lock.release()


def publish(
    target: Path,
    lock: Path,
    is_whole: Callable[[], bool],
    fill: Callable[[Path], None],
    watch: Watch = UNWATCHED,
) -> None:
    """Make a folder that appears whole or not at all.

    Only the holder of the lock works beside `target`, so what lies there when the lock is got is
    left by a killed process. Nothing is flushed to the disk by force: after a power cut the hash
    in the record differs, and the folder is made again.

    is_whole  asked under the lock: another process may have made the folder meanwhile
    fill      writes the files into an empty folder
    """
    part, old = target.with_name(target.name + PART), target.with_name(target.name + OLD)
    with disk_errors(target), locked(lock, watch):
        if is_whole():
            return
        _discard(part, old)
        try:
            part.mkdir(parents=True)
            fill(part)
            if target.exists():
                put(target, old)
            put(part, target)
        finally:
            _discard(part, old)


def remove(target: Path, lock: Path) -> None:
    """Remove a folder as a whole: moved aside first, so that no reader sees half of it."""
    old = target.with_name(target.name + OLD)
    with disk_errors(target), locked(lock):
        if target.exists():
            _discard(old)
            put(target, old)
        _discard(old)


def sweep(parent: Path, locks: Path) -> list[str]:
    """Remove what killed processes left in a folder; gives the names removed."""
    removed: list[str] = []
    if not parent.is_dir():
        return removed
    for left in sorted(parent.iterdir()):
        if left.suffix not in (PART, OLD) or not left.is_dir():
            continue
        lock = FileLock(locks / f"{left.stem}.lock")
        try:
            lock.acquire(timeout=0)
        except (Timeout, OSError):  # somebody is at work there, or we may not write: leave it
            continue
        try:
            _discard(left)
            removed.append(left.name)
        finally:
            lock.release()
    return removed


def _discard(*folders: Path) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
