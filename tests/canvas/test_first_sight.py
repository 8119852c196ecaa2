"""What somebody sees who comes here first: a workflow that runs, and what its runs tell."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.canvas.hands import add, chain, node, nodes, open_graph, steps

pytestmark = pytest.mark.browser


def test_what_is_shown_first_draws_at_once(page: Page) -> None:
    """With the model that comes along: change the prompt, run, see the pictures."""
    page.get_by_role("tab", name="Draw from a prompt").click()
    expect(nodes(page)).to_have_count(7)
    node(page, "2").get_by_role("textbox", name="text").fill("blue apple on yellow")
    page.keyboard.press("Control+Enter")
    saved = node(page, "7").locator("img").first
    expect(saved).to_have_js_property("naturalWidth", 64, timeout=120_000)


def test_an_example_comes_with_its_picture(page: Page) -> None:
    """The photo is put where the node looks for it, and a model that lacks can be fetched."""
    page.keyboard.press("Control+o")
    page.get_by_role("button", name="Find faces").click()
    expect(page.get_by_role("tab", name="Find faces")).to_be_visible()
    expect(nodes(page)).to_have_count(6)
    expect(node(page, "1").locator("img")).to_have_js_property("naturalWidth", 512)
    page.keyboard.press("Control+Enter")
    lacks = node(page, "2").get_by_role("button", name="Fetch the model face-short-range")
    expect(lacks).to_be_visible(timeout=30_000)
    expect(node(page, "1").locator(".problems")).to_have_count(0)


def test_a_node_tells_where_its_time_went(page: Page, tmp_path: Path) -> None:
    """By phase, in words; of every node, the first one too."""
    chain(page, tmp_path)
    node(page, "1").get_by_role("spinbutton", name="width").fill("68")
    page.keyboard.press("Enter")
    page.keyboard.press("Control+Enter")
    for id in ("1", "2", "3"):
        bar = node(page, id).get_by_role("img", name=re.compile(r"^[\d.]+ m?s: .*Python"))
        expect(bar).to_be_visible(timeout=30_000)


def test_a_device_that_is_not_there_is_told_of_before_a_run(page: Page, tmp_path: Path) -> None:
    """With what is there instead."""
    open_graph(page, tmp_path, steps([("DetectObjects", {}), ("EmptyImage", {})]))
    expect(node(page, "2").get_by_role("combobox", name="Device")).to_have_count(0)
    node(page, "1").get_by_role("combobox", name="Device").select_option("GPU")
    expect(node(page, "1").get_by_text("There is no GPU here, only CPU")).to_be_visible()


def test_a_dropped_picture_gets_a_node(page: Page) -> None:
    """One that carries no workflow is loaded."""
    transfer = page.evaluate_handle(
        """async () => {
            const surface = new OffscreenCanvas(40, 30);
            surface.getContext('2d').fillRect(0, 0, 9, 9);
            const dropped = new DataTransfer();
            const blob = await surface.convertToBlob();
            dropped.items.add(new File([blob], 'dropped.png', {type: 'image/png'}));
            return dropped;
        }"""
    )
    page.dispatch_event(".react-flow__pane", "drop", {"dataTransfer": transfer})
    expect(node(page, "1").locator("img")).to_have_js_property("naturalWidth", 40)


def test_the_whole_way_by_keyboard(page: Page) -> None:
    """Add two nodes, wire them, take it back and again, run, see, save, reload: nothing is lost."""
    add(page, "string (multiline)")
    page.keyboard.press("Delete")
    add(page, "empty image")
    add(page, "preview image")
    page.keyboard.press("w")
    wires = page.get_by_role("dialog", name="Wires into Preview Image")
    wires.get_by_role("combobox").first.select_option("Empty Image (1): IMAGE")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+z")
    expect(page.locator(".react-flow__edge")).to_have_count(0)
    page.keyboard.press("Control+y")
    expect(page.locator(".react-flow__edge")).to_have_count(1)
    page.keyboard.press("Control+Enter")
    expect(node(page, "2").locator("img")).to_be_visible(timeout=30_000)
    page.keyboard.press("Control+s")
    page.get_by_role("textbox", name="Name").fill("by keyboard")
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", name="by keyboard", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_role("tab", name="by keyboard", exact=True, selected=True)).to_be_visible()
    expect(page.locator(".react-flow__edge")).to_have_count(1)


def test_every_example_has_what_it_loads(page: Page) -> None:
    """Photos that the input folder lacks are put there, so no node misses its picture."""
    for name in ("Redraw a picture", "Paint a part anew"):
        page.keyboard.press("Control+o")
        page.get_by_role("button", name=name).click()
        expect(page.get_by_role("tab", name=name)).to_be_visible()
        expect(page.locator(".problems")).to_have_count(0)
        loaded = page.locator(".react-flow__node").filter(has_text="image").locator("img").first
        expect(loaded).to_have_js_property("naturalWidth", 64)


def test_all_faults_are_seen_before_a_run_and_lead_to_their_nodes(
    page: Page, tmp_path: Path
) -> None:
    """A count in the bar, a sentence for each; mended, it is gone."""
    graph = steps(
        [("EmptyImage", {"width": -5, "height": 64}), ("ImageInvert", {}), ("Nonsense", {})]
    )
    open_graph(page, tmp_path, graph)
    page.get_by_role("button", name="3 faults").click()
    dialog = page.get_by_role("dialog", name="3 faults")
    expect(dialog.get_by_role("listitem")).to_have_count(3)
    expect(dialog).to_contain_text("width is at least")
    expect(dialog).to_contain_text("no node of the type Nonsense")
    dialog.get_by_role("button", name="Invert Image (2)").click()
    expect(node(page, "2").locator(".is-selected")).to_be_visible()
    page.keyboard.press("Delete")
    expect(page.get_by_role("button", name="2 faults")).to_be_visible()


def test_a_reload_shows_what_was_looked_at(page: Page, tmp_path: Path) -> None:
    """The same part of the workflow, as near as before."""
    open_graph(page, tmp_path, steps([("EmptyImage", {}), ("ImageInvert", {"image": ["1", 0]})]))
    page.mouse.move(700, 500)
    page.mouse.wheel(0, 600)
    page.wait_for_timeout(1000)
    seen = page.locator(".react-flow__viewport").get_attribute("style")
    page.reload()
    expect(page.locator(".react-flow__node")).to_have_count(2)
    expect(page.locator(".react-flow__viewport")).to_have_attribute("style", str(seen))


def test_a_node_tells_what_it_does(page: Page, tmp_path: Path) -> None:
    """Its docstring, with all that it takes and gives."""
    open_graph(page, tmp_path, steps([("ImageCrop", {})]))
    node(page, "1").locator(".title .name").click()
    page.keyboard.press("i")
    about = page.get_by_role("dialog", name="Image Crop")
    expect(about).to_contain_text("Cut a rectangle out of pictures")
    expect(about.get_by_role("table", name="Takes").get_by_role("row")).to_have_count(5)
    expect(about.get_by_role("table", name="Gives").get_by_role("row")).to_have_count(1)
