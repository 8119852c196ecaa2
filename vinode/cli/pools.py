"""How devices are used in a run, from options and environment."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, cast

import click

from vinode.graph.context import Folders
from vinode.graph.errors import Fault, WorkflowError, nearest, short
from vinode.graph.part import Simulation
from vinode.graph.pool import Pool
from vinode.graph.strict_json import Json, load_json

SECONDS = "VINODE_COMPILE_SECONDS"
LIMIT = 1800.0


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """What the command line says about devices.

    simulation    stands the CPU under the name NPUSIM_CPU beside the real devices
    accept_wrong  use a device's answer even where it is far from the CPU's
    seconds       limit of a compile in a child process
    """

    simulation: Simulation | None = None
    accept_wrong: bool = False
    seconds: float = LIMIT

    def pool(self, folders: Folders) -> Pool:
        """Make the pool of a run; what it compiles slowly is kept beside the models."""
        return Pool(
            simulate=self.simulation or False,
            folder=compiled_folder(folders),
            seconds=self.seconds,
            accept_wrong=self.accept_wrong,
        )


def compiled_folder(folders: Folders) -> Path | None:
    """Give the folder of compiled models and comparisons with the CPU; None: it is read-only."""
    folder = folders.models[0] / "compiled"
    there = next((path for path in (folder, *folder.parents) if path.exists()), folder)
    return folder if os.access(there, os.W_OK) else None


def pool_options(function: Callable[..., int]) -> Callable[..., int]:
    """Add the options of devices to a command; it gets them as `devices`."""

    @click.option(
        "--accept-wrong",
        is_flag=True,
        help="Use a device's answer even where it differs much from the CPU's.",
    )
    @click.option("--simulate", metavar="JSON", hidden=True, help="Simulate a device: NPUSIM_CPU.")
    @functools.wraps(function)
    def command(*, accept_wrong: bool, simulate: str | None, **given: Any) -> int:
        simulation = None if simulate is None else read_simulation(simulate)
        options = PoolOptions(simulation, accept_wrong, compile_seconds())
        return function(**given, devices=options)

    return command


_TYPES: Mapping[str, tuple[type, ...]] = {
    "refused": (list,),
    "in_child": (bool,),
    "bytes_per_second": (int, float),
    "noise": (int, float),
}


def read_simulation(text: str) -> Simulation:
    """Read a simulated device: a JSON object of fields of Simulation."""
    given: Json = load_json(text, "--simulate")
    known = [field.name for field in fields(Simulation)]
    if not isinstance(given, dict):
        fix = f"write an object with {', '.join(known)}"
        raise WorkflowError(Fault("--simulate", "expected an object", short(given), fix))
    values = dict(cast(Mapping[str, Json], given))
    for name, value in values.items():
        if name not in known:
            close = nearest(name, known)
            fix = f"did you mean {close}?" if close else f"it has {', '.join(known)}"
            raise WorkflowError(Fault("--simulate", "no such field", short(name), fix))
        if not isinstance(value, _TYPES.get(name, (str,))):
            raise WorkflowError(Fault(f"--simulate, {name}", "of the wrong type", short(value)))
    values["refused"] = frozenset(str(each) for each in values.get("refused", ()))
    return Simulation(**values)


def compile_seconds() -> float:
    """Read the limit of a compile from the environment."""
    text = os.environ.get(SECONDS, "").strip()
    if not text:
        return LIMIT
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        fix = f"write {SECONDS}=1800, or leave it out"
        raise WorkflowError(Fault(SECONDS, "expected seconds, more than 0", short(text), fix))
    return seconds
