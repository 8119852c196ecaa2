"""The first stage: an autoencoder that knows glyphs on any background, in any colour."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from diffusers import AutoencoderKL
from numpy.typing import NDArray
from torch import Tensor, nn

from tools.train_text_to_image.captions import COLOURS, TINTS, WHITE, Colour
from tools.train_text_to_image.glyphs import SIZE, compose, contact_sheet
from tools.train_text_to_image.loop import Course, Draw, Loss, Workers, train
from tools.train_text_to_image.networks import LATENT_CHANNELS, autoencoder

CROP = SIZE // 2
# Small crops give more steps for the time; whole pictures then teach the mid block's attention.
CROPS_UNTIL = 0.65
# Much less, and every latent holds detail in its third digit, which no diffusion model can guess.
KL = 5e-3


def train_vae(
    pictures: NDArray[np.uint8], both: Course, decoder: Course, folder: Path, workers: Workers
) -> AutoencoderKL:
    """Train encoder and decoder, then the decoder alone to redraw what the latents hold.

    pictures  (n, 64, 64, 4) uint8  red green blue alpha
    """
    net = nn.ModuleDict({"vae": autoencoder()})
    rough = _rough(net["vae"], pictures, both, workers)
    net = train(both, net, [{"params": list(net.parameters())}], rough, folder, workers)
    vae = net["vae"]
    if not (folder / f"{decoder.name}-state.pt").exists():
        whiten(vae, encode(vae, compose(pictures)))
    net.requires_grad_(False)
    learning = [*vae.decoder.parameters(), *vae.post_quant_conv.parameters()]
    for parameter in learning:
        parameter.requires_grad_(True)
    fine = _fine(vae, pictures, decoder, workers)
    return train(decoder, net, [{"params": learning}], fine, folder, workers)["vae"]


def _rough(
    vae: AutoencoderKL, pictures: NDArray[np.uint8], course: Course, workers: Workers
) -> Loss:
    """Give the loss that teaches both halves, small crops first."""

    def loss(draw: Draw) -> Tensor:
        x = _batch(pictures, course.batch // workers.count, draw.numbers)
        if draw.step < CROPS_UNTIL * course.steps:
            top, left = draw.numbers.integers(0, SIZE - CROP + 1, 2)
            x = x[..., top : top + CROP, left : left + CROP].contiguous()
        with torch.autocast("cpu", torch.bfloat16):
            posterior = vae.encode(x).latent_dist
            z = posterior.sample(draw.noise)
            y = vae.decode(z).sample.float()
            coarse = vae.decode(F.avg_pool2d(z, 2)).sample.float()
        mean, logvar = posterior.mean.float(), posterior.logvar.float()
        kl = 0.5 * (mean**2 + logvar.exp() - 1 - logvar).mean()
        # A coarser latent is a coarser picture (Skorokhodov et al. 2025, arXiv:2502.14831): so the
        # latents' coarse parts, which diffusion draws first, hold most of what is seen.
        return _difference(y, x) + 0.25 * _difference(coarse, F.avg_pool2d(x, 2)) + KL * kl

    return loss


def _fine(
    vae: AutoencoderKL, pictures: NDArray[np.uint8], course: Course, workers: Workers
) -> Loss:
    """Give the loss that teaches the decoder: latents stay as they are, a little noise apart."""

    def loss(draw: Draw) -> Tensor:
        x = _batch(pictures, course.batch // workers.count, draw.numbers)
        with torch.autocast("cpu", torch.bfloat16):
            with torch.no_grad():
                z = vae.encode(x).latent_dist.mode()
            # Diffusion's latents are never quite on the spot.
            z = z + 0.03 * torch.randn(z.shape, generator=draw.noise)
            y = vae.decode(z).sample.float()
        # The last term is the mean PSNR, but for a factor: flat glyphs count as much as rich ones.
        return _difference(y, x) + 0.02 * ((x - y) ** 2).mean((1, 2, 3)).add(1e-5).log().mean()

    return loss


def _batch(pictures: NDArray[np.uint8], count: int, rng: np.random.Generator) -> Tensor:
    """Give glyphs (count, 3, 64, 64) in -1..1: half on white, a fifth tinted, a little shifted."""
    palette = list(COLOURS.values())
    random = tuple(int(v) for v in rng.integers(0, 256, 3))
    backgrounds: list[Colour] = [WHITE, WHITE, palette[rng.integers(len(palette))], random]  # type: ignore[list-item]
    parts = [
        compose(
            pictures[rng.integers(0, len(pictures), count // 4)],
            background,
            COLOURS[TINTS[rng.integers(len(TINTS))]] if rng.random() < 0.2 else None,
        )
        for background in backgrounds
    ]
    dy, dx = (int(v) for v in rng.integers(-3, 4, 2))
    return torch.from_numpy(np.concatenate(parts)).mul(2).sub(1).roll((dy, dx), (2, 3))


def _difference(y: Tensor, x: Tensor) -> Tensor:
    """Mean absolute difference of the colours, and half that of the edges."""
    down = F.l1_loss(y[..., 1:, :] - y[..., :-1, :], x[..., 1:, :] - x[..., :-1, :])
    across = F.l1_loss(y[..., 1:] - y[..., :-1], x[..., 1:] - x[..., :-1])
    return F.l1_loss(y, x) + 0.5 * (down + across)


@torch.no_grad()
def whiten(vae: AutoencoderKL, latents: Tensor) -> None:
    """Fold the latents' mean and deviation into the 1×1 convolutions: then both are 0 and 1."""
    mean, deviation = latents.mean((0, 2, 3)), latents.std((0, 2, 3))
    into, out = vae.quant_conv, vae.post_quant_conv
    out.bias += (out.weight[:, :, 0, 0] * mean).sum(1)
    out.weight *= deviation.view(1, -1, 1, 1)
    half = LATENT_CHANNELS  # the first half is the mean, the second the logarithm of the variance
    into.weight[:half] /= deviation.view(-1, 1, 1, 1)
    into.bias[:half] = (into.bias[:half] - mean) / deviation
    into.bias[half:] -= 2 * deviation.log()


@torch.no_grad()
def encode(vae: AutoencoderKL, images: NDArray[np.float32], batch: int = 128) -> Tensor:
    """Give latents (n, 4, 16, 16) float32 of pictures (n, 3, 64, 64) in 0..1."""
    x = torch.from_numpy(images).mul(2).sub(1)
    with torch.autocast("cpu", torch.bfloat16):
        return torch.cat([vae.encode(part).latent_dist.mode().float() for part in x.split(batch)])


@torch.no_grad()
def psnr(vae: AutoencoderKL, images: NDArray[np.float32], sheet: Path | None = None) -> float:
    """Give the mean peak signal-to-noise ratio, dB, of pictures that went through the VAE."""
    z = encode(vae, images)
    y = torch.cat([vae.decode(part).sample for part in z.split(128)]).add(1).div(2).clamp(0, 1)
    again = y.numpy()
    if sheet:
        contact_sheet(np.concatenate([images[::25], again[::25]]), sheet, len(images[::25]))
    return float((-10 * np.log10(((images - again) ** 2).mean((1, 2, 3)))).mean())
