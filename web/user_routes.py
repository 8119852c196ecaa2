"""Routes of the user's files and settings, in ComfyUI's shapes: one user, called default."""

from __future__ import annotations

import asyncio
from pathlib import PurePosixPath

from aiohttp import web

from vinode.graph.strict_json import Json
from vinode.web.answers import answer, done, refuse
from vinode.web.bodies import Field, is_yes, read_bytes, read_json, read_object
from vinode.web.routes import Route
from vinode.web.site import site_of
from vinode.web.user_files import MAX_FILE, UserFile
from vinode.web.view import send_file


async def users(request: web.Request) -> web.StreamResponse:
    """Say that there is one user."""
    return answer({"storage": "server", "migrated": True})


async def get_settings(request: web.Request) -> web.StreamResponse:
    """Give all settings."""
    return answer(await asyncio.to_thread(site_of(request).user.settings))


async def get_setting(request: web.Request) -> web.StreamResponse:
    """Give one setting, or null."""
    found = await asyncio.to_thread(site_of(request).user.settings)
    return answer(found.get(request.match_info["id"]))


async def post_settings(request: web.Request) -> web.StreamResponse:
    """Merge settings into those kept."""
    changes = await read_object(request)
    await asyncio.to_thread(site_of(request).user.change_settings, changes)
    return done()


async def post_setting(request: web.Request) -> web.StreamResponse:
    """Change one setting; the body is its value."""
    change = {request.match_info["id"]: await read_json(request)}
    await asyncio.to_thread(site_of(request).user.change_settings, change)
    return done()


async def list_files(request: web.Request) -> web.StreamResponse:
    """List the files of a folder."""
    if "dir" not in request.query:
        return refuse(400, "query, dir", "must be given")
    folder = request.query["dir"].rstrip("/")
    recurse = is_yes(request.query.get("recurse"))
    found = await asyncio.to_thread(site_of(request).user.list, folder, recurse)
    names = [_relative(each, folder) for each in found]
    if is_yes(request.query.get("full_info")):
        listed = zip(names, found, strict=True)
        return answer([{**_about(each), "path": name} for name, each in listed])
    if is_yes(request.query.get("split")):
        return answer([[name, *name.split("/")] for name in names])
    return answer(names)


async def list_all(request: web.Request) -> web.StreamResponse:
    """List files and folders below a path, folders first."""
    folder = request.query.get("path", "").rstrip("/")
    found = await asyncio.to_thread(site_of(request).user.list, folder, True, True)
    return answer([_entry(each) for each in found])


async def get_file(request: web.Request) -> web.StreamResponse:
    """Send a file, always to be saved: what a user keeps is never a page of this server."""
    path = await asyncio.to_thread(site_of(request).user.path, request.match_info["file"])
    return send_file(path, shown=False)


async def post_file(request: web.Request) -> web.StreamResponse:
    """Keep a file; the body is its content."""
    overwrite = is_yes(request.query.get("overwrite", "true"))
    content = await read_bytes(request, MAX_FILE)
    name = request.match_info["file"]
    kept = await asyncio.to_thread(site_of(request).user.write, name, content, overwrite)
    return answer(_about(kept) if is_yes(request.query.get("full_info")) else kept.path)


async def delete_file(request: web.Request) -> web.StreamResponse:
    """Remove a file."""
    await asyncio.to_thread(site_of(request).user.delete, request.match_info["file"])
    return done(204)


async def move_file(request: web.Request) -> web.StreamResponse:
    """Give a file another name."""
    overwrite = is_yes(request.query.get("overwrite"))
    names = request.match_info["file"], request.match_info["dest"]
    moved = await asyncio.to_thread(site_of(request).user.move, *names, overwrite)
    return answer(_about(moved) if is_yes(request.query.get("full_info")) else moved.path)


def _relative(each: UserFile, folder: str) -> str:
    return PurePosixPath(each.path).relative_to(folder).as_posix() if folder else each.path


def _about(each: UserFile) -> dict[str, Json]:
    times = {"modified": int(each.modified * 1000), "created": int(each.created * 1000)}
    return {"path": each.path, "size": each.size, **times}


def _entry(each: UserFile) -> dict[str, Json]:
    name = PurePosixPath(each.path).name
    told: dict[str, Json] = {"name": name, "path": each.path}
    if each.is_folder:
        return {**told, "type": "directory"}
    return {**told, "type": "file", "size": each.size, "modified": int(each.modified * 1000)}


_ANY = {"any": Field("anything", "settings by name")}
_FULL = "true: size and times too, in ms"
ROUTES = [
    Route("GET", "/users", users, "Say that there is one user.", mirror=True),
    Route("GET", "/settings", get_settings, "Give all settings.", mirror=True),
    Route(
        "POST", "/settings", post_settings, "Merge settings.", body=_ANY, gives="nothing",
        mirror=True,
    ),
    Route("GET", "/settings/{id}", get_setting, "Give one setting, or null.", mirror=True),
    Route(
        "POST", "/settings/{id}", post_setting, "Change one setting.", body=_ANY, gives="nothing",
        mirror=True,
    ),
    Route(
        "GET", "/userdata", list_files, "List the user's files in a folder.",
        {"dir": "folder", "recurse": "true: with subfolders", "full_info": _FULL,
         "split": "true: names in parts"},
        mirror=True,
    ),
    Route(
        "GET", "/v2/userdata", list_all, "List the user's files and folders.",
        {"path": "folder; all where it is left out"}, mirror=True,
    ),
    Route("GET", "/userdata/{file}", get_file, "Send a user's file.", gives="file", mirror=True),
    Route(
        "POST", "/userdata/{file}", post_file, "Keep a file of the user; the body is its content.",
        {"overwrite": "false: refuse where it is there", "full_info": _FULL}, body=_ANY,
        mirror=True,
    ),
    Route(
        "DELETE", "/userdata/{file}", delete_file, "Remove a file of the user.", gives="nothing",
        mirror=True,
    ),
    Route(
        "POST", "/userdata/{file}/move/{dest}", move_file, "Give a file of the user another name.",
        {"overwrite": "true: replace what has that name", "full_info": _FULL}, mirror=True,
    ),
]  # fmt: skip
