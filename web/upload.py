"""POST /upload/image and /upload/mask: a picture is streamed to disk, looked at, and named."""

from __future__ import annotations

import asyncio
import errno
import filecmp
import os
import secrets
import shutil
import threading
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from aiohttp import BodyPartReader, MultipartReader, web
from aiohttp.http import HttpProcessingError

from vinode.graph.errors import Fault, short
from vinode.graph.strict_json import Json, load_json
from vinode.nodes.algorithms.picture_file import FORMATS, SUFFIXES, header_fault
from vinode.web.answers import answer
from vinode.web.bodies import BadRequest, is_yes
from vinode.web.contained import inside
from vinode.web.site import MAX_UPLOAD, Site, site_of
from vinode.web.view import folder_of

_MOST_FIELD = 16 * 1024  # bytes of a field of the form
_MOST_FIELDS = 20
_PATIENCE = 60.0  # seconds without a byte
_CHUNK = 256 * 1024
# What aiohttp raises of a form that is cut short, or whose headers are none.
_DAMAGED = (ValueError, RuntimeError, AssertionError, EOFError, HttpProcessingError)
_NAMING = threading.Lock()


@dataclass(slots=True)
class Form:
    """An upload: its fields, and the file where it lies until it has a name."""

    fields: dict[str, str] = field(default_factory=dict[str, str])
    name: str = ""
    file: Path | None = None


async def upload_image(request: web.Request) -> web.StreamResponse:
    """Take a picture into a folder; a name that is taken gets a number, the same picture none."""
    return await _upload(request, is_mask=False)


async def upload_mask(request: web.Request) -> web.StreamResponse:
    """Take a mask: the alpha of the upload is put on the picture that `original_ref` names."""
    return await _upload(request, is_mask=True)


async def _upload(request: web.Request, is_mask: bool) -> web.StreamResponse:
    if request.content_type != "multipart/form-data":
        fix = "send multipart/form-data with the file in `image`"
        raise BadRequest(Fault("body", "this is no form with a file", request.content_type, fix))
    site = site_of(request)
    form = Form()
    try:
        await _read(request, form, site.folders.input)
        return answer(await asyncio.to_thread(_keep, form, site, is_mask))
    finally:
        if form.file is not None:
            form.file.unlink(missing_ok=True)


async def _read(request: web.Request, form: Form, folder: Path) -> None:
    """Read the form; the file goes to disk as it comes, and never whole into memory."""
    length = request.content_length
    if length is not None and length > MAX_UPLOAD + 2**20:
        raise _too_large()
    try:
        reader = await request.multipart()
        for _ in range(_MOST_FIELDS):
            part = await reader.next()
            if part is None:
                return
            await _read_part(part, form, folder)
    except _DAMAGED as error:
        problem = f"the form is damaged: {type(error).__name__}"
        raise BadRequest(Fault("body", problem, short(str(error)))) from None
    raise BadRequest(Fault("body", f"a form has at most {_MOST_FIELDS} fields"))


async def _read_part(part: MultipartReader | BodyPartReader, form: Form, folder: Path) -> None:
    if not isinstance(part, BodyPartReader):
        raise BadRequest(Fault("body", "a form within the form is not read"))
    if part.name == "image" and part.filename is not None and form.file is None:
        form.name = part.filename
        folder.mkdir(parents=True, exist_ok=True)
        form.file = folder / f".upload-{secrets.token_hex(8)}"
        with form.file.open("xb") as file:
            await _copy(part, file)
        return
    text = bytearray()
    while chunk := await part.read_chunk(_MOST_FIELD):
        text += chunk
        if len(text) > _MOST_FIELD:
            problem = f"a field of the form has at most {_MOST_FIELD // 1024} kB"
            raise BadRequest(Fault("body", problem, short(part.name or "")), 413)
    form.fields[part.name or ""] = text.decode("utf-8", "replace")


async def _copy(part: BodyPartReader, file: BinaryIO) -> None:
    size = 0
    while True:
        try:
            async with asyncio.timeout(_PATIENCE):
                chunk = await part.read_chunk(_CHUNK)
        except TimeoutError:
            raise BadRequest(Fault("body", "the upload stands still", code="slow"), 408) from None
        if not chunk:
            return
        size += len(chunk)
        if size > MAX_UPLOAD:
            raise _too_large()
        await asyncio.to_thread(file.write, chunk)


