"""Latents to pictures and back, on a small autoencoder whose answers are known."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.graph.engine import Nodes, Ran
from tests.nodes.context import CallContext, folders_below
from tests.nodes.shelf import with_shelf
from tests.nodes.small_diffusion import COLOURS, vae
from vinode.graph.context import Context
from vinode.graph.diffusion import Conditioning, Latent, Prompt, Vae
from vinode.graph.errors import NodeError
from vinode.graph.node import node
from vinode.graph.values import Image, ModelPart
from vinode.nodes import vae as vae_nodes
from vinode.nodes.algorithms.inpaint import grow
from vinode.nodes.algorithms.tiles import tile_starts
from vinode.nodes.algorithms.vae_memory import tile_for

F32 = NDArray[np.float32]

SHELF: dict[str, tuple[str, dict[str, str]]] = {
    "vae": ("ShelfVae", {}),
    "latent": ("ShelfLatent", {}),
    "image": ("ShelfImage", {}),
    "mask": ("ShelfMask", {}),
    "text": ("ShelfConditioning", {}),
}
DECODE: Nodes = {
    **SHELF,
    "x": ("VAEDecode", {"samples": ["latent", 0], "vae": ["vae", 0]}),
}


def noise(*shape: int) -> F32:
    """Make the same numbers each time, most of them in 0..1."""
    return np.random.default_rng(5).standard_normal(shape).astype(np.float32) * 0.2 + 0.5


def decoded(latent: F32, scale: int) -> F32:
    """Do in NumPy what the small decoder does."""
    mixed: F32 = np.einsum("bchw,kc->bhwk", latent, COLOURS)
    return mixed.repeat(scale, 1).repeat(scale, 2).clip(0, 1).astype(np.float32)


def run(nodes: Nodes, devices: dict[str, str] | None = None, **values: object) -> Ran:
    """Run the node `x` of a workflow."""
    ran = with_shelf(vae_nodes, **values).run(nodes, ["x"], devices=devices)
    assert ran.outcome.status == "done", ran.outcome.faults
    return ran


def image_of(ran: Ran) -> F32:
    """Give the pictures of node `x`."""
    value = ran.value("x")
    assert isinstance(value, Image)
    pixels: F32 = value.as_float()
    return pixels


def latent_of(ran: Ran, slot: int = 0) -> Latent:
    """Give the latent of node `x`."""
    value = ran.value("x", slot)
    assert isinstance(value, Latent)
    return value


@pytest.mark.parametrize("scale", [4, 8])
def test_a_batch_is_decoded(tmp_path: Path, scale: int) -> None:
    """Picture by picture; clipped to 0..1."""
    latent = noise(2, 4, 6, 5)
    ran = run(DECODE, latent=Latent(latent, scale=scale), vae=vae(tmp_path, scale))
    np.testing.assert_allclose(image_of(ran), decoded(latent, scale), atol=0.01)


def test_a_picture_comes_back(tmp_path: Path) -> None:
    """Encoded: a cell is the mean of its pixels; sides are cut evenly to whole cells."""
    pixels = noise(1, 37, 50, 3).clip(0, 1)
    nodes: Nodes = {**SHELF, "x": ("VAEEncode", {"pixels": ["image", 0], "vae": ["vae", 0]})}
    ran = run(nodes, image=Image(pixels), vae=vae(tmp_path))
    middle = pixels[:, 2:34, 1:49]
    cells = middle.reshape(1, 4, 8, 6, 8, 3).mean((2, 4)).transpose(0, 3, 1, 2)
    assert latent_of(ran).samples.shape == (1, 4, 4, 6)
    np.testing.assert_allclose(latent_of(ran).samples[:, :3], cells, atol=0.01)


@pytest.mark.parametrize(("overlap", "close"), [(64, 1e-3), (0, 1)])
def test_tiles_are_like_the_whole_where_they_overlap_enough(
    tmp_path: Path, overlap: int, close: float
) -> None:
    """A decoder that looks 3 cells far agrees where 8 are shared; where none are, it does not."""
    latent = noise(1, 4, 40, 33)
    values = {"latent": Latent(latent), "vae": vae(tmp_path, blur=7)}
    exact = {"vae": "CPU", "x": "CPU"}
    size = {"tile_size": 128, "overlap": overlap}
    nodes: Nodes = {
        **SHELF,
        "x": ("VAEDecodeTiled", {"samples": ["latent", 0], "vae": ["vae", 0], **size}),
    }
    tiled = image_of(run(nodes, exact, **values))
    whole = image_of(run(DECODE, exact, **values))
    worst = float(np.abs(tiled - whole).max())
    assert worst < close
    assert worst > 1e-3 or close < 1


def test_tiles_of_a_picture_are_encoded(tmp_path: Path) -> None:
    """The small encoder looks nowhere else, so tiles are exact."""
    pixels = noise(1, 320, 200, 3).clip(0, 1)
    nodes: Nodes = {
        **SHELF,
        "x": ("VAEEncodeTiled", {"pixels": ["image", 0], "vae": ["vae", 0], "tile_size": 64}),
        "y": ("VAEEncode", {"pixels": ["image", 0], "vae": ["vae", 0]}),
    }
    engine = with_shelf(vae_nodes, image=Image(pixels), vae=vae(tmp_path))
    ran = engine.run(nodes, ["x", "y"])
    whole = ran.value("y")
    assert isinstance(whole, Latent)
    np.testing.assert_allclose(latent_of(ran).samples, whole.samples, atol=0.01)


def test_a_size_too_large_for_memory_is_done_in_tiles() -> None:
    """Half of a terabyte of picture does not fit into 8 GB; a small one does."""
    assert tile_for(100, 80, 8, free=8 * 2**30) == 100
    assert tile_for(100_000, 80, 8, free=8 * 2**30) == 64


def test_what_overflows_in_half_precision_is_computed_again(tmp_path: Path) -> None:
    """In float32; where that is not finite either, the node fails."""
    model = vae(tmp_path)

    def infer(part: ModelPart, inputs: Mapping[str, Any]) -> dict[str, F32]:
        answer = np.full((1, 16, 16, 3), 0.25, np.float32)
        if not context.exact or hopeless:
            answer[0, 3, 3] = np.nan
        return {"image": answer}

    hopeless, context = False, CallContext(folders_below(tmp_path), infer=infer)
    latent = Latent(noise(1, 4, 2, 2))
    assert vae_nodes.vae_decode(latent, model, context).as_float().max() == 0.25
    hopeless = True
    with pytest.raises(NodeError, match="in float32 too"):
        vae_nodes.vae_decode(latent, model, context)


def test_the_placement_tells_of_what_was_computed_again(tmp_path: Path) -> None:
    """With the part's name and what saves the first attempt."""

    @node("Exact", category="test")
    def exact(vae: Vae, context: Context) -> None:
        """Ask for float32.

        vae  whose decoder runs
        """
        context.infer(vae.decoder, {"latent": np.zeros((1, 4, 2, 2), np.float32)}, exact=True)

    engine = with_shelf(vae_nodes, vae=vae(tmp_path))
    engine.types = {**engine.types, "Exact": exact}
    nodes: Nodes = {"vae": SHELF["vae"], "x": ("Exact", {"vae": ["vae", 0]})}
    (reason,) = engine.run(nodes, ["x"]).finished("x").placement.reasons
    assert (reason.code, reason.sentence) == (
        "precision-unsupported",
        "decoder overflowed in half precision and was run again in float32",
    )


