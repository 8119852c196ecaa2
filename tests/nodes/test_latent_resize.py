"""Latents resized: the numbers that torch gives, and arcs by their definition."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from vinode.nodes.algorithms.latent_resize import LatentMethod, resize_latent

F32 = NDArray[np.float32]
METHODS: tuple[LatentMethod, ...] = ("nearest-exact", "bilinear", "area", "bicubic")
# (h, w) to (height, width): the sizes of usual pictures and odd ones, up, down, and both.
SIZES = [
    ((64, 64), (96, 96)),
    ((64, 96), (32, 48)),
    ((7, 5), (13, 3)),
    ((3, 40), (40, 3)),
    ((1, 1), (5, 4)),
    ((64, 64), (100, 77)),
    ((13, 9), (13, 20)),
    ((128, 80), (33, 57)),
]


def noise(*shape: int, seed: int = 0) -> F32:
    """Make numbers as latents have them."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def arc(start: list[float], end: list[float], ratio: float) -> list[float]:
    """Interpolate two vectors by the definition: turn by a share of the angle, blend lengths."""
    lengths = math.hypot(*start), math.hypot(*end)
    units = [
        [v / length if length else 0.0 for v in side]
        for side, length in zip((start, end), lengths, strict=True)
    ]
    cosine = sum(a * b for a, b in zip(*units, strict=True))
    if cosine > 1 - 1e-5:
        return start
    if cosine < 1e-5 - 1:
        return [a * (1 - ratio) + b * ratio for a, b in zip(start, end, strict=True)]
    angle = math.acos(cosine)
    shares = math.sin((1 - ratio) * angle), math.sin(ratio * angle)
    length = (lengths[0] * (1 - ratio) + lengths[1] * ratio) / math.sin(angle)
    return [(shares[0] * a + shares[1] * b) * length for a, b in zip(*units, strict=True)]


def along(row: F32, new: int) -> F32:
    """Resize (C, w) along its cells by arcs, cell by cell."""
    old = row.shape[1]
    made: list[list[float]] = []
    for cell in range(new):
        centre = min(max((cell + 0.5) * old / new - 0.5, 0), old - 1)
        left = math.floor(centre)
        right = min(left + 1, old - 1)
        made.append(arc(row[:, left].tolist(), row[:, right].tolist(), centre - left))
    return np.array(made, np.float32).T


@pytest.mark.parametrize(("old", "new"), [((4, 6), (7, 9)), ((9, 5), (4, 3)), ((3, 3), (3, 8))])
def test_arcs_are_those_of_the_definition(old: tuple[int, int], new: tuple[int, int]) -> None:
    """Columns first, rows then; with no vector, the same and opposite ones among them."""
    samples = noise(1, 4, *old)
    samples[..., 0, 0] = 0
    samples[..., 1, 1] = -samples[..., 1, 2]
    samples[..., 2, 1] = samples[..., 2, 2] * 3
    wide = np.stack([along(samples[0, :, y], new[1]) for y in range(old[0])], 1)
    both = np.stack([along(wide[:, :, x], new[0]) for x in range(new[1])], 2)
    made = resize_latent(samples, new[1], new[0], "bislerp")[0]
    np.testing.assert_allclose(made, both, atol=2e-5)


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 20), st.integers(1, 20))
def test_every_size_is_made_of_what_is_there(h: int, w: int, height: int, width: int) -> None:
    """Equal vectors stay equal; the same size changes nothing."""
    samples = np.broadcast_to(noise(2, 4, 1, 1), (2, 4, h, w)).copy()
    for method in (*METHODS, "bislerp"):
        made = resize_latent(samples, width, height, method)
        expected = np.broadcast_to(samples[:, :, :1, :1], (2, 4, height, width))
        np.testing.assert_allclose(made, expected, atol=1e-5)


def test_arcs_keep_the_length_of_vectors() -> None:
    """Where bilinear makes them shorter, as between unlike cells."""
    samples = noise(1, 4, 8, 8)
    samples /= np.linalg.norm(samples, axis=1, keepdims=True)
    arcs = np.linalg.norm(resize_latent(samples, 16, 16, "bislerp"), axis=1)
    lines = np.linalg.norm(resize_latent(samples, 16, 16, "bilinear"), axis=1)
    assert np.abs(arcs - 1).max() < 1e-5
    assert lines.min() < 0.7


@pytest.mark.torch
@pytest.mark.parametrize(("old", "new"), SIZES)
@pytest.mark.parametrize("method", METHODS)
def test_numbers_are_those_of_torch(
    method: LatentMethod, old: tuple[int, int], new: tuple[int, int]
) -> None:
    """F.interpolate on the same latents."""
    torch: Any = importlib.import_module("torch")
    samples = noise(2, 4, *old)
    theirs = torch.nn.functional.interpolate(torch.from_numpy(samples), size=new, mode=method)
    ours = resize_latent(samples, new[1], new[0], method)
    np.testing.assert_allclose(ours, theirs.numpy(), atol=1e-5)


@pytest.mark.torch
def test_coordinates_of_arcs_are_those_of_torch() -> None:
    """Two-channel unit vectors at growing angles: what comes out tells where each cell lies."""
    torch: Any = importlib.import_module("torch")
    for old, new in ((8, 13), (20, 7), (5, 40)):
        angles = np.arange(old, dtype=np.float32) * 0.1
        samples = np.stack([np.cos(angles), np.sin(angles)])[None, :, None]
        made = resize_latent(samples, new, 1, "bislerp")[0, :, 0]
        line = torch.from_numpy(angles).reshape(1, 1, 1, -1)
        told = torch.nn.functional.interpolate(line, size=(1, new), mode="bilinear")
        np.testing.assert_allclose(np.arctan2(made[1], made[0]), told.flatten().numpy(), atol=1e-5)
