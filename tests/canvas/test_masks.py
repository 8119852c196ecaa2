"""The mask editor: painted with the mouse, kept with the picture, and what a run makes of it."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Picture
from playwright.sync_api import Page, expect

from tests.canvas.hands import drag, middle, node, open_graph, steps

pytestmark = pytest.mark.browser


def test_a_mask_is_painted_undone_and_run(page: Page, tmp_path: Path) -> None:
    """On in the middle where it was painted, off at the edge; the picture's colours stay."""
    graph = steps(
        [
            ("LoadImage", {"image": "apple.png"}),
            ("MaskToImage", {"mask": ["1", 1]}),
            ("SaveImage", {"images": ["2", 0], "filename_prefix": "mask"}),
            ("SaveImage", {"images": ["1", 0], "filename_prefix": "colours"}),
        ]
    )
    open_graph(page, tmp_path, graph)
    node(page, "1").get_by_role("button", name="Paint a mask").click()
    editor = page.get_by_role("dialog", name="Paint a mask")
    surface = editor.get_by_role("img", name="The picture, and its mask in red")
    expect(surface).to_have_js_property("width", 64)
    x, y = middle(surface)
    drag(page, (x - 20, y), (x + 20, y))
    editor.get_by_role("button", name="Invert").click()
    editor.get_by_role("button", name="Undo").click()
    editor.get_by_role("button", name="Use it").click()
    expect(editor).to_have_count(0)
    page.keyboard.press("Control+Enter")
    shown = [node(page, id).locator(".pictures img") for id in ("3", "4")]
    for picture in shown:
        expect(picture).to_have_js_property("naturalWidth", 64, timeout=60_000)
    mask, colours = (
        np.asarray(
            Picture.open(
                io.BytesIO(page.request.get(picture.evaluate("at => at.src")).body())
            ).convert("RGB")
        )
        for picture in shown
    )
    assert mask[30:34, 28:36].min() > 230
    assert mask[:6].max() == 0
    assert mask[-6:].max() == 0
    red, _, blue = colours[36, 32].astype(int)
    assert red > blue + 60  # under the mask the apple is still an apple
    page.keyboard.press("Control+z")
    expect(node(page, "1").get_by_label("image").first).to_have_value("apple.png")
