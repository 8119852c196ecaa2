"""Our own routes: nodes, packs, models and their jobs; runs and outlooks are in modules beside."""

from __future__ import annotations

import asyncio
from dataclasses import asdict

from aiohttp import web

from vinode import __version__
from vinode.converters import library
from vinode.converters.store import Store
from vinode.graph.errors import Fault, short
from vinode.web import mend_routes, outlook_routes, run_routes
from vinode.web.answers import answer, refuse
from vinode.web.bodies import BadRequest, Field, Fields, read_object
from vinode.web.comfy_routes import send_page
from vinode.web.contained import inside
from vinode.web.node_info import packs_json
from vinode.web.openapi import document
from vinode.web.routes import Route
from vinode.web.site import Site, site_of

_NAME: Fields = {"name": Field("text", "name of a model", required=True, minimum=1, maximum=200)}
_FILE: Fields = {
    "file": Field("text", "a file below a folder of models", required=True, minimum=1, maximum=1000)
}
_JOB: Fields = {"id": Field("text", "id of a job", required=True, maximum=100)}


async def about(request: web.Request) -> web.StreamResponse:
    """Say what answers here, and how its parts are."""
    site = site_of(request)
    state = site.supervisor.state
    told = {"vinode": __version__, "worker": state.phase, "problem": state.problem}
    clients = len(site.sockets.clients)
    return answer({**told, "paused": site.supervisor.queue.paused, "clients": clients})


async def nodes(request: web.Request) -> web.StreamResponse:
    """Give all nodes with kinds, colours, limits, units and help."""
    return send_page(request, await asyncio.to_thread(site_of(request).catalogue.nodes))


async def packs(request: web.Request) -> web.StreamResponse:
    """Give all packs of nodes, the broken ones with why."""
    return answer({"packs": packs_json(site_of(request).catalogue.packs)})


async def models(request: web.Request) -> web.StreamResponse:
    """Give all models, here or to be had, and the jobs that fetch and convert them."""
    site = site_of(request)
    found = await asyncio.to_thread(library.list_models, Store(site.folders.models))
    jobs = [asdict(job) for job in site.models.jobs.values()]
    return answer({"models": [asdict(model) for model in found], "jobs": jobs})


async def pull(request: web.Request) -> web.StreamResponse:
    """Fetch a model from its known source and convert it, as a job."""
    name = (await read_object(request, _NAME))["name"]
    site = site_of(request)
    # Refuses, with the nearest name, what is in no catalogue.
    await asyncio.to_thread(lambda: Store(site.folders.models).card(name))
    return answer(asdict(site.models.start("pull", name)), 202)


async def convert(request: web.Request) -> web.StreamResponse:
    """Convert a model file that lies in a folder of models, as a job."""
    name = (await read_object(request, _FILE))["file"]
    site = site_of(request)
    path = await asyncio.to_thread(_model_file, site, name)
    return answer(asdict(site.models.start("convert", path)), 202)


def _model_file(site: Site, name: str) -> str:
    for folder in site.folders.models:
        path = inside(folder, name, "body, file")
        if path.is_file():
            return str(path)
    fix = f"copy it into {site.folders.models[0]}"
    raise BadRequest(Fault("body, file", "there is no such file", short(name), fix), 404)


async def cancel_job(request: web.Request) -> web.StreamResponse:
    """End a job; false: it does not wait or run."""
    id = (await read_object(request, _JOB))["id"]
    return answer({"cancelled": site_of(request).models.cancel(id)})


async def remove(request: web.Request) -> web.StreamResponse:
    """Remove a model's files, as far as no other model needs them."""
    name = (await read_object(request, _NAME))["name"]
    site = site_of(request)
    if any(job.name == name and not job.ended for job in site.models.jobs.values()):
        return refuse(409, "body, name", "a job works on this model", fix="cancel it first")
    store = Store(site.folders.models)
    freed = await asyncio.to_thread(library.remove_model, store, name)
    return answer({"freed": freed})


async def openapi(request: web.Request) -> web.StreamResponse:
    """Give this description."""
    return answer(document(site_of(request).routes))


ROUTES = [
    Route("GET", "/vinode", about, "Say what answers here."),
    Route("GET", "/vinode/openapi.json", openapi, "Give this description."),
    Route("GET", "/vinode/nodes", nodes, "Give all nodes, kinds and packs for a canvas."),
    Route("GET", "/vinode/packs", packs, "Give all packs of nodes."),
    Route("GET", "/vinode/models", models, "Give all models and jobs."),
    Route("POST", "/vinode/models/pull", pull, "Fetch and convert a model.", body=_NAME),
    Route("POST", "/vinode/models/convert", convert, "Convert a model file.", body=_FILE),
    Route("POST", "/vinode/models/cancel", cancel_job, "End a job.", body=_JOB),
    Route("POST", "/vinode/models/remove", remove, "Remove a model's files.", body=_NAME),
    *mend_routes.ROUTES,
    *outlook_routes.ROUTES,
    *run_routes.ROUTES,
]
