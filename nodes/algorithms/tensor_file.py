"""Read small safetensors files: textual inversions and saved latents."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

import numpy as np
import safetensors
from numpy.typing import NDArray
from safetensors import SafetensorError

from vinode.converters.formats import recognise, refusal

F32 = NDArray[np.float32]

LARGEST = 2 * 2**30  # bytes of a file that is read whole
_FLOATS = {"F64": "<f8", "F32": "<f4", "F16": "<f2"}


def read_floats(path: Path) -> dict[str, F32]:
    """Read the tensors of a safetensors file; ModelError in one sentence where it is none.

    returns  name -> array float32; what is no number with a fraction is left out
    """
    if recognise(path) != "safetensors":
        raise refusal(path, "this is no safetensors file", "save it as safetensors")
    try:
        if path.stat().st_size > LARGEST:
            problem = f"the file is larger than {LARGEST // 2**30} GiB"
            raise refusal(path, problem, "choose the right file")
        # The library's stubs leave this function untyped.
        tensors = cast(Any, safetensors).deserialize(path.read_bytes())
    except SafetensorError as error:
        raise refusal(path, f"the file is damaged: {error}", "make or download it again") from error
    except OSError as error:
        problem = f"the file cannot be read: {error.strerror or error}"
        raise refusal(path, problem, "look at its permissions") from error
    found: dict[str, F32] = {}
    for name, tensor in tensors:
        values = _floats(tensor["dtype"], tensor["data"])
        if values is not None:
            found[name] = values.reshape(tensor["shape"])
    return found


def _floats(kind: str, data: bytes) -> F32 | None:
    if kind == "BF16":  # the upper half of a float32
        return (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32)
    plain = _FLOATS.get(kind)
    return np.frombuffer(data, plain).astype(np.float32) if plain else None


def content_mark(path: Path) -> str:
    """Tell a file from another by place, size and time of change; "" where it is not there."""
    try:
        seen = os.stat(path)
    except (OSError, ValueError):  # too long, or not a name on this system
        return ""
    return f"{path}\0{seen.st_size}\0{seen.st_mtime_ns}"
