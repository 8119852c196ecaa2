"""What the worker keeps warm from run to run, and one run on it."""

from __future__ import annotations

import gc
import json
import threading
import traceback
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

import psutil

from vinode.graph.cache import Cache
from vinode.graph.devices import present
from vinode.graph.errors import Fault, VinodeError
from vinode.graph.graph import Graph, build
from vinode.graph.part import Simulation
from vinode.graph.plan import make
from vinode.graph.plugins import Packs, load_packs
from vinode.graph.pool import Pool
from vinode.graph.presets import fill_in
from vinode.graph.run import run
from vinode.graph.strict_json import Json
from vinode.graph.workflow import from_json
from vinode.web import frames
from vinode.web.settings import WorkerSettings
from vinode.web.teller import Post, Teller
from vinode.web.trail import Trail


class Engine:
    """Node types, compiled models and results. One run at a time, on the caller's thread."""

    def __init__(self, settings: WorkerSettings, post: Post, trail: Trail) -> None:
        self.settings, self._post, self._trail = settings, post, trail
        self.packs: Packs = load_packs(settings.packs)
        self.cache = Cache(settings.cache_bytes)
        self.pool = self._make_pool()
        self._process = psutil.Process()
        self._last: tuple[str, str, Graph] | None = None

    def run(self, asked: Mapping[str, Json], cancel: threading.Event) -> None:
        """Run what was asked for, and tell of it to its end; never raises.

        asked  run, prompt (JSON text), extra_data (JSON text), targets, device
        """
        id = str(asked["run"])
        told: dict[str, Json] = {"kind": "run-ended", "run": id, "status": "failed"}
        try:
            told |= self._run(id, asked, cancel)
        except VinodeError as error:
            told["faults"] = [asdict(fault) for fault in error.faults]
        except Exception as error:  # the worker's border: the engine's own mistakes end here
            problem = f"{type(error).__name__}: {error}"
            fault = Fault("the engine", problem, fix="report it, with the log", code="internal")
            told |= {"faults": [asdict(fault)], "traceback": traceback.format_exc()}
        self._trail.write([])
        told["rss"] = int(self._process.memory_info().rss)
        self._post(told, None)

    def free(self, models: bool, results: bool) -> None:
        """Let go of compiled models, or of kept results."""
        if results:
            self.cache.clear()
        if models:
            self.pool = self._make_pool()
        gc.collect()

    def devices(self) -> dict[str, Json]:
        """List the devices; imports OpenVINO where that has not been done."""
        core = self.pool.core
        import openvino as ov

        found = [
            {
                "name": device.name,
                "full_name": device.full_name,
                "simulated": device.simulated,
                "properties": dict(device.properties),
            }
            for device in present(core)
        ]
        return {"devices": found, "openvino": str(ov.get_version())}

    def _run(self, id: str, asked: Mapping[str, Json], cancel: threading.Event) -> dict[str, Json]:
        folders = self.settings.folders
        graph = self._graph(asked["prompt"], asked.get("device") or self.settings.device)
        plan = make(graph, folders, self.cache, asked["targets"] or None)
        teller = Teller(id, plan, self.cache, self._post, self._trail)
        run(
            plan,
            teller.tell,
            folders=folders,
            pool=self.pool,
            cache=self.cache,
            file_text=file_text(asked["prompt"], asked["extra_data"]),
            cancel=cancel,
        )
        report = teller.report()
        return {"status": report["status"], "report": frames.dump(report)}

    def _graph(self, prompt: str, device: str) -> Graph:
        """Build the graph of a run; where the same workflow runs again, it is there already.

        The server has checked it a moment ago. What changes beside it, files and models that it
        names, is looked at anew by the plan and by the nodes.
        """
        if self._last is not None and self._last[:2] == (prompt, device):
            return self._last[2]
        workflow = from_json({"prompt": json.loads(prompt)}, "prompt")
        workflow, hint = fill_in(workflow, device, self.packs.types, "device")
        graph = build(workflow, self.packs.types, self.settings.folders, hint)
        self._last = None if graph.faults else (prompt, device, graph)
        return graph

    def _make_pool(self) -> Pool:
        given = self.settings.simulation
        return Pool(
            simulate=_simulation(given) if given is not None else False,
            folder=self.settings.compiled,
            seconds=self.settings.compile_seconds,
            accept_wrong=self.settings.accept_wrong,
        )


def file_text(prompt: str, extra_data: str) -> dict[str, str]:
    """Give what a saved picture carries: the prompt, and what a client wants in beside it.

    >>> file_text("{}", '{"extra_pnginfo": {"workflow": {"nodes": []}}}')
    {'prompt': '{}', 'workflow': '{"nodes": []}'}
    """
    extra = cast(Mapping[str, Json], json.loads(extra_data)).get("extra_pnginfo")
    given = cast(Mapping[str, Json], extra if isinstance(extra, dict) else {})
    # A PNG refuses other names, and none may take the place of the prompt.
    named = {
        key: value
        for key, value in given.items()
        if 1 <= len(key) <= 79 and key.isascii() and key.isprintable() and key != "prompt"
    }
    return {"prompt": prompt} | {key: json.dumps(value) for key, value in named.items()}


def _simulation(given: Mapping[str, Any]) -> Simulation:
    values: dict[str, Any] = {**given, "refused": frozenset(given.get("refused", ()))}
    return Simulation(**values)
