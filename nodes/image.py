"""Nodes that transform pictures: scale, crop, pad, invert, blend, paste, batch."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

import numpy as np

from vinode.graph.node import node
from vinode.graph.ports import Range
from vinode.graph.values import Image, Mask
from vinode.nodes.algorithms import composite
from vinode.nodes.algorithms.composite import BlendMode
from vinode.nodes.algorithms.limits import MAX_SIDE, check_size
from vinode.nodes.algorithms.resize import Method, fill, fit_size, resize


class Padded(NamedTuple):
    """A padded picture and where its new border is."""

    image: Image
    mask: Mask


def _blank(batch: int, height: int, width: int, channels: int) -> Image:
    """Give pictures of a size that take no memory: what is told of them before the run."""
    return Image(np.broadcast_to(np.zeros(1, np.uint8), (batch, height, width, channels)))


def _scaled(image: Image | None, width: int | None, height: int | None) -> Image | None:
    """Tell before the run how large the pictures will be: one, where none is known yet."""
    if width is None or height is None:
        return None
    if image is None:
        return _blank(1, height, width, 3) if width and height else None
    batch, old_height, old_width, channels = image.shape
    width, height = fit_size((old_width, old_height), width, height)
    return _blank(batch, height, width, channels)


@node("ImageScale", category="image/transform", title="Upscale Image", known=_scaled)
def image_scale(
    image: Image,
    upscale_method: Method = "lanczos",
    width: Annotated[int, Range(0, MAX_SIDE, "pixels")] = 512,
    height: Annotated[int, Range(0, MAX_SIDE, "pixels")] = 512,
    crop: Literal["disabled", "center"] = "disabled",
) -> Image:
    """Resize pictures to a size that you give.

    image           (B, H, W, C) the pictures
    upscale_method  how pixels are mixed: area or lanczos to shrink, lanczos or bicubic to enlarge
    width, height   pixels; 0 keeps the proportions, both 0 keep the size
    crop            center cuts off what does not fit the new proportions, instead of stretching
    """
    _, old_height, old_width, _ = image.shape
    width, height = fit_size((old_width, old_height), width, height)
    scale = fill if crop == "center" else resize
    return Image(scale(image.pixels, width, height, upscale_method))


def _scaled_by(image: Image | None, scale_by: float | None) -> Image | None:
    if image is None or scale_by is None:
        return None
    batch, height, width, channels = image.shape
    return _blank(batch, _times(height, scale_by), _times(width, scale_by), channels)


def _times(side: int, factor: float) -> int:
    return max(1, round(side * factor))


@node("ImageScaleBy", category="image/transform", title="Upscale Image By", known=_scaled_by)
def image_scale_by(
    image: Image,
    upscale_method: Method = "lanczos",
    scale_by: Annotated[float, Range(0.01, 8.0, step=0.01)] = 1.0,
) -> Image:
    """Resize pictures by a factor.

    image           (B, H, W, C) the pictures
    upscale_method  how pixels are mixed: area or lanczos to shrink, lanczos or bicubic to enlarge
    scale_by        factor for both sides; 2 doubles width and height
    """
    _, height, width, _ = image.shape
    new_width, new_height = _times(width, scale_by), _times(height, scale_by)
    return Image(resize(image.pixels, new_width, new_height, upscale_method))


@node("ImageCrop", category="image/transform", known=True)
def image_crop(
    image: Image,
    width: Annotated[int, Range(1, MAX_SIDE, "pixels")] = 512,
    height: Annotated[int, Range(1, MAX_SIDE, "pixels")] = 512,
    x: Annotated[int, Range(0, MAX_SIDE, "pixels")] = 0,
    y: Annotated[int, Range(0, MAX_SIDE, "pixels")] = 0,
) -> Image:
    """Cut a rectangle out of pictures; what lies outside of them is left out.

    image          (B, H, W, C) the pictures
    width, height  pixels of the rectangle
    x, y           pixels from the left and the top to the rectangle
    """
    _, old_height, old_width, _ = image.shape
    x, y = min(x, old_width - 1), min(y, old_height - 1)
    return Image(image.pixels[:, y : y + height, x : x + width])


@node("ImagePadForOutpaint", category="image/transform", title="Pad Image for Outpainting")
def image_pad_for_outpaint(
    image: Image,
    left: Annotated[int, Range(0, MAX_SIDE, "pixels", 8)] = 0,
    top: Annotated[int, Range(0, MAX_SIDE, "pixels", 8)] = 0,
    right: Annotated[int, Range(0, MAX_SIDE, "pixels", 8)] = 0,
    bottom: Annotated[int, Range(0, MAX_SIDE, "pixels", 8)] = 0,
    feathering: Annotated[int, Range(0, MAX_SIDE, "pixels")] = 40,
) -> Padded:
    """Add a grey border for a model to paint on, and the mask of that border.

    image                     (B, H, W, C) the pictures; their new border is the output `image`
    left, top, right, bottom  pixels to add on that side
    feathering                pixels over which the mask fades into the picture
    mask                      (1, H, W) float32 0..1, 1 on the border
    """
    _, height, width, _ = image.shape
    padded = composite.pad(image.pixels, left, top, right, bottom)
    mask = composite.border_mask((height, width), left, top, right, bottom, feathering)
    return Padded(Image(padded), mask)


def _same(image: Image | None) -> Image | None:
    return image


@node("ImageInvert", category="image/color", title="Invert Image", known=_same)
def image_invert(image: Image) -> Image:
    """Turn colours into their opposite, as in a photographic negative; transparency stays.

    image  (B, H, W, C) the pictures
    """
    inverted = image.pixels.copy()
    white = 255 if inverted.dtype == np.uint8 else np.float32(1)
    np.subtract(white, inverted[..., :3], out=inverted[..., :3])
    return Image(inverted)


@node("ImageBlend", category="image/blend", title="Image Blend")
def image_blend(
    image1: Image,
    image2: Image,
    blend_factor: Annotated[float, Range(0.0, 1.0, step=0.01)] = 0.5,
    blend_mode: BlendMode = "normal",
) -> Image:
    """Lay the second picture over the first, as layers in a paint program.

    image1        (B, H, W, C) the pictures below; the result has their size
    image2        (b, h, w, c) the pictures above, cut and resized to the first where they differ
    blend_factor  0 shows the first picture, 1 the blended one
    blend_mode    how two pixels become one; difference is first minus second, never below black
    """
    _, height, width, _ = image1.shape
    above = image2.as_float()
    if above.shape[1:3] != (height, width):
        above = fill(above, width, height, "bicubic")
    batch = max(image1.shape[0], image2.shape[0])
    channels = image1.shape[3]
    below = composite.to_batch(image1.as_float(), batch)
    above = composite.with_channels(composite.to_batch(above, batch), channels)
    return Image(composite.blend(below, above, blend_factor, blend_mode))


@node("ImageCompositeMasked", category="image/blend", title="Image Composite Masked")
def image_composite_masked(
    destination: Image,
    source: Image,
    x: Annotated[int, Range(-MAX_SIDE, MAX_SIDE, "pixels")] = 0,
    y: Annotated[int, Range(-MAX_SIDE, MAX_SIDE, "pixels")] = 0,
    resize_source: bool = False,
    mask: Mask | None = None,
) -> Image:
    """Paste one picture onto another, all of it or only where a mask is white.

    destination    (B, H, W, C) the picture to paste onto
    source         (b, h, w, c) the picture to paste
    x, y           pixels from the left and the top of the destination; negative cuts the source
    resize_source  stretch the source to the size of the destination first
    mask           (m, h, w) float32 0..1, stretched over the source; 1 shows the source
    """
    if resize_source:
        _, height, width, _ = destination.shape
        source = Image(resize(source.pixels, width, height, "bilinear"))
    return Image(composite.paste(destination, source, x, y, mask))


@node("ImageBatch", category="image/batch", title="Batch Images")
def image_batch(image1: Image, image2: Image) -> Image:
    """Put two batches of pictures one after the other.

    image1  (B, H, W, C) the first pictures; the result has their size
    image2  (b, h, w, c) the next pictures, cut and resized to the first where they differ
    """
    _, height, width, channels = image1.shape
    check_size(image1.shape[0] + image2.shape[0], height, width)
    first, second = composite.same_dtype(image1, image2)
    if second.shape[1:3] != (height, width):
        second = fill(second, width, height, "bilinear")
    if channels != second.shape[3]:
        first, second = composite.with_alpha(first), composite.with_alpha(second)
    return Image(np.concatenate([first, second]))


@node("RepeatImageBatch", category="image/batch")
def repeat_image_batch(image: Image, amount: Annotated[int, Range(1, 4096, "times")] = 1) -> Image:
    """Repeat a batch of pictures several times.

    image   (B, H, W, C) the pictures
    amount  how many times the batch stands in the result
    """
    batch, height, width, _ = image.shape
    check_size(batch * amount, height, width)
    return Image(composite.to_batch(image.pixels, batch * amount))


@node("ImageFromBatch", category="image/batch")
def image_from_batch(
    image: Image,
    batch_index: Annotated[int, Range(0, 4095)] = 0,
    length: Annotated[int, Range(1, 4096, "pictures")] = 1,
) -> Image:
    """Take pictures out of a batch.

    image        (B, H, W, C) the pictures
    batch_index  the first to take, counted from 0; the last one where there are fewer
    length       how many to take, fewer where the batch ends
    """
    first = min(batch_index, image.shape[0] - 1)
    return Image(image.pixels[first : first + length])


def _empty(width: int | None, height: int | None, batch_size: int | None) -> Image | None:
    if width is None or height is None or batch_size is None:
        return None
    return _blank(batch_size, height, width, 3)


@node("EmptyImage", category="image", known=_empty)
def empty_image(
    width: Annotated[int, Range(1, MAX_SIDE, "pixels")] = 512,
    height: Annotated[int, Range(1, MAX_SIDE, "pixels")] = 512,
    batch_size: Annotated[int, Range(1, 4096, "pictures")] = 1,
    color: Annotated[int, Range(0, 0xFFFFFF)] = 0,
) -> Image:
    """Make pictures of one colour.

    width, height  pixels
    batch_size     how many pictures
    color          red × 65536 + green × 256 + blue, each 0..255
    """
    check_size(batch_size, height, width)
    pixels = np.empty((batch_size, height, width, 3), np.uint8)
    pixels[...] = (color >> 16, color >> 8 & 255, color & 255)
    return Image(pixels)
