"""How large a picture may be: a wrong number must not take the machine's memory."""

from __future__ import annotations

from vinode.graph.errors import NodeError

MAX_TEXT = 1_000_000  # characters
MAX_SIDE = 16384
MAX_PIXELS = 512 * 1024 * 1024
MAX_FRAMES = 10_000


def check_size(batch: int, height: int, width: int) -> None:
    """Refuse a batch of pictures that is too large to make; sides in pixels."""
    got = f"{batch} of {width} × {height}"
    if max(height, width) > MAX_SIDE:
        raise NodeError(f"a side would be longer than {MAX_SIDE} pixels", got, "make it smaller")
    if batch * height * width > MAX_PIXELS:
        fix = "make the pictures smaller or fewer"
        problem = f"the pictures would have more than {MAX_PIXELS // 1024**2} Mi pixels together"
        raise NodeError(problem, got, fix)
