"""Pictures to draw and to make, for tests of image nodes."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from vinode.graph.values import Image


@st.composite
def images(draw: st.DrawFn) -> Image:
    """Draw a small batch of noise of either type, with or without alpha."""
    shape = (
        draw(st.integers(1, 3)),
        draw(st.integers(1, 6)),
        draw(st.integers(1, 6)),
        draw(st.sampled_from([3, 4])),
    )
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    if draw(st.booleans()):
        return Image(rng.integers(0, 256, shape, dtype=np.uint8))
    return Image(rng.random(shape, dtype=np.float32))


def flat(value: float, height: int = 2, width: int = 3, channels: int = 3, batch: int = 1) -> Image:
    """Make float pictures of one grey."""
    return Image(np.full((batch, height, width, channels), value, np.float32))
