"""What a run tells: one frozen value an event, in the order in which things happened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from vinode.graph.context import Phase
from vinode.graph.errors import Fault
from vinode.graph.placement import Placement
from vinode.graph.values import Image
from vinode.graph.workflow import NodeId

Status: TypeAlias = Literal["done", "failed", "cancelled"]
Shown: TypeAlias = Mapping[str, tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a node's time in one phase. Nanoseconds of `perf_counter_ns`."""

    phase: Phase
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class NodeTiming:
    """Where a node's time went.

    lane    which lane it ran on: host, async, or a device
    worker  which of the lane's threads, from 0
    ready   when its inputs were there; start: when it began; end (ns of perf_counter_ns)
    phases  phase -> ns; their sum is the node's wall time, from ready to end
    spans   the stretches, in order; none where all of its visit was host time
    visits  (start, end) of each stretch on the lane: several where it waited for a lazy input
    steps   (start, end) of each step that the node told of: of a sampler, a picture of a batch
    """

    lane: str
    worker: int
    ready: int
    start: int
    end: int
    phases: Mapping[Phase, int]
    spans: tuple[Span, ...] = ()
    visits: tuple[tuple[int, int], ...] = ()
    steps: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class RunStarted:
    """`steps` nodes are to run, as far as is known before lazy inputs and expansions; `time` ns."""

    steps: int
    reused: int
    time: int


@dataclass(frozen=True, slots=True)
class NodeReused:
    """A node's earlier result stands: nothing it depends on has changed."""

    node: NodeId
    shown: Shown = field(default_factory=dict[str, tuple[object, ...]])


@dataclass(frozen=True, slots=True)
class NodeStarted:
    """A node began to run on a lane."""

    node: NodeId
    lane: str


@dataclass(frozen=True, slots=True)
class NodeProgress:
    """How far a node is; sent at most ten times a second a node. `note`: what it is doing."""

    node: NodeId
    done: float
    total: float
    preview: Image | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class NodeExpanded:
    """A node returned nodes to run in its place."""

    node: NodeId
    children: tuple[NodeId, ...]


@dataclass(frozen=True, slots=True)
class NodeBlocked:
    """A node gave no value on purpose; those that need it do not run. No failure."""

    node: NodeId
    message: str


@dataclass(frozen=True, slots=True)
class NodeFinished:
    """A node is done. `carried`: for each output, shape, dtype and bytes in words."""

    node: NodeId
    timing: NodeTiming
    placement: Placement
    carried: tuple[str, ...]
    shown: Shown = field(default_factory=dict[str, tuple[object, ...]])


@dataclass(frozen=True, slots=True)
class NodeFailed:
    """A node failed; what does not need it goes on."""

    node: NodeId
    faults: tuple[Fault, ...]
    timing: NodeTiming
    placement: Placement
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class NodeSkipped:
    """A node did not run because one that it needs failed."""

    node: NodeId
    because: NodeId


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The run is over."""

    status: Status
    time: int


Event: TypeAlias = (
    RunStarted
    | NodeReused
    | NodeStarted
    | NodeProgress
    | NodeExpanded
    | NodeBlocked
    | NodeFinished
    | NodeFailed
    | NodeSkipped
    | RunFinished
)
