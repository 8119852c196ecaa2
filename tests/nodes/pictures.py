"""Pictures for tests of LoadImage, and its hooks called as the engine calls them."""

from __future__ import annotations

import numpy as np
import PIL.Image

from tests.nodes.context import CallContext
from vinode.graph.context import Folders
from vinode.graph.errors import Fault
from vinode.graph.node import call_hook
from vinode.nodes.files import Loaded, load_image


def load(folders: Folders, name: str) -> Loaded:
    """Load a picture as the engine does, after its check."""
    assert checked(folders, name) is None
    return load_image(CallContext(folders), name)


def checked(folders: Folders, name: str | None) -> Fault | None:
    """Call the check as the engine does."""
    assert load_image.check
    fault: Fault | None = call_hook(load_image.check, {"image": name}, folders)
    return fault


def fingerprint(folders: Folders, name: str | None) -> str | None:
    """Call the fingerprint as the engine does."""
    assert load_image.fingerprint
    text: str | None = call_hook(load_image.fingerprint, {"image": name}, folders)
    return text


def picture(mode: str = "RGB", size: tuple[int, int] = (3, 2), seed: int = 0) -> PIL.Image.Image:
    """Make noise."""
    width, height = size
    channels = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4}[mode]
    noise = np.random.default_rng(seed).integers(0, 256, (height, width, channels), dtype=np.uint8)
    return PIL.Image.fromarray(noise.squeeze(axis=2) if channels == 1 else noise)
