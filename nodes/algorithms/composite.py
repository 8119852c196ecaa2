"""Put pictures together: equal batches and channels, paste through a mask, blend."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vinode.graph.values import Image
from vinode.nodes.algorithms.limits import check_size
from vinode.nodes.algorithms.resize import resize

BlendMode: TypeAlias = Literal[
    "normal", "multiply", "screen", "overlay", "soft_light", "difference"
]


def to_batch(array: NDArray[Any], batch: int) -> NDArray[Any]:
    """Give exactly `batch` items: start again from the first where there are too few.

    array    (B, ...)
    returns  (batch, ...)
    """
    if len(array) >= batch:
        return array[:batch]
    return array[np.arange(batch) % len(array)]


def same_dtype(first: Image, second: Image) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give the pixels of both as uint8 where both are, else as float32."""
    if first.pixels.dtype == second.pixels.dtype:
        return first.pixels, second.pixels
    return first.as_float(), second.as_float()


def with_alpha(pixels: NDArray[Any]) -> NDArray[Any]:
    """Add an opaque alpha channel where there is none.

    pixels   (B, H, W, 3 or 4) uint8 or float32
    returns  (B, H, W, 4)
    """
    if pixels.shape[3] == 4:
        return pixels
    opaque = 255 if pixels.dtype == np.uint8 else 1
    return np.pad(pixels, ((0, 0), (0, 0), (0, 0), (0, 1)), constant_values=opaque)


def with_channels(pixels: NDArray[Any], channels: int) -> NDArray[Any]:
    """Give (B, H, W, channels): alpha is dropped, or added as opaque."""
    return pixels[..., :3] if channels == 3 else with_alpha(pixels)


def paste(
    destination: Image, source: Image, x: int, y: int, mask: NDArray[np.float32] | None
) -> NDArray[Any]:
    """Paste a batch over another; what lies outside the destination is cut off.

    destination  (B, H, W, C); its size, batch and channels are those of the result
    source       (b, h, w, c), repeated to B
    x, y         pixels from the left and top of the destination; may be negative
    mask         (m, mh, mw) float32 0..1, resized to the source; 1 shows the source
    returns      (B, H, W, C) uint8 where nothing had to be mixed and both are, else float32
    """
    below, above = same_dtype(destination, source)
    batch, height, width, channels = below.shape
    left, top = max(x, 0), max(y, 0)
    right, bottom = min(x + above.shape[2], width), min(y + above.shape[1], height)
    if right <= left or bottom <= top:
        return destination.pixels
    there = np.s_[:, top:bottom, left:right]
    here = np.s_[:, top - y : bottom - y, left - x : right - x]
    if mask is None:
        pasted = below.copy()
        pasted[there] = with_channels(to_batch(above[here], batch), channels)
        return pasted
    share = resize(mask[..., None], above.shape[2], above.shape[1], "bilinear")
    share = to_batch(share[here], batch)
    mixed = destination.as_float().copy()
    over = with_channels(to_batch(source.as_float()[here], batch), channels)
    mixed[there] = over * share + mixed[there] * (1 - share)
    return mixed


def blend(
    below: NDArray[np.float32], above: NDArray[np.float32], factor: float, mode: BlendMode
) -> NDArray[np.float32]:
    """Blend two batches of the same size.

    below, above  (B, H, W, C) float32 0..1, same shape but for B, which may be 1
    factor        0..1, share of the blended picture
    returns       (B, H, W, C) float32 0..1
    """
    blended = _blended(below, above, mode)
    share = np.float32(factor)
    mixed = (below * (1 - share) + blended * share).clip(0, 1)
    if mode == "difference" and below.shape[-1] == 4:
        mixed[..., 3] = below[..., 3]  # the difference of two opaque pictures is not transparent
    return mixed


def _blended(a: NDArray[np.float32], b: NDArray[np.float32], mode: BlendMode) -> NDArray[Any]:
    match mode:
        case "normal":
            return b
        case "multiply":
            return a * b
        case "screen":
            return 1 - (1 - a) * (1 - b)
        case "overlay":
            return np.where(a <= 0.5, 2 * a * b, 1 - 2 * (1 - a) * (1 - b))
        case "soft_light":
            curve = np.where(a <= 0.25, ((16 * a - 12) * a + 4) * a, np.sqrt(a.clip(0)))
            darker = a - (1 - 2 * b) * a * (1 - a)
            return np.where(b <= 0.5, darker, a + (2 * b - 1) * (curve - a))
        case "difference":
            return a - b


def pad(pixels: NDArray[Any], left: int, top: int, right: int, bottom: int) -> NDArray[Any]:
    """Put a border of mid grey around pictures; an alpha channel is opaque there.

    pixels                    (B, H, W, C) uint8 or float32
    left, top, right, bottom  pixels
    returns                   (B, top + H + bottom, left + W + right, C)
    """
    batch, height, width, channels = pixels.shape
    padded_height, padded_width = top + height + bottom, left + width + right
    check_size(batch, padded_height, padded_width)
    is_bytes = pixels.dtype == np.uint8
    grey: float = 128 if is_bytes else 0.5
    padded = np.full((batch, padded_height, padded_width, channels), grey, pixels.dtype)
    padded[..., 3:] = 255 if is_bytes else 1
    padded[:, top : top + height, left : left + width] = pixels
    return padded


def border_mask(
    size: tuple[int, int], left: int, top: int, right: int, bottom: int, feathering: int
) -> NDArray[np.float32]:
    """Mark the border that `pad` adds, fading into the picture over `feathering` pixels.

    size                      (H, W) of the picture before padding, pixels
    left, top, right, bottom  pixels
    returns                   (1, top + H + bottom, left + W + right) float32 0..1, 1 on the border
    """
    height, width = size
    mask = np.ones((1, top + height + bottom, left + width + right), np.float32)
    inside: NDArray[Any] = np.zeros((height, width), np.float32)
    if 0 < feathering * 2 < min(height, width):
        rows = _distance(height, bool(top), bool(bottom))
        columns = _distance(width, bool(left), bool(right))
        nearest = np.minimum(rows[:, None], columns)
        inside = ((feathering - nearest).clip(0) / np.float32(feathering)) ** 2
    mask[0, top : top + height, left : left + width] = inside
    return mask


def _distance(length: int, before: bool, after: bool) -> NDArray[np.float32]:
    """Give every pixel's distance in pixels to those ends that have a border."""
    places = np.arange(length, dtype=np.float32)
    far = np.full(length, np.inf, np.float32)
    return np.minimum(places if before else far, length - places if after else far)
