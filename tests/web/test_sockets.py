"""Sockets: who is told what, in which order, and what a slow reader may cost."""

from __future__ import annotations

import asyncio
import json
import struct
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.web.room import FINE
from tests.web.visit import Visitor, visit
from vinode.web import sockets
from vinode.web.told import Told

Opened = aiohttp.ClientWebSocketResponse[bool]


async def until(socket: Opened, type: str, **data: Any) -> list[dict[str, Any]]:
    """Read text frames up to one of a type and with this data."""
    seen: list[dict[str, Any]] = []
    async with asyncio.timeout(30):
        while True:
            frame = await socket.receive()
            if frame.type != aiohttp.WSMsgType.TEXT:
                continue
            seen.append(json.loads(frame.data))
            last = seen[-1]
            if last["type"] == type and data.items() <= last["data"].items():
                return seen


def told(kind: Any, run: str = "r", client: str = "me", preview: bytes = b"", **data: Any) -> Told:
    """Say something of a run."""
    return Told(kind, data, run, client, preview)


def test_a_run_is_told_in_comfyuis_order(tmp_path: Path) -> None:
    """From the first status to `executing` without a node."""

    async def script(visitor: Visitor) -> None:
        async with visitor.socket() as socket:
            (first,) = await until(socket, "status", sid="me")
            assert first["data"]["status"] == {"exec_info": {"queue_remaining": 0}}
            await visitor.run(FINE, client_id="me")
            seen = await until(socket, "executing", node=None)
            kinds = [each["type"] for each in seen if each["type"] not in ("status", "progress")]
            assert kinds == [
                "execution_start", "execution_cached", "executing", "executing", "executed",
                "execution_success", "executing",
            ]  # fmt: skip
            executed = next(each["data"] for each in seen if each["type"] == "executed")
            assert executed["node"] == executed["display_node"] == "2"
            assert executed["output"]["images"][0]["type"] == "output"

    visit(tmp_path, script, worker=True)


def test_our_own_client_is_told_of_each_node_once(tmp_path: Path) -> None:
    """With where it ran and for how long, and how much of the run is done."""

    async def script(visitor: Visitor) -> None:
        async with visitor.socket("clientId=me&vinode=1") as socket:
            await visitor.run(FINE, client_id="me")
            seen = await until(socket, "vinode_run", state="done")
            assert not {"executing", "executed", "progress"} & {each["type"] for each in seen}
            nodes = [each["data"] for each in seen if each["type"] == "vinode_node"]
            assert [(each["node"], each["state"]) for each in nodes] == [
                ("1", "running"), ("1", "done"), ("2", "running"), ("2", "done"),
            ]  # fmt: skip
            assert nodes[-1]["percent"] == 100
            assert nodes[1]["phases"]["host"] > 0
            assert nodes[1]["placement"]["where"] == "CPU"

    visit(tmp_path, script, worker=True)


def test_strangers_are_told_of_the_queue_only(tmp_path: Path) -> None:
    """Neither of runs of others, nor of runs that nobody asked to be told of."""

    async def script(visitor: Visitor) -> None:
        async with (
            visitor.socket("clientId=other") as other,
            visitor.socket("vinode=1") as nameless,
        ):
            await visitor.run(FINE, client_id="me")
            await visitor.run(FINE)
            visitor.site.sockets.send("the_end", {})
            ours = await until(nameless, "the_end")
            assert {each["type"] for each in ours} <= {
                "status", "vinode_queue", "vinode_worker", "the_end",
            }  # fmt: skip
            await other.send_json({"type": "feature_flags", "data": {}})
            seen = await until(other, "feature_flags")
            assert {each["type"] for each in seen} == {"status", "feature_flags"}

    visit(tmp_path, script, worker=True)