def test_inpainting_takes_out_what_is_masked(tmp_path: Path) -> None:
    """Grey where the mask is on; the noise mask is grown, the picture is not."""
    pixels = np.ones((1, 32, 32, 3), np.float32)
    mask = np.zeros((1, 32, 32), np.float32)
    mask[:, 8:16, 8:16] = 1
    nodes: Nodes = {
        **SHELF,
        "x": (
            "VAEEncodeForInpaint",
            {"pixels": ["image", 0], "vae": ["vae", 0], "mask": ["mask", 0], "grow_mask_by": 3},
        ),
    }
    latent = latent_of(run(nodes, image=Image(pixels), mask=mask, vae=vae(tmp_path)))
    expected = np.ones((4, 4), np.float32)
    expected[1, 1] = 0.5
    np.testing.assert_allclose(latent.samples[0, 0], expected, atol=0.01)
    assert latent.noise_mask is not None
    assert latent.noise_mask.sum() == 10 * 10


def test_an_inpainting_model_is_given_the_picture(tmp_path: Path) -> None:
    """Both prompts carry the emptied picture and the mask; the latent is that of the whole."""
    pixels = np.ones((1, 16, 16, 3), np.float32)
    mask = np.zeros((1, 8, 8), np.float32)
    mask[:, :4] = 1
    prompt = Conditioning((Prompt(np.ones((1, 77, 8), np.float32), {"pooled": 1}),))
    links = {"positive": ["text", 0], "negative": ["text", 0], "vae": ["vae", 0]}
    nodes: Nodes = {
        **SHELF,
        "x": (
            "InpaintModelConditioning",
            {**links, "pixels": ["image", 0], "mask": ["mask", 0], "noise_mask": True},
        ),
    }
    values: dict[str, Any] = {
        "image": Image(pixels),
        "mask": mask,
        "vae": vae(tmp_path),
        "conditioning": prompt,
    }
    ran = run(nodes, None, **values)
    np.testing.assert_allclose(latent_of(ran, 2).samples[0, 0], np.ones((2, 2)), atol=0.01)
    assert latent_of(ran, 2).noise_mask is not None
    for slot in (0, 1):
        value = ran.value("x", slot)
        assert isinstance(value, Conditioning)
        options = value.prompts[0].options
        assert options["pooled"] == 1
        np.testing.assert_allclose(options["concat_latent"][0, 0, :, 0], [0.5, 1], atol=0.05)
        assert options["concat_mask"].shape == (1, 1, 16, 16)


