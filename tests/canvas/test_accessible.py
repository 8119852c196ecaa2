"""Everybody can use it: axe finds nothing, in both languages, dark and light, and when zoomed."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]
from playwright.sync_api import Browser, Page, expect

from tests.canvas.hands import node, open_graph, steps

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

_RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
_PANELS = {"t": "Timing", "q": "Queue", "a": "Results", "d": "Devices", "m": "Models"}


def found(page: Page) -> list[str]:
    """Give what axe says is wrong: the rule, and where.

    How large a field of a node is drawn is up to whoever looks nearer or from farther away.
    """
    page.wait_for_timeout(400)  # colours that fade would be judged half-way
    run: Any = Axe().run  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType]
    violations: list[dict[str, Any]] = run(page, options=_RULES).response["violations"]
    return [
        f"{each['id']}: {place['target']} {place['any'][0]['message'] if place['any'] else ''}"
        for each in violations
        for place in each["nodes"][:5]
        if each["id"] != "target-size" or not _on_canvas(page, place["target"][0])
    ]


def _on_canvas(page: Page, selector: str) -> bool:
    return bool(page.locator(selector).first.evaluate("at => at.closest('.react-flow') !== null"))


@contextmanager
def themed(page: Page, theme: str) -> Generator[None]:
    """Have the page dark or light, as the system says."""
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    page.reload()
    expect(page.locator(f"html[data-theme={theme}]")).to_be_attached()
    yield


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_axe_finds_nothing_on_the_page(page: Page, theme: str, tmp_path: Path) -> None:
    """With a run done, one that failed, nodes left out, and every panel open."""
    with themed(page, theme):
        page.get_by_role("tab", name="Draw from a prompt").click()
        node(page, "5").get_by_role("spinbutton", name="steps").fill("3")
        node(page, "5").get_by_role("combobox", name="Device").select_option("NPU")
        page.keyboard.press("Control+Enter")
        shown = node(page, "7").locator(".pictures img")
        expect(shown).to_have_js_property("naturalWidth", 64, timeout=90_000)
        assert found(page) == []
        page.locator(".react-flow__pane").click(position={"x": 5, "y": 5})
        for key, name in _PANELS.items():
            page.keyboard.press(key)
            panel = page.get_by_role("complementary", name=name)
            expect(panel).to_be_visible()
            expect(panel.get_by_text("Loading…", exact=True)).to_have_count(0)
            assert found(page) == [], name
            page.keyboard.press(key)
        graph = steps([("EmptyImage", {"width": -5}), ("ImageInvert", {}), ("Nonsense", {})])
        graph["2"]["_meta"]["collapsed"] = True
        open_graph(page, tmp_path, graph)
        page.keyboard.press("Control+a")
        page.keyboard.press("Control+g")
        page.keyboard.press("Control+b")
        assert found(page) == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_axe_finds_nothing_in_dialogs(page: Page, language: str) -> None:
    """The palette, help, files, wires, the finder and the menu; in Chinese too."""
    if language == "zh":
        page.get_by_role("button", name="中文").click()
    page.get_by_role("tab").first.click()
    node(page, "5").locator(".title .name").click()
    for key in ("Space", "?", "Control+o", "Control+Shift+s", "w", "Control+f"):
        page.keyboard.press(key)
        expect(page.get_by_role("dialog")).to_be_visible()
        assert found(page) == [], key
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
    node(page, "5").locator(".title .name").click(button="right")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert found(page) == []


def test_all_tools_are_there_when_zoomed_to_200_percent(browser: Browser, address: str) -> None:
    """On a screen of 1280 × 720: nothing is cut off, and the canvas keeps room."""
    context = browser.new_context(
        viewport={"width": 640, "height": 360}, device_scale_factor=2, locale="en-GB"
    )
    page = context.new_page()
    page.goto(address)
    expect(page.locator(".react-flow__node").first).to_be_attached(timeout=30_000)
    for button in page.get_by_role("toolbar").get_by_role("button").all():
        box = button.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 640
        assert box["y"] + box["height"] <= 360
    canvas = page.locator(".canvas").bounding_box()
    assert canvas is not None
    assert canvas["height"] > 150
    assert page.evaluate("document.documentElement.scrollWidth") <= 640
    assert found(page) == []
    context.close()


def test_a_laptop_of_1280_pixels_has_one_row_of_tools(browser: Browser, address: str) -> None:
    """With a panel on the right, the canvas still has the larger part."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, locale="en-GB")
    page = context.new_page()
    page.goto(address)
    expect(page.locator(".react-flow__node").first).to_be_attached(timeout=30_000)
    tops = {
        round(box["y"])
        for button in page.get_by_role("toolbar").get_by_role("button").all()
        if (box := button.bounding_box())
    }
    assert len(tops) == 1
    page.get_by_role("button", name="Devices").click()
    canvas = page.locator(".canvas").bounding_box()
    assert canvas is not None
    assert canvas["width"] > 640
    context.close()


def test_axe_finds_nothing_in_the_mask_editor(page: Page, tmp_path: Path) -> None:
    """Opened from a node that loads a picture."""
    open_graph(page, tmp_path, steps([("LoadImage", {"image": "astronaut.jpg"})]))
    node(page, "1").get_by_role("button", name="Paint a mask").click()
    expect(page.get_by_role("dialog").locator("canvas")).to_be_visible(timeout=30_000)
    assert found(page) == []
