"""The last stage: the UNet learns to draw latents out of noise, and the text encoder with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import CLIPTextModel

from tools.train_text_to_image.captions import example
from tools.train_text_to_image.glyphs import Glyph
from tools.train_text_to_image.loop import Course, Draw, Workers, train
from tools.train_text_to_image.networks import scheduler, unet
from tools.train_text_to_image.text import Rows

EMPTY = 0.1  # part of the captions left out, for classifier-free guidance (Ho and Salimans 2022)
# Part of the examples that are nothing but noise, as at the first step of sampling: there, not
# even the picture's mean shines through (Lin et al. 2023).
PURE_NOISE = 0.03


def train_diffusion(
    glyphs: Sequence[Glyph],
    latents: Tensor,
    rows: Rows,
    text: CLIPTextModel,
    course: Course,
    folder: Path,
    workers: Workers,
) -> nn.ModuleDict:
    """Train on all looks that are not held out; give the averaged `text` and `unet`.

    latents  (looks, n, 4, 16, 16) float16
    """
    net = nn.ModuleDict({"text": text, "unet": unet()}).train()
    kept = scheduler().alphas_cumprod  # (1000,) float32, the part of the variance that is picture

    def denoise(draw: Draw) -> Tensor:
        count = course.batch // workers.count
        x0, ids = _examples(draw.numbers, count, glyphs, latents, rows)
        noise = torch.randn(x0.shape, generator=draw.noise)
        step, alpha = _levels(count, kept, draw.noise)
        noisy = alpha.sqrt() * x0 + (1 - alpha).sqrt() * noise
        v = alpha.sqrt() * noise - (1 - alpha).sqrt() * x0  # Salimans and Ho 2022, appendix D
        # Not through torch.compile: with torch 2.13 on a CPU it lost the gradients of many layers.
        with torch.autocast("cpu", torch.bfloat16):
            guess = net["unet"](noisy, step, net["text"](ids).last_hidden_state).sample
        return F.mse_loss(guess.float(), v)

    groups = [
        {"params": list(net["unet"].parameters())},
        {"params": list(net["text"].parameters()), "scale": 0.5},
    ]
    return train(course, net, groups, denoise, folder, workers)


def _examples(
    rng: np.random.Generator, count: int, glyphs: Sequence[Glyph], latents: Tensor, rows: Rows
) -> tuple[Tensor, Tensor]:
    """Draw latents (count, 4, 16, 16) float32, and the rows (count, 77) of their captions."""
    drawn = (example(rng, glyphs) for _ in range(count))
    looks, which, captions = zip(*drawn, strict=True)
    empty = rng.random(count) < EMPTY
    ids = rows.of([text if not none else "" for text, none in zip(captions, empty, strict=True)])
    return latents[list(looks), list(which)].float(), ids


def _levels(count: int, kept: Tensor, noise: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw noise levels, the high ones a little more often: steps (n,), kept part (n, 1, 1, 1)."""
    step = (torch.rand(count, generator=noise) ** 0.8 * 1000).long().clamp(max=999)
    pure = torch.rand(count, generator=noise) < PURE_NOISE
    step = torch.where(pure, torch.randint(900, 1000, (count,), generator=noise), step)
    return step, torch.where(pure, torch.zeros(()), kept[step]).view(-1, 1, 1, 1)
