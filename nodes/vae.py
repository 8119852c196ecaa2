"""Latents to pictures and back, whole or in tiles, and what inpainting needs of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vinode.graph.context import Context
from vinode.graph.diffusion import Conditioning, Latent, Prompt, Vae
from vinode.graph.errors import NodeError
from vinode.graph.node import node
from vinode.graph.ports import Range
from vinode.graph.values import Image, Mask, ModelPart, PartUse
from vinode.nodes.algorithms.inpaint import blank, fit_mask, grow
from vinode.nodes.algorithms.tiles import Blend, Tile, cut
from vinode.nodes.algorithms.vae_memory import tile_for

F32 = NDArray[np.float32]

TileSize = Annotated[int, Range(64, 4096, "pixels", step=32)]
Overlap = Annotated[int, Range(0, 4096, "pixels", step=32)]
Frames = Annotated[int, Range(4, 4096, "frames", step=4)]


class Inpainting(NamedTuple):
    """Prompts that carry the picture to fill, and the latent to begin with."""

    positive: Conditioning
    negative: Conditioning
    latent: Latent


def _decode_uses(samples: Latent | None, vae: Vae | None) -> list[PartUse] | None:
    """Tell what is run: the decoder, once a picture or a tile."""
    if samples is None or vae is None:
        return None
    batch, channels, height, width = samples.samples.shape
    size = tile_for(height, width, vae.scale)
    tiles = cut(height, width, size, size // 4)
    shape = (1, channels, tiles[0].height, tiles[0].width)
    return [PartUse(vae.decoder, {"latent": shape}, calls=batch * len(tiles))]


@node("VAEDecode", category="latent", title="VAE Decode", parts=_decode_uses)
def vae_decode(samples: Latent, vae: Vae, context: Context) -> Image:
    """Turn latents into pictures; in tiles where memory would not do for the whole.

    samples  the latents
    vae      the decoder that belongs to the model they were made by
    """
    _, _, height, width = samples.samples.shape
    size = tile_for(height, width, vae.scale)
    return Image(_decode(samples, vae, context, size, size // 4))


@node("VAEDecodeTiled", category="latent/tiled", title="VAE Decode (Tiled)")
def vae_decode_tiled(
    samples: Latent,
    vae: Vae,
    context: Context,
    tile_size: TileSize = 512,
    overlap: Overlap = 64,
    temporal_size: Frames = 64,
    temporal_overlap: Frames = 8,
) -> Image:
    """Turn latents into pictures in tiles: less memory, a little less exact.

    samples           the latents
    vae               the decoder that belongs to the model they were made by
    tile_size         pixels of a tile's side
    overlap           pixels that neighbours share; they are faded into each other there
    temporal_size     for films, which are not decoded yet: without effect
    temporal_overlap  as above
    """
    size = max(1, tile_size // vae.scale)
    return Image(_decode(samples, vae, context, size, min(overlap // vae.scale, size // 2)))


def _encode_uses(pixels: Image | None, vae: Vae | None) -> list[PartUse] | None:
    """Tell what is run: the encoder, once a picture or a tile."""
    if vae is None or vae.encoder is None:
        return None
    if pixels is None:  # of a size that is known only in the run
        return [PartUse(vae.encoder, {"image": (1, -1, -1, 3)})]
    height, width = _cells(pixels, vae)
    size = tile_for(height, width, vae.scale)
    tiles = cut(height, width, size, size // 4)
    shape = (1, tiles[0].height * vae.scale, tiles[0].width * vae.scale, 3)
    return [PartUse(vae.encoder, {"image": shape}, calls=pixels.shape[0] * len(tiles))]


def _encoded_size(pixels: Image | None, vae: Vae | None) -> Latent | None:
    """Tell before the run how large the latent will be."""
    if pixels is None or vae is None:
        return None
    shape = (pixels.shape[0], vae.latent_channels, *_cells(pixels, vae))
    return Latent(np.zeros(shape, np.float32), scale=vae.scale)


@node("VAEEncode", category="latent", title="VAE Encode", known=_encoded_size, parts=_encode_uses)
def vae_encode(pixels: Image, vae: Vae, context: Context) -> Latent:
    """Turn pictures into latents; sides are cut to a multiple of the latent's cell.

    pixels  the pictures; transparency is left out
    vae     the encoder that belongs to the model
    """
    size = tile_for(*_cells(pixels, vae), vae.scale)
    return _encode(_cropped(pixels.as_float(), vae), vae, context, size, size // 4)


@node("VAEEncodeTiled", category="latent/tiled", title="VAE Encode (Tiled)")
def vae_encode_tiled(
    pixels: Image,
    vae: Vae,
    context: Context,
    tile_size: TileSize = 512,
    overlap: Overlap = 64,
    temporal_size: Frames = 64,
    temporal_overlap: Frames = 8,
) -> Latent:
    """Turn pictures into latents in tiles: less memory, a little less exact.

    pixels            the pictures; transparency is left out
    vae               the encoder that belongs to the model
    tile_size         pixels of a tile's side
    overlap           pixels that neighbours share; they are faded into each other there
    temporal_size     for films, which are not encoded yet: without effect
    temporal_overlap  as above
    """
    size = max(1, tile_size // vae.scale)
    shared = min(overlap // vae.scale, size // 2)
    return _encode(_cropped(pixels.as_float(), vae), vae, context, size, shared)


@node(
    "VAEEncodeForInpaint",
    category="latent/inpaint",
    title="VAE Encode (for Inpainting)",
    known=_encoded_size,
    parts=_encode_uses,
)
def vae_encode_for_inpaint(
    pixels: Image,
    vae: Vae,
    mask: Mask,
    context: Context,
    grow_mask_by: Annotated[int, Range(0, 64, "pixels")] = 6,
) -> Latent:
    """Turn pictures into latents without what the mask covers, which is then painted anew.

    pixels        the pictures
    vae           the encoder that belongs to the model
    mask          (B, H, W) on where to paint anew
    grow_mask_by  pixels that the mask reaches further, so that no seam stays
    """
    picture = pixels.as_float()
    fitted = _cropped(fit_mask(mask, *picture.shape[1:3])[..., None], vae)[..., 0]
    emptied = blank(_cropped(picture, vae), fitted)
    size = tile_for(*_cells(pixels, vae), vae.scale)
    latent = _encode(emptied, vae, context, size, size // 4)
    return replace(latent, noise_mask=grow(fitted, grow_mask_by))


@node("InpaintModelConditioning", category="conditioning/inpaint")
def inpaint_model_conditioning(
    positive: Conditioning,
    negative: Conditioning,
    vae: Vae,
    pixels: Image,
    mask: Mask,
    context: Context,
    noise_mask: bool = True,
) -> Inpainting:
    """Give an inpainting model the picture to fill.

    positive, negative  the prompts
    vae                 the encoder that belongs to the model
    pixels              the pictures
    mask                (B, H, W) on where to paint anew
    noise_mask          keep everything else exactly as it is
    latent              the pictures, to begin with
    """
    picture = _cropped(pixels.as_float(), vae)
    fitted = _cropped(fit_mask(mask, *pixels.shape[1:3])[..., None], vae)[..., 0]
    size = tile_for(*_cells(pixels, vae), vae.scale)
    given = _encode(blank(picture, fitted), vae, context, size, size // 4)
    latent = _encode(picture, vae, context, size, size // 4)
    options = {"concat_latent": given.samples, "concat_mask": fitted[:, None]}
    if noise_mask:
        latent = replace(latent, noise_mask=fitted)
    return Inpainting(_with_options(positive, options), _with_options(negative, options), latent)


def _with_options(conditioning: Conditioning, options: dict[str, Any]) -> Conditioning:
    return Conditioning(
        tuple(
            Prompt(prompt.embeddings, {**prompt.options, **options})
            for prompt in conditioning.prompts
        )
    )


def _cells(pixels: Image, vae: Vae) -> tuple[int, int]:
    _, height, width, _ = pixels.shape
    if min(height, width) < vae.scale:
        fix = "use a larger picture"
        raise NodeError(f"a side is under {vae.scale} pixels", f"{width} × {height}", fix)
    return height // vae.scale, width // vae.scale


def _cropped(values: F32, vae: Vae) -> F32:
    """Cut (B, H, W, C) evenly to a multiple of the latent's cell, and to three channels."""
    _, height, width, _ = values.shape
    new_height, new_width = height // vae.scale * vae.scale, width // vae.scale * vae.scale
    top, left = (height - new_height) // 2, (width - new_width) // 2
    return values[:, top : top + new_height, left : left + new_width, :3]


