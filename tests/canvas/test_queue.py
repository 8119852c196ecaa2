"""The queue panel: order, pause, cancel; and the runs that have ended."""

from __future__ import annotations

import re
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.canvas.hands import chain, node, nodes

pytestmark = pytest.mark.browser


@pytest.fixture
def panel(page: Page) -> Generator[Locator]:
    """Open the panel; whatever a test does, the queue goes on after it."""
    page.keyboard.press("q")
    found = page.get_by_role("complementary", name="Queue")
    expect(found).to_be_visible()
    yield found
    go_on = found.get_by_role("button", name="Go on")
    if go_on.is_visible():
        go_on.click()


def hand_in(page: Page, width: int) -> None:
    """Hand in another picture than before."""
    node(page, "1").get_by_role("spinbutton", name="width").fill(str(width))
    page.keyboard.press("Control+Enter")


def waiting(panel: Locator) -> list[str]:
    """Give the numbers of the runs that wait, in their order."""
    names = panel.locator("ol li .queue-name").all_inner_texts()
    return [found[1] for name in names if (found := re.search(r"Run (\w+)", name))]


def test_what_waits_is_put_in_order_and_cancelled(
    page: Page, panel: Locator, tmp_path: Path
) -> None:
    """Paused, nothing begins; then all that is left runs."""
    chain(page, tmp_path)
    panel.get_by_role("button", name="Pause").click()
    expect(panel.get_by_text("Paused: what runs ends")).to_be_visible()
    for width in (31, 32, 33):
        hand_in(page, width)
    rows = panel.locator("ol li")
    expect(rows).to_have_count(3)
    first, second, third = waiting(panel)
    panel.get_by_role("button", name=f"Run {third} first").click()
    expect(rows.first).to_contain_text(f"Run {third}")
    panel.get_by_role("button", name=f"Run {first} later").click()
    expect(rows.last).to_contain_text(f"Run {first}")
    assert waiting(panel) == [third, second, first]
    panel.get_by_role("button", name=f"Cancel run {second}").click()
    expect(rows).to_have_count(2)
    panel.get_by_role("button", name="Go on").click()
    expect(panel.get_by_text("Nothing runs or waits.")).to_be_visible(timeout=60_000)
    ended = panel.locator("section li.is-done .queue-name")
    expect(ended.nth(0)).to_contain_text(f"Run {first}")
    expect(ended.nth(1)).to_contain_text(f"Run {third}")


def test_all_that_waits_is_cancelled_at_once(page: Page, panel: Locator, tmp_path: Path) -> None:
    """Two of them, none of which runs later."""
    chain(page, tmp_path)
    panel.get_by_role("button", name="Pause").click()
    for width in (41, 42):
        hand_in(page, width)
    expect(panel.locator("ol li")).to_have_count(2)
    panel.get_by_role("button", name="Cancel all that wait").click()
    expect(panel.locator("ol li")).to_have_count(0)
    panel.get_by_role("button", name="Go on").click()
    expect(panel.get_by_role("button", name="Pause")).to_be_visible()


def test_two_pages_show_the_same_queue(page: Page, panel: Locator, tmp_path: Path) -> None:
    """What one hands in, the other sees, and can cancel."""
    chain(page, tmp_path)
    other = page.context.new_page()
    other.goto(page.url)
    theirs = other.get_by_role("complementary", name="Queue")
    expect(theirs).to_be_visible(timeout=30_000)
    panel.get_by_role("button", name="Pause").click()
    hand_in(page, 51)
    expect(theirs.locator("ol li")).to_have_count(1)
    theirs.get_by_role("button", name=re.compile("^Cancel run")).click()
    expect(panel.locator("ol li")).to_have_count(0)
    other.close()


def test_a_run_of_the_history_runs_again_and_opens(
    page: Page, panel: Locator, tmp_path: Path
) -> None:
    """Its workflow comes back as it was drawn."""
    chain(page, tmp_path)
    hand_in(page, 53)
    newest = panel.locator("section li").first
    expect(newest.locator("img")).to_be_visible(timeout=60_000)
    name = newest.locator(".queue-name").inner_text().split("\n")[0].strip()
    newest.get_by_role("button", name="Again").click()
    expect(newest.locator(".queue-name")).not_to_contain_text(name, timeout=60_000)
    newest.get_by_role("button", name="Open").click()
    expect(nodes(page)).to_have_count(3)
    expect(node(page, "1").get_by_role("spinbutton", name="width")).to_have_value("53")


def test_a_failed_run_says_why(page: Page, panel: Locator) -> None:
    """In a sentence, with the node: here one that may run nowhere but on an NPU."""
    page.get_by_role("tab", name="Draw from a prompt").click()
    node(page, "5").get_by_role("combobox", name="Device").select_option("NPU!")
    page.keyboard.press("Control+Enter")
    newest = panel.locator("section li").first
    newest.get_by_role("button", name="Why?").click(timeout=60_000)
    expect(newest.locator(".queue-faults li").first).to_contain_text("Sampler (5): ")
    expect(newest.locator(".queue-faults li").first).to_contain_text("NPU")


def test_the_view_follows_the_node_that_runs(page: Page, panel: Locator) -> None:
    """Far away from where it was looked at, the sampler comes into view."""
    page.get_by_role("tab", name="Draw from a prompt").click()
    panel.get_by_label("Follow the node that runs").check()
    page.mouse.move(500, 500)
    page.mouse.down()
    page.mouse.move(500, -4000)
    page.mouse.up()
    page.locator(".react-flow__pane").click(position={"x": 5, "y": 5})
    page.keyboard.press("Control+Enter")
    expect(node(page, "5")).to_be_in_viewport(timeout=120_000)
