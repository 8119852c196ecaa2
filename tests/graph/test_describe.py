"""Values in a few words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vinode.graph.describe import describe
from vinode.graph.diffusion import (
    Clip,
    Conditioning,
    DiffusionModel,
    Latent,
    Prompt,
    Sampler,
    Vae,
)
from vinode.graph.values import Boxes, Detector, Image, ModelPart

PART = ModelPart("part", Path("part.xml"), "ab", 5)
WORDS = np.zeros((1, 77, 8), np.float32)
POOLED = np.zeros((1, 8), np.float32)
ROWS = np.zeros(3, np.int64)

DESCRIBED = [
    (Image(np.zeros((1, 1, 2, 3), np.float32)), "IMAGE (1, 1, 2, 3) float32, 24 bytes"),
    (np.zeros((1, 4, 4), np.float32), "(1, 4, 4) float32, 64 bytes"),
    (Boxes(np.zeros((3, 4), np.float32), ROWS.astype(np.float32), ROWS, ROWS, ()), "BOXES 3"),
    (PART, "ModelPart part, 5 bytes"),
    (Detector(PART, "blazeface", ()), "DETECTOR part, 5 bytes"),
    (DiffusionModel(PART, "sd1"), "MODEL part (sd1), 5 bytes"),
    (Clip(PART, "sd1", Path("t.npy"), 12, 768, -2), "CLIP part (sd1, layer -2 of 12), 5 bytes"),
    (Vae(PART, None, "sd1"), "VAE part (sd1), 5 bytes"),
    (Vae(PART, PART, "sd1"), "VAE part and part (sd1), 10 bytes"),
    (Sampler("euler"), "SAMPLER euler"),
    (Latent(np.zeros((1, 4, 2, 2), np.float32)), "LATENT (1, 4, 2, 2) float32, 64 bytes"),
    (
        Latent(np.zeros((1, 4, 2, 2), np.float32), np.zeros((1, 4, 4), np.float32)),
        "LATENT (1, 4, 2, 2) float32, 64 bytes; noise mask (1, 4, 4) float32, 64 bytes",
    ),
    (
        Conditioning((Prompt(WORDS, {"pooled": POOLED, "other": 5}),)),
        "CONDITIONING (1, 77, 8) float32, 2496 bytes",
    ),
    (
        Conditioning((Prompt(WORDS),) * 5),
        "CONDITIONING (1, 77, 8), (1, 77, 8), (1, 77, 8) and 2 more float32, 12320 bytes",
    ),
    (Conditioning(()), "CONDITIONING of no prompt, 0 bytes"),
    ("short", "'short'"),
    ("x" * 100, "'" + "x" * 56 + "..."),
    (None, "None"),
    (2**64 - 1, "18446744073709551615"),
    ([1, 2], "list"),
]


@pytest.mark.parametrize(("value", "text"), DESCRIBED)
def test_a_value_is_described_on_its_wire(value: object, text: str) -> None:
    """Shape, type and bytes for arrays; name and bytes for models; short for texts."""
    assert describe(value) == text