def _decode(samples: Latent, vae: Vae, context: Context, size: int, overlap: int) -> F32:
    latents, scale = samples.samples, vae.scale
    batch, channels, height, width = latents.shape
    if channels != vae.latent_channels:
        fix = "use the VAE that belongs to the model"
        problem = f"this VAE decodes latents of {vae.latent_channels} channels"
        raise NodeError(problem, str(channels), fix)
    tiles = cut(height, width, size, overlap)
    _note_tiles(context, tiles)
    pictures = np.empty((batch, height * scale, width * scale, 3), np.float32)
    for index in range(batch):
        blend = Blend(height * scale, width * scale, 3, overlap * scale)
        for number, tile in enumerate(tiles):
            context.progress(index * len(tiles) + number, batch * len(tiles))
            part = _of(latents[index : index + 1], tile)
            answer = _finite(context, vae.decoder, "latent", part, "image")
            blend.add(tile.top * scale, tile.left * scale, answer[0])
        pictures[index] = blend.result()
    return np.clip(pictures, 0, 1, out=pictures)


def _encode(pictures: F32, vae: Vae, context: Context, size: int, overlap: int) -> Latent:
    if vae.encoder is None:
        fix = "load a VAE that has its encoder"
        raise NodeError("this VAE has no encoder, it only decodes", vae.decoder.name, fix)
    scale = vae.scale
    batch, height, width = pictures.shape[0], pictures.shape[1] // scale, pictures.shape[2] // scale
    tiles = cut(height, width, size, overlap)
    _note_tiles(context, tiles)
    latents = np.empty((batch, vae.latent_channels, height, width), np.float32)
    for index in range(batch):
        blend = Blend(height, width, vae.latent_channels, overlap)
        for number, tile in enumerate(tiles):
            context.progress(index * len(tiles) + number, batch * len(tiles))
            top, left = tile.top * scale, tile.left * scale
            bottom, right = top + tile.height * scale, left + tile.width * scale
            part = pictures[index : index + 1, top:bottom, left:right]
            answer = _finite(context, vae.encoder, "image", part, "latent")
            blend.add(tile.top, tile.left, answer[0].transpose(1, 2, 0))
        latents[index] = blend.result().transpose(2, 0, 1)
    return Latent(latents, scale=scale)


def _of(latent: F32, tile: Tile) -> F32:
    return latent[:, :, tile.top : tile.top + tile.height, tile.left : tile.left + tile.width]


def _note_tiles(context: Context, tiles: list[Tile]) -> None:
    if len(tiles) > 1:
        context.show("notes", [f"in {len(tiles)} tiles, faded into each other"])


def _finite(context: Context, part: ModelPart, name: str, values: F32, output: str) -> F32:
    """Run a part; what overflowed in half precision is computed again in float32."""
    given = {name: np.ascontiguousarray(values)}
    answer = context.infer(part, given)[output]
    if np.isfinite(answer).all():
        return answer
    answer = context.infer(part, given, exact=True)[output]
    if not np.isfinite(answer).all():
        fix = "look for NaN in what comes before this node; the model file may be damaged"
        raise NodeError("the answer holds numbers that are not finite, in float32 too", "", fix)
    return answer
