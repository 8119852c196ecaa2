"""The results panel: every picture with what made it; compared, sent on, opened again."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from PIL import Image as Picture
from playwright.sync_api import Locator, Page, expect

from tests.canvas.hands import node, nodes, open_graph, steps

pytestmark = pytest.mark.browser


def save(page: Page, folder: Path, color: int) -> str:
    """Make a picture of one colour and save it; gives its file name."""
    graph = steps(
        [
            ("EmptyImage", {"width": 48, "height": 32, "color": color}),
            ("SaveImage", {"images": ["1", 0], "filename_prefix": f"result{color}"}),
        ]
    )
    open_graph(page, folder, graph, f"color{color}")
    page.keyboard.press("Control+Enter")
    expect(node(page, "2").locator("img")).to_have_js_property("naturalWidth", 48, timeout=60_000)
    return f"result{color}_00001_.png"


def opened(page: Page) -> Locator:
    """Open the panel by its key."""
    page.keyboard.press("a")
    panel = page.get_by_role("complementary", name="Results")
    expect(panel).to_be_visible()
    return panel


def test_a_picture_tells_what_made_it_and_opens_its_workflow(page: Page, tmp_path: Path) -> None:
    """The newest is the first; arrows lead to the next."""
    older, newer = save(page, tmp_path, 101), save(page, tmp_path, 102)
    panel = opened(page)
    panel.get_by_role("button", name=f"Look at {newer}").click()
    dialog = page.get_by_role("dialog", name=newer)
    settings = dialog.get_by_role("table", name="What made it")
    expect(settings.get_by_role("row", name="Empty Image color 102")).to_be_visible()
    page.keyboard.press("ArrowRight")
    dialog = page.get_by_role("dialog", name=older)
    expect(dialog.get_by_role("row", name="Empty Image color 101")).to_be_visible()
    dialog.get_by_role("button", name="Open its workflow").click()
    expect(page.get_by_role("tab", name="result101_00001_", selected=True)).to_be_visible()
    expect(nodes(page)).to_have_count(2)


def test_two_pictures_are_compared_by_keyboard(page: Page, tmp_path: Path) -> None:
    """The edge moves, and with it what is seen of either."""
    one, other = save(page, tmp_path, 0xFF0000), save(page, tmp_path, 0x0000FF)
    panel = opened(page)
    panel.get_by_label(f"Compare {one}").check()
    expect(panel.get_by_text("Choose another picture")).to_be_visible()
    panel.get_by_label(f"Compare {other}").check()
    figure = panel.get_by_role("figure", name=f"{one} beside {other}")
    figure.scroll_into_view_if_needed()
    middle = figure.locator(".compare-pictures")

    def seen() -> tuple[int, ...]:
        shot = Picture.open(io.BytesIO(middle.screenshot())).convert("RGB")
        pixel = shot.getpixel((round(shot.width * 0.3), shot.height // 2))
        assert isinstance(pixel, tuple)
        return pixel

    edge = figure.get_by_role("slider")
    expect(edge).to_have_value("50")
    assert seen()[0] > 200
    edge.focus()
    page.keyboard.press("Home")
    expect(edge).to_have_value("0")
    assert seen()[2] > 200
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(edge).to_have_value("3")


def test_a_picture_is_sent_to_an_input(page: Page, tmp_path: Path) -> None:
    """To a node that loads one, or to a new one; and it runs from there."""
    name = save(page, tmp_path, 0x00FF00)
    graph = steps([("LoadImage", {}), ("PreviewImage", {"images": ["1", 0]})])
    open_graph(page, tmp_path, graph, "takes")
    panel = opened(page)
    panel.get_by_role("button", name=f"Look at {name}").click()
    page.get_by_role("combobox", name="Send to…").select_option(label="Load Image (1)")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(node(page, "1").locator("img")).to_have_js_property("naturalWidth", 48)
    page.keyboard.press("Control+Enter")
    expect(node(page, "2").locator("img")).to_have_js_property("naturalWidth", 48, timeout=60_000)
    panel.get_by_role("button", name=f"Look at {name}").click()
    page.get_by_role("combobox", name="Send to…").select_option(label="a new node")
    expect(nodes(page)).to_have_count(3)
    expect(node(page, "3").locator("img")).to_have_js_property("naturalWidth", 48)


def test_a_picture_is_dragged_onto_a_node(page: Page, tmp_path: Path) -> None:
    """From the panel, by mouse."""
    name = save(page, tmp_path, 0x00FFFF)
    open_graph(page, tmp_path, steps([("LoadImage", {})]), "dragged")
    panel = opened(page)
    panel.get_by_role("button", name=f"Look at {name}").drag_to(node(page, "1"))
    expect(node(page, "1").locator("img")).to_have_js_property("naturalWidth", 48)


def test_only_the_pictures_of_this_workflow(page: Page, tmp_path: Path) -> None:
    """Of the tab that is shown; in Chinese too."""
    name = save(page, tmp_path, 120)
    open_graph(page, tmp_path, steps([("EmptyImage", {})]), "none of its own")
    panel = opened(page)
    expect(panel.get_by_role("button", name=f"Look at {name}")).to_be_visible()
    panel.get_by_label("Only of this workflow").check()
    expect(panel.get_by_text("No pictures yet.")).to_be_visible()
    page.get_by_role("button", name="中文").click()
    expect(page.get_by_role("complementary", name="结果")).to_be_visible()


def test_the_picture_grows_on_the_node(page: Page) -> None:
    """A sampler shows what it works on, and how far it is, in the title and the bar."""
    page.get_by_role("tab", name="Draw from a prompt").click()
    node(page, "5").get_by_role("spinbutton", name="steps").fill("300")
    page.keyboard.press("Control+Enter")
    expect(node(page, "5").locator(".pictures img")).to_have_attribute(
        "src", re.compile("^blob:"), timeout=120_000
    )
    expect(node(page, "5").get_by_role("progressbar")).to_be_visible()
    expect(page.get_by_role("toolbar").get_by_role("progressbar")).to_be_visible()
    page.keyboard.press("Control+Alt+Enter")
    expect(page.get_by_role("button", name="Stop")).to_be_disabled(timeout=60_000)
