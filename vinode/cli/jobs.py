"""A long job on the command line: its progress, and Ctrl-C as its cancel."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

Progress = Callable[[str, int, int], None]


@contextmanager
def cancel_on_signals() -> Generator[threading.Event]:
    """Turn Ctrl-C and a request to end into a cancel; a second one ends at once."""
    cancel = threading.Event()

    def stop(number: int, frame: object) -> None:
        if cancel.is_set():
            raise KeyboardInterrupt
        cancel.set()

    # Only the main thread may set handlers; elsewhere the caller cancels by other means.
    if threading.current_thread() is not threading.main_thread():
        yield cancel
        return
    before = [(number, signal.signal(number, stop)) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        yield cancel
    finally:
        for number, handler in before:
            signal.signal(number, handler)


@contextmanager
def job() -> Generator[tuple[Progress, Callable[[], bool]]]:
    """Give (progress, cancelled) of a job; on a terminal each step has a bar."""
    with cancel_on_signals() as cancel, bars() as progress:
        yield progress, cancel.is_set


@contextmanager
def bars(quiet: bool = False) -> Generator[Progress]:
    """Give a progress that on a terminal has a bar for each step. One at a time."""
    if quiet or not sys.stderr.isatty():
        yield _silent
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    with Bars(console=Console(stderr=True), transient=True) as steps:
        shown: dict[str, TaskID] = {}

        def tell(step: str, done: int, total: int) -> None:
            if step not in shown:
                shown[step] = steps.add_task(escape(step), total=total or None)
            steps.update(shown[step], completed=done, total=total or None)

        yield tell


def _silent(step: str, done: int, total: int) -> None:
    """Show nothing."""
