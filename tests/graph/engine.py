"""Runs small workflows of nodes that a test declares, on the real engine, and keeps the events."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar

from vinode.graph.cache import Cache
from vinode.graph.context import Folders
from vinode.graph.events import Event, NodeFailed, NodeFinished, NodeReused, NodeStarted
from vinode.graph.graph import Graph, build
from vinode.graph.kinds import Kind
from vinode.graph.node import AnyNodeType
from vinode.graph.plan import Plan, make
from vinode.graph.pool import Pool
from vinode.graph.run import Outcome, run
from vinode.graph.workflow import Json, NodeId, from_json

E = TypeVar("E")
Nodes: TypeAlias = Mapping[str, tuple[str, Mapping[str, Json]]]  # id -> class, inputs
Handle = Annotated[
    str, Kind("HANDLE", "a name, compiled where it is used", python=str, is_model=True)
]
FOLDERS = Folders(Path("input"), Path("output"), Path("temp"), ())


@dataclass(frozen=True, slots=True)
class Ran:
    """A run that is over."""

    outcome: Outcome
    events: Sequence[Event]
    graph: Graph
    plan: Plan

    def of(self, kind: type[E]) -> list[E]:
        """Give the events of a kind, in order."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def started(self) -> list[str]:
        """Name the nodes that began, in order."""
        return [event.node for event in self.of(NodeStarted)]

    @property
    def reused(self) -> list[str]:
        """Name the nodes whose earlier result stood."""
        return [event.node for event in self.of(NodeReused)]

    def finished(self, id: str) -> NodeFinished:
        """Give a node's last event."""
        (event,) = [event for event in self.of(NodeFinished) if event.node == id]
        return event

    def failed(self, id: str) -> NodeFailed:
        """Give a node's last event."""
        (event,) = [event for event in self.of(NodeFailed) if event.node == id]
        return event

    def value(self, id: str, slot: int = 0) -> object:
        """Give the one value of a target's output."""
        (value,) = self.outcome.outputs[NodeId(id)][slot]
        return value


@dataclass(slots=True)
class Engine:
    """The engine with some node types; cache and pool stay from run to run, as in a server."""

    types: Mapping[str, AnyNodeType]
    cache: Cache = field(default_factory=Cache)
    pool: Pool = field(default_factory=Pool)
    folders: Folders = FOLDERS
    precision: str = ""  # of the nodes that are placed on a device

    def graph(self, nodes: Nodes, devices: Mapping[str, str] | None = None) -> Graph:
        """Check a workflow; it has to be without faults."""
        document: dict[str, Json] = {
            id: {"class_type": type, "inputs": dict(inputs)} for id, (type, inputs) in nodes.items()
        }
        for id, hint in (devices or {}).items():
            options = {"precision": self.precision} if self.precision else {}
            document[id]["_meta"] = {"device": hint, **options}
        graph = build(from_json(document), self.types, self.folders)
        assert graph.faults == ()
        return graph

    def run(
        self,
        nodes: Nodes,
        targets: Sequence[str] | None = None,
        *,
        devices: Mapping[str, str] | None = None,
        on_event: Callable[[Event], None] | None = None,
        cancel: threading.Event | None = None,
    ) -> Ran:
        """Run a workflow's outputs, or some nodes of it."""
        graph = self.graph(nodes, devices)
        plan = make(graph, self.folders, self.cache, targets)
        events: list[Event] = []

        def keep(event: Event) -> None:
            events.append(event)
            if on_event:
                on_event(event)

        outcome = run(
            plan, keep, folders=self.folders, pool=self.pool, cache=self.cache, cancel=cancel
        )
        return Ran(outcome, events, graph, plan)


def engine(*types: AnyNodeType) -> Engine:
    """Make an engine of node types."""
    return Engine({type.id: type for type in types})


def order_of(events: Iterable[object], *ids: str) -> list[str]:
    """Give nodes in the order in which they ended."""
    return [e.node for e in events if isinstance(e, NodeFinished | NodeFailed) and e.node in ids]
