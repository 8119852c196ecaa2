"""Values in a few words, as shown on their wires: shape, type and bytes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinode.graph.diffusion import Clip, Conditioning, DiffusionModel, Latent, Sampler, Vae
from vinode.graph.values import Boxes, Detector, Image, ModelPart

_TOLD = 3  # prompts of a conditioning whose shapes are spelled out


def describe(value: object) -> str:
    """Tell a value's shape, dtype and bytes, or which model a handle is of.

    >>> describe(Image(np.zeros((1, 4, 6, 3), np.uint8)))
    'IMAGE (1, 4, 6, 3) uint8, 72 bytes'
    """
    match value:
        case str():
            text = repr(value[:80])
            return text if len(text) <= 60 else f"{text[:57]}..."
        case int() if value.bit_length() > 200:
            return f"a whole number of {value.bit_length()} bits"
        case int() | float() | None:
            return repr(value)
        case Image():
            return f"IMAGE {_array(value.pixels)}"
        case np.ndarray():
            return _array(value)
        case Boxes():
            return f"BOXES {len(value)}"
        case Latent():
            return f"LATENT {_latent(value)}"
        case Conditioning():
            return f"CONDITIONING {_prompts(value)}"
        case Sampler():
            return f"SAMPLER {value.name}"
        case _:
            return _handle(value) or type(value).__name__


def _array(array: NDArray[Any]) -> str:
    return f"{array.shape} {_name(array.dtype)}, {array.nbytes} bytes"


@lru_cache(64)
def _name(dtype: np.dtype[Any]) -> str:
    """Name a type of numbers: numpy works it out anew each time, and every wire shows one."""
    return str(dtype)


def _latent(latent: Latent) -> str:
    mask = latent.noise_mask
    return _array(latent.samples) + (f"; noise mask {_array(mask)}" if mask is not None else "")


def _prompts(conditioning: Conditioning) -> str:
    prompts = conditioning.prompts
    told = ", ".join(str(prompt.embeddings.shape) for prompt in prompts[:_TOLD])
    if len(prompts) > _TOLD:
        told += f" and {len(prompts) - _TOLD} more"
    arrays = [prompt.embeddings for prompt in prompts]
    arrays += (array for prompt in prompts for array in _arrays(prompt.options.values()))
    size = sum(array.nbytes for array in arrays)
    return f"{told} float32, {size} bytes" if prompts else "of no prompt, 0 bytes"


def _arrays(values: Iterable[object]) -> list[NDArray[Any]]:
    return [value for value in values if isinstance(value, np.ndarray)]


def _handle(value: object) -> str:
    match value:
        case ModelPart():
            return f"ModelPart {value.name}, {value.bytes} bytes"
        case Detector():
            return f"DETECTOR {value.part.name}, {value.part.bytes} bytes"
        case DiffusionModel():
            return f"MODEL {value.unet.name} ({value.family}), {value.unet.bytes} bytes"
        case Clip():
            layer = f"layer {value.skip} of {value.layers}"
            return (
                f"CLIP {value.encoder.name} ({value.family}, {layer}), {value.encoder.bytes} bytes"
            )
        case Vae():
            coders = [value.decoder, *([value.encoder] if value.encoder else [])]
            names = " and ".join(part.name for part in coders)
            return f"VAE {names} ({value.family}), {sum(part.bytes for part in coders)} bytes"
        case _:
            return ""
