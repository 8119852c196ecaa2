"""The canvas in Chromium, against a real server."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.canvas.hands import add, chain, drag, middle, move, node, nodes, open_graph, port, steps

pytestmark = pytest.mark.browser
LARGEST_SEED = 2**64 - 1


def test_a_picture_is_made_by_hand(page: Page) -> None:
    """Add, draw a wire into the void, pick what fits, run, see."""
    add(page, "empty image")
    move(page, "1", -300, -150)
    x, y = middle(port(page, "1", "0"))
    drag(page, (x, y), (x + 250, y + 40))
    expect(page.get_by_role("dialog", name="Nodes that take IMAGE")).to_be_visible()
    expect(page.get_by_role("option", name=re.compile("^KSampler"))).to_have_count(0)
    page.keyboard.type("preview")
    page.keyboard.press("Enter")
    expect(page.locator(".react-flow__edge")).to_have_count(1)
    page.keyboard.press("Control+Enter")
    picture = node(page, "2").locator("img")
    expect(picture).to_be_visible(timeout=30_000)
    expect(picture).to_have_js_property("naturalWidth", 512)


def test_edits_are_undone_gesture_by_gesture(page: Page, tmp_path: Path) -> None:
    """A drag of many events is one, and so is a typed word."""
    chain(page, tmp_path)
    before = node(page, "2").get_attribute("style")
    move(page, "2", 60, 120)
    assert node(page, "2").get_attribute("style") != before
    page.keyboard.press("Delete")
    expect(nodes(page)).to_have_count(2)
    expect(page.locator(".react-flow__edge")).to_have_count(0)
    page.keyboard.press("Control+z")
    expect(page.locator(".react-flow__edge")).to_have_count(2)
    page.keyboard.press("Control+z")
    expect(node(page, "2")).to_have_attribute(
        "style", re.compile(re.escape("translate(340px, 0px)"))
    )
    page.keyboard.press("Control+y")
    page.keyboard.press("Control+y")
    expect(nodes(page)).to_have_count(2)


def test_a_wire_that_does_not_fit_is_refused_in_words(page: Page, tmp_path: Path) -> None:
    """The reason names both kinds."""
    graph = steps([("LoadImage", {"image": "astronaut.jpg"}), ("ImageInvert", {})])
    open_graph(page, tmp_path, graph)
    drag(page, middle(port(page, "1", "1")), middle(port(page, "2", "image")))
    expect(page.get_by_text("image takes IMAGE, and this gives MASK.")).to_be_visible()
    expect(page.locator(".react-flow__edge")).to_have_count(0)
    drag(page, middle(port(page, "1", "0")), middle(port(page, "2", "image")))
    expect(page.locator(".react-flow__edge")).to_have_count(1)


def test_a_closed_page_loses_nothing(page: Page, tmp_path: Path) -> None:
    """Tabs, places and seeds of 64 bits come back."""
    chain(page, tmp_path)
    page.keyboard.press("Alt+n")
    add(page, "ksampler")
    seed = node(page, "1").get_by_role("spinbutton", name="seed")
    seed.fill(str(LARGEST_SEED))
    seed.press("Enter")
    page.reload()
    expect(node(page, "1").get_by_role("spinbutton", name="seed")).to_have_value(str(LARGEST_SEED))
    page.get_by_role("tab", name="graph").click()
    expect(nodes(page)).to_have_count(3)


def test_what_is_downloaded_is_what_was_drawn(page: Page, tmp_path: Path) -> None:
    """A bypassed node is out of the graph that runs, and in the file all the same."""
    chain(page, tmp_path)
    node(page, "2").locator(".title").click()
    page.keyboard.press("Control+b")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    told = json.loads(download.value.path().read_text())
    assert list(told["prompt"]) == ["1", "3"]
    assert told["prompt"]["3"]["inputs"]["images"] == ["1", 0]
    assert told["extra_data"]["vinode"]["off"]["2"]["mode"] == "bypass"


def test_a_workflow_is_saved_on_the_server(page: Page, tmp_path: Path) -> None:
    """Save asks for a name once, and the list of workflows has it."""
    chain(page, tmp_path)
    page.keyboard.press("Control+Shift+s")
    page.get_by_role("textbox", name="Name").fill("two words 中文")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Saved as two words 中文.")).to_be_visible()
    page.keyboard.press("Alt+n")
    page.keyboard.press("Control+o")
    dialog = page.get_by_role("dialog", name="Open a workflow")
    dialog.get_by_role("button", name=re.compile("two words 中文")).click()
    expect(nodes(page)).to_have_count(3)


def test_parts_are_copied_with_their_wires(page: Page, tmp_path: Path) -> None:
    """By the system's clipboard, as text that is a workflow."""
    chain(page, tmp_path)
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+c")
    told = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert list(told["prompt"]) == ["1", "2", "3"]
    page.keyboard.press("Control+v")
    expect(page.locator(".react-flow__edge")).to_have_count(4)
    page.keyboard.press("Control+z")
    expect(nodes(page)).to_have_count(3)


