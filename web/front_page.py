"""GET /: the canvas, whose files lie in web/static; or a page that says that it is not built."""

from __future__ import annotations

import asyncio
import mimetypes
from pathlib import Path

from aiohttp import web

from vinode.web.answers import refuse
from vinode.web.contained import NameRefused, inside
from vinode.web.site import site_of

STATIC = Path(__file__).with_name("static")
_MISSING = """<!doctype html><html lang="en"><meta charset="utf-8"><title>vinode</title>
<h1>vinode serves</h1><p>The canvas is not built in this installation, so there is nothing to see
here; the server itself works. Programs that speak ComfyUI's API can use it at this address, and
<a href="/vinode/openapi.json">/vinode/openapi.json</a> describes all that it answers. To build the
canvas from a checkout, run <code>npm ci</code> and <code>npm run build</code> in
<code>web/canvas</code>, then reload this page.</p></html>
"""
_TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm"}


async def index(request: web.Request) -> web.StreamResponse:
    """Give the canvas's page."""
    page = site_of(request).static / "index.html"
    if not await asyncio.to_thread(page.is_file):
        return web.Response(text=_MISSING, content_type="text/html")
    return _send(page, "no-cache")


async def static_file(request: web.Request) -> web.StreamResponse:
    """Give a file of the canvas."""
    name = request.match_info["name"]
    try:
        path = inside(site_of(request).static, name, "path")
    except NameRefused:
        return refuse(404, "path", "there is no such page")
    if not await asyncio.to_thread(path.is_file):
        return refuse(404, "path", "there is no such page")
    # Names in assets/ carry a hash of what is in them, so they never change.
    hashed = name.startswith("assets/")
    return _send(path, "public, max-age=31536000, immutable" if hashed else "no-cache")


def _send(path: Path, cache: str) -> web.FileResponse:
    answer = web.FileResponse(path, headers={"Cache-Control": cache})
    # The system's own table of types may be wrong, as Windows' registry often is.
    guessed = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    answer.content_type = _TYPES.get(path.suffix, guessed)
    return answer
