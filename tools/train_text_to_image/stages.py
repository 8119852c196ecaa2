"""The stages in their order, as one worker runs them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from diffusers import AutoencoderKL
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from tools.train_text_to_image.captions import LOOKS
from tools.train_text_to_image.diffusion import train_diffusion
from tools.train_text_to_image.export import export
from tools.train_text_to_image.glyphs import compose, load_glyphs
from tools.train_text_to_image.loop import Course, Workers, save_atomically
from tools.train_text_to_image.text import Rows, load_tokenizer, train_text, write_vocabulary
from tools.train_text_to_image.vae import encode, psnr, train_vae

# Steps and seeds are the recipe: the same command on two workers makes the same weights again.
VAE = Course("vae", steps=4500, batch=16, rate=2e-3, seed=(0, 3))
DECODER = Course("decoder", steps=1000, batch=16, rate=1e-3, seed=(0, 7), decay_from=0.3, ema=0.99)
TEXT = Course("text", steps=1500, batch=256, rate=2e-3, seed=(0, 4), decay_from=0.5)
DIFFUSION = Course(
    "diffusion", steps=5000, batch=64, rate=1.2e-3, seed=(0, 9), decay_from=0.3, ema=0.998
)


@dataclass(frozen=True, slots=True)
class Job:
    """What the command line asks for."""

    out: Path
    work: Path
    font: Path
    workers: int
    steps: int  # of the last stage
    until: str  # the last stage to run


def work(rank: int, job: Job, meeting: str) -> None:
    """Be one worker; `meeting` is the address of a file by which the workers find each other."""
    torch.set_num_threads(1)
    workers = Workers(rank, job.workers)
    if workers.count > 1:
        dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=workers.count)
    # The fused attention's backward pass is several times slower on a CPU.
    with sdpa_kernel(SDPBackend.MATH):
        _stages(job, workers)
    if workers.count > 1:
        dist.destroy_process_group()


def _stages(job: Job, workers: Workers) -> None:
    glyphs, pictures = load_glyphs(job.font)
    vocabulary = job.work / f"tokenizer-{workers.rank}"
    tokenizer = load_tokenizer(write_vocabulary(vocabulary))
    torch.manual_seed(0)  # a stage's first weights are the same, whatever ran before it
    vae = train_vae(pictures, VAE, DECODER, job.work, workers).eval().requires_grad_(False)
    if workers.rank == 0:
        images = compose(pictures)
        print(
            f"vae: {psnr(vae, images, job.work / 'vae.png'):.2f} dB over {len(glyphs)} glyphs",
            flush=True,
        )
    if job.until == "vae":
        return
    latents = _latents(vae, pictures, job.work, workers)
    rows = Rows.used_by(glyphs, tokenizer)
    torch.manual_seed(0)
    text = train_text(glyphs, latents, rows, TEXT, job.work, workers)
    if job.until == "text":
        return
    torch.manual_seed(0)
    course = replace(DIFFUSION, steps=job.steps)
    net = train_diffusion(glyphs, latents, rows, text, course, job.work, workers)
    if workers.rank == 0:
        export(job.out, vocabulary, vae, net["text"], net["unet"], rows)


def _latents(
    vae: AutoencoderKL, pictures: NDArray[np.uint8], work: Path, workers: Workers
) -> Tensor:
    """Encode every glyph in every look, shared out among the workers.

    returns  (looks, n, 4, 16, 16) float16
    """
    files = [work / f"latents-{rank}.pt" for rank in range(workers.count)]
    mine = files[workers.rank]
    if not mine.exists():
        looks = LOOKS[workers.rank :: workers.count]
        parts = [encode(vae, compose(pictures, *look.colours)).half() for look in looks]
        save_atomically(torch.stack(parts), mine)
    workers.wait()
    shares = [torch.load(file, weights_only=True) for file in files]
    whole = torch.empty(len(LOOKS), *shares[0].shape[1:], dtype=torch.float16)
    for rank, share in enumerate(shares):
        whole[rank :: workers.count] = share
    return whole
