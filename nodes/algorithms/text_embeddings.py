"""Find what `embedding:name` names in a prompt: vectors of textual inversion.

Gal et al. 2022, arXiv:2208.01618. Only safetensors files are opened.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath

import numpy as np
from numpy.typing import NDArray

from vinode.converters.formats import PICKLE_REASON
from vinode.graph.errors import ModelError, short
from vinode.nodes.algorithms.tensor_file import read_floats

F32 = NDArray[np.float32]

_SAFE = ".safetensors"
_PICKLED = (".pt", ".bin", ".ckpt", ".pth")


def read_embedding(name: str, folders: Sequence[Path], width: int) -> F32 | str:
    """Read the vectors behind a name, or say in a sentence why it is ignored.

    name     with or without suffix, and with subfolders or not
    width    D, numbers of a token's vector
    returns  (n, D) float32
    """
    ignored = f"embedding:{short(name)[1:-1]} is ignored"
    path = find_embedding(name, folders)
    if path is None:
        pickled = next((path for s in _PICKLED for path in _files(name, s, folders)), None)
        if pickled is not None:
            return f"{ignored}: {pickled.name} is {PICKLE_REASON}; save it as safetensors"
        where = ", ".join(map(str, folders)) or "the folder embeddings of a model folder"
        return f"{ignored}: there is no such safetensors file in {where}"
    try:
        tensors = read_floats(path)
    except ModelError as error:
        return f"{ignored}: {error}"
    # A file for several text encoders has a tensor for each, which their widths tell apart.
    for values in tensors.values():
        if values.ndim in (1, 2) and values.size and values.shape[-1] == width:
            rows: F32 = values.reshape(-1, width)
            return rows if np.isfinite(rows).all() else f"{ignored}: {path.name} is not finite"
    widths = ", ".join(sorted({str(v.shape[-1]) for v in tensors.values() if v.ndim})) or "no"
    return f"{ignored}: its vectors have {widths} numbers, this text encoder's have {width}"


def find_embedding(name: str, folders: Sequence[Path]) -> Path | None:
    """Find the safetensors file behind a name, in the folders or anywhere below them."""
    return next(_files(name, _SAFE, folders), None)


def _files(name: str, suffix: str, folders: Sequence[Path]) -> Iterator[Path]:
    """Give the files of a name, never outside of the folders; links in them are the user's own."""
    plain = PurePosixPath(name.replace("\\", "/"))
    unsafe = ".." in plain.parts or PureWindowsPath(name).anchor or plain.is_absolute()
    if unsafe or "\0" in name or not plain.name:
        return
    ending = plain if plain.suffix.lower() == suffix else plain.with_name(plain.name + suffix)
    for folder in folders:
        if _is_file(folder / ending):
            yield folder / ending
            continue
        for place, below, _ in os.walk(folder):
            below[:] = sorted(below)
            if _is_file(Path(place) / ending):
                yield Path(place) / ending


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long, or not a name on this system
        return False
