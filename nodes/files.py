"""Nodes that load pictures and save them."""

from __future__ import annotations

import dataclasses
import hashlib
import secrets
import string
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, BinaryIO, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vinode.graph.context import Context, Folders
from vinode.graph.errors import Fault, NodeError
from vinode.graph.node import node
from vinode.graph.ports import Choices
from vinode.graph.values import Image, Mask
from vinode.nodes.algorithms.input_names import list_pictures, locate
from vinode.nodes.algorithms.output_names import (
    Target,
    expand,
    file_name,
    next_number,
    plan_target,
    publish,
    split_prefix,
    write_error,
)
from vinode.nodes.algorithms.picture_file import (
    Picture,
    header_fault,
    picture_size,
    read_picture,
    write_png,
)

PREVIEW_STEM = "vinode_temp_"
PictureName = Annotated[str, Choices(list_pictures, closed=False, upload=True)]

_COLOURS = ("red", "green", "blue")


class Loaded(NamedTuple):
    """A loaded picture and its transparency."""

    image: Image
    mask: Mask


def _content(image: str | None, folders: Folders) -> str | None:
    """Tell one picture from another by its content, so that an edited file is loaded again."""
    if image is None:
        return None
    found = locate(image, folders)
    if isinstance(found, Fault):
        return None
    try:
        with found.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:  # what is wrong with the file, the check says
        return None


def _check(image: str | None, folders: Folders) -> Fault | None:
    """Say before the run that a picture is missing or is none."""
    if image is None:
        return None
    found = locate(image, folders)
    fault = found if isinstance(found, Fault) else header_fault(found)
    return dataclasses.replace(fault, place="input image") if fault else None


def _read(image: str, folders: Folders) -> Picture:
    found = locate(image, folders)
    read = found if isinstance(found, Fault) else read_picture(found)
    if isinstance(read, Fault):
        raise NodeError(read.problem, read.got, read.fix)
    return read


def _size(image: str | None, folders: Folders) -> Loaded | None:
    """Tell before the run how large the picture is, from its header."""
    found = None if image is None else locate(image, folders)
    size = None if found is None or isinstance(found, Fault) else picture_size(found)
    if size is None:
        return None
    return Loaded(Image(np.zeros((*size, 3), np.uint8)), np.zeros(size, np.float32))


@node("LoadImage", category="image", fingerprint=_content, check=_check, known=_size)
def load_image(context: Context, image: PictureName) -> Loaded:
    """Load a picture, or all frames of an animated one, from the input folder.

    image  name of the file; the output `image` is (B, H, W, 3), upright and without transparency
    mask   (B, H, W) float32 0..1, 1 where the picture is transparent, all 0 where it never is
    """
    picture = _read(image, context.folders)
    return Loaded(Image(picture.colours), _transparency(picture))


@node("LoadImageMask", category="mask", fingerprint=_content, check=_check)
def load_image_mask(
    context: Context,
    image: PictureName,
    channel: Literal["alpha", "red", "green", "blue"] = "alpha",
) -> Mask:
    """Load one channel of a picture as a mask.

    image    name of the file
    channel  alpha is on where the picture is transparent; a colour is on where it is bright
    """
    picture = _read(image, context.folders)
    if channel == "alpha":
        return _transparency(picture)
    return Image(picture.colours).as_float()[..., _COLOURS.index(channel)].copy()


def _transparency(picture: Picture) -> NDArray[np.float32]:
    if picture.alpha is None:
        return np.zeros(picture.colours.shape[:3], np.float32)
    return np.subtract(1, picture.alpha, dtype=np.float32)


def _prefix_fault(filename_prefix: str | None, folders: Folders) -> Fault | None:
    """Say before the run that no file can have this name."""
    if filename_prefix is None:
        return None
    try:
        split_prefix(expand(filename_prefix, datetime.now(), 1, 1))
    except NodeError as error:
        return dataclasses.replace(error.faults[0], place="input filename_prefix")
    return None


@node("SaveImage", category="image", output=True, check=_prefix_fault)
def save_image(context: Context, images: Image, filename_prefix: str = "vinode") -> None:
    """Save pictures as PNG in the output folder; each file carries its workflow.

    images           (B, H, W, C) the pictures
    filename_prefix  start of the name, with folders if you like: foxes/%date:yyyy-MM-dd%;
                     %year% to %second%, %width%, %height% and %batch_num% are filled in
    """
    _, height, width, _ = images.shape
    prefix = expand(filename_prefix, datetime.now(), width, height)
    target = plan_target(prefix, context.folders.output)
    _save(context, images, target, "output", compress_level=4, first=next_number)


@node("PreviewImage", category="image", output=True)
def preview_image(context: Context, images: Image) -> None:
    """Show pictures in the editor without keeping them.

    images  (B, H, W, C) the pictures
    """
    letters = "".join(secrets.choice(string.ascii_lowercase) for _ in range(5))
    target = plan_target(f"{PREVIEW_STEM}{letters}", context.folders.temp)
    # No other file has this stem, so the folder need not be looked through.
    _save(context, images, target, "temp", compress_level=1, first=lambda _: 1)


def _save(
    context: Context,
    images: Image,
    target: Target,
    kind: Literal["output", "temp"],
    compress_level: int,
    first: Callable[[Target], int],
) -> None:
    saved: list[dict[str, str]] = []
    batch = images.shape[0]
    try:
        number = first(target)
        for place in range(batch):
            context.progress(place, batch)
            # One at a time: a batch of floats would need a quarter of its memory again.
            (picture,) = Image(images.pixels[place : place + 1]).as_uint8()

            def write(file: BinaryIO, pixels: NDArray[np.uint8] = picture) -> None:
                write_png(pixels, context.file_text, file, compress_level)

            number = publish(target, place, number, write)
            name = file_name(target, place, number)
            saved.append({"filename": name, "subfolder": target.subfolder, "type": kind})
            number += 1
    except OSError as error:
        raise write_error(error, target.folder) from error
    finally:
        context.show("images", saved)
