"""A run's report as it is kept -> the Chrome trace event format, which Perfetto opens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vinode.graph.strict_json import Json

_US = 1e6  # microseconds in a second: the unit of a Chrome trace


def trace_of(report: Mapping[str, Any]) -> dict[str, Json]:
    """Give a saved report as a trace: a row for each node that its lane ran at the same time.

    A node is a span from its start to its end, without the time that it waited; a saved report
    has the sums of its phases, not their places, so they stand in the span's args.
    """
    timed: Sequence[Mapping[str, Any]] = [node for node in report["nodes"] if "phases" in node]
    rows: dict[tuple[str, int], int] = {}
    ends: dict[str, list[float]] = {}
    events: list[Json] = []
    for node in sorted(timed, key=_begin):
        lane, start, end = str(node["lane"]), _begin(node), float(node["end"])
        place = _place(ends.setdefault(lane, []), start, end)
        row = rows.setdefault((lane, place), len(rows) + 1)
        spent = {f"{phase}_ms": seconds * 1e3 for phase, seconds in node["phases"].items()}
        where = {"where": node["placement"]["where"]} if "placement" in node else {}
        times = {"ts": start * _US, "dur": max(0.0, end - start) * _US}
        named = {"name": f"{node['title']} ({node['id']})", "cat": "node", "ph": "X", "pid": 1}
        args: dict[str, Json] = {"id": node["id"], "type": node["type"], **where, **spent}
        events.append({**named, "tid": row, **times, "args": args})
    names = [
        {"name": "thread_name", "ph": "M", "pid": 1, "tid": row, "args": {"name": lane}}
        for (lane, _), row in rows.items()
    ]
    return {"traceEvents": [*names, *events], "displayTimeUnit": "ms"}


def _begin(node: Mapping[str, Any]) -> float:
    """Give when a node began: from when it was ready it first waited for its lane."""
    return float(node["start"]) + float(node["phases"].get("wait", 0.0))


def _place(ends: list[float], start: float, end: float) -> int:
    for place, free in enumerate(ends):
        if free <= start:
            ends[place] = end
            return place
    ends.append(end)
    return len(ends) - 1
