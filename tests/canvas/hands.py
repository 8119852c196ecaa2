"""What people do on the canvas."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect


def add(page: Page, query: str) -> None:
    """Add a node by keyboard: the best answer to a query, in the middle of what is seen."""
    before = nodes(page).count()
    page.keyboard.press("Space")
    page.get_by_role("combobox", name="Search nodes").fill(query)
    page.keyboard.press("Enter")
    expect(nodes(page)).to_have_count(before + 1)


def nodes(page: Page) -> Locator:
    """Find all nodes that are drawn."""
    return page.locator(".react-flow__node-card")


def node(page: Page, id: str) -> Locator:
    """Find a node by its id."""
    return page.locator(f'.react-flow__node[data-id="{id}"]')


def port(page: Page, id: str, name: str) -> Locator:
    """Find a port: an input by its name, an output by its number."""
    return page.locator(f'.react-flow__handle[data-nodeid="{id}"][data-handleid="{name}"]')


def middle(found: Locator) -> tuple[float, float]:
    """Give the middle of what is found, on the page."""
    box = found.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag from one place of the page to another."""
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + 15, start[1] + 5)
    page.mouse.move(*end, steps=8)
    page.mouse.up()


def move(page: Page, id: str, right: float, down: float) -> None:
    """Drag a node by its title."""
    x, y = middle(node(page, id).locator(".title"))
    drag(page, (x, y), (x + right, y + down))


def open_graph(page: Page, folder: Path, prompt: Mapping[str, Any], name: str = "graph") -> None:
    """Open a workflow file of this computer."""
    file = folder / f"{name}.json"
    file.write_text(json.dumps({"vinode": 1, "prompt": prompt}))
    page.keyboard.press("Control+o")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="From this computer").click()
    chooser.value.set_files(file)
    expect(page.get_by_role("tab", name=name, selected=True)).to_be_visible()


def chain(page: Page, folder: Path) -> None:
    """Open a picture, inverted and previewed: nodes 1, 2 and 3."""
    open_graph(page, folder, steps([("EmptyImage", {"width": 64, "height": 32, "color": 255}),
                                    ("ImageInvert", {"image": ["1", 0]}),
                                    ("PreviewImage", {"images": ["2", 0]})]))  # fmt: skip


def steps(each: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """Write an API graph of nodes side by side, numbered from 1."""
    return {
        str(n + 1): {"class_type": type, "inputs": inputs, "_meta": {"pos": [n * 340, 0]}}
        for n, (type, inputs) in enumerate(each)
    }
