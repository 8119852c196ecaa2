"""The canvas while the server, its worker or the network fail, and in two pages at once."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser, Page, Request, expect

from tests.canvas.hands import add, chain, node, nodes

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

_AWAY = "The server does not answer."
_SOON = 60_000  # ms in which a run ends on a busy machine


class Server:
    """A server on one port, that can be killed and started anew."""

    def __init__(self, folder: Path) -> None:
        """Choose a free port; nothing runs yet."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._folder = folder
        (folder / "in").mkdir()

    def start(self) -> str:
        """Serve; gives the address once it answers."""
        words = [sys.executable, "-m", "vinode", "serve", "--port", str(self._port)]
        words += ["--input", "in", "--output", "out", "--state", "state", "--models", "models"]
        self._process = subprocess.Popen(words, cwd=self._folder, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        found = re.search(r"http://\S+", self._process.stdout.readline())
        assert found is not None
        return found[0]

    def kill(self) -> None:
        """Let it end without a word to anybody."""
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def worker(self) -> psutil.Process:
        """Give the process that runs nodes."""
        below = psutil.Process(self._process.pid).children(recursive=True)
        (found,) = [each for each in below if "vinode.web.worker" in each.cmdline()]
        return found


@pytest.fixture
def server(tmp_path: Path) -> Generator[Server]:
    """Give a server of its own, for it gets killed."""
    (folder := tmp_path / "server").mkdir()
    made = Server(folder)
    yield made
    made.kill()


@pytest.fixture
def page(browser: Browser, server: Server) -> Generator[Page]:
    """Open its canvas: the example, and an empty workflow."""
    context = browser.new_context(viewport={"width": 1400, "height": 860}, locale="en-GB")
    shown = context.new_page()
    shown.goto(server.start())
    expect(shown.get_by_role("tab", name="Draw from a prompt")).to_be_visible(timeout=60_000)
    yield shown
    context.close()


def draw(page: Page, steps: int) -> None:
    """Run the example."""
    field = node(page, "5").get_by_role("spinbutton", name="steps")
    field.fill(str(steps))
    field.press("Enter")
    page.keyboard.press("Control+Enter")


def drawn(page: Page) -> None:
    """Wait for the picture of the example."""
    saved = node(page, "7").locator(".pictures img")
    expect(saved).to_have_js_property("naturalWidth", 64, timeout=_SOON)


def test_a_server_that_was_away_finds_the_page_as_it_was_left(page: Page, server: Server) -> None:
    """What was edited meanwhile is kept, a run is refused in words, and runs when it is back."""
    page.get_by_role("button", name="New workflow").click()
    add(page, "empty image")
    server.kill()
    expect(page.get_by_text(_AWAY).first).to_be_visible(timeout=30_000)
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+d")
    expect(nodes(page)).to_have_count(2)
    page.get_by_role("tab", name="Draw from a prompt").click()
    page.keyboard.press("Control+Enter")
    expect(page.locator(".notices .error")).to_contain_text(_AWAY)
    server.start()
    expect(page.locator("p.warning")).to_have_count(0, timeout=60_000)
    draw(page, 2)
    drawn(page)
    page.get_by_role("tab", name="Untitled").first.click()
    expect(nodes(page)).to_have_count(2)


def test_a_worker_that_is_killed_is_told_of_on_its_node(page: Page, server: Server) -> None:
    """With how it died; the next run has a new one."""
    draw(page, 2000)
    expect(node(page, "5").get_by_role("progressbar")).to_be_visible(timeout=_SOON)
    server.worker().kill()
    problems = node(page, "5").locator(".problems")
    expect(problems).to_contain_text("the worker process died", timeout=_SOON)
    draw(page, 2)
    drawn(page)
    expect(problems).to_have_count(0)


def test_a_slow_network_runs_once_and_tells_of_progress(page: Page) -> None:
    """Each way takes 800 ms, at 30 kB/s."""
    asked: list[Request] = []
    page.on(
        "request",
        lambda sent: asked.append(sent) if sent.url.endswith("/prompt") else None,
    )
    session = page.context.new_cdp_session(page)
    slow = {"offline": False, "latency": 800}
    slow |= {"downloadThroughput": 30_000, "uploadThroughput": 30_000}
    session.send("Network.enable")  # pyright: ignore[reportUnknownMemberType]
    session.send("Network.emulateNetworkConditions", slow)  # pyright: ignore[reportUnknownMemberType]
    draw(page, 300)
    expect(node(page, "5").get_by_role("progressbar")).to_be_visible(timeout=_SOON)
    drawn(page)
    assert [sent.method for sent in asked] == ["POST"]
    runs = page.request.get(f"{page.url.split('?')[0].rstrip('/')}/history").json()
    assert len(runs) == 1


def test_two_pages_keep_each_their_own_workflows(page: Page, tmp_path: Path) -> None:
    """Whichever saves last, both pages' workflows and edits are there when one is opened anew."""
    page.get_by_role("button", name="New workflow").click()
    page.wait_for_timeout(1000)  # kept in the browser
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.get_by_role("tab", name="Draw from a prompt")).to_be_visible(timeout=60_000)
    chain(other, tmp_path)
    other.get_by_role("tab", name="Draw from a prompt").click()
    node(other, "2").get_by_role("textbox", name="text").fill("written in the other page")
    other.wait_for_timeout(1000)
    page.bring_to_front()
    add(page, "empty image")
    page.wait_for_timeout(1000)
    page.close()
    other.close()
    again = browser_page(other)
    expect(again.get_by_role("tab", name="graph", exact=True)).to_be_visible(timeout=60_000)
    expect(again.get_by_role("tab", name="Untitled")).to_be_visible()
    again.get_by_role("tab", name="Draw from a prompt").click()
    text = node(again, "2").get_by_role("textbox", name="text")
    expect(text).to_have_value("written in the other page")


def browser_page(other: Page) -> Page:
    """Open the canvas once more in the browser of a page that is closed."""
    opened = other.context.new_page()
    opened.goto(other.url)
    return opened