def _too_large() -> BadRequest:
    problem = f"an upload has at most {MAX_UPLOAD // 2**20} MB"
    return BadRequest(Fault("body", problem, code="too-large"), 413)


def _keep(form: Form, site: Site, is_mask: bool) -> Json:
    if form.file is None or not form.name:
        raise BadRequest(Fault("body, image", "no file was sent", fix="send it as `image`"))
    kind = form.fields.get("type", "") or "input"
    root = folder_of(site.folders, kind)
    subfolder = form.fields.get("subfolder", "")
    name = PurePosixPath(form.name.replace("\\", "/")).name
    target = inside(root, f"{subfolder}/{name}" if subfolder else name, "body, image")
    if target.suffix.lower() not in SUFFIXES:
        fix = "send a picture: PNG, JPEG, WebP, ..."
        raise BadRequest(Fault("body, image", "this is no name of a picture", short(name), fix))
    _refuse_damaged(form.file, name)
    if is_mask:
        _put_on_original(form, site)
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_dir():
        raise BadRequest(Fault("body, image", "a folder has this name", short(name)))
    kept = _place(form.file, target, is_yes(form.fields.get("overwrite")))
    return {"name": kept.name, "subfolder": _below(kept.parent, root), "type": kind}


def _below(folder: Path, root: Path) -> str:
    below = folder.relative_to(root.resolve()).as_posix()
    return "" if below == "." else below


def _refuse_damaged(file: Path, name: str) -> None:
    fault = header_fault(file)
    if fault:
        got = fault.got.replace(file.name, name)
        raise BadRequest(Fault("body, image", fault.problem, got, fault.fix, fault.code))


def _place(file: Path, target: Path, overwrite: bool) -> Path:
    """Give the file its name, whole: the one asked for, or `name (1).png` where that is taken."""
    with _NAMING:  # two uploads of one name at once get two names
        for number in range(10_000):
            name = f"{target.stem} ({number}){target.suffix}" if number else target.name
            free = target.with_name(name)
            if overwrite or not free.exists():
                _move(file, free)
                return free
            if filecmp.cmp(file, free, shallow=False):
                return free
    raise BadRequest(Fault("body, image", "ten thousand files have this name", target.name))


def _move(file: Path, target: Path) -> None:
    """Give a file its name, also on another disk; a reader sees all of it or none."""
    try:
        os.replace(file, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        beside = target.with_name(file.name)
        shutil.copyfile(file, beside)
        os.replace(beside, target)


def _put_on_original(form: Form, site: Site) -> None:
    """Write the original with the alpha of the upload, its text kept."""
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    assert form.file is not None
    given: Json = load_json(form.fields.get("original_ref", "null"), "original_ref")
    named = cast(dict[str, Json], given) if isinstance(given, dict) else {}
    name, subfolder = named.get("filename"), named.get("subfolder", "")
    if not isinstance(name, str) or not isinstance(subfolder, str) or not name:
        fix = '{"filename": ..., "subfolder": "", "type": "output"}'
        raise BadRequest(Fault("original_ref", "it names no picture", short(named), fix))
    root = folder_of(site.folders, str(named.get("type", "output")))
    path = inside(root, f"{subfolder}/{name}" if subfolder else name, "original_ref")
    _refuse_damaged(path, name)
    try:
        with Image.open(path, formats=FORMATS) as original, Image.open(form.file) as mask:
            text = PngInfo()
            for key, value in original.info.items():
                if isinstance(key, str) and isinstance(value, str):
                    text.add_text(key, value)
            alpha = mask.convert("RGBA").getchannel("A").resize(original.size)
            joined = original.convert("RGBA")
            joined.putalpha(alpha)
        joined.save(form.file, "PNG", pnginfo=text)
    except Exception as error:  # a damaged file makes Pillow's decoders raise nearly anything
        problem = f"the picture is damaged: {type(error).__name__}"
        raise BadRequest(Fault("original_ref", problem, short(name))) from None
