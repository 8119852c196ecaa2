"""GET /view: pictures and files of the input, output and temp folders."""

from __future__ import annotations

import asyncio
import io
import mimetypes
import re
from pathlib import Path

from aiohttp import web

from vinode.graph.context import Folders
from vinode.graph.errors import Fault, short
from vinode.web.answers import refuse
from vinode.web.bodies import BadRequest
from vinode.web.contained import inside
from vinode.web.site import site_of

# What a browser may show in place; it might run a script in anything else, such as SVG or HTML.
SHOWN = frozenset(
    {
        "image/png", "image/jpeg", "image/webp", "image/gif", "image/avif", "image/bmp",
        "audio/mpeg", "audio/flac", "audio/x-flac", "audio/wav", "audio/x-wav", "audio/ogg",
        "video/mp4", "video/webm",
    }
)  # fmt: skip
_SUFFIX = re.compile(r"(.*?) ?\[(input|output|temp)\]", re.DOTALL)
_PREVIEW_FORMATS = {"webp": "WEBP", "jpeg": "JPEG"}
_CHANNELS = ("rgba", "rgb", "a")


async def view(request: web.Request) -> web.StreamResponse:
    """Answer with a file, a smaller preview of it, or some of its channels."""
    name = request.query.get("filename", "")
    kind = request.query.get("type", "output")
    suffixed = _SUFFIX.fullmatch(name)
    if suffixed:
        name, kind = suffixed[1], suffixed[2]
    if not name:
        return refuse(400, "query, filename", "must be given")
    folder = folder_of(site_of(request).folders, kind)
    subfolder = request.query.get("subfolder", "")
    path = inside(folder, f"{subfolder}/{name}" if subfolder else name)
    channel = request.query.get("channel", "rgba")
    if channel not in _CHANNELS:
        known = ", ".join(_CHANNELS)
        return refuse(400, "query, channel", f"expected one of {known}", short(channel))
    preview = request.query.get("preview", "")
    if not await asyncio.to_thread(path.is_file):
        return refuse(404, "query, filename", "there is no such file", short(name))
    if preview or channel != "rgba":
        body, type = await asyncio.to_thread(_changed, path, preview, channel)
        return web.Response(body=body, content_type=type)
    return send_file(path)


def folder_of(folders: Folders, kind: str) -> Path:
    """Give the folder that `type` names."""
    known = {"input": folders.input, "output": folders.output, "temp": folders.temp}
    if kind not in known:
        problem = f"expected one of {', '.join(known)}"
        raise BadRequest(Fault("type", problem, short(kind)))
    return known[kind]


def send_file(path: Path, shown: bool = True) -> web.FileResponse:
    """Send a file: pictures, sound and film in place, anything else to be saved."""
    type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    headers = {"Cache-Control": "no-cache"}  # asked anew each time, and answered with 304
    if not shown or type not in SHOWN:
        headers["Content-Disposition"] = "attachment"
        type = "application/octet-stream" if type not in SHOWN else type
    answer = web.FileResponse(path, headers=headers)
    answer.content_type = type
    return answer


def _changed(path: Path, preview: str, channel: str) -> tuple[bytes, str]:
    """Decode a picture and write it again: smaller, or only some of its channels."""
    from PIL import Image  # takes a moment to import

    from vinode.nodes.algorithms.picture_file import FORMATS, header_fault

    fault = header_fault(path)  # its size is known from the header before anything is decoded
    if fault:
        raise BadRequest(fault)
    form, _, quality = preview.partition(";")
    written = _PREVIEW_FORMATS.get(form, "PNG" if not form else "WEBP")
    try:
        with Image.open(path, formats=FORMATS) as picture:
            changed = picture.convert("RGBA")
    except Exception as error:  # a damaged file makes Pillow's decoders raise nearly anything
        problem = f"the picture is damaged: {type(error).__name__}"
        raise BadRequest(Fault("query, filename", problem, path.name)) from None
    if channel == "a":
        changed = changed.getchannel("A")
    elif channel == "rgb" or written == "JPEG":
        changed = changed.convert("RGB")
    kept = io.BytesIO()
    level = min(100, max(1, int(quality))) if quality.isascii() and quality[:4].isdigit() else 90
    changed.save(kept, written, **({} if written == "PNG" else {"quality": level}))
    return kept.getvalue(), f"image/{written.lower()}"