def test_who_watches_a_run_or_comes_back_learns_where_it_is(tmp_path: Path) -> None:
    """The nodes that run now, and from then on all that happens."""

    async def script(visitor: Visitor) -> None:
        tell = visitor.site.sockets.tell
        tell(told("run-started", steps=4, reused=[]))
        tell(told("node-started", node="5", lane="NPU"))
        tell(told("node-progress", node="5", done=1, total=2, note="step"))
        async with visitor.socket("clientId=me") as back:
            await until(back, "executing", node="5")
        async with visitor.socket("clientId=other&vinode=1") as watching:
            await watching.send_json({"type": "vinode_watch", "data": {"prompt_id": "r"}})
            seen = await until(watching, "vinode_run")
            assert (seen[-1]["data"]["running"], seen[-1]["data"]["percent"]) == (["5"], 12.5)
            tell(told("node-expanded", node="5", children=["5.1"]))
            tell(told("node-started", node="5.1", lane="host"))
            seen = await until(watching, "vinode_node", node="5.1")
            assert seen[-1]["data"]["display_node"] == "5"
            tell(told("run-ended", state="failed", seconds=1.0))
            await until(watching, "vinode_run", state="failed")
        assert not visitor.site.sockets.views

    visit(tmp_path, script)


@pytest.mark.parametrize("ours", [False, True])
def test_previews_come_framed_as_each_client_reads_them(tmp_path: Path, ours: bool) -> None:
    """Plain for who said nothing, with the node's name for who can read that: the canvas too."""

    async def script(visitor: Visitor) -> None:
        picture = b"\xff\xd8jpeg"

        async def preview(socket: Opened) -> bytes:
            tell = visitor.site.sockets.tell
            tell(told("node-progress", node="5", done=1, total=2, note="", preview=picture))
            async with asyncio.timeout(10):
                while True:
                    frame = await socket.receive()
                    if frame.type == aiohttp.WSMsgType.BINARY:
                        return bytes(frame.data)

        async with visitor.socket() as socket:
            await until(socket, "status")
            assert await preview(socket) == struct.pack(">II", 1, 1) + picture
            flags = {"supports_preview_metadata": True, "vinode": ours}
            await socket.send_json({"type": "feature_flags", "data": flags})
            seen = await until(socket, "feature_flags")
            assert seen[-1]["data"]["max_upload_size"] == 100 * 2**20
            frame = await preview(socket)
            event, size = struct.unpack(">II", frame[:8])
            assert event == 4
            about = json.loads(frame[8 : 8 + size])
            assert (about["node_id"], about["image_type"]) == ("5", "image/jpeg")
            assert frame[8 + size :] == picture

    visit(tmp_path, script)


def test_nonsense_from_a_client_is_not_for_us(tmp_path: Path) -> None:
    """It is answered by nothing, and the socket goes on; only a flood in one piece ends it."""

    async def script(visitor: Visitor) -> None:
        async with visitor.socket() as socket:
            deep = "[" * 5000
            for text in ("", "{", "null", "5", deep, '{"type": 5}', '{"type": "vinode_watch"}'):
                await socket.send_str(text)
            await socket.send_json({"type": "feature_flags", "data": {}})
            await until(socket, "feature_flags")
            await socket.send_bytes(b"x" * 2**17)
            async with asyncio.timeout(10):
                while (await socket.receive()).type != aiohttp.WSMsgType.CLOSE:
                    pass

    visit(tmp_path, script)


def test_a_second_socket_of_one_id_replaces_the_first(tmp_path: Path) -> None:
    """As when a page is loaded anew; the late goodbye of the first takes nothing along."""

    async def script(visitor: Visitor) -> None:
        async with visitor.socket() as first, visitor.socket() as second:
            await until(first, "status")
            async with asyncio.timeout(10):
                while (await first.receive()).type != aiohttp.WSMsgType.CLOSE:
                    pass
            await first.close()
            await until(second, "status")
            visitor.site.sockets.tell(told("run-started", steps=1, reused=[]))
            visitor.site.sockets.tell(told("node-started", node="5", lane="host"))
            await until(second, "executing", node="5")
            assert list(visitor.site.sockets.clients) == ["me"]

    visit(tmp_path, script)


