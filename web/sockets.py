"""Sockets of clients: each gets what it asked for, and a slow one harms nobody but itself."""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import cast

from aiohttp import WSMsgType, web

from vinode.graph.strict_json import Json
from vinode.web import messages
from vinode.web.answers import refuse
from vinode.web.bodies import is_yes
from vinode.web.client import Client
from vinode.web.messages import Message
from vinode.web.progress_view import RunView
from vinode.web.told import Told

MOST_CLIENTS = 256
_MOST_HEARD = 64 * 1024  # bytes of a message from a client
_MOST_ID = 200
_MOST_WATCHED = 200  # runs of others
_HEARTBEAT = 30.0  # seconds
_PREVIEWS = "supports_preview_metadata"
_GOING_AWAY, _TRY_LATER = 1001, 1013


class Sockets:
    """All clients that listen.

    remaining  counts the runs that wait and run
    features   what the server answers to `feature_flags`
    """

    def __init__(self, remaining: Callable[[], int], features: Mapping[str, Json]) -> None:
        self._remaining, self._features = remaining, features
        self.clients: dict[str, Client] = {}
        self.views: dict[str, RunView] = {}

    def tell(self, told: Told) -> None:
        """Pass on what is told: of a run to who asked for it, of the queue to all."""
        if not told.run:
            self._send(self.clients.values(), messages.of_everybody(told))
            return
        view = self.views.get(told.run)
        if view is None:
            view = self.views[told.run] = RunView(told.run, told.client_id)
        view.update(told)
        listening = self._listening(view)
        if listening:  # nothing is written for nobody
            self._send(listening, messages.of_run(told, view))
        if told.kind == "run-ended":
            del self.views[told.run]
            for client in listening:
                client.watching.discard(told.run)

    def send(self, type: str, data: Mapping[str, Json]) -> None:
        """Tell our own clients of something that is of no run."""
        self._send(self.clients.values(), [messages.message(type, data, "vinode", type)])

    def _listening(self, view: RunView) -> list[Client]:
        own = self.clients.get(view.client_id) if view.client_id else None
        found = [own] if own else []
        return found + [
            client
            for client in self.clients.values()
            if view.run in client.watching and client is not own
        ]

    @staticmethod
    def _send(clients: Iterable[Client], told: Iterable[Message]) -> None:
        known = list(clients)
        for message in told if known else ():
            takers = [client for client in known if client.wants(message.wish)]
            content = message.content() if takers else ""  # what nobody takes is not written
            for client in takers:
                client.put(content, message.key)

    async def connect(self, request: web.Request) -> web.StreamResponse:
        """Serve one socket from its first frame to its last."""
        sid = request.query.get("clientId", "") or uuid.uuid4().hex
        if len(sid) > _MOST_ID:
            return refuse(400, "clientId", f"it is longer than {_MOST_ID} letters")
        if len(self.clients) >= MOST_CLIENTS and sid not in self.clients:
            fix = "close some of its pages"
            return refuse(503, "socket", f"{MOST_CLIENTS} clients listen already", fix=fix)
        socket = web.WebSocketResponse(
            heartbeat=_HEARTBEAT, max_msg_size=_MOST_HEARD, compress=False
        )
        if not socket.can_prepare(request).ok:
            return refuse(400, "ws", "this page is a websocket", fix="open it as one")
        await socket.prepare(request)
        client = Client(sid, socket, request.transport, is_yes(request.query.get("vinode")))
        before = self.clients.pop(sid, None)
        self.clients[sid] = client
        if before is not None:
            await _let_go(before)
        try:
            await self._serve(client)
        finally:
            if self.clients.get(sid) is client:
                del self.clients[sid]
        return socket

    async def _serve(self, client: Client) -> None:
        self._send([client], [messages.status(self._remaining(), client.sid)])
        for view in [view for view in self.views.values() if view.client_id == client.sid]:
            self._send([client], messages.where_it_is(view))
        sending = asyncio.create_task(client.send())
        try:
            async for heard in client.socket:
                if heard.type == WSMsgType.TEXT:
                    self._hear(client, cast(str, heard.data))
        finally:
            sending.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionError):
                await sending

    def _hear(self, client: Client, text: str) -> None:
        """Take in what a client says of itself; anything else is not for us."""
        try:
            said = json.loads(text)
        except (ValueError, RecursionError):
            return
        match said:
            case {"type": "feature_flags", "data": {**flags}}:
                client.flags = bool(cast(Json, flags.get(_PREVIEWS)))
                client.ours = client.ours or bool(cast(Json, flags.get("vinode")))
                self._send([client], [messages.message("feature_flags", self._features)])
            case {"type": "vinode_watch", "data": {"prompt_id": str(run)}}:
                view = self.views.get(run)
                if len(client.watching) < _MOST_WATCHED:
                    client.watching.add(run)
                if view is not None:
                    self._send([client], messages.where_it_is(view))
            case _:
                pass

    async def close(self) -> None:
        """Say goodbye to all."""
        await asyncio.gather(*(_let_go(client) for client in list(self.clients.values())))


async def _let_go(client: Client) -> None:
    with contextlib.suppress(ConnectionError, TimeoutError):
        async with asyncio.timeout(2):
            await client.socket.close(code=_GOING_AWAY, message=b"replaced, or the server ends")
