"""How large a picture may be: a wrong number must not take the machine's memory."""

from __future__ import annotations

from vinode.graph.errors import NodeError

MAX_TEXT = 1_000_000  # characters
MAX_SIDE = 16384
MAX_PIXELS = 512 * 1024 * 1024
MAX_FRAMES = 10_000
MAX_LATENT_VALUES = 256 * 1024 * 1024


def check_size(batch: int, height: int, width: int) -> None:
    """Refuse a batch of pictures that is too large to make; sides in pixels."""
    got = f"{batch} of {width} × {height}"
    if max(height, width) > MAX_SIDE:
        raise NodeError(f"a side would be longer than {MAX_SIDE} pixels", got, "make it smaller")
    if batch * height * width > MAX_PIXELS:
        fix = "make the pictures smaller or fewer"
        problem = f"the pictures would have more than {MAX_PIXELS // 1024**2} Mi pixels together"
        raise NodeError(problem, got, fix)


def check_latent(batch: int, channels: int, height: int, width: int, scale: int) -> None:
    """Refuse a batch of latents that is too large to make; sides in cells of `scale` pixels."""
    got = f"{batch} of {width * scale} × {height * scale} pixels"
    if max(height, width) * scale > MAX_SIDE:
        raise NodeError(f"a side would be longer than {MAX_SIDE} pixels", got, "make it smaller")
    if batch * channels * height * width > MAX_LATENT_VALUES:
        fix = "make the latents smaller or fewer"
        limit = MAX_LATENT_VALUES * 4 // 1024**2
        raise NodeError(f"the latents would need more than {limit} MiB", got, fix)