@pytest.mark.parametrize(
    ("latent", "size", "sentence"),
    [
        ((1, 3, 2, 2), 16, "decodes latents of 4 channels"),
        ((1, 4, 2, 2), 4, "a side is under 8 pixels"),
    ],
)
def test_what_does_not_fit_is_one_sentence(
    tmp_path: Path, latent: tuple[int, ...], size: int, sentence: str
) -> None:
    """Latents of another model; pictures smaller than a cell."""
    nodes: Nodes = {
        **DECODE,
        "y": ("VAEEncode", {"pixels": ["image", 0], "vae": ["vae", 0]}),
    }
    engine = with_shelf(
        vae_nodes,
        latent=Latent(noise(*latent)),
        image=Image(noise(1, size, size, 3).clip(0, 1)),
        vae=vae(tmp_path),
    )
    faults = engine.run(nodes, ["x", "y"]).outcome.faults
    assert [fault.problem for fault in faults if sentence in fault.problem]


def test_masks_grow_by_a_square() -> None:
    """An even brush reaches one pixel further up and left; 0 and 1 change nothing."""
    mask = np.zeros((1, 9, 9), np.float32)
    mask[0, 4, 4] = 0.7
    assert [int(grow(mask, pixels).sum()) for pixels in (0, 1, 2, 3, 6)] == [1, 1, 4, 9, 36]


@pytest.mark.parametrize(("length", "size", "overlap"), [(100, 64, 16), (500, 64, 60), (65, 64, 0)])
def test_tiles_cover_a_side(length: int, size: int, overlap: int) -> None:
    """From its begin to its end, and neighbours share what they are asked to."""
    starts = tile_starts(length, size, overlap)
    assert (starts[0], starts[-1] + size) == (0, length)
    assert all(b - a <= size - overlap for a, b in pairwise(starts))
