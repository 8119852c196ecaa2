"""Training can be stopped at any step, and what comes out is a checkpoint like any other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.torch

NAMES = ("red apple", "car", "cat", "house")


@pytest.fixture(scope="module")
def tokenizer_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give vinode's own vocabulary as transformers reads it."""
    from tools.train_text_to_image.text import write_vocabulary

    return write_vocabulary(tmp_path_factory.mktemp("tokenizer"))


@pytest.fixture(scope="module")
def taught(tokenizer_folder: Path) -> tuple[list[Any], Any, Any]:
    """Give four glyphs, their latents in all looks, and the rows their captions use."""
    import torch

    from tools.train_text_to_image.captions import LOOKS
    from tools.train_text_to_image.glyphs import Glyph
    from tools.train_text_to_image.text import Rows, load_tokenizer

    torch.manual_seed(1)
    glyphs = [Glyph(chr(0x1F400 + k), (name,)) for k, name in enumerate(NAMES)]
    rows = Rows.used_by(glyphs, load_tokenizer(tokenizer_folder))
    return glyphs, torch.randn(len(LOOKS), len(glyphs), 4, 16, 16).half(), rows


def test_a_run_that_was_stopped_ends_with_the_same_weights(
    taught: tuple[list[Any], Any, Any], tmp_path: Path
) -> None:
    """Three steps at once, or two and then one: not a bit differs."""
    import torch

    from tools.train_text_to_image.diffusion import train_diffusion
    from tools.train_text_to_image.loop import Workers
    from tools.train_text_to_image.networks import text_encoder
    from tools.train_text_to_image.stages import DIFFUSION

    glyphs, latents, rows = taught

    def run(folder: str, steps: int) -> dict[str, Any]:
        torch.manual_seed(0)
        (tmp_path / folder).mkdir(exist_ok=True)
        course = replace(DIFFUSION, steps=steps, batch=4, decay_from=0.9)  # the same rates in both
        text = text_encoder(len(rows.ids))
        net = train_diffusion(glyphs, latents, rows, text, course, tmp_path / folder, Workers())
        return dict(net.state_dict())

    whole, early = run("whole", 3), run("stopped", 2)
    resumed = run("stopped", 3)
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
    assert not all(torch.equal(whole[name], early[name]) for name in whole)


def test_captions_are_cut_as_vinode_cuts_them(taught: tuple[list[Any], Any, Any]) -> None:
    """What is trained on must be what is asked with."""
    from vinode.nodes.algorithms.clip_tokens import END, START, encode

    rows = taught[2]
    ids = rows.ids[rows.of(["a red cat on blue", ""])].tolist()
    text = [START, *encode("a red cat on blue")]
    assert ids[0] == [*text, *[END] * (77 - len(text))]
    assert ids[1] == [START, *[END] * 76]


def test_whitening_changes_the_latents_and_not_the_pictures() -> None:
    """Mean 0 and deviation 1 are what diffusion expects; the decoder undoes them."""
    import torch

    from tools.train_text_to_image.networks import autoencoder
    from tools.train_text_to_image.vae import encode, whiten

    torch.manual_seed(0)
    vae = autoencoder().eval()
    images = np.random.default_rng(0).random((16, 3, 64, 64), np.float32)
    before = encode(vae, images)
    with torch.no_grad():
        drawn = vae.decode(before).sample
        whiten(vae, before)
        after = encode(vae, images)
        again = vae.decode(after).sample
    assert after.mean((0, 2, 3)).abs().max() < 0.05  # the autocast's bfloat16 rounds
    assert (after.std((0, 2, 3)) - 1).abs().max() < 0.05
    assert (again - drawn).abs().max() < 0.05 * drawn.abs().max()


def test_the_exported_folder_is_a_pipeline_with_stable_diffusions_names(
    taught: tuple[list[Any], Any, Any], tokenizer_folder: Path, tmp_path: Path
) -> None:
    """All of CLIP's rows are there, those never trained hold the mean, and it draws."""
    import torch
    from diffusers import StableDiffusionPipeline
    from safetensors.torch import load_file

    from tools.train_text_to_image.export import export
    from tools.train_text_to_image.networks import VOCABULARY, autoencoder, text_encoder, unet

    rows = taught[2]
    text = text_encoder(len(rows.ids))
    export(tmp_path, tokenizer_folder, autoencoder(), text, unet(), rows)
    state = load_file(tmp_path / "text_encoder" / "model.safetensors")
    assert all(name.startswith("text_model.") for name in state)
    table = state["text_model.embeddings.token_embedding.weight"].float()
    trained = text.get_input_embeddings().weight.detach()
    assert table.shape[0] == VOCABULARY
    assert torch.allclose(table[rows.ids], trained, atol=1e-3)
    assert torch.allclose(table[30000], trained.mean(0), atol=1e-3)
    weights = tmp_path.rglob("*.safetensors")
    assert sum(path.stat().st_size for path in weights) <= 16_000_000
    pipe = StableDiffusionPipeline.from_pretrained(tmp_path).to(torch.float32)
    assert pipe("cat", num_inference_steps=1, output_type="np").images.shape == (1, 64, 64, 3)
