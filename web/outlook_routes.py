"""Our routes that look ahead: where a workflow would run, and whether an NPU would take it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict

from aiohttp import web

from vinode.graph.devices import candidates, here, lane_of
from vinode.graph.foresight import Foreseen, foresee
from vinode.graph.graph import Graph
from vinode.graph.strict_json import Json
from vinode.web.answers import answer, refuse
from vinode.web.bodies import Field, Fields, read_object
from vinode.web.routes import Route
from vinode.web.site import Site, site_of

_PROMPT: Fields = {
    "prompt": Field("object", "the graph in API format", required=True),
    "device": Field("text", "hint for nodes without one of their own", maximum=200),
}
_PREFLIGHT: Fields = {
    **_PROMPT,
    "platforms": Field("list of texts", "3720, 4000, 5010; all where left out", maximum=10),
}


async def devices(request: web.Request) -> web.StreamResponse:
    """Give the devices, and how the worker is that owns them."""
    supervisor = site_of(request).supervisor
    state = supervisor.state
    worker = {
        "phase": state.phase,
        "problem": state.problem,
        "rss": state.rss,
        "restarts": state.restarts,
        "running": supervisor.running_nodes,
    }
    known = state.devices is not None
    told = {"known": known, "devices": state.devices or [], "openvino": state.openvino}
    return answer({**told, "worker": worker})


async def look_for_devices(request: web.Request) -> web.StreamResponse:
    """Look for devices anew, once nothing runs; the socket tells what was found."""
    site_of(request).supervisor.ask_devices()
    return answer({"asked": True})


async def placement(request: web.Request) -> web.StreamResponse:
    """Tell where each node would run, without running or compiling anything."""
    body = await read_object(request, _PROMPT)
    site = site_of(request)
    found = site.supervisor.state.devices or [{"name": "CPU"}]
    names = tuple(str(device["name"]) for device in found)
    return answer(await asyncio.to_thread(_placement, site, body, names))


def _placement(site: Site, body: Mapping[str, Json], names: tuple[str, ...]) -> Json:
    _, graph = site.checking.graph(body["prompt"], body.get("device", ""))
    needed = graph.needed(graph.outputs)
    found = [graph.nodes[id] for id in graph.order if id in needed and id in graph.nodes]
    if graph.faults:  # which parts a node runs is then not asked: what it needs may be wrong
        problem = "mend the faults first"
        foreseen = tuple(Foreseen(node, (), problem) for node in found if node.type.uses_device)
    else:
        foreseen = foresee(graph, graph.outputs, site.folders)
    models = {each.node.id: _models(each, names) for each in foreseen}
    nodes = [
        {"node": node.id, "type": node.type.id}
        | (models.get(node.id) or {"lane": "async" if node.type.is_async else "host"})
        for node in found
    ]
    return {"nodes": nodes, "faults": _faults(graph)}


def _models(each: Foreseen, names: tuple[str, ...]) -> dict[str, Json]:
    hint = each.node.hint
    order = candidates(hint, names)
    lane = lane_of(hint, names)
    told: dict[str, Json] = {"lane": lane, "requested": hint.text, "candidates": list(order)}
    told["parts"] = [
        {
            "name": use.part.name,
            "shapes": {name: list(shape) for name, shape in use.shapes.items()},
            "calls": use.calls,
        }
        for use in each.uses
    ]
    absent = "" if here(lane, names) else f"no {lane} is here, and the node may run nowhere else"
    problem = each.problem or absent
    return {**told, "problem": problem} if problem else told


def _faults(graph: Graph) -> list[Json]:
    return [asdict(fault) for fault in graph.faults[:100]]


async def preflight(request: web.Request) -> web.StreamResponse:
    """Ask the NPU's compiler whether it takes the workflow; minutes, where it was never asked."""
    body = await read_object(request, _PREFLIGHT)
    site = site_of(request)
    _, graph = await asyncio.to_thread(site.checking.graph, body["prompt"], body.get("device", ""))
    if graph.faults:
        return answer({"available": True, "faults": _faults(graph), "outlooks": []})
    if site.preflight is None:
        fix = "see `vinode npu-compiler status`"
        return refuse(501, "preflight", "no NPU compiler can be asked here", fix=fix)
    platforms = body.get("platforms", [])
    outlooks = await asyncio.to_thread(site.preflight, graph, site.folders, platforms)
    return answer({"available": True, "faults": [], "outlooks": outlooks})


ROUTES = [
    Route("GET", "/vinode/devices", devices, "Give the devices, and how the worker is."),
    Route("POST", "/vinode/devices", look_for_devices, "Look for devices anew.", body={}),
    Route(
        "POST", "/vinode/placement", placement, "Tell where each node would run.", body=_PROMPT
    ),
    Route(
        "POST", "/vinode/preflight", preflight, "Ask the NPU's compiler about a workflow.",
        body=_PREFLIGHT,
    ),
]  # fmt: skip
