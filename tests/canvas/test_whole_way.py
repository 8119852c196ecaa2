"""Two ways that new users go, from the first page to a file that runs without a browser."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Picture
from playwright.sync_api import Page, expect

from tests.canvas.hands import add, node, nodes

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

_ROOT = Path(__file__).parents[2]
_SOON = 90_000  # ms in which a run ends on a busy machine

Row = tuple[str, list[Any], list[str], list[str]]  # type, values, inputs, outputs


def _drawn(id: int, row: Row, links: list[list[Any]]) -> dict[str, Any]:
    """Write one node of it."""
    type, values, inputs, outputs = row
    into = {link[4]: link[0] for link in links if link[3] == id}
    out = [[link[0] for link in links if link[1:3] == [id, k]] for k in range(len(outputs))]
    return {
        "id": id,
        "type": type,
        "pos": [300 * (id - 1), 0],
        "size": [280, 120],
        "mode": 0,
        "order": id,
        "inputs": [
            {"name": name, "type": "*", "link": into.get(k)} for k, name in enumerate(inputs)
        ],
        "outputs": [
            {"name": name, "type": name, "links": out[k]} for k, name in enumerate(outputs)
        ],
        "properties": {"Node name for S&R": type},
        "widgets_values": values,
    }


def comfy_ui() -> dict[str, Any]:
    """Write a workflow as ComfyUI's editor saves it: nodes with places, links by number."""
    table: list[Row] = [
        ("CheckpointLoaderSimple", ["text-to-image"], [], ["MODEL", "CLIP", "VAE"]),
        ("CLIPTextEncode", ["apple"], ["clip"], ["CONDITIONING"]),
        ("CLIPTextEncode", [""], ["clip"], ["CONDITIONING"]),
        ("EmptyLatentImage", [64, 64, 1], [], ["LATENT"]),
        (
            "KSampler",
            [7, "fixed", 3, 4.0, "euler", "normal", 1.0],
            ["model", "positive", "negative", "latent_image"],
            ["LATENT"],
        ),
        ("VAEDecode", [], ["samples", "vae"], ["IMAGE"]),
        ("SaveImage", ["from_comfy"], ["images"], []),
    ]
    wires = [(1, 1, 2, 0), (1, 1, 3, 0), (1, 0, 5, 0), (2, 0, 5, 1), (3, 0, 5, 2), (4, 0, 5, 3)]
    wires += [(5, 0, 6, 0), (1, 2, 6, 1), (6, 0, 7, 0)]
    kinds = {id: outputs for id, (_, _, _, outputs) in enumerate(table, 1)}
    links = [[n, a, s, b, i, kinds[a][s]] for n, (a, s, b, i) in enumerate(wires, 1)]
    drawn = [_drawn(id, row, links) for id, row in enumerate(table, 1)]
    return {
        "last_node_id": 7,
        "last_link_id": len(links),
        "nodes": drawn,
        "links": links,
        "groups": [],
        "config": {},
        "extra": {},
        "version": 0.4,
    }


def open_file(page: Page, file: Path) -> None:
    """Choose a file of this computer in the dialog."""
    page.keyboard.press("Control+o")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="From this computer").click()
    chooser.value.set_files(file)
    expect(page.get_by_role("tab", name=file.stem, selected=True)).to_be_visible()


def compose(page: Page, text: str, spelled: str) -> None:
    """Write with an input method: letters that become a word."""
    session = page.context.new_cdp_session(page)
    for end in range(1, len(spelled) + 1):
        caret = {"selectionStart": end, "selectionEnd": end}
        session.send("Input.imeSetComposition", {"text": spelled[:end], **caret})  # pyright: ignore[reportUnknownMemberType]
    session.send("Input.insertText", {"text": text})  # pyright: ignore[reportUnknownMemberType]


def headless(file: Path, folder: Path, *more: str) -> list[Path]:
    """Run a file without a browser; gives the pictures it saved."""
    words = [sys.executable, "-m", "vinode", "run", str(file), "--output", str(folder), *more]
    subprocess.run([*words, "--quiet"], check=True, timeout=240)
    return sorted(folder.rglob("*.png"))


