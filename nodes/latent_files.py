"""Save latents and load them again, in the files that ComfyUI writes and reads."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from vinode.graph.context import Context, Folders
from vinode.graph.diffusion import Latent
from vinode.graph.errors import Fault, ModelError, NodeError
from vinode.graph.node import node
from vinode.graph.ports import Choices
from vinode.nodes.algorithms.input_names import LATENT, list_latents, locate
from vinode.nodes.algorithms.output_names import (
    expand,
    file_name,
    next_number,
    plan_target,
    publish,
    split_prefix,
    write_error,
)
from vinode.nodes.algorithms.tensor_file import content_mark, read_floats

F32 = NDArray[np.float32]

# Files without this mark hold values times the factor of Stable Diffusion 1's VAE.
_MARK = "latent_format_version_0"
_OLD_FACTOR = np.float32(0.18215)


def _prefix_fault(filename_prefix: str | None, folders: Folders) -> Fault | None:
    """Say before the run that no file can have this name."""
    if filename_prefix is None:
        return None
    try:
        split_prefix(expand(filename_prefix, datetime.now(), 1, 1))
    except NodeError as error:
        return dataclasses.replace(error.faults[0], place="input filename_prefix")
    return None


@node("SaveLatent", category="latent", title="Save Latent", output=True, check=_prefix_fault)
def save_latent(context: Context, samples: Latent, filename_prefix: str = "latents/vinode") -> None:
    """Save a batch of latents as one file in the output folder; it carries its workflow.

    samples          the latents; the noise mask is not saved
    filename_prefix  start of the name, with folders if you like: foxes/%date:yyyy-MM-dd%;
                     %year% to %second%, %width% and %height% in pixels are filled in
    """
    _, _, height, width = samples.samples.shape
    prefix = expand(filename_prefix, datetime.now(), width * samples.scale, height * samples.scale)
    target = plan_target(prefix, context.folders.output, LATENT)
    tensors: dict[str, NDArray[Any]] = {
        "latent_tensor": np.ascontiguousarray(samples.samples),
        _MARK: np.zeros(0, np.float32),
    }
    content = save(tensors, dict(context.file_text) or None)

    def write(file: BinaryIO) -> None:
        file.write(content)

    try:
        number = publish(target, 0, next_number(target), write)
    except OSError as error:
        raise write_error(error, target.folder) from error
    name = file_name(target, 0, number)
    shown = {"filename": name, "subfolder": target.subfolder, "type": "output"}
    context.show("latents", [shown])


def _find(name: str, folders: Folders) -> Path | Fault:
    return locate(name, folders, "latent", list_latents)


def _check(latent: str | None, folders: Folders) -> Fault | None:
    """Say before the run that a latent is missing."""
    found = _find(latent, folders) if latent is not None else None
    return dataclasses.replace(found, place="input latent") if isinstance(found, Fault) else None


def _content(latent: str | None, folders: Folders) -> str | None:
    """Tell one file from another, so that an edited one is loaded again."""
    found = _find(latent, folders) if latent is not None else None
    return content_mark(found) if isinstance(found, Path) else None


@node("LoadLatent", category="latent", title="Load Latent", check=_check, fingerprint=_content)
def load_latent(
    context: Context, latent: Annotated[str, Choices(list_latents, closed=False)]
) -> Latent:
    """Load saved latents from the input folder.

    latent  name of the file; "name.latent [output]" takes it from the output folder
    """
    found = _find(latent, context.folders)
    if isinstance(found, Fault):
        raise NodeError(found.problem, found.got, found.fix)
    try:
        tensors = read_floats(found)
    except ModelError as error:
        fault = error.faults[0]
        raise NodeError(fault.problem, latent, fault.fix) from error
    values = tensors.get("latent_tensor")
    if values is None or values.ndim != 4 or not values.size:
        got = "no tensor latent_tensor" if values is None else str(values.shape)
        fix = "choose a file that SaveLatent wrote"
        raise NodeError("the file holds no latents (B, C, h, w) of pictures", got, fix)
    if not np.isfinite(values).all():
        raise NodeError("the latents are not finite", latent, "save them again")
    return Latent(values if _MARK in tensors else values / _OLD_FACTOR)