def test_a_reader_that_stops_loses_pictures_first_then_the_socket(tmp_path: Path) -> None:
    """The server holds a few megabytes for it, and no other client waits."""

    async def script(visitor: Visitor) -> None:
        host, port = visitor.url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port), limit=1024)
        ask = "GET /ws?clientId=me HTTP/1.1", f"Host: {host}", "Upgrade: websocket"
        key = "Connection: Upgrade", "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg=="
        lines = [*ask, *key, "Sec-WebSocket-Version: 13", "", ""]
        writer.write("\r\n".join(lines).encode())
        assert b"101" in await reader.readline()
        while not visitor.site.sockets.clients:
            await asyncio.sleep(0.01)
        client = visitor.site.sockets.clients["me"]
        tell = visitor.site.sockets.tell
        tell(told("run-started", steps=9, reused=[]))
        for number in range(200):
            preview = bytes(2**18)
            tell(told("node-progress", node=f"{number}", done=1, total=2, note="", preview=preview))
            await asyncio.sleep(0)
            assert client.size < 2**22
        kept = [frame for frame in client.waiting.values() if isinstance(frame, str)]
        assert len(kept) > 150  # what is small was not dropped
        for number in range(400):
            shown = {"text": ["x" * 2**17]}
            tell(told("node-reused", node=f"{number}", shown=shown))
            await asyncio.sleep(0)
        async with asyncio.timeout(10):
            while visitor.site.sockets.clients:
                await asyncio.sleep(0.01)
        writer.close()

    visit(tmp_path, script)


def test_so_many_may_listen_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next is told so; a place that becomes free is given again."""
    monkeypatch.setattr(sockets, "MOST_CLIENTS", 3)

    async def script(visitor: Visitor) -> None:
        opened = [await visitor.session.ws_connect(f"{visitor.url}/ws") for _ in range(3)]
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await visitor.session.ws_connect(f"{visitor.url}/ws")
        assert refused.value.status == 503
        await opened[0].close()
        async with asyncio.timeout(10):
            while len(visitor.site.sockets.clients) == 3:
                await asyncio.sleep(0.01)
        opened[0] = await visitor.session.ws_connect(f"{visitor.url}/ws")
        for each in opened:
            await each.close()
        assert (await visitor.get(f"/ws?clientId={'x' * 300}")).status == 400
        assert (await visitor.get("/ws")).status == 400

    visit(tmp_path, script)


async def size(visitor: Visitor, socket: Opened, nodes: int, last: str) -> int:
    """Let a run of so many nodes be told; gives the bytes of all that a socket got."""
    tell = visitor.site.sockets.tell
    tell(told("run-started", steps=nodes, reused=[]))
    for number in range(nodes):
        tell(told("node-started", node=f"{number:05}", lane="host"))
        tell(told("node-ended", node=f"{number:05}", entry={"state": "done"}))
        await asyncio.sleep(0)
    tell(told("run-ended", state="done", seconds=1.0))
    visitor.site.sockets.send("vinode_end", {})
    return len(json.dumps(await until(socket, last, **({"node": None} if last[0] == "e" else {}))))


@pytest.mark.parametrize(
    ("query", "last"), [("clientId=me", "executing"), ("clientId=me&vinode=1", "vinode_end")]
)
def test_traffic_grows_with_the_nodes_not_with_their_square(
    tmp_path: Path, query: str, last: str
) -> None:
    """Ten times the nodes are ten times the bytes, for each kind of client."""

    async def script(visitor: Visitor) -> None:
        async with visitor.socket(query) as socket:
            flags = {"supports_preview_metadata": True}
            await socket.send_json({"type": "feature_flags", "data": flags})
            await until(socket, "feature_flags")
            few = await size(visitor, socket, 30, last)
            assert await size(visitor, socket, 300, last) < 12 * few

    visit(tmp_path, script)


def test_messages_of_every_length_arrive_whole_and_in_order(tmp_path: Path) -> None:
    """A frame's head has three forms by length; many of one moment share a write."""
    lengths = (0, 80, 90, 100, 65_000, 65_400, 65_500, 65_600, 300_000, 1)

    async def script(visitor: Visitor) -> None:
        async with visitor.socket("vinode=1") as socket:
            await until(socket, "status")
            for length in lengths:
                visitor.site.sockets.send(f"text {length}", {"text": "x" * length})
            seen = await until(socket, "text 1")
            found = [len(each["data"]["text"]) for each in seen if "text" in each["data"]]
            assert found == list(lengths)

    visit(tmp_path, script)