def saved_picture(page: Page, id: str, file: Path) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Fetch the picture that a node shows, as it was saved."""
    shown = node(page, id).locator(".pictures img")
    expect(shown).to_have_js_property("complete", True)
    address = shown.evaluate("picture => picture.src")
    file.write_bytes(page.request.get(re.sub(r"[?&]preview=[^&]*", "", address)).body())
    return np.asarray(Picture.open(file).convert("RGB"))


def downloaded(page: Page, file: Path) -> Path:
    """Download the open workflow."""
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    download.value.save_as(file)
    return file


def _edit_by_keyboard(page: Page) -> None:
    """Add two nodes, wire and frame them, take the frame back and again."""
    page.keyboard.press("Alt+n")
    add(page, "empty image")
    add(page, "preview image")
    page.keyboard.press("w")
    wires = page.get_by_role("dialog", name="Wires into Preview Image")
    wires.get_by_role("combobox").first.select_option("Empty Image (1): IMAGE")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+g")
    expect(page.locator(".react-flow__node-frame")).to_have_count(1)
    page.keyboard.press("Control+z")
    expect(page.locator(".react-flow__node-frame")).to_have_count(0)
    page.keyboard.press("Control+y")
    expect(page.locator(".react-flow__node-frame")).to_have_count(1)


def _break_and_mend(page: Page) -> None:
    """Take a wire off, read what is wrong, and undo it."""
    node(page, "6").locator(".title .name").click()
    page.keyboard.press("w")
    wires = page.get_by_role("dialog", name="Wires into VAE Decode")
    wires.get_by_role("combobox", name="vae").select_option(label="no wire")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="1 fault").click()
    expect(page.get_by_role("dialog")).to_contain_text("vae is missing")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+z")
    expect(page.get_by_role("button", name="1 fault")).to_have_count(0)


def test_from_the_example_to_a_file_that_runs_anywhere(page: Page, tmp_path: Path) -> None:
    """Edit by keyboard, open what ComfyUI saved, write Chinese, see faults, run, save, reload."""
    page.get_by_role("tab", name="Draw from a prompt").click()
    expect(nodes(page)).to_have_count(7)
    _edit_by_keyboard(page)

    file = tmp_path / "from comfy.json"
    file.write_text(json.dumps(comfy_ui()), encoding="utf-8")
    open_file(page, file)
    expect(nodes(page)).to_have_count(7)
    expect(page.locator(".react-flow__edge")).to_have_count(9)
    text = node(page, "2").get_by_role("textbox", name="text")
    text.click()
    page.keyboard.press("Control+a")
    compose(page, "苹果 apple", "pingguo")
    expect(text).to_have_value("苹果 apple")
    _break_and_mend(page)

    page.keyboard.press("Control+Enter")
    expect(node(page, "7").locator(".pictures img")).to_have_js_property(
        "naturalWidth", 64, timeout=_SOON
    )
    drawn = saved_picture(page, "7", tmp_path / "drawn.png")

    page.keyboard.press("Control+Shift+s")
    page.get_by_role("textbox", name="Name", exact=True).fill("mine")
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", name="mine", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_role("tab", name="mine", exact=True, selected=True)).to_be_visible()
    expect(text).to_have_value("苹果 apple")
    mine = downloaded(page, tmp_path / "mine.json")
    (again,) = headless(mine, tmp_path / "out")
    assert np.array_equal(np.asarray(Picture.open(again).convert("RGB")), drawn)

    open_file(page, tmp_path / "drawn.png")
    expect(nodes(page)).to_have_count(7)
    expect(node(page, "2").get_by_role("textbox", name="text")).to_have_value("苹果 apple")


def _fall_back_and_mend(page: Page) -> None:
    """Ask for an NPU that is not here, read why it was not used, and press what mends it."""
    sampler = node(page, "5")
    sampler.get_by_role("spinbutton", name="steps").fill("2")
    sampler.get_by_role("combobox", name="Device").select_option("NPU")
    page.keyboard.press("Control+Enter")
    why = sampler.locator(".fallbacks")
    expect(why).to_contain_text("no NPU is here; OpenVINO finds CPU", timeout=_SOON)
    why.get_by_role("button", name="CPU").click()
    expect(sampler.get_by_role("combobox", name="Device")).to_have_value("CPU")
    page.keyboard.press("Control+Enter")
    expect(sampler.locator(".fallbacks")).to_have_count(0, timeout=_SOON)


def _cut_out(page: Page) -> None:
    """Add what cuts the found faces out and saves them."""
    add(page, "CropBoxes")
    page.keyboard.press("w")
    wires = page.get_by_role("dialog", name=re.compile("^Wires into"))
    wires.get_by_role("combobox", name="image").select_option("0 1")
    wires.get_by_role("combobox", name="boxes").select_option("0 4")
    page.keyboard.press("Escape")
    add(page, "save image")
    page.keyboard.press("w")
    wires.get_by_role("combobox").first.select_option("0 7")
    page.keyboard.press("Escape")


def test_from_a_prompt_to_the_npu_and_to_faces(page: Page, tmp_path: Path) -> None:
    """See a picture grow and its time, mend a fallback, find faces in a photo, run it headless."""
    page.get_by_role("tab", name="Draw from a prompt").click()
    node(page, "2").get_by_role("textbox", name="text").fill("green heart on yellow")
    node(page, "5").get_by_role("spinbutton", name="steps").fill("120")
    page.keyboard.press("Control+Enter")
    expect(node(page, "5").locator(".pictures img")).to_have_attribute(
        "src", re.compile("^blob:"), timeout=_SOON
    )
    expect(node(page, "7").locator(".pictures img")).to_have_js_property(
        "naturalWidth", 64, timeout=_SOON
    )
    page.locator(".react-flow__pane").click(position={"x": 5, "y": 5})
    page.keyboard.press("t")
    timing = page.get_by_role("complementary", name="Timing")
    expect(timing.locator("tbody th").first).to_have_text("Sampler")
    page.keyboard.press("t")

    _fall_back_and_mend(page)

    page.keyboard.press("Control+o")
    page.get_by_role("button", name="Find faces").click()
    expect(page.get_by_role("tab", name="Find faces", selected=True)).to_be_visible()
    _fetch_the_detector(page)
    with page.expect_file_chooser() as chooser:
        node(page, "1").get_by_role("button", name=re.compile("Choose or drop")).click()
    photo = _ROOT / "workflows" / "photos" / "astronaut.jpg"
    chooser.value.set_files(photo)
    page.locator(".react-flow__pane").click(position={"x": 5, "y": 5})
    _cut_out(page)
    page.keyboard.press("Control+Enter")
    expect(node(page, "8").locator(".pictures img")).to_be_visible(timeout=_SOON)
    face = saved_picture(page, "8", tmp_path / "face.png")
    assert min(face.shape[:2]) > 40
    file = downloaded(page, tmp_path / "faces.json")
    image = json.loads(file.read_text(encoding="utf-8"))["prompt"]["1"]["inputs"]["image"]
    pictures = headless(file, tmp_path / "out", "--pull", f"--set=1.image={photo}")
    assert image
    crops = [np.asarray(Picture.open(path).convert("RGB")) for path in pictures]
    assert any(crop.shape == face.shape and np.array_equal(crop, face) for crop in crops)


def _fetch_the_detector(page: Page) -> None:
    """Run, and press what fetches the model that lacks; skip where nothing can be fetched."""
    page.keyboard.press("Control+Enter")
    fetch = node(page, "2").get_by_role("button", name=re.compile("^Fetch the model"))
    expect(fetch).to_be_visible(timeout=_SOON)
    fetch.click()
    here = node(page, "2").get_by_text("is here")
    failed = page.locator(".notices .error").filter(has_not_text="not on this computer")
    expect(here.or_(failed).first).to_be_visible(timeout=180_000)
    if failed.count():
        pytest.skip(f"no package registry: {failed.first.inner_text()}")
