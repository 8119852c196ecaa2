"""Whole pictures against torch: the same checkpoint, prompts and seed, the same latent to 40 dB.

The reference uses the modules of transformers and diffusers in float32 and the samplers of
k-diffusion; it shares with ours only levels, noise and tokens, which are proven by themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.converters.diffusion_models import Tiny, save_folder, tiny
from tests.graph.engine import Engine, Nodes
from tests.nodes.sampling.k_diffusion import imported, sampling
from vinode.graph.context import Folders
from vinode.graph.diffusion import Latent, NoiseSchedule
from vinode.graph.node import collect
from vinode.nodes import files, latent, loaders, mask, sample, text, vae
from vinode.nodes.algorithms.clip_tokens import END, START, encode
from vinode.nodes.algorithms.picture_file import write_png
from vinode.nodes.algorithms.sampling.levels import Levels, alphas, sigmas_of
from vinode.nodes.algorithms.sampling.normal import Generator
from vinode.nodes.algorithms.sampling.schedule import sigmas_for

# diffusers hands tensors to NumPy in a way that NumPy warns of.
pytestmark = [
    pytest.mark.torch,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

SAMPLERS = ("euler", "euler_ancestral", "heun", "dpm_2", "dpmpp_2s_ancestral", "dpmpp_2m")
SCHEDULERS = ("normal", "karras", "simple")
MODES = ("txt2img", "img2img", "inpaint")
PROMPT, NEGATIVE, SEED, STEPS, SCALE = "a red fox, oil painting", "blurry", 2**33 + 5, 6, 6.5
SIDE = 64
TORCH = partial(imported, "torch")


@dataclass(frozen=True, slots=True)
class Bench:
    """A small checkpoint, ours converted and theirs loaded."""

    engine: Engine
    models: Tiny
    pixels: Any  # (1, SIDE, SIDE, 3) float32
    masked: Any  # (1, SIDE, SIDE) float32


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Save a random pipeline, and make the folders of a run around it."""
    imported("diffusers")
    root = tmp_path_factory.mktemp("parity")
    models, given = root / "models", root / "input"
    given.mkdir()
    theirs = tiny(vocabulary=49408)
    save_folder(theirs, models / "checkpoints" / "small")
    random = np.random.default_rng(3)
    pixels = random.integers(0, 256, (SIDE, SIDE, 3), np.uint8)
    with (given / "photo.png").open("wb") as file:
        write_png(pixels, {}, file, 1)
    masked = np.zeros((SIDE, SIDE, 3), np.uint8)
    masked[:, SIDE // 2 :] = 255
    with (given / "mask.png").open("wb") as file:
        write_png(masked, {}, file, 1)
    types = collect([files, latent, loaders, mask, sample, text, vae])
    folders = Folders(given, root / "output", root / "temp", (models,))
    engine = Engine(types, folders=folders, precision="f32")
    return Bench(
        engine,
        theirs,
        pixels[np.newaxis].astype(np.float32) / 255,
        masked[np.newaxis, ..., 0].astype(np.float32) / 255,
    )


def ours(bench: Bench, sampler: str, scheduler: str, mode: str) -> Any:
    """Draw with our nodes; gives the latent (1, 4, h, w)."""
    nodes: dict[str, tuple[str, dict[str, Any]]] = {
        "load": ("CheckpointLoaderSimple", {"ckpt_name": "small"}),
        "yes": ("CLIPTextEncode", {"text": PROMPT, "clip": ["load", 1]}),
        "no": ("CLIPTextEncode", {"text": NEGATIVE, "clip": ["load", 1]}),
        "photo": ("LoadImage", {"image": "photo.png"}),
        "mask": ("LoadImageMask", {"image": "mask.png", "channel": "red"}),
        "empty": ("EmptyLatentImage", {"width": SIDE, "height": SIDE}),
        "coded": ("VAEEncode", {"pixels": ["photo", 0], "vae": ["load", 2]}),
        "part": ("SetLatentNoiseMask", {"samples": ["coded", 0], "mask": ["mask", 0]}),
    }
    begin = {"txt2img": "empty", "img2img": "coded", "inpaint": "part"}[mode]
    nodes["x"] = (
        "KSampler",
        {
            "model": ["load", 0],
            "positive": ["yes", 0],
            "negative": ["no", 0],
            "latent_image": [begin, 0],
            "seed": SEED,
            "steps": STEPS,
            "cfg": SCALE,
            "sampler_name": sampler,
            "scheduler": scheduler,
            "denoise": 1.0 if mode == "txt2img" else 0.6,
        },
    )
    wanted: Nodes = nodes
    placed: dict[str, str] = dict.fromkeys(("yes", "no", "coded", "x"), "CPU")
    ran = bench.engine.run(wanted, ["x"], devices=placed)
    assert ran.outcome.status == "done", ran.outcome.faults
    value = ran.value("x")
    assert isinstance(value, Latent)
    return value.samples


def theirs(bench: Bench, sampler: str, scheduler: str, mode: str) -> Any:
    """Draw with torch."""
    torch, models = TORCH(), bench.models
    factor = models.vae.config.scaling_factor
    levels = Levels(sigmas_of(alphas(NoiseSchedule())))
    share = 1.0 if mode == "txt2img" else 0.6
    sigmas = torch.from_numpy(sigmas_for(scheduler, sampler, levels, STEPS, share))
    shape = (1, 4, SIDE // 8, SIDE // 8)
    old = torch.zeros(shape)
    if mode != "txt2img":
        pixels = torch.from_numpy(bench.pixels).permute(0, 3, 1, 2) * 2 - 1
        old = models.vae.encode(pixels).latent_dist.mean * factor
    noise = torch.randn(shape, generator=torch.Generator().manual_seed(SEED & 0xFFFFFFFF))
    spread = math.sqrt(1 + float(sigmas[0]) ** 2) if share == 1 else float(sigmas[0])
    denoise = denoiser(bench, levels)
    if mode == "inpaint":
        area = torch.nn.functional.interpolate(
            torch.from_numpy(bench.masked)[:, None], shape[2:], mode="bilinear"
        )
        denoise = keeping(denoise, old, noise, area)
    options: dict[str, Any] = {"disable": True}
    if "ancestral" in sampler:
        drawn = Generator(SEED + 1)
        options["noise_sampler"] = lambda a, b: torch.from_numpy(drawn.normal(*shape))  # pyright: ignore
    draw = getattr(sampling(), f"sample_{sampler}")
    return (draw(denoise, old + noise * spread, sigmas, **options) / factor).numpy()


def denoiser(bench: Bench, levels: Levels) -> Callable[..., Any]:
    """Give the guided denoiser: v prediction, both prompts in one batch."""
    torch, models = TORCH(), bench.models
    rows = [[START, *encode(prompt), END] for prompt in (PROMPT, NEGATIVE)]
    ids = torch.tensor([row + [END] * (77 - len(row)) for row in rows])
    context = models.text(ids).last_hidden_state

    def denoise(x: Any, sigma: Any, **_: Any) -> Any:
        level = float(sigma[0])
        timestep = torch.tensor([levels.timestep(level)])
        given = torch.cat([x, x]) / math.sqrt(level**2 + 1)
        v = models.unet(given, timestep, context).sample
        share = 1 / (level**2 + 1)
        clean = torch.cat([x, x]) * share - v * level * math.sqrt(share)
        positive, negative = clean.chunk(2)
        return negative + (positive - negative) * SCALE

    return denoise


def keeping(denoise: Callable[..., Any], old: Any, noise: Any, area: Any) -> Callable[..., Any]:
    """Put the old picture back outside of the mask, before and after each look."""

    def kept(x: Any, sigma: Any, **options: Any) -> Any:
        around = old + noise * float(sigma[0])
        clean = denoise(x * area + around * (1 - area), sigma, **options)
        return clean * area + old * (1 - area)

    return kept


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_latent_is_torchs(bench: Bench, sampler: str, scheduler: str, mode: str) -> None:
    """Signal to noise of at least 40 dB in float32."""
    with TORCH().no_grad():
        expected = theirs(bench, sampler, scheduler, mode)
    given = ours(bench, sampler, scheduler, mode)
    error = float(np.square(given - expected).mean())
    power = float(np.square(expected).mean())
    assert 10 * math.log10(power / max(error, 1e-30)) >= 40
