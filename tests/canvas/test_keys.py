"""The key map: changed in the help, obeyed, kept, and put back."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.canvas.hands import chain

pytestmark = pytest.mark.browser


def test_a_key_is_changed_obeyed_and_put_back(page: Page, tmp_path: Path) -> None:
    """The new key works, also after a reload; who had it before has none."""
    chain(page, tmp_path)
    frames = page.locator(".react-flow__node-frame")
    page.keyboard.press("?")
    page.get_by_role("button", name="Other key for: Group").click()
    page.keyboard.press("Control+m")
    expect(page.get_by_role("button", name="Other key for: Group")).to_have_text("Ctrl+m")
    expect(page.get_by_role("button", name="Other key for: Mute")).to_have_text("–")
    expect(page.get_by_role("button", name="Other key for: Copy")).to_be_disabled()
    page.keyboard.press("Escape")
    page.reload()
    expect(page.locator(".react-flow__node")).to_have_count(3)
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+g")
    expect(frames).to_have_count(0)
    page.keyboard.press("Control+m")
    expect(frames).to_have_count(1)
    page.keyboard.press("?")
    page.get_by_role("button", name="All keys as they were").click()
    expect(page.get_by_role("button", name="Other key for: Group")).to_have_text("Ctrl+g")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+g")
    expect(frames).to_have_count(2)


def test_a_prompt_is_weighed_by_keys(page: Page) -> None:
    """What is marked stays marked, so a second press goes on."""
    page.get_by_role("tab", name="Draw from a prompt").click()
    text = page.locator('.react-flow__node[data-id="2"]').get_by_role("textbox", name="text")
    text.click()
    page.keyboard.press("Control+a")
    for _ in range(3):
        page.keyboard.press("Control+ArrowUp")
    expect(text).to_have_value("(red heart on blue:1.15)")
    for _ in range(3):
        page.keyboard.press("Control+ArrowDown")
    expect(text).to_have_value("red heart on blue")
