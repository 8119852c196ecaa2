"""A run's events -> messages of the worker, and its report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from vinode.graph.cache import Cache
from vinode.graph.events import (
    Event,
    NodeBlocked,
    NodeExpanded,
    NodeFailed,
    NodeFinished,
    NodeProgress,
    NodeReused,
    NodeSkipped,
    NodeStarted,
    RunStarted,
)
from vinode.graph.plan import Plan
from vinode.graph.strict_json import Json
from vinode.graph.timing import node_json, node_report, report, to_json
from vinode.graph.values import Image
from vinode.graph.workflow import NodeId
from vinode.web.trail import Trail

Post: TypeAlias = Callable[[dict[str, Json], Image | None], None]


class Teller:
    """Tells of one run as it goes. Called with one event at a time, from any thread."""

    def __init__(self, run: str, plan: Plan, cache: Cache, post: Post, trail: Trail) -> None:
        self._run, self._plan, self._post, self._trail = run, plan, post, trail
        self._cache = cache
        self._kept: list[Event] = []
        self._entries: dict[NodeId, Json] = {}
        self._blocked: dict[NodeId, str] = {}
        self._roots: dict[NodeId, NodeId] = {}
        self._running: dict[NodeId, None] = {}
        self._start = 0

    def tell(self, event: Event) -> None:
        """Tell of an event."""
        match event:
            case NodeProgress():  # not kept: there are many, and previews are large
                told = {"done": event.done, "total": event.total, "note": event.note}
                self._send("node-progress", event.node, told, event.preview)
                return
            case NodeStarted():
                self._running[event.node] = None
                self._trail.write(list(self._running))
                self._send("node-started", event.node, {"lane": event.lane})
            case NodeFinished() | NodeFailed() | NodeSkipped():
                if self._running.pop(event.node, self) is None:
                    self._trail.write(list(self._running))
                entry = self._entry(event)
                self._entries[event.node] = entry
                self._send("node-ended", event.node, {"entry": entry})
            case NodeReused():
                self._send("node-reused", event.node, {"shown": event.shown})
            case NodeExpanded():
                root = self._roots.get(event.node, event.node)
                self._roots.update(dict.fromkeys(event.children, root))
                self._send("node-expanded", event.node, {"children": event.children})
            case NodeBlocked():
                self._blocked[event.node] = event.message
                self._send("node-blocked", event.node, {"message": event.message})
            case RunStarted():
                self._start = event.time
                told = {"steps": event.steps, "reused": self._standing()}
                self._post({"kind": "run-started", "run": self._run, **told}, None)
            case _:
                pass
        self._kept.append(event)

    def report(self) -> dict[str, Json]:
        """Give the report of the run, once it is over."""
        return to_json(report(self._kept, self._plan.graph), self._entries)

    def _send(
        self, kind: str, node: NodeId, told: Mapping[str, Json], preview: Image | None = None
    ) -> None:
        message = {"kind": kind, "run": self._run, "node": node, **told}
        root = self._roots.get(node)
        if root is not None:  # a node of an expansion is shown as the one in the workflow
            message["root"] = root
        self._post(message, preview)

    def _entry(self, event: NodeFinished | NodeFailed | NodeSkipped) -> dict[str, Json]:
        known = self._plan.graph.nodes.get(self._roots.get(event.node, event.node))
        return node_json(node_report(event, known, self._blocked), self._start)

    def _standing(self) -> list[str]:
        """Give all nodes whose results stand: the plan itself needs only the last of a chain."""
        steps = {step.id for step in self._plan.steps}
        keys = self._plan.keys.items()
        return [id for id, key in keys if id not in steps and self._cache.get(key) is not None]
