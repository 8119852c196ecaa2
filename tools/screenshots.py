"""Take the pictures of the canvas that README and docs show, of a real server and real runs.

python -m tools.screenshots    needs Chromium and `pip install .[dev]`
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image as Picture
from playwright.sync_api import Page, expect, sync_playwright

DOCS = Path(__file__).parents[1] / "docs"
SIZE = {"width": 1280, "height": 760}
COLOURS = 200  # of a palette: a screenshot has few
SOON = 60_000  # ms
FLAGS = "--no-sandbox --disable-gpu --no-first-run --disable-background-networking"


def take(page: Page, name: str) -> None:
    """Save what is seen, small."""
    page.wait_for_timeout(700)
    shot = Picture.open(io.BytesIO(page.screenshot())).convert("RGB")
    shot.quantize(COLOURS).save(DOCS / f"{name}.png", optimize=True)


def aside(page: Page) -> None:
    """Give the focus to the canvas."""
    page.locator(".react-flow__pane").click(position={"x": 5, "y": 5})


def fit(page: Page) -> None:
    """Show all of the workflow."""
    aside(page)
    page.keyboard.press(".")
    page.wait_for_timeout(400)


def draw(page: Page, prompt: str) -> None:
    """Draw with the first example, and wait for the picture."""
    page.locator('.react-flow__node[data-id="2"]').get_by_role("textbox", name="text").fill(prompt)
    page.keyboard.press("Control+Enter")
    stop = page.get_by_role("button", name=re.compile("Stop|停止"))
    expect(stop).to_be_enabled(timeout=SOON)
    expect(stop).to_be_disabled(timeout=SOON)


def main() -> None:
    """Serve, walk through the views, and take each."""
    program = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        words = [sys.executable, "-m", "vinode", "serve", "--port", "0", "--input", "in"]
        words += ["--output", "out", "--state", "state", "--models", "models"]
        with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            found = re.search(r"http://\S+", server.stdout.readline())
            assert found is not None
            browser = playwright.chromium.launch(executable_path=program, args=FLAGS.split())
            page = browser.new_page(viewport=SIZE, locale="en-GB", color_scheme="dark")  # type: ignore[arg-type]
            page.goto(found[0])
            page.locator(".react-flow__node").first.wait_for(timeout=SOON)
            walk(page)
            browser.close()
            server.terminate()


def walk(page: Page) -> None:
    """Show the canvas and its times, a node that fell back, results, and the queue in Chinese."""
    draw(page, "red heart on blue")
    draw(page, "blue apple on yellow")
    aside(page)
    page.keyboard.press("t")
    fit(page)
    take(page, "canvas")
    page.keyboard.press("t")
    page.keyboard.press("d")
    sampler = page.locator('.react-flow__node[data-id="5"]')
    sampler.get_by_role("combobox", name="Device").select_option("NPU")
    draw(page, "green car on pink")
    fit(page)
    take(page, "canvas_devices")
    page.keyboard.press("a")
    panel = page.get_by_role("complementary", name="Results")
    boxes = panel.get_by_role("checkbox", name=re.compile("^Compare"))
    expect(boxes.first).to_be_visible()
    boxes.nth(0).check()
    boxes.nth(4).check()
    fit(page)
    take(page, "canvas_results")
    page.emulate_media(color_scheme="light")
    page.reload()
    page.get_by_role("button", name="中文").click()
    aside(page)
    page.keyboard.press("q")
    fit(page)
    take(page, "canvas_chinese")


if __name__ == "__main__":
    main()
