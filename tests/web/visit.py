"""A server on a real socket, with its queue and worker, and a visitor to it."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, cast

import aiohttp
from aiohttp import web

from tests.web.room import PATIENCE, settings
from vinode.graph.strict_json import Json
from vinode.web.app import make_app
from vinode.web.queue import Queue
from vinode.web.settings import Settings
from vinode.web.site import SITE, Preflight
from vinode.web.supervisor import Supervisor

T = TypeVar("T")


@dataclass(frozen=True)
class Reply:
    """An answer, read to its end."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """Read the body as JSON."""
        return json.loads(self.body)


class Visitor:
    """Somebody who talks HTTP to the server; no browser, unless the headers say so."""

    def __init__(self, session: aiohttp.ClientSession, url: str, app: web.Application) -> None:
        self.session, self.url, self.app = session, url, app
        self.site = app[SITE]

    async def ask(self, method: str, path: str, **more: Any) -> Reply:
        """Send a request and read the whole answer."""
        target = path if path.startswith("http") else self.url + path
        more = {"allow_redirects": False, **more}
        async with self.session.request(method, target, **more) as reply:
            return Reply(reply.status, reply.headers, await reply.read())

    async def get(self, path: str, **more: Any) -> Reply:
        """Send a GET."""
        return await self.ask("GET", path, **more)

    async def post(self, path: str, body: Json = None, **more: Any) -> Reply:
        """Send a POST with a JSON body."""
        headers = {"Content-Type": "application/json", **more.pop("headers", {})}
        # As a file: aiohttp warns of large bodies in one piece, and warnings are errors.
        data = io.BytesIO(json.dumps(body).encode()) if body is not None else None
        return await self.ask("POST", path, data=data, headers=headers, **more)

    @asynccontextmanager
    async def socket(
        self, query: str = "clientId=me", **more: Any
    ) -> AsyncGenerator[aiohttp.ClientWebSocketResponse[bool]]:
        """Open a socket."""
        connect = cast(Any, self.session.ws_connect)  # its type depends on the options
        address = f"{self.url}/ws?{query}"
        opened: aiohttp.ClientWebSocketResponse[bool] = await connect(address, **more)
        try:
            yield opened
        finally:
            await opened.close()

    async def run(self, prompt: Json, **more: Json) -> Any:
        """Hand in a prompt and wait for its end; gives its history entry."""
        reply = await self.post("/prompt", {"prompt": prompt, **more})
        assert reply.status == 200, reply.body
        return await self.ended(reply.json["prompt_id"])

    async def ended(self, id: str) -> Any:
        """Wait for the end of a run; gives its history entry."""
        async with asyncio.timeout(PATIENCE):
            while True:
                found = (await self.get(f"/history/{id}")).json
                if found:
                    return found[id]
                await asyncio.sleep(0.02)


@asynccontextmanager
async def server(
    folder: Path,
    token: str = "",
    listen: str = "127.0.0.1",
    hosts: Sequence[str] = (),
    worker: bool = False,
    preflight: Preflight | None = None,
    static: Path | None = None,
) -> AsyncGenerator[Visitor]:
    """Serve on 127.0.0.1, whatever `listen` says that it is reached by; `worker` starts one."""
    told = replace(Settings(settings(folder), folder / "state", listen, 0, token))
    static = static or folder / "static"
    with Queue(folder / "state" / "queue.sqlite") as queue:
        supervisor = Supervisor(queue, told.worker)
        app = await make_app(told, supervisor, hosts, preflight, static)
        if worker:
            await supervisor.start()
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
        await runner.setup()
        try:
            place = web.TCPSite(runner, "127.0.0.1", 0)
            await place.start()
            port = runner.addresses[0][1]
            jar, connector = aiohttp.DummyCookieJar(), aiohttp.TCPConnector(limit=0)
            async with aiohttp.ClientSession(cookie_jar=jar, connector=connector) as session:
                yield Visitor(session, f"http://127.0.0.1:{port}", app)
        finally:
            await runner.cleanup()
            await supervisor.stop()


def visit(folder: Path, script: Callable[[Visitor], Awaitable[T]], /, **options: Any) -> T:
    """Run a script against a server of its own."""

    async def whole() -> T:
        async with server(folder, **options) as visitor:
            return await script(visitor)

    return asyncio.run(whole())
