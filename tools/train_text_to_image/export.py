"""Write what was trained as a folder that diffusers and every Stable Diffusion program reads."""

from __future__ import annotations

import shutil
from pathlib import Path

import torch
from diffusers import AutoencoderKL, StableDiffusionPipeline, UNet2DConditionModel
from safetensors.torch import load_file, save_file
from transformers import CLIPTextModel

from tools.train_text_to_image.networks import scheduler
from tools.train_text_to_image.text import Rows

CARD = Path(__file__).parent / "model_card.md"
PREFIX = "text_model."


def export(
    out: Path,
    tokenizer: Path,
    vae: AutoencoderKL,
    text: CLIPTextModel,
    unet: UNet2DConditionModel,
    rows: Rows,
) -> None:
    """Save the three networks as float16 with scheduler, tokenizer and model card."""
    pipeline = StableDiffusionPipeline(
        vae=vae,
        text_encoder=rows.whole(text),
        tokenizer=rows.tokenizer,
        unet=unet,
        scheduler=scheduler(),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )
    pipeline.to(torch.float16).save_pretrained(out)
    # Checkpoints of Stable Diffusion have this prefix; transformers 5 leaves it out.
    file = out / "text_encoder" / "model.safetensors"
    state = {PREFIX + k.removeprefix(PREFIX): value for k, value in load_file(file).items()}
    save_file(state, file, {"format": "pt"})
    for name in ("vocab.json", "merges.txt"):  # nor does it write these two
        shutil.copy(tokenizer / name, out / "tokenizer" / name)
    if CARD.exists():
        shutil.copy(CARD, out / "README.md")
    sizes = {path.parent.name: path.stat().st_size / 1e6 for path in out.rglob("*.safetensors")}
    parts = ", ".join(f"{name} {megabytes:.2f}" for name, megabytes in sorted(sizes.items()))
    print(f"exported to {out}: {parts}; together {sum(sizes.values()):.2f} MB", flush=True)
