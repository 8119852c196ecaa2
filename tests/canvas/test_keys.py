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
