"""The models panel: what is here, and what can be done with it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.canvas.hands import node, nodes

pytestmark = pytest.mark.browser


def opened(page: Page) -> Locator:
    """Open the panel by its key."""
    page.keyboard.press("m")
    panel = page.get_by_role("complementary", name="Models")
    expect(panel.get_by_role("list", name="Models", exact=True)).to_be_visible()
    return panel


def test_models_are_found_and_told_about(page: Page) -> None:
    """Kind, state, licence and source of each; the search finds by name."""
    panel = opened(page)
    rows = panel.get_by_role("list", name="Models", exact=True).locator("> li")
    panel.get_by_role("searchbox").fill("face short")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("face-short-range")
    expect(rows).to_contain_text("to be had")
    rows.get_by_text("About", exact=True).click()
    expect(rows.get_by_text("Licence", exact=True)).to_be_visible()
    panel.get_by_role("searchbox").fill("no such model at all")
    expect(panel.get_by_text("No model answers")).to_be_visible()


def test_a_checkpoint_is_put_into_the_workflow(page: Page) -> None:
    """The one that comes along, into a node that loads it."""
    panel = opened(page)
    checkpoints = panel.get_by_role("region", name="Checkpoints")
    row = checkpoints.locator("li").filter(has_text="text-to-image")
    row.get_by_role("button", name="Use").click()
    expect(nodes(page)).to_have_count(1)
    loads = node(page, "1").get_by_role("combobox", name="ckpt_name")
    expect(loads.or_(node(page, "1").get_by_label("ckpt_name")).first).to_have_value(
        re.compile("text-to-image")
    )


def test_what_cannot_be_converted_is_said(page: Page) -> None:
    """A file that is not there, in a sentence; in Chinese the panel is Chinese."""
    panel = opened(page)
    panel.get_by_role("textbox", name="File in the folder").fill("none.onnx")
    panel.get_by_role("button", name="Convert", exact=True).last.click()
    expect(page.locator(".notices .error")).to_contain_text("no such file")
    page.get_by_role("button", name="中文").click()
    expect(page.get_by_role("complementary", name="模型")).to_be_visible()
