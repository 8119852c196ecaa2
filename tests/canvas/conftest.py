"""A server of its own, and a page of a browser that shows its canvas."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

_FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
_ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def browser() -> Generator[Browser]:
    """Start Chromium: CHROMIUM, the system's, or the one that Playwright installs."""
    program = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=_FLAGS.split())
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """Serve on a free port; gives the address that the server prints."""
    folder = tmp_path_factory.mktemp("server")
    shutil.copytree(_ROOT / "workflows" / "photos", folder / "in")
    command = [sys.executable, "-m", "vinode", "serve", "--port", "0", "--input", "in"]
    command += ["--output", "out", "--state", "state", "--models", "models"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        assert found is not None
        yield found[0]
        server.terminate()


@pytest.fixture
def page(browser: Browser, address: str) -> Generator[Page]:
    """Open the canvas as somebody new to it; what goes wrong in its scripts fails the test."""
    context = browser.new_context(viewport={"width": 1400, "height": 860}, locale="en-GB")
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    shown = context.new_page()
    wrong: list[str] = []
    shown.on("pageerror", lambda error: wrong.append(str(error)))
    shown.on("console", lambda said: wrong.append(said.text) if "Policy" in said.text else None)
    shown.goto(address)
    # The server's worker may still be loading packs.
    expect(shown.get_by_role("tab", name="Draw from a prompt")).to_be_visible(timeout=30_000)
    # Beside the example that everybody sees first.
    shown.get_by_role("button", name="New workflow").click()
    expect(shown.locator(".react-flow__node")).to_have_count(0)
    yield shown
    context.close()
    assert wrong == []
