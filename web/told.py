"""What the server's parts tell each other of runs: plain data, the same in history and sockets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from vinode.graph.strict_json import Json

Kind: TypeAlias = Literal[
    "queue",
    "worker",
    "execution",
    "run-started",
    "node-reused",
    "node-started",
    "node-progress",
    "node-expanded",
    "node-blocked",
    "node-ended",
    "run-ended",
]
Phase: TypeAlias = Literal["starting", "ready", "busy", "waiting", "stopped"]


@dataclass(frozen=True, slots=True)
class Told:
    """One thing that listeners are told. All of `data` can be written as JSON.

    queue          of no run: {remaining, paused}; runs were accepted, begun, moved or have ended
    worker         of no run: the fields of WorkerState
    execution      {event, data}: a message of ComfyUI's history and socket, execution_start,
                   _cached, _success, _error or _interrupted; it is kept with the run as well
    run-started    {steps, reused: [node]}
    node-reused    {node, shown}
    node-started   {node, lane}
    node-progress  {node, done, total, note}; `preview` is a JPEG, or empty
    node-expanded  {node, children: [node]}
    node-blocked   {node, message}
    node-ended     {node, entry}: the node's entry in the report: state done, failed or skipped,
                   timing, placement, outputs (what they carried), shown, faults
    run-ended      {state, seconds}; it has been recorded, and comes after `execution`

    run, client_id  of which run, and who asked for it; "" where it is of none
    """

    kind: Kind
    data: Mapping[str, Json]
    run: str = ""
    client_id: str = ""
    preview: bytes = b""


@dataclass(frozen=True, slots=True)
class WorkerState:
    """How the process is that owns OpenVINO.

    phase     starting: packs are loaded; ready: it waits; busy: it runs; waiting: it failed to
              start, and is tried again; stopped
    problem   why it was last started anew, or does not start; "" where all is well
    devices   as OpenVINO lists them: {name, full_name, simulated, properties}; None: not known yet
    openvino  its version, "" where that is not known yet
    rss       bytes it holds, as it last said
    restarts  how often it was started anew
    nodes     how many node types it has; broken: packs it could not load, and why
    queue_problem  why the queue's file cannot be written now, or ""
    """

    phase: Phase = "starting"
    pid: int = 0
    problem: str = ""
    devices: list[dict[str, Json]] | None = None
    openvino: str = ""
    rss: int = 0
    restarts: int = 0
    nodes: int = 0
    broken: list[str] | None = None
    queue_problem: str = ""
