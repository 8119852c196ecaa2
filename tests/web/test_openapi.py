"""What is served is described, what is described is served, and no request breaks the server."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings

from tests.web.visit import Visitor, server, visit
from vinode.web import comfy_routes, openapi, vinode_routes
from vinode.web.app import FILES


def test_routes_and_document_are_one(tmp_path: Path) -> None:
    """Each route of the running server stands in the document, and the other way round."""

    async def script(visitor: Visitor) -> None:
        document = (await visitor.get("/vinode/openapi.json")).json
        described = {
            (method.upper(), path)
            for path, operations in document["paths"].items()
            for method in operations
        }
        served: set[tuple[str, str]] = set()
        for route in visitor.app.router.routes():
            assert route.resource is not None
            served.add((route.method, route.resource.canonical))
        mirrored = {(method, path) for method, path in served if path.startswith("/api/")}
        mirrored -= described
        assert {(method, path.removeprefix("/api")) for method, path in mirrored} <= described
        assert served - mirrored - {("GET", "/{name}")} == described
        assert FILES.path == "/{name:.+}"

    visit(tmp_path, script)


# Making bodies of a large schema is slow at times, which says nothing of the server.
_SLOW = (HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large)


@contextmanager
def in_thread(folder: Path) -> Generator[str]:
    """Serve from a thread of its own; gives the address."""
    ready, stop = threading.Event(), threading.Event()
    found: list[str] = []

    async def serve() -> None:
        async with server(folder) as visitor:
            found.append(visitor.url)
            ready.set()
            await asyncio.to_thread(stop.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        assert ready.wait(30)
        yield found[0]
    finally:
        stop.set()
        thread.join(30)


def test_no_request_that_fits_the_document_breaks_the_server(tmp_path: Path) -> None:
    """Whatever stands in it, the answer is below 500, and the server answers the next."""
    document = openapi.document([*comfy_routes.ROUTES, *vinode_routes.ROUTES])
    schema: Any = schemathesis.openapi.from_dict(document)
    with in_thread(tmp_path) as url:
        for result in schema.get_all_operations():
            operation = result.ok()

            @settings(
                max_examples=5,
                deadline=None,
                database=None,
                phases=[Phase.generate],
                suppress_health_check=_SLOW,
            )
            @given(case=operation.as_strategy())
            def ask(case: Any) -> None:
                reply = case.call(base_url=url, timeout=20, allow_redirects=False)
                asked_compiler = case.path == "/vinode/preflight" and reply.status_code == 501
                assert reply.status_code < 500 or asked_compiler, (case.path, reply.text)

            ask()


@pytest.mark.parametrize("path", ["/", "/index.html", "/canvas.js"])
def test_the_canvas_is_served_where_it_is_built(tmp_path: Path, path: str) -> None:
    """Its page by the plain address, its files by their names and types."""
    static = tmp_path / "static"
    static.mkdir()
    (static / "index.html").write_text("<p>canvas")
    (static / "canvas.js").write_text("1")

    async def script(visitor: Visitor) -> None:
        reply = await visitor.get(path)
        assert reply.status == 200
        kind = "text/javascript" if path.endswith(".js") else "text/html"
        assert reply.headers["Content-Type"].startswith(kind)

    visit(tmp_path, script)


def test_without_the_canvas_the_page_says_so(tmp_path: Path) -> None:
    """In a paragraph, and the API works."""

    async def script(visitor: Visitor) -> None:
        reply = await visitor.get("/")
        assert reply.status == 200
        assert b"not built" in reply.body

    visit(tmp_path, script)
