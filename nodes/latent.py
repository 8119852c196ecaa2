"""Make latents and change their shape: size, batch, direction, and where they are sampled anew."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from vinode.graph.diffusion import Latent
from vinode.graph.node import node
from vinode.graph.ports import Range
from vinode.graph.values import Mask
from vinode.nodes.algorithms.inpaint import fit_mask
from vinode.nodes.algorithms.latent_resize import LatentMethod, resize_latent
from vinode.nodes.algorithms.limits import MAX_SIDE, check_latent
from vinode.nodes.algorithms.resize import crop_to_shape

F32 = NDArray[np.float32]

LEAST = 64  # pixels that a side has at least after scaling and cropping

Side = Annotated[int, Range(16, MAX_SIDE, "pixels", step=8)]
SideOrAny = Annotated[int, Range(0, MAX_SIDE, "pixels", step=8)]
CropSide = Annotated[int, Range(LEAST, MAX_SIDE, "pixels", step=8)]


@node("EmptyLatentImage", category="latent", title="Empty Latent Image", known=True)
def empty_latent_image(
    width: Side = 512,
    height: Side = 512,
    batch_size: Annotated[int, Range(1, 4096)] = 1,
) -> Latent:
    """Make latents of nothing, for pictures that begin as noise alone.

    width, height  of the pictures; a latent has a cell for 8 × 8 pixels
    batch_size     how many pictures
    """
    check_latent(batch_size, 4, height // 8, width // 8, 8)
    return Latent(np.zeros((batch_size, 4, height // 8, width // 8), np.float32), scale=8)


@node("LatentUpscale", category="latent", title="Upscale Latent", known=True)
def latent_upscale(
    samples: Latent,
    upscale_method: LatentMethod = "nearest-exact",
    width: SideOrAny = 512,
    height: SideOrAny = 512,
    crop: Literal["disabled", "center"] = "disabled",
) -> Latent:
    """Resize latents to a size in pixels.

    samples         the latents
    upscale_method  how cells between are made; bislerp keeps contrast best
    width, height   0 keeps the proportions, both 0 the size; at least 64 otherwise
    crop            center cuts to the new proportions first, instead of stretching
    """
    if width == 0 and height == 0:
        return samples
    scale = samples.scale
    _, _, old_height, old_width = samples.samples.shape
    if width == 0:
        width = round(old_width * max(LEAST, height) / old_height)
    elif height == 0:
        height = round(old_height * max(LEAST, width) / old_width)
    size = max(LEAST, width) // scale, max(LEAST, height) // scale
    return _resized(_cut_to(samples, *size) if crop == "center" else samples, *size, upscale_method)


@node("LatentUpscaleBy", category="latent", title="Upscale Latent By", known=True)
def latent_upscale_by(
    samples: Latent,
    upscale_method: LatentMethod = "nearest-exact",
    scale_by: Annotated[float, Range(0.01, 8.0, step=0.01)] = 1.5,
) -> Latent:
    """Resize latents by a factor.

    samples         the latents
    upscale_method  how cells between are made; bislerp keeps contrast best
    scale_by        2 doubles both sides
    """
    _, _, height, width = samples.samples.shape
    size = max(1, round(width * scale_by)), max(1, round(height * scale_by))
    return _resized(samples, *size, upscale_method)


def _resized(latent: Latent, width: int, height: int, method: LatentMethod) -> Latent:
    batch, channels = latent.samples.shape[:2]
    check_latent(batch, channels, height, width, latent.scale)
    # A mask is of any size: whoever samples fits it to the cells.
    return replace(latent, samples=resize_latent(latent.samples, width, height, method))


def _cut_to(latent: Latent, width: int, height: int) -> Latent:
    """Cut evenly to the proportions of a size in cells."""
    old = latent.samples
    kept = crop_to_shape(old.transpose(0, 2, 3, 1), width, height).shape
    top, left = (old.shape[2] - kept[1]) // 2, (old.shape[3] - kept[2]) // 2
    return _cut(latent, top, left, kept[1], kept[2])


def _cut(latent: Latent, top: int, left: int, height: int, width: int) -> Latent:
    """Cut a rectangle of cells out, and the same out of the mask."""
    scale, mask = latent.scale, latent.noise_mask
    _, _, old_height, old_width = latent.samples.shape
    if mask is not None:
        fitted = fit_mask(mask, old_height * scale, old_width * scale)
        rows = slice(top * scale, (top + height) * scale)
        mask = fitted[:, rows, left * scale : (left + width) * scale].copy()
    samples = latent.samples[:, :, top : top + height, left : left + width].copy()
    return replace(latent, samples=samples, noise_mask=mask)


@node("LatentCrop", category="latent/transform", title="Crop Latent", known=True)
def latent_crop(
    samples: Latent,
    width: CropSide = 512,
    height: CropSide = 512,
    x: SideOrAny = 0,
    y: SideOrAny = 0,
) -> Latent:
    """Cut a rectangle out of latents; what lies beyond their edge is left out.

    samples        the latents
    width, height  of the rectangle
    x, y           its left and upper edge, moved in where less than 64 pixels would be left
    """
    scale = samples.scale
    _, _, old_height, old_width = samples.samples.shape
    least = LEAST // scale
    top = min(y // scale, max(0, old_height - least))
    left = min(x // scale, max(0, old_width - least))
    size = min(height // scale, old_height - top), min(width // scale, old_width - left)
    return _cut(samples, top, left, *size)


@node("LatentFlip", category="latent/transform", title="Flip Latent", known=True)
def latent_flip(
    samples: Latent,
    flip_method: Literal["x-axis: vertically", "y-axis: horizontally"] = "x-axis: vertically",
) -> Latent:
    """Mirror latents.

    samples      the latents
    flip_method  vertically puts the top to the bottom, horizontally the left to the right
    """
    axis = -2 if flip_method.startswith("x") else -1
    mask = samples.noise_mask
    return replace(
        samples,
        samples=np.flip(samples.samples, axis).copy(),
        noise_mask=None if mask is None else np.flip(mask, axis).copy(),
    )


@node("LatentRotate", category="latent/transform", title="Rotate Latent", known=True)
def latent_rotate(
    samples: Latent,
    rotation: Literal["none", "90 degrees", "180 degrees", "270 degrees"] = "none",
) -> Latent:
    """Turn latents clockwise.

    samples   the latents
    rotation  by how much
    """
    turns = ("none", "90 degrees", "180 degrees", "270 degrees").index(rotation)
    mask = samples.noise_mask
    return replace(
        samples,
        samples=np.rot90(samples.samples, turns, axes=(-1, -2)).copy(),
        noise_mask=None if mask is None else np.rot90(mask, turns, axes=(-1, -2)).copy(),
    )


@node("LatentFromBatch", category="latent/batch", title="Latent From Batch", known=True)
def latent_from_batch(
    samples: Latent,
    batch_index: Annotated[int, Range(0, 63)] = 0,
    length: Annotated[int, Range(1, 64)] = 1,
) -> Latent:
    """Take some latents of a batch; sampled again with the same seed they get the same noise.

    samples      the latents
    batch_index  the first one, counted from 0; the last where there are fewer
    length       how many, as far as there are
    """
    batch = len(samples.samples)
    first = min(batch_index, batch - 1)
    rows = slice(first, min(first + length, batch))
    mask = samples.noise_mask
    if mask is not None and len(mask) > 1:
        mask = _mask_each(mask, batch)[rows]
    indices = samples.indices or tuple(range(batch))
    return replace(
        samples, samples=samples.samples[rows].copy(), noise_mask=mask, indices=indices[rows]
    )


@node("RepeatLatentBatch", category="latent/batch", title="Repeat Latent Batch", known=True)
def repeat_latent_batch(samples: Latent, amount: Annotated[int, Range(1, 64)] = 1) -> Latent:
    """Repeat a batch of latents; each copy gets noise of its own.

    samples  the latents
    amount   how many times the batch is there afterwards
    """
    batch, channels, height, width = samples.samples.shape
    check_latent(batch * amount, channels, height, width, samples.scale)
    mask, indices = samples.noise_mask, samples.indices
    if mask is not None and len(mask) > 1:
        mask = np.tile(_mask_each(mask, batch), (amount, 1, 1))
    if indices is not None:
        step = max(indices) - min(indices) + 1
        indices = tuple(index + copy * step for copy in range(amount) for index in indices)
    repeated = np.tile(samples.samples, (amount, 1, 1, 1))
    return replace(samples, samples=repeated, noise_mask=mask, indices=indices)


def _mask_each(mask: F32, batch: int) -> F32:
    """Give each latent its mask: in turn where there are fewer."""
    return mask[np.arange(batch) % len(mask)]


@node("SetLatentNoiseMask", category="latent/inpaint", title="Set Latent Noise Mask", known=True)
def set_latent_noise_mask(samples: Latent, mask: Mask) -> Latent:
    """Sample latents anew only where a mask is on.

    samples  the latents
    mask     (B, H, W) 1 where they are sampled anew, 0 where they stay as they are
    """
    return replace(samples, noise_mask=mask)
