"""What the canvas costs the browser with a thousand nodes: CPU of the renderer for each event.

python -m bench.canvas

CPU and not frames: on a busy machine frames tell of the others. Needs Chromium and `.[dev]`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import psutil
from playwright.sync_api import Page, expect, sync_playwright

from bench.table import Figure, lines

NODES, ACROSS = 1000, 40
EVENTS = 40
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
# Written before the page's own scripts: the time when nodes and wires are there, and drawn.
_FIRST = """
const look = () => {
  const there = (name) => document.querySelector(`.react-flow__${name}`);
  if (!there('node') || !there('edge')) return requestAnimationFrame(look);
  const drawn = () => { window.firstDrawn = performance.now(); };
  requestAnimationFrame(() => requestAnimationFrame(drawn));
};
addEventListener('DOMContentLoaded', look);
"""


def workflow() -> dict[str, object]:
    """Write a chain of small pictures in rows, of nodes with two inputs: 1.5 wires a node."""
    nodes: dict[str, object] = {}
    for number in range(1, NODES + 1):
        place = [(number % ACROSS) * 320, (number // ACROSS) * 300]
        meta = {"_meta": {"pos": place}}
        if number == 1:
            inputs: dict[str, object] = {"width": 8, "height": 8, "color": os.getpid()}
            nodes["1"] = {"class_type": "EmptyImage", "inputs": inputs, **meta}
        elif number % 2:
            before = {"image1": [str(number - 1), 0], "image2": [str(number - 2), 0]}
            rest = {"blend_factor": 0.5, "blend_mode": "normal"}
            nodes[str(number)] = {"class_type": "ImageBlend", "inputs": before | rest, **meta}
        else:
            link = {"image": [str(number - 1), 0]}
            nodes[str(number)] = {"class_type": "ImageInvert", "inputs": link, **meta}
    end = {"images": [str(NODES), 0]}
    place = [(NODES % ACROSS) * 320, (NODES // ACROSS + 1) * 300]
    nodes["end"] = {"class_type": "PreviewImage", "inputs": end, "_meta": {"pos": place}}
    return {"vinode": 1, "prompt": nodes}


@contextmanager
def served(folder: Path) -> Generator[str]:
    """Serve on a free port; gives the address."""
    words = [sys.executable, "-m", "vinode", "serve", "--port", "0", "--output", "out"]
    words += ["--input", "in", "--state", "state", "--models", "models"]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        assert found is not None
        try:
            yield found[0]
        finally:
            server.terminate()


def renderer() -> psutil.Process:
    """Give the process that draws the page: the busiest renderer below this one."""
    below = psutil.Process().children(recursive=True)
    drawing = [each for each in below if "--type=renderer" in each.cmdline()]
    return max(drawing, key=lambda each: sum(each.cpu_times()[:2]))


def spent(process: psutil.Process) -> float:
    """Give the CPU ms that a process has used."""
    times = process.cpu_times()
    return (times.user + times.system) * 1e3


def each(page: Page, act: Callable[[int], None], times: int = EVENTS) -> float:
    """Give the CPU ms of the renderer for one event, after some to warm up."""
    for turn in range(5):
        act(turn)
    page.wait_for_timeout(300)
    process = renderer()
    before = spent(process)
    for turn in range(times):
        act(turn)
        page.wait_for_timeout(16)
    page.wait_for_timeout(300)
    return (spent(process) - before) / times


def bare(page: Page) -> tuple[float, float]:
    """Find a place of the page where nothing lies on the canvas."""
    for x in range(300, 1100, 20):
        for y in range(250, 700, 20):
            name = page.evaluate("at => document.elementFromPoint(...at).className", [x, y])
            if isinstance(name, str) and "react-flow__pane" in name:
                return x, y
    raise RuntimeError("no bare place on the canvas")


def moving(page: Page) -> list[Figure]:
    """Pan, zoom, drag a node, and type."""
    left, top = bare(page)
    page.mouse.move(left, top)
    page.mouse.down()
    pan = each(page, lambda turn: page.mouse.move(left + 9 * (turn % 30), top + 4 * (turn % 30)))
    page.mouse.up()
    zoom = each(page, lambda turn: page.mouse.wheel(0, 40 if turn % 2 else -40))
    title = page.locator(".react-flow__node .title .name").nth(3)
    box = title.bounding_box()
    assert box is not None
    x, y = box["x"] + 5, box["y"] + 5
    page.mouse.move(x, y)
    page.mouse.down()
    drag = each(page, lambda turn: page.mouse.move(x + 3 * (turn % 30), y + 2 * (turn % 30)))
    page.mouse.up()
    field = page.locator(".react-flow__node .widget input.number").first
    field.click()
    typed = each(page, lambda turn: page.keyboard.press("ArrowUp" if turn % 2 else "ArrowDown"))
    return [
        Figure("pan", f"{pan:.1f} ms an event", "<= 25 (React Flow alone: 20-22)", pan <= 25),
        Figure("zoom", f"{zoom:.1f} ms an event", "React Flow alone: 34-52"),
        Figure("drag a node", f"{drag:.1f} ms an event", "React Flow alone: 37-42"),
        Figure("type", f"{typed:.1f} ms a key", "<= 12 (React Flow alone: 9-10)", typed <= 12),
    ]


def running(page: Page) -> Figure:
    """Run all of it, and count what the socket tells."""
    told: list[str | bytes] = []
    page.on(
        "websocket", lambda socket: socket.on("framereceived", lambda frame: told.append(frame))
    )
    page.reload()
    page.locator(".react-flow__node").first.wait_for()
    page.wait_for_timeout(1500)
    process = renderer()
    told.clear()
    before = spent(process)
    page.keyboard.press("Control+Enter")
    stop = page.get_by_role("button", name="Stop")
    expect(stop).to_be_enabled()
    expect(stop).to_be_disabled(timeout=120_000)
    page.wait_for_timeout(500)
    cost = (spent(process) - before) / max(1, len(told))
    what = f"{cost:.2f} ms each of {len(told)} messages"
    return Figure(f"run {NODES} nodes", what, "<= 5 ms", cost <= 5)


def timing(page: Page) -> Figure:
    """Look nearer and farther in the lanes of the run."""
    page.keyboard.press("t")
    page.locator(".gantt-bar").first.wait_for()
    bars = page.locator(".gantt-bar").count()
    page.locator(".gantt").focus()
    cost = each(page, lambda turn: page.keyboard.press("+" if turn % 2 else "-"))
    what = f"{cost:.1f} ms a zoom, {bars} bars"
    return Figure("timing panel", what, "<= 16 ms", cost <= 16)


def figures(page: Page, address: str, folder: Path) -> list[Figure]:
    """Open the workflow, load it anew, and measure."""
    page.goto(address)
    page.locator(".react-flow__node").first.wait_for()
    file = folder / "thousand.json"
    file.write_text(json.dumps(workflow()), encoding="utf-8")
    page.keyboard.press("Control+o")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="From this computer").click()
    chooser.value.set_files(file)
    page.get_by_role("tab", name="thousand").wait_for()
    page.keyboard.press("Control+f")
    page.get_by_role("searchbox").fill("421")
    page.keyboard.press("Enter")
    page.wait_for_timeout(3000)  # kept in the browser
    page.reload()
    first = 0.0
    while not first:  # the page's policy lets no condition be sent as text
        page.wait_for_timeout(50)
        first = float(page.evaluate("window.firstDrawn") or 0)
    drawn = Figure(
        "first render", f"{first:.0f} ms", "< 1500 (React Flow alone: 630-854)", first < 1500
    )
    return [drawn, *moving(page), running(page), timing(page)]


def main() -> None:
    """Measure, and print the table."""
    program = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as name, served(Path(name)) as address:
        (Path(name) / "in").mkdir(exist_ok=True)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=FLAGS.split())
            page = browser.new_page(viewport={"width": 1400, "height": 900}, locale="en-GB")
            page.add_init_script(_FIRST)
            found = figures(page, address, Path(name))
            browser.close()
    print("\n".join(lines(found)))


if __name__ == "__main__":
    main()
