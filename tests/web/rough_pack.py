"""Nodes that do to their process what bad drivers and careless authors do."""

import os
import re
import signal
import subprocess
import sys
import time
from typing import Annotated

import numpy as np

from vinode import Context, Image, Range, node

_held: list[object] = []  # what Hog does not give back


@node("rough.Sleep", category="test", output=True)
def sleep(context: Context, seconds: float = 60.0, stubborn: bool = False) -> int:
    """Sleep, and tell by a file that it does.

    seconds   how long
    stubborn  do not ask whether the run was cancelled
    """
    context.folders.output.mkdir(parents=True, exist_ok=True)
    (context.folders.output / f"started-{context.node_id}").touch()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.01)
        if not stubborn:
            context.check_cancelled()
    return 1


@node("rough.Die", category="test", output=True)
def die(how: str = "abort", after: int = 1) -> int:
    """Take the process along.

    how    abort, kill, exit or segfault
    after  an input to wait for
    """
    if how == "abort":
        os.abort()
    if how == "exit":
        os._exit(7)
    if how == "segfault":
        import ctypes

        ctypes.string_at(0)
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
    return 1


@node("rough.Hang", category="test", output=True)
def hang() -> int:
    """Hold Python's lock for ever: no other thread gets a turn."""
    re.match(r"(a+)+$", "a" * 60 + "b")
    return 1


@node("rough.Hog", category="test", output=True)
def hog(mebibytes: Annotated[int, Range(0, 4096)] = 256, mark: int = 0) -> int:
    """Keep memory that no cache knows of.

    mebibytes  how much
    mark       to be another run
    """
    _held.append(np.ones(mebibytes * 2**20, np.uint8))
    return len(_held)


@node("rough.Loud", category="test", output=True)
def loud(context: Context) -> int:
    """Write into standard output by all roads, as libraries do."""
    print("printed")
    os.write(1, b"written\n" * 1000)
    subprocess.run([sys.executable, "-c", "print('printed')"], check=True)
    context.show("text", ["said", 7])
    return 1


@node("rough.Preview", category="test", output=True)
def preview(context: Context) -> int:
    """Tell of progress with a picture."""
    picture = Image(np.full((2, 900, 1200, 4), 0.5, np.float32))
    context.progress(1, 4, picture)
    return 1


@node("rough.Fail", category="test", output=True)
def fail(after: int = 1) -> int:
    """Raise what nobody foresaw.

    after  an input to wait for
    """
    return 1 // (after - after)


@node("rough.Number", category="test")
def number(value: int = 1) -> int:
    """Give a number.

    value  it
    """
    return value
