"""What nodes tell before a run: sizes of pictures and latents, for whatever follows."""

from __future__ import annotations

from pathlib import Path

import PIL.Image
import pytest

from tests.nodes.small_diffusion import gaussian_unet, vae
from vinode.graph.context import Folders
from vinode.graph.diffusion import Latent
from vinode.graph.node import call_hook
from vinode.nodes.files import load_image
from vinode.nodes.latent import empty_latent_image
from vinode.nodes.sample import ksampler
from vinode.nodes.vae import vae_decode, vae_encode


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """Make a folder with a picture that lies on its side."""
    exif = PIL.Image.Exif()
    exif[0x0112] = 6
    PIL.Image.new("RGB", (30, 20)).save(tmp_path / "photo.jpg", exif=exif)
    return Folders(tmp_path, tmp_path, tmp_path, ())


def test_a_pictures_size_is_known_upright(folders: Folders) -> None:
    """From its header; a missing one is not known."""
    assert load_image.known is not None
    told = call_hook(load_image.known, {"image": "photo.jpg"}, folders)
    assert told.image.shape == (1, 30, 20, 3)
    assert told.mask.shape == (1, 30, 20)
    assert call_hook(load_image.known, {"image": "none.jpg"}, folders) is None
    assert call_hook(load_image.known, {}, folders) is None


def test_sizes_go_on_through_encoder_sampler_and_decoder(tmp_path: Path, folders: Folders) -> None:
    """Each part is foreseen with the shapes that it then runs with."""
    model, autoencoder = gaussian_unet(tmp_path), vae(tmp_path)
    assert load_image.known is not None
    assert vae_encode.known is not None
    assert vae_encode.parts is not None
    assert vae_decode.parts is not None
    assert ksampler.known is not None
    picture = call_hook(load_image.known, {"image": "photo.jpg"}, folders)
    given = {"pixels": picture.image, "vae": autoencoder}
    (use,) = call_hook(vae_encode.parts, given, folders)
    assert (use.shapes, use.calls) == ({"image": (1, 24, 16, 3)}, 1)
    encoded = call_hook(vae_encode.known, given, folders)
    assert encoded.samples.shape == (1, 4, 3, 2)
    drawn = call_hook(ksampler.known, {"model": model, "latent_image": encoded}, folders)
    assert drawn.samples.shape == (1, 4, 3, 2)
    (use,) = call_hook(vae_decode.parts, {"samples": drawn, "vae": autoencoder}, folders)
    assert (use.shapes, use.calls) == ({"latent": (1, 4, 3, 2)}, 1)


def test_an_empty_latent_tells_itself(folders: Folders) -> None:
    """It is a function of its widgets."""
    assert empty_latent_image.known is not None
    widgets = {"width": 64, "height": 32, "batch_size": 3}
    told = call_hook(empty_latent_image.known, widgets, folders)
    assert isinstance(told, Latent)
    assert told.samples.shape == (3, 4, 4, 8)
