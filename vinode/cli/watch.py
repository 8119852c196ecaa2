"""Progress of a run on a terminal: one bar for the run, one for each node that tells of itself."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

from vinode.graph.events import (
    Event,
    NodeFailed,
    NodeFinished,
    NodeProgress,
    NodeReused,
    NodeSkipped,
)
from vinode.graph.workflow import NodeId


def silent(event: Event) -> None:
    """Show nothing."""


@contextmanager
def watch(steps: int, quiet: bool) -> Generator[Callable[[Event], None]]:
    """Show progress on standard error while the run goes on, where that is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress, TaskID

    with Progress(console=Console(stderr=True), transient=True) as bars:
        whole = bars.add_task("workflow", total=steps)
        shown: dict[NodeId, TaskID] = {}

        def tell(event: Event) -> None:
            match event:
                case NodeProgress():
                    if event.node not in shown:
                        shown[event.node] = bars.add_task("", total=event.total)
                    name = escape(f"node {event.node} {event.note}")
                    bars.update(
                        shown[event.node],
                        description=name,
                        completed=event.done,
                        total=event.total,
                    )
                case NodeFinished() | NodeFailed() | NodeSkipped() | NodeReused():
                    if event.node in shown:
                        bars.remove_task(shown.pop(event.node))
                    bars.advance(whole)
                case _:
                    pass

        yield tell
