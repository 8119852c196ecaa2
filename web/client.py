"""One socket: what waits to be sent on it, and how that is sent in few writes."""

from __future__ import annotations

import asyncio
import struct
from dataclasses import dataclass, field

from aiohttp import WSMsgType, web

from vinode.web.messages import Wish

_FULL = 2 * 2**20  # bytes that wait for a client above which pictures are left out
_TOO_FULL = 16 * 2**20  # above which it is let go
_AT_ONCE = 2**18  # bytes after which no further frame joins those of one write
_UNREAD = 2**18  # bytes that the system has not taken yet above which nothing is added
_LOOK_AGAIN = 0.02  # seconds between two looks at a client that reads slowly
_WHOLE = 0x80  # first byte of a frame that is a whole message


@dataclass(eq=False, slots=True)
class Client:
    """A socket, and what waits to be sent on it.

    flags     it said what it can: `feature_flags`
    ours      it reads our own messages
    watching  runs of others that it wants to be told of
    waiting   key, or a number where it has none -> message, in the order of sending
    size      bytes or letters that wait
    """

    sid: str
    socket: web.WebSocketResponse
    transport: asyncio.Transport | None
    ours: bool = False
    flags: bool = False
    watching: set[str] = field(default_factory=set[str])
    waiting: dict[object, str | bytes] = field(default_factory=dict[object, str | bytes])
    size: int = 0
    serial: int = 0
    wake: asyncio.Event = field(default_factory=asyncio.Event)

    def wants(self, wish: Wish) -> bool:
        """Say whether a message is for this client."""
        match wish:
            case "vinode":
                return self.ours
            case "comfy flags":
                return self.flags and not self.ours
            case "flags":
                return self.flags
            case "no flags":
                return not self.flags
            case "comfy":
                return not self.ours
            case "all":
                return True

    def put(self, content: str | bytes, key: str = "") -> None:
        """Let a message wait to be sent; of one key only the newest is sent."""
        self.serial += 1
        place: object = key or self.serial
        self.size += len(content) - len(self.waiting.pop(place, ""))
        self.waiting[place] = content
        if self.size > _FULL:
            self._leave_out_pictures()
        if self.size > _TOO_FULL and self.transport is not None:
            self.transport.abort()  # it does not read, so it would not read a goodbye either
        self.wake.set()

    def _leave_out_pictures(self) -> None:
        for key in [key for key, content in self.waiting.items() if isinstance(content, bytes)]:
            self.size -= len(self.waiting.pop(key))

    async def send(self) -> None:
        """Send what waits, until the socket is closed.

        Messages of one moment go out in one write: a write for each would be most of what a run
        of quick nodes costs the server, and its client.
        """
        while True:
            await self.wake.wait()
            self.wake.clear()
            while self.waiting and (transport := self.transport) is not None:
                if self.socket.closed or transport.is_closing():
                    return
                if transport.get_write_buffer_size() > _UNREAD:
                    await asyncio.sleep(_LOOK_AGAIN)
                    continue
                transport.write(b"".join(self._next()))

    def _next(self) -> list[bytes]:
        """Take the messages of the next write, as frames."""
        frames: list[bytes] = []
        size = 0
        while self.waiting and size < _AT_ONCE:
            content = self.waiting.pop(next(iter(self.waiting)))
            self.size -= len(content)
            frames.append(frame(content))
            size += len(frames[-1])
        return frames


def frame(content: str | bytes) -> bytes:
    """Write a message as one frame of a server, which masks nothing: RFC 6455, section 5.2.

    >>> frame("hello")
    b'\\x81\\x05hello'
    """
    if isinstance(content, str):
        first, payload = _WHOLE | WSMsgType.TEXT, content.encode()
    else:
        first, payload = _WHOLE | WSMsgType.BINARY, content
    size = len(payload)
    if size < 126:
        return struct.pack(">BB", first, size) + payload
    if size < 2**16:
        return struct.pack(">BBH", first, 126, size) + payload
    return struct.pack(">BBQ", first, 127, size) + payload
