"""A run as the queue keeps it: what was asked for, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from vinode.graph.errors import VinodeError
from vinode.graph.strict_json import Json

RunState: TypeAlias = Literal["pending", "running", "done", "failed", "cancelled"]
EndState: TypeAlias = Literal["done", "failed", "cancelled"]


class QueueError(VinodeError):
    """The queue refuses: the disk is full, an id is taken, the file is of a newer program."""


@dataclass(frozen=True, slots=True)
class NewRun:
    """What is handed in. Texts of JSON are kept as they come: they are written as they are.

    prompt      JSON text of the graph in API format; it has been checked
    id          a canonical UUID, or "" to be given one
    number      priority, lower runs first; None: after all that were handed in before
    front       before all others, where no number is given
    client_id   who is told of its progress; "" where nobody asked
    extra_data  JSON text of an object
    targets     nodes that are to run, with what they need; empty: every output
    options     device: hint for nodes without one of their own
    """

    prompt: str
    id: str = ""
    number: float | None = None
    front: bool = False
    client_id: str = ""
    extra_data: str = "{}"
    targets: tuple[str, ...] = ()
    options: Mapping[str, Json] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Queued:
    """A run that was accepted: from here on a kill of the server does not lose it."""

    id: str
    number: float


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a run. All but the state are texts of JSON.

    outputs   node -> what it showed, as ComfyUI's `outputs` of a history entry
    messages  [[event, data], ...] as ComfyUI's `status.messages`
    report    as `vinode run --report` writes it; "" where there is none
    """

    state: EndState
    outputs: str = "{}"
    messages: str = "[]"
    report: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """A run in the queue or in the history.

    seq       order in which runs were accepted, unique
    accepted, started, ended   seconds since 1970; 0 where that has not happened
    tries     how often it was begun: 2 where the server was killed in its midst
    The rest is as in NewRun and Ended.
    """

    seq: int
    id: str
    state: RunState
    number: float
    client_id: str
    prompt: str
    extra_data: str
    targets: tuple[str, ...]
    options: Mapping[str, Json]
    accepted: float
    started: float
    ended: float
    tries: int
    outputs: str
    messages: str
    report: str
