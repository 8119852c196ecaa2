"""What a server is told at its start, and how the part for the worker travels to it as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vinode.graph.context import Folders
from vinode.graph.strict_json import Json


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """What the process that owns OpenVINO needs to know.

    packs            drop-in folders of nodes, the user's own among them
    device           hint for nodes without one
    compiled         where compiled models are kept; None: nowhere
    compile_seconds  limit of a compile in a child process
    accept_wrong     use a device's answer even where it is far from the CPU's
    simulation       fields of a simulated device; None: there is none
    cache_bytes      of results kept from run to run
    """

    folders: Folders
    packs: tuple[Path, ...] = ()
    device: str = "AUTO"
    compiled: Path | None = None
    compile_seconds: float = 1800.0
    accept_wrong: bool = False
    simulation: Mapping[str, Json] | None = None
    cache_bytes: int = 2 * 2**30


@dataclass(frozen=True, slots=True)
class Limits:
    """When the worker is ended and started anew. In seconds, but for the bytes.

    silence  without a sign of life: a node may run for hours, but a thread tells that it does
    cancel   between a cancel and the end of the run
    memory   bytes that it may hold between two runs, after its caches were dropped; 0: any
    backoff  longest wait between two starts that fail
    """

    silence: float = 120.0
    cancel: float = 10.0
    memory: int = 0
    backoff: float = 30.0


@dataclass(frozen=True, slots=True)
class Settings:
    """What `vinode serve` was told.

    token  that every request has to show; "": none is asked for
    state  folder of what outlives the server: queue, settings of the canvas
    """

    worker: WorkerSettings
    state: Path
    host: str = "127.0.0.1"
    port: int = 8188
    token: str = ""
    limits: Limits = field(default_factory=Limits)


def to_json(settings: WorkerSettings, trail: Path, silence: float) -> dict[str, Json]:
    """Write what the worker is told first.

    trail    file of the nodes that run
    silence  seconds after which it ends itself where none of its threads gets a turn
    """
    folders = settings.folders
    return {
        "input": str(folders.input),
        "output": str(folders.output),
        "temp": str(folders.temp),
        "models": [str(folder) for folder in folders.models],
        "packs": [str(folder) for folder in settings.packs],
        "device": settings.device,
        "compiled": str(settings.compiled) if settings.compiled else None,
        "compile_seconds": settings.compile_seconds,
        "accept_wrong": settings.accept_wrong,
        "simulation": dict(settings.simulation) if settings.simulation is not None else None,
        "cache_bytes": settings.cache_bytes,
        "trail": str(trail),
        "silence": silence,
    }


def from_json(told: Mapping[str, Any]) -> tuple[WorkerSettings, Path, float]:
    """Read what `to_json` wrote."""
    folders = Folders(
        Path(told["input"]),
        Path(told["output"]),
        Path(told["temp"]),
        tuple(Path(folder) for folder in told["models"]),
    )
    settings = WorkerSettings(
        folders,
        tuple(Path(folder) for folder in told["packs"]),
        told["device"],
        Path(told["compiled"]) if told["compiled"] else None,
        told["compile_seconds"],
        told["accept_wrong"],
        told["simulation"],
        told["cache_bytes"],
    )
    return settings, Path(told["trail"]), float(told["silence"])
