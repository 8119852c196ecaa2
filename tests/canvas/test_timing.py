"""The timing panel: lanes, table, two runs compared, trace, colours."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.canvas.hands import chain, node, open_graph, steps

pytestmark = pytest.mark.browser


def run(page: Page, id: str) -> None:
    """Run, and wait until a node has a picture and its time."""
    page.keyboard.press("Control+Enter")
    expect(page.locator(".bar").get_by_text("waiting")).to_have_count(0, timeout=60_000)
    expect(node(page, id).locator(".spent:not(.is-old)")).to_be_visible(timeout=60_000)


def opened(page: Page) -> Locator:
    """Open the panel by its key."""
    page.keyboard.press("t")
    panel = page.get_by_role("complementary", name="Timing")
    expect(panel).to_be_visible()
    return panel


def change(page: Page, width: int) -> None:
    """Change the picture, so that every node has to work again."""
    node(page, "1").get_by_role("spinbutton", name="width").fill(str(width))
    page.keyboard.press("Enter")
    page.locator(".react-flow__pane").click(position={"x": 5, "y": 5})


def test_every_node_has_a_bar_and_a_row(page: Page, tmp_path: Path) -> None:
    """Said in words too; the panel fills while it is open."""
    chain(page, tmp_path)
    change(page, 60)
    panel = opened(page)
    expect(panel.get_by_text("No times yet")).to_be_visible()
    run(page, "3")
    bars = panel.locator(".gantt-bar")
    expect(bars).to_have_count(3)
    expect(bars.first).to_have_accessible_name(re.compile(r"^Empty Image, [\d.]+ m?s on .*Python"))
    expect(panel.locator("tbody tr")).to_have_count(3)
    expect(panel.get_by_role("row", name=re.compile("^Whole run"))).to_be_visible()


def test_the_table_sorts_by_its_heads(page: Page, tmp_path: Path) -> None:
    """By name, up and down; a head tells which way."""
    chain(page, tmp_path)
    change(page, 61)
    run(page, "3")
    panel = opened(page)
    head = panel.get_by_role("columnheader", name="Node")
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    names = panel.locator("tbody th")
    expect(names).to_have_text(["Empty Image", "Invert Image", "Preview Image"])
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    expect(names).to_have_text(["Preview Image", "Invert Image", "Empty Image"])


def test_a_bar_and_a_row_lead_to_their_node(page: Page, tmp_path: Path) -> None:
    """By mouse in the table, by keyboard in the lanes, however near they are looked at."""
    chain(page, tmp_path)
    change(page, 62)
    run(page, "3")
    panel = opened(page)
    panel.get_by_role("button", name="Invert Image").click()
    expect(node(page, "2").locator(".is-selected")).to_be_visible()
    panel.get_by_role("listbox").focus()
    for key in ("+", "+", "ArrowRight", "-", "Home", "ArrowDown", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    active = panel.locator('[role="option"][aria-selected="true"]')
    expect(active).to_have_accessible_name(re.compile("^Invert Image"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(node(page, "3").locator(".is-selected")).to_be_visible()
    expect(node(page, "2").locator(".is-selected")).to_have_count(0)


def test_two_runs_are_compared(page: Page, tmp_path: Path) -> None:
    """Each node, and the whole; the table tells the change since the run before as well."""
    chain(page, tmp_path)
    change(page, 71)
    run(page, "3")
    panel = opened(page)
    change(page, 2000)
    expect(node(page, "1").locator(".spent.is-old")).to_have_count(0)
    run(page, "3")
    changes = panel.locator("tbody td").filter(has_text=re.compile(r"^[+−][\d.]+ m?s$"))
    expect(changes.first).to_be_visible()
    before = panel.get_by_role("combobox", name="Compare with")
    expect(before.locator("option")).not_to_have_count(1)
    before.select_option(index=1)
    table = panel.get_by_role("region", name="Times of two runs")
    expect(table.locator("tbody tr")).to_have_count(3)
    expect(table.get_by_role("row", name=re.compile("^Whole run .*×"))).to_be_visible()


def test_the_trace_opens_elsewhere(page: Page, tmp_path: Path) -> None:
    """A Chrome trace with a span for each node."""
    chain(page, tmp_path)
    change(page, 73)
    run(page, "3")
    panel = opened(page)
    with page.expect_download() as download:
        panel.get_by_role("link", name="Trace for Perfetto").click()
    trace = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    spans = [event for event in trace["traceEvents"] if event.get("cat") == "node"]
    assert len(spans) == 3


def test_nodes_warm_with_their_time(page: Page, tmp_path: Path) -> None:
    """The one that worked longest is the hottest; and the choice is kept."""
    chain(page, tmp_path)
    change(page, 3000)
    run(page, "3")
    panel = opened(page)
    panel.get_by_label("Colour nodes by time").check()
    warmth = page.locator(".react-flow__node .has-heat")
    expect(warmth).to_have_count(3)
    degrees = warmth.evaluate_all("all => all.map(card => card.style.getPropertyValue('--heat'))")
    assert "100%" in degrees
    page.reload()
    expect(page.get_by_label("Colour nodes by time")).to_be_checked()


def test_a_frame_counts_by_the_clock(page: Page, tmp_path: Path) -> None:
    """First begin to last end of what lies in it."""
    chain(page, tmp_path)
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+g")
    change(page, 75)
    run(page, "3")
    panel = opened(page)
    frame = panel.locator("tbody .is-group")
    expect(frame).to_have_count(1)
    whole = panel.locator("tfoot tr td").nth(2).inner_text()
    expect(frame.locator("td").nth(2)).to_have_text(whole)


def test_a_sampler_has_its_steps(page: Page) -> None:
    """Of the run that is under way, and in Chinese."""
    page.get_by_role("tab", name="Draw from a prompt").click()
    # A seed of its own, or the server gives what it drew before.
    node(page, "5").get_by_role("spinbutton", name="seed").fill("4242")
    page.locator(".react-flow__pane").click(position={"x": 5, "y": 5})
    panel = opened(page)
    page.keyboard.press("Control+Enter")
    expect(panel.locator(".gantt-step")).not_to_have_count(0, timeout=90_000)
    page.get_by_role("button", name="中文").click()
    chinese = page.get_by_role("complementary", name="时间")
    expect(chinese.locator(".gantt-bar").first).to_have_accessible_name(re.compile("设备"))


def test_a_run_of_the_history_is_shown(page: Page, tmp_path: Path) -> None:
    """With the workflow long gone from the canvas."""
    chain(page, tmp_path)
    change(page, 77)
    run(page, "3")
    open_graph(page, tmp_path, steps([("EmptyImage", {})]), "another")
    panel = opened(page)
    expect(panel.get_by_text("No times yet")).to_be_visible()
    panel.get_by_role("combobox", name="Run").select_option(index=1)
    expect(panel.locator(".gantt-bar")).not_to_have_count(0)
    expect(panel.locator("tbody tr")).to_have_count(3)


def test_a_wire_tells_what_it_carried(page: Page, tmp_path: Path) -> None:
    """Kind, shape, dtype and bytes of the last run, and the picture; in the list of wires too."""
    chain(page, tmp_path)
    change(page, 79)
    page.locator(".react-flow__edge").nth(1).click(force=True)
    expect(page.get_by_text("Nothing is known of it")).to_be_visible()
    run(page, "3")
    page.locator(".react-flow__edge").nth(1).click(force=True)
    told = page.locator(".carried")
    expect(told).to_contain_text(re.compile(r"IMAGE \(1, 32, 79, 3\) uint8, \d+ bytes"))
    expect(told.locator("img")).to_have_js_property("naturalWidth", 79)
    node(page, "3").locator(".title .name").click()
    page.keyboard.press("w")
    expect(page.get_by_role("dialog")).to_contain_text("carried IMAGE (1, 32, 79, 3)")
