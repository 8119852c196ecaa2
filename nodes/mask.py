"""Nodes that turn masks into pictures and back."""

from __future__ import annotations

from typing import Literal

import numpy as np

from vinode.graph.errors import NodeError
from vinode.graph.node import node
from vinode.graph.values import Image, Mask


@node("MaskToImage", category="mask", title="Convert Mask to Image")
def mask_to_image(mask: Mask) -> Image:
    """Show a mask as a grey picture: white where it is on.

    mask  (B, H, W) float32 0..1
    """
    return Image(np.repeat(mask[..., None], 3, axis=3))


@node("ImageToMask", category="mask", title="Convert Image to Mask")
def image_to_mask(image: Image, channel: Literal["red", "green", "blue", "alpha"] = "red") -> Mask:
    """Make a mask of one colour channel: on where the channel is bright.

    image    (B, H, W, C) the pictures
    channel  which of red, green, blue and alpha
    """
    index = ("red", "green", "blue", "alpha").index(channel)
    if index >= image.shape[3]:
        fix = "choose red, green or blue, or take the mask of the node that loads the picture"
        raise NodeError("the picture has no alpha channel", fix=fix)
    plane = image.pixels[..., index]
    scale = np.float32(1 / 255 if plane.dtype == np.uint8 else 1)
    return np.multiply(plane, scale, dtype=np.float32)


@node("InvertMask", category="mask")
def invert_mask(mask: Mask) -> Mask:
    """Turn a mask inside out: on where it was off.

    mask  (B, H, W) float32 0..1
    """
    return np.subtract(1, mask, dtype=np.float32)
