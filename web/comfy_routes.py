"""ComfyUI's routes of nodes, system and models; the rest of them is in modules of their own."""

from __future__ import annotations

import asyncio
import sys

import psutil
from aiohttp import web

from vinode import __version__
from vinode.converters import library
from vinode.converters.library import Listed
from vinode.converters.store import Store
from vinode.graph.strict_json import Json
from vinode.web import job_routes, queue_routes, user_routes
from vinode.web.answers import answer, raw_json, refuse
from vinode.web.catalogue import Page
from vinode.web.routes import Route
from vinode.web.site import FEATURES, Site, site_of
from vinode.web.upload import upload_image, upload_mask
from vinode.web.view import view

SPOKEN = "0.33.0"  # the version of ComfyUI whose API this is
# Folders that clients ask for by name whatever there is in them.
_FOLDERS = ("checkpoints", "controlnet", "embeddings", "loras", "upscale_models", "vae")


async def get_object_info(request: web.Request) -> web.StreamResponse:
    """Give all node types."""
    page = await asyncio.to_thread(site_of(request).catalogue.object_info)
    return send_page(request, page)


async def get_one_info(request: web.Request) -> web.StreamResponse:
    """Give one node type; nothing where there is none of that name."""
    name = request.match_info["node_class"]
    return answer(await asyncio.to_thread(site_of(request).catalogue.one, name))


def send_page(request: web.Request, page: Page) -> web.Response:
    """Send a page, or 304 where the client has it."""
    headers = {"ETag": page.etag, "Cache-Control": "no-cache"}
    if page.etag in request.headers.get("If-None-Match", ""):
        return web.Response(status=304, headers=headers)
    return raw_json(page.body, headers)


async def get_stats(request: web.Request) -> web.StreamResponse:
    """Say what computer this is, and which devices it has."""
    site, memory = site_of(request), psutil.virtual_memory()
    system: dict[str, Json] = {
        "os": sys.platform,
        "ram_total": memory.total,
        "ram_free": memory.available,
        "comfyui_version": SPOKEN,
        "vinode_version": __version__,
        "openvino_version": site.supervisor.state.openvino,
        "required_frontend_version": "",
        "installed_templates_version": "",
        "required_templates_version": "",
        "comfy_package_versions": [],
        "python_version": sys.version,
        "pytorch_version": "",
        "embedded_python": False,
        "deploy_environment": "local",
        "argv": [],
    }
    return answer({"system": system, "devices": _devices(site, memory.total, memory.available)})


def _devices(site: Site, total: int, free: int) -> list[Json]:
    nothing: dict[str, Json] = {}
    cpu: dict[str, Json] = {"name": "CPU", "full_name": "CPU", "properties": nothing}
    listed = site.supervisor.state.devices or [cpu]  # not known yet: the CPU is always there
    found: list[Json] = []
    for index, device in enumerate(listed):
        name = str(device["name"])
        kind = name.split(".")[0].lower()
        own = str(device["properties"].get(f"{kind.upper()}_DEVICE_TOTAL_MEM_SIZE", ""))
        size = int(own) if own.isdecimal() else total
        memory = {"vram_total": size, "vram_free": min(size, free)}
        torch = {"torch_vram_total": 0, "torch_vram_free": 0}
        about = {"name": f"{name} {device['full_name']}", "type": kind}
        found.append({**about, "index": None if kind == "cpu" else index, **memory, **torch})
    return found


async def get_features(request: web.Request) -> web.StreamResponse:
    """Say what this server can do."""
    return answer(FEATURES)


async def list_folders(request: web.Request) -> web.StreamResponse:
    """Name the folders of models."""
    kinds = {model.kind for model in await _models(request) if model.kind}
    return answer(sorted({*kinds, *_FOLDERS}))


async def list_folder(request: web.Request) -> web.StreamResponse:
    """Name the models of a folder that are here."""
    folder = request.match_info["folder"]
    models = await _models(request)
    if folder not in {*_FOLDERS, *(model.kind for model in models)}:
        return refuse(404, "folder", "there is no such folder of models", folder[:80])
    names = [m.name for m in models if m.kind in (folder, folder.removesuffix("s"))]
    return answer(names)


async def _models(request: web.Request) -> list[Listed]:
    store = Store(site_of(request).folders.models)
    return await asyncio.to_thread(library.list_models, store)


async def empty_list(request: web.Request) -> web.StreamResponse:
    """Give nothing: there are none of these here."""
    return answer([])


async def empty_object(request: web.Request) -> web.StreamResponse:
    """Give nothing: there are none of these here."""
    return answer({})


async def websocket(request: web.Request) -> web.StreamResponse:
    """Open a socket that is told of runs."""
    return await site_of(request).sockets.connect(request)


_VIEW = {
    "filename": "name of the file", "type": "input, output or temp", "subfolder": "where it lies",
    "preview": "webp;90 or jpeg;90: written anew", "channel": "rgba, rgb or a",
}  # fmt: skip
_SOCKET = {
    "clientId": "id by which runs are handed in; one is given where it is left out",
    "vinode": "1: our own messages instead of executing, executed, progress",
}
ROUTES = [
    *queue_routes.ROUTES,
    *user_routes.ROUTES,
    *job_routes.ROUTES,
    Route("GET", "/object_info", get_object_info, "Give all node types.", mirror=True),
    Route("GET", "/object_info/{node_class}", get_one_info, "Give one node type.", mirror=True),
    Route("GET", "/system_stats", get_stats, "Tell of computer and devices.", mirror=True),
    Route("GET", "/features", get_features, "Say what this server can do.", mirror=True),
    Route("GET", "/embeddings", empty_list, "Name the embeddings: none.", mirror=True),
    Route("GET", "/extensions", empty_list, "Name the canvas's extensions: none.", mirror=True),
    Route("GET", "/i18n", empty_object, "Give translations: none.", mirror=True),
    Route("GET", "/workflow_templates", empty_object, "Name templates: none.", mirror=True),
    Route("GET", "/global_subgraphs", empty_object, "Name subgraphs: none.", mirror=True),
    Route("GET", "/node_replacements", empty_object, "Name replaced nodes: none.", mirror=True),
    Route("GET", "/experiment/models", empty_list, "List model folders: none.", mirror=True),
    Route("GET", "/models", list_folders, "Name the folders of models.", mirror=True),
    Route("GET", "/models/{folder}", list_folder, "Name the models of a folder.", mirror=True),
    Route("GET", "/view", view, "Send a picture or file.", _VIEW, gives="file", mirror=True),
    Route("POST", "/upload/image", upload_image, "Take a picture.", upload=True, mirror=True),
    Route(
        "POST", "/upload/mask", upload_mask, "Take a mask of a picture.", upload=True, mirror=True
    ),
    Route("GET", "/ws", websocket, "Open a socket.", _SOCKET, gives="socket", mirror=True),
]
