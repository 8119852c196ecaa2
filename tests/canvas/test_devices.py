"""The devices panel: what is here, where nodes run, why not on the NPU, and what mends it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.canvas.hands import node

pytestmark = pytest.mark.browser


def opened(page: Page) -> Locator:
    """Open the panel by its key."""
    page.keyboard.press("d")
    panel = page.get_by_role("complementary", name="Devices")
    expect(panel).to_be_visible()
    return panel


def drawing(page: Page) -> None:
    """Show the example that draws from a prompt."""
    page.get_by_role("tab", name="Draw from a prompt").click()
    node(page, "5").get_by_role("spinbutton", name="steps").fill("2")
    page.locator(".react-flow__pane").click(position={"x": 5, "y": 5})


def test_what_is_here_and_what_is_missing(page: Page) -> None:
    """The CPU by its full name; of an NPU what lacks, and what to do."""
    panel = opened(page)
    here = panel.get_by_role("region", name="What is here")
    expect(here.locator("li").first).to_contain_text("CPU", timeout=30_000)
    expect(here).to_contain_text("OpenVINO 2026")
    panel.get_by_role("button", name="What is missing?").click()
    findings = panel.get_by_role("list", name="What is missing?")
    expect(findings).to_contain_text("NPU hardware", timeout=120_000)
    panel.get_by_role("button", name="Look again").click()
    expect(here.locator("li").first).to_contain_text("CPU")


def test_a_node_that_fell_back_says_why_and_is_mended(page: Page) -> None:
    """Put on the NPU by a preset, run, read the reason, press the fix, run again."""
    drawing(page)
    panel = opened(page)
    panel.get_by_role("button", name="All on the NPU").click()
    sampler = node(page, "5")
    expect(sampler.get_by_role("combobox", name="Device")).to_have_value("NPU")
    expect(node(page, "6").get_by_role("combobox", name="Device")).to_have_value("NPU")
    page.keyboard.press("Control+z")
    expect(sampler.get_by_role("combobox", name="Device")).to_have_value("")
    node(page, "5").locator(".title .name").click()
    expect(panel.get_by_text("1 selected node")).to_be_visible()
    panel.get_by_role("button", name="All on the NPU").click()
    expect(sampler.get_by_role("combobox", name="Device")).to_have_value("NPU")
    expect(node(page, "6").get_by_role("combobox", name="Device")).to_have_value("")
    page.keyboard.press("Control+Enter")
    table = panel.get_by_role("table", name="Where nodes run")
    row = table.get_by_role("row", name=re.compile("^Sampler"))
    expect(row.get_by_role("cell").last).to_have_text("CPU", timeout=120_000)
    expect(row.get_by_role("cell").first).to_have_text("NPU")
    why = table.locator(".devices-why")
    expect(why).to_have_count(1)
    expect(why).to_contain_text("device-absent")
    expect(why).to_contain_text("no NPU is here")
    why.get_by_role("button").first.click()
    expect(sampler.get_by_role("combobox", name="Device")).not_to_have_value("NPU")
    page.keyboard.press("Control+Enter")
    expect(table.locator(".devices-why")).to_have_count(0, timeout=120_000)


def test_how_selected_nodes_are_compiled(page: Page) -> None:
    """Device, no fallback, precision: as the file says it."""
    drawing(page)
    panel = opened(page)
    node(page, "6").locator(".title .name").click()
    panel.get_by_role("combobox", name="Device").select_option("GPU")
    panel.get_by_label("never elsewhere").check()
    panel.get_by_role("combobox", name="Precision").select_option("f32")
    expect(node(page, "6").get_by_role("combobox", name="Device")).to_have_value("GPU!")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    saved = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    meta = saved["prompt"]["6"]["_meta"]
    assert (meta["device"], meta["precision"]) == ("GPU!", "f32")


def test_the_npu_compiler_is_asked(page: Page) -> None:
    """Here is no compiler beside the server, which is said with what to do; in Chinese too."""
    drawing(page)
    panel = opened(page)
    preflight = panel.get_by_role("region", name="Would it run on an NPU?")
    preflight.get_by_role("combobox", name="NPU").select_option("5010")
    preflight.get_by_role("button", name="Ask Intel's compiler").click()
    told = preflight.get_by_role("alert").or_(preflight.get_by_text("would run on NPU"))
    expect(told.first).to_be_visible(timeout=120_000)
    page.get_by_role("button", name="中文").click()
    expect(page.get_by_role("complementary", name="设备")).to_be_visible()