def test_a_node_dropped_onto_a_wire_goes_into_it(page: Page, tmp_path: Path) -> None:
    """Both of its new wires and its move are undone at once."""
    graph = steps([("EmptyImage", {}), ("PreviewImage", {"images": ["1", 0]}), ("ImageInvert", {})])
    graph["2"]["_meta"]["pos"], graph["3"]["_meta"]["pos"] = [700, 0], [400, 320]
    open_graph(page, tmp_path, graph)
    start, end = middle(port(page, "1", "0")), middle(port(page, "2", "images"))
    drag(page, middle(node(page, "3").locator(".title")), ((start[0] + end[0]) / 2, start[1]))
    expect(page.locator(".react-flow__edge")).to_have_count(2)
    page.keyboard.press("Control+z")
    expect(page.locator(".react-flow__edge")).to_have_count(1)


def test_frames_take_along_what_lies_in_them(page: Page, tmp_path: Path) -> None:
    """A frame is drawn around the selection and moves it."""
    chain(page, tmp_path)
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+g")
    frame = page.locator(".react-flow__node-frame")
    expect(frame.get_by_label("Title of the group")).to_have_value("Group")
    page.keyboard.press("Escape")
    box, before = frame.bounding_box(), middle(node(page, "2"))
    assert box is not None
    start = (box["x"] + box["width"] / 2, box["y"] + box["height"] - 8)
    drag(page, start, (start[0], start[1] + 90))
    assert middle(node(page, "2"))[1] == pytest.approx(before[1] + 90, abs=12)
    page.keyboard.press("Control+z")
    assert middle(node(page, "2"))[1] == pytest.approx(before[1], abs=2)


def test_nodes_are_collapsed_and_lined_up_from_the_menu(page: Page, tmp_path: Path) -> None:
    """What keys do stands in a menu, with the keys."""
    chain(page, tmp_path)
    move(page, "2", 0, 90)
    page.keyboard.press("Control+a")
    node(page, "1").locator(".title").click(button="right")
    page.get_by_role("button", name="Align top").click()
    tops = {round(middle(node(page, id).locator(".title"))[1]) for id in "123"}
    assert len(tops) == 1
    node(page, "1").locator(".title").click(button="right")
    page.get_by_role("button", name=re.compile("Collapse or open")).click()
    expect(node(page, "1").get_by_role("spinbutton")).to_have_count(0)
    expect(page.locator(".react-flow__edge")).to_have_count(2)


def test_a_dot_is_put_on_a_wire(page: Page, tmp_path: Path) -> None:
    """And what runs does not know of it."""
    chain(page, tmp_path)
    start, end = middle(port(page, "2", "0")), middle(port(page, "3", "images"))
    page.mouse.dblclick((start[0] + end[0]) / 2, start[1])
    expect(page.locator(".react-flow__node-dot")).to_have_count(1)
    page.keyboard.press("Control+Enter")
    expect(node(page, "3").locator("img")).to_be_visible(timeout=30_000)


def test_chinese_is_written_with_an_input_method(page: Page, tmp_path: Path) -> None:
    """Keys that compose a word are not the canvas's."""
    open_graph(page, tmp_path, steps([("PrimitiveStringMultiline", {"value": ""})]))
    field = node(page, "1").get_by_role("textbox")
    field.click()
    session = page.context.new_cdp_session(page)
    for text in ("h", "hu", "huli"):
        caret = {"selectionStart": len(text), "selectionEnd": len(text)}
        session.send("Input.imeSetComposition", {"text": text, **caret})  # pyright: ignore[reportUnknownMemberType]
    page.keyboard.press("Backspace")
    session.send("Input.insertText", {"text": "狐狸"})  # pyright: ignore[reportUnknownMemberType]
    expect(field).to_have_value(re.compile("狐狸$"))
    expect(nodes(page)).to_have_count(1)


def test_the_page_speaks_chinese(page: Page) -> None:
    """All of it, and after a reload too."""
    page.get_by_role("button", name="中文").click()
    expect(page.get_by_role("button", name="▶ 运行")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="▶ 运行")).to_be_visible()
    assert page.evaluate("document.documentElement.lang") == "zh-CN"


def test_a_failed_run_says_so_on_the_node(page: Page, tmp_path: Path) -> None:
    """With the server's sentence."""
    graph = steps([("LoadImage", {"image": "nowhere.png"}), ("PreviewImage", {"images": ["1", 0]})])
    open_graph(page, tmp_path, graph)
    page.keyboard.press("Control+Enter")
    expect(node(page, "1").locator(".problems")).to_contain_text("nowhere.png", timeout=30_000)


def test_a_large_workflow_draws_only_what_is_seen(page: Page, tmp_path: Path) -> None:
    """A thousand nodes are there, and few of them are in the page."""
    prompt = steps(
        [("EmptyImage", {}), *(("ImageInvert", {"image": [str(n), 0]}) for n in range(1, 1000))]
    )
    open_graph(page, tmp_path, prompt)
    page.keyboard.press("Control+f")
    page.get_by_role("searchbox").fill("700")
    page.keyboard.press("Enter")
    expect(node(page, "700")).to_be_visible()
    page.wait_for_function("document.querySelectorAll('.react-flow__node').length < 60")


def test_the_canvas_is_moved_as_its_user_is_used_to(page: Page, tmp_path: Path) -> None:
    """Where dragging selects, a box around nodes marks them; it is chosen in the help."""
    chain(page, tmp_path)
    page.keyboard.press("?")
    page.get_by_role("checkbox", name=re.compile("Dragging the canvas selects")).check()
    page.get_by_role("button", name="Close", exact=True).click()
    drag(page, (40, 120), (1360, 820))
    page.keyboard.press("Delete")
    expect(nodes(page)).to_have_count(0)
