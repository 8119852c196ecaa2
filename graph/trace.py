"""A run's report -> the Chrome trace event format, which Perfetto and chrome://tracing open."""

from __future__ import annotations

from collections.abc import Iterator

from vinode.graph.events import NodeTiming, Span
from vinode.graph.timing import NodeReport, Report
from vinode.graph.workflow import Json

_US = 1e-3  # microseconds in a nanosecond: the unit of a Chrome trace


def to_trace(done: Report) -> dict[str, Json]:
    """Give a report as a trace: a row for each node that its lane ran at the same time.

    A visit of a node to its lane is a span with its phases as spans inside it. Waiting is left out
    of the rows: it overlaps with what the lane does meanwhile; it stands in the node's args.
    """
    rows: dict[tuple[str, int], int] = {}
    ends: dict[str, list[int]] = {}
    events: list[Json] = []
    visits = [
        (start, end, node, node.timing)
        for node in done.nodes
        if node.timing
        for start, end in node.timing.visits or ((node.timing.start, node.timing.end),)
    ]
    for start, end, node, timing in sorted(visits, key=lambda visit: visit[:2]):
        place = _place(ends.setdefault(timing.lane, []), start, end)
        row = rows.setdefault((timing.lane, place), len(rows) + 1)
        name = f"{node.title} ({node.id})"
        events.append(_span(name, "node", start, end, done.start, row, _args(node, timing)))
        events += [
            _span(span.phase, "phase", span.start, span.end, done.start, row, {})
            for span in _inside(timing, start, end)
        ]
        events += [
            _span(f"step {number}", "step", *step, done.start, row, {})
            for number, step in enumerate(timing.steps, 1)
            if start <= step[0] and step[1] <= end
        ]
    names = [_row_name(row, lane, place) for (lane, place), row in rows.items()]
    return {"traceEvents": [*names, *events], "displayTimeUnit": "ms"}


def _place(ends: list[int], start: int, end: int) -> int:
    """Give the first row of a lane that is free again, or a new one."""
    for place, taken in enumerate(ends):
        if taken <= start:
            ends[place] = end
            return place
    ends.append(end)
    return len(ends) - 1


def _inside(timing: NodeTiming, start: int, end: int) -> Iterator[Span]:
    for span in timing.spans:
        if span.phase != "wait" and start <= span.start and span.end <= end:
            yield span


def _args(node: NodeReport, timing: NodeTiming) -> dict[str, Json]:
    args: dict[str, Json] = {"id": node.id, "wait_ms": timing.phases.get("wait", 0) / 1e6}
    if node.placement:
        args |= {"where": node.placement.where, "requested": node.placement.requested}
    return args


def _span(
    name: str, category: str, start: int, end: int, zero: int, row: int, args: Json
) -> dict[str, Json]:
    times = {"ts": (start - zero) * _US, "dur": (end - start) * _US}
    return {"name": name, "cat": category, "ph": "X", "pid": 1, "tid": row, **times, "args": args}


def _row_name(row: int, lane: str, place: int) -> dict[str, Json]:
    name = f"{lane} {place + 1}" if lane in ("host", "async") else lane
    return {"name": "thread_name", "ph": "M", "pid": 1, "tid": row, "args": {"name": name}}
