"""Workflow files: JSON, and pictures that carry a workflow in their text."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path
from typing import Any

from vinode.graph.errors import Fault, WorkflowError
from vinode.graph.workflow import (
    MAX_BYTES,
    Workflow,
    dump,
    from_json,
    load_json,
    parse,
    to_prompt,
)

_PNG = b"\x89PNG\r\n\x1a\n"
# ComfyUI's WebP files carry "prompt:{...}" in the EXIF field Model.
_EXIF_MODEL = 0x0110


def read(path: Path) -> Workflow:
    """Read a workflow from a JSON file, or from a PNG or WebP picture made by one."""
    name = str(path)
    try:
        if path.stat().st_size > 16 * MAX_BYTES:
            problem = f"a workflow file has at most {16 * MAX_BYTES // 2**20} MB"
            raise WorkflowError(Fault(name, problem, code="too-large"))
        content = path.read_bytes()
    except FileNotFoundError:
        fix = "check the name, or see `vinode run --help`"
        raise WorkflowError(Fault(name, "no such file", fix=fix, code="file-missing")) from None
    except OSError as error:
        fault = Fault(name, f"cannot be read: {error.strerror}", code="file-unreadable")
        raise WorkflowError(fault) from None
    if content.startswith(_PNG) or content[8:12] == b"WEBP":
        return _from_picture(path, name)
    return parse(content, name)


def write(workflow: Workflow, path: Path) -> None:
    """Write our file so that it is there whole or not at all; OSError where the disk refuses."""
    # A lone surrogate cannot be UTF-8; as \udc80 it is valid inside a JSON string.
    content = dump(workflow).encode("utf-8", "backslashreplace")
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        beside.write_bytes(content)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def picture_text(workflow: Workflow) -> dict[str, str]:
    """Give what a saved picture carries: `prompt`, which ComfyUI opens too, and our extra data."""
    text = {"prompt": json.dumps(to_prompt(workflow))}
    if workflow.extra_data:
        text["vinode"] = json.dumps({"extra_data": workflow.extra_data})
    return text


def _from_picture(path: Path, name: str) -> Workflow:
    # Pixels are not decoded, so a picture that would not fit in memory is no danger here.
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as picture:
            # A PNG's text may stand after its pixels, where only `text` finds it.
            text: dict[Any, Any] = dict(picture.info) | dict(getattr(picture, "text", {}))
            model = picture.getexif().get(_EXIF_MODEL) if picture.format == "WEBP" else None
    except (OSError, UnidentifiedImageError, ValueError, SyntaxError, Image.DecompressionBombError):
        fault = Fault(name, "the picture is damaged", fix="save it again", code="file-unreadable")
        raise WorkflowError(fault) from None
    prompt = text.get("prompt")
    if isinstance(model, str) and model.startswith("prompt:"):
        prompt = model.removeprefix("prompt:")
    if not isinstance(prompt, str | bytes):
        fix = "open a picture that vinode or ComfyUI saved, or the workflow's JSON"
        problem = "the picture carries no workflow"
        raise WorkflowError(Fault(name, problem, fix=fix, code="no-workflow"))
    workflow = parse(prompt, f"{name}, text `prompt`")
    ours = text.get("vinode")
    if isinstance(ours, str):
        carried = load_json(ours, f"{name}, text `vinode`")
        if not isinstance(carried, dict) or "prompt" in carried:
            return workflow
        return from_json({"prompt": to_prompt(workflow), **carried}, name)
    return workflow
