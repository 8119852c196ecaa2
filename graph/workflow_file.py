"""Workflow files: JSON, and pictures that carry a workflow in their text."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from vinode.graph.errors import Fault, WorkflowError
from vinode.graph.png_text import SIGNATURE, read_png_text
from vinode.graph.strict_json import load_json
from vinode.graph.whole_file import write_whole
from vinode.graph.workflow import MAX_BYTES, Workflow, dump, from_json, parse, to_prompt

# ComfyUI's WebP files carry "prompt:{...}" in the EXIF field Model, "workflow:{...}" in Make.
_EXIF_MODEL, _EXIF_MAKE = 0x0110, 0x010F


# First bytes of JPEG, GIF, TIFF and BMP, in which no program keeps workflows.
_PICTURES = (b"\xff\xd8\xff", b"GIF8", b"II*\x00", b"MM\x00*", b"BM")


def read(path: Path) -> Workflow:
    """Read a workflow from a JSON file, or from a PNG or WebP picture made by one."""
    name = str(path)
    try:
        with path.open("rb") as file:
            content = file.read(16)
            if content.startswith(SIGNATURE):
                return _from_text(read_png_text(file, MAX_BYTES), name)
            if content[8:12] != b"WEBP":
                content += file.read(MAX_BYTES)  # more than that is refused, not read
    except FileNotFoundError:
        fix = "check the name, or see `vinode run --help`"
        raise WorkflowError(Fault(name, "no such file", fix=fix, code="file-missing")) from None
    except (OSError, ValueError) as error:  # ValueError: not a name that a file can have
        raise WorkflowError(_unreadable(path, error)) from None
    if content[8:12] == b"WEBP":
        return _from_text(_webp_text(path), name)
    if content.startswith(_PICTURES):
        fix = f"give it to a workflow: vinode run WORKFLOW --set NODE.image={path.name}"
        fault = Fault(name, "this is a picture that carries no workflow", fix=fix)
        raise WorkflowError(replace(fault, code="no-workflow"))
    return parse(content, name)


def _unreadable(path: Path, error: OSError | ValueError) -> Fault:
    if os.path.isdir(path):  # unlike is_dir() it answers for names that are too long
        fix = "name a workflow file in it"
        return Fault(str(path), "this is a folder, not a file", fix=fix, code="file-unreadable")
    said = error.strerror if isinstance(error, OSError) else str(error)
    fix = "change its permissions" if isinstance(error, PermissionError) else "check the path"
    return Fault(str(path), f"cannot be read: {said}", fix=fix, code="file-unreadable")


def write(workflow: Workflow, path: Path) -> None:
    """Write our file so that it is there whole or not at all; OSError where the disk refuses."""
    # A lone surrogate cannot be UTF-8; as \udc80 it is valid inside a JSON string.
    write_whole(path, dump(workflow).encode("utf-8", "backslashreplace"))


def picture_text(workflow: Workflow) -> dict[str, str]:
    """Give what a saved picture carries: `prompt`, which ComfyUI opens too, and our extra data."""
    text = {"prompt": json.dumps(to_prompt(workflow))}
    if workflow.extra_data:
        text["vinode"] = json.dumps({"extra_data": workflow.extra_data})
    return text


def _webp_text(path: Path) -> dict[str, str]:
    # Pixels are not decoded, so a picture that would not fit in memory is no danger here.
    from PIL import Image

    try:
        with Image.open(path, formats=["WEBP"]) as picture:
            exif = picture.getexif()
            fields = [exif.get(number) for number in (_EXIF_MODEL, _EXIF_MAKE)]
    except Exception:  # a damaged file makes Pillow's decoders raise nearly anything
        fix = "copy or save it again"
        fault = Fault(str(path), "the picture is damaged", fix=fix, code="file-unreadable")
        raise WorkflowError(fault) from None
    parts = [field.partition(":") for field in fields if isinstance(field, str)]
    return {key: text for key, colon, text in parts if colon}


def _from_text(text: Mapping[str, str], name: str) -> Workflow:
    prompt = text.get("prompt")
    if prompt is None:
        problem = "the picture carries no workflow"
        fix = "open a picture that vinode or ComfyUI saved, or the workflow's JSON"
        if "workflow" in text:
            problem = "the picture carries only what ComfyUI's editor shows, not what runs"
            fix = "open it in ComfyUI and choose Workflow > Export (API)"
        raise WorkflowError(Fault(name, problem, fix=fix, code="no-workflow"))
    workflow = parse(prompt, f"{name}, text `prompt`")
    if "vinode" in text:
        place = f"{name}, text `vinode`"
        carried = load_json(text["vinode"], place)
        if isinstance(carried, dict) and "extra_data" in carried:
            return from_json(
                {"prompt": to_prompt(workflow), "extra_data": carried["extra_data"]}, place
            )
    return workflow
