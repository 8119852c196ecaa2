"""The door, attacked over a real socket: other hosts, other sites, no token."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.web.visit import Visitor, visit
from vinode.web import guard
from vinode.web.door import Door, DoorError

TOKEN = "a-token-of-enough-letters"
WIDE: dict[str, Any] = {"token": TOKEN, "listen": "0.0.0.0"}


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8188",
        "localhost.evil.example",
        "192.168.0.7",
        "",
        "a b",
        "[::2]",
    ],
)
def test_another_host_is_refused(tmp_path: Path, host: str) -> None:
    """A name that a stranger's DNS sends here opens nothing, nor does it open a socket."""

    async def script(visitor: Visitor) -> None:
        for path in ("/", "/history", "/api/view?filename=a.png", "/vinode/nodes"):
            assert (await visitor.get(path, headers={"Host": host})).status == 403
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            async with visitor.socket(headers={"Host": host}):
                pass
        assert refused.value.status == 403

    visit(tmp_path, script)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:9", "127.0.0.1:8188", "[::1]:80"])
def test_own_hosts_are_served_at_any_port(tmp_path: Path, host: str) -> None:
    """A tunnel may have another port here than there."""

    async def script(visitor: Visitor) -> int:
        return (await visitor.get("/prompt", headers={"Host": host})).status

    assert visit(tmp_path, script) == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
        {"Origin": "file://"},
        {"Origin": "http://[broken"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
    ],
)
def test_pages_of_other_sites_are_refused(tmp_path: Path, headers: dict[str, str]) -> None:
    """Neither by a form, nor by fetch, nor as a picture, nor in a frame, nor by a socket."""

    async def script(visitor: Visitor) -> None:
        for path in ("/", "/history", "/view?filename=a.png"):
            assert (await visitor.get(path, headers=headers)).status == 403
        for path in ("/prompt", "/queue", "/interrupt", "/vinode/queue/pause"):
            assert (await visitor.post(path, {}, headers=headers)).status == 403
        assert (await visitor.ask("DELETE", "/userdata/a.json", headers=headers)).status == 403
        with pytest.raises(aiohttp.WSServerHandshakeError):
            async with visitor.socket(headers=headers):
                pass
        assert not visitor.site.supervisor.queue.paused

    visit(tmp_path, script)


def test_a_simple_form_of_another_site_changes_nothing(tmp_path: Path) -> None:
    """What a page may send without asking first is refused, even where it claims to be ours."""

    async def script(visitor: Visitor) -> None:
        evil = {"Content-Type": "text/plain", "Referer": "https://evil.example/page"}
        reply = await visitor.ask("POST", "/queue", data='{"clear": true}', headers=evil)
        assert reply.status == 403
        own = {"Content-Type": "text/plain", "Origin": visitor.url}
        reply = await visitor.ask("POST", "/queue", data='{"clear": true}', headers=own)
        assert reply.status == 415

    visit(tmp_path, script)


def test_programs_need_say_nothing_of_themselves(tmp_path: Path) -> None:
    """ComfyUI's own example posts JSON with the content type of a form, and no origin."""

    async def script(visitor: Visitor) -> None:
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        assert (await visitor.ask("POST", "/queue", data=b"{}", headers=form)).status == 200
        own = {"Origin": visitor.url, "Sec-Fetch-Site": "same-origin"}
        assert (await visitor.post("/queue", {}, headers=own)).status == 200
        link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        link["Sec-Fetch-Dest"] = "document"
        assert (await visitor.get("/", headers=link)).status == 200

    visit(tmp_path, script)


def test_every_answer_carries_the_safe_headers(tmp_path: Path) -> None:
    """A page, JSON, a refusal: none runs foreign scripts, is framed, or is read elsewhere."""

    async def script(visitor: Visitor) -> None:
        refused = {"Host": "evil.example"}
        for reply in (
            await visitor.get("/"),
            await visitor.get("/queue"),
            await visitor.get("/nothing-here"),
            await visitor.get("/", headers=refused),
        ):
            policy = reply.headers["Content-Security-Policy"]
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert reply.headers["X-Content-Type-Options"] == "nosniff"
            assert reply.headers["Cross-Origin-Resource-Policy"] == "same-origin"
            assert reply.headers["Cross-Origin-Opener-Policy"] == "same-origin"
            assert reply.headers["Server"] == "vinode"
            assert "Access-Control-Allow-Origin" not in reply.headers

    visit(tmp_path, script)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": TOKEN},
        {"Authorization": "Bearer ünfug"},
        {"Cookie": f"vinode_1={TOKEN}"},
    ],
)
def test_without_the_token_nothing_is_answered(tmp_path: Path, headers: dict[str, str]) -> None:
    """Neither pages nor sockets, where others can reach the server."""

    async def script(visitor: Visitor) -> None:
        for path in ("/", "/queue", "/vinode/openapi.json", "/?token=wrong-but-long-enough"):
            assert (await visitor.get(path, headers=headers)).status in (401, 403)
        assert (await visitor.post("/prompt", {}, headers=headers)).status == 401
        with pytest.raises(aiohttp.WSServerHandshakeError):
            async with visitor.socket(headers=headers):
                pass

    visit(tmp_path, script, **WIDE)


def test_the_token_opens_as_header_and_as_cookie(tmp_path: Path) -> None:
    """The login page leaves a cookie that no script reads, and that is not the token itself."""

    async def script(visitor: Visitor) -> None:
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        assert (await visitor.get("/queue", headers=bearer)).status == 200
        reply = await visitor.get(f"/?token={TOKEN}&open=a%26b")
        assert (reply.status, reply.headers["Location"]) == (303, "/?open=a%26b")
        kept = reply.headers["Set-Cookie"]
        assert "HttpOnly" in kept
        assert "SameSite=Lax" in kept
        assert TOKEN not in kept
        cookie = {"Cookie": kept.partition(";")[0]}
        assert (await visitor.get("/queue", headers=cookie)).status == 200
        async with visitor.socket(headers=cookie) as opened:
            assert (await opened.receive_json())["type"] == "status"
        evil = {**cookie, "Origin": "https://evil.example"}
        assert (await visitor.post("/queue", {}, headers=evil)).status == 403

    visit(tmp_path, script, **WIDE)


def test_wide_open_addresses_are_known_names_are_not(tmp_path: Path) -> None:
    """An address as a number cannot be rebound; a name has to be allowed."""

    async def script(visitor: Visitor) -> list[int]:
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        hosts = ("192.168.0.7:8188", "box.home", "evil.example")
        asked = [await visitor.get("/queue", headers={**bearer, "Host": host}) for host in hosts]
        return [reply.status for reply in asked]

    assert visit(tmp_path, script, **WIDE, hosts=("Box.home",)) == [200, 200, 403]


@pytest.mark.parametrize(("listen", "token"), [("0.0.0.0", ""), ("::", ""), ("127.0.0.1", "short")])
def test_a_door_that_would_stand_open_is_not_made(listen: str, token: str) -> None:
    """Wider than this computer there is always a token, and one that cannot be guessed."""
    with pytest.raises(DoorError, match="token"):
        Door(listen, token)


def test_packed_bodies_are_not_unpacked(tmp_path: Path) -> None:
    """A megabyte that unpacks to a gigabyte stays a megabyte."""

    async def script(visitor: Visitor) -> int:
        packed = {"Content-Encoding": "deflate", "Content-Type": "application/json"}
        return (await visitor.ask("POST", "/prompt", data=b"x" * 99, headers=packed)).status

    assert visit(tmp_path, script) == 415


def test_so_many_large_bodies_are_read_at_once_and_no_more(tmp_path: Path) -> None:
    """Who sends slowly takes one of the places; small requests are answered all the while."""

    async def script(visitor: Visitor) -> None:
        host, port = visitor.url.removeprefix("http://").split(":")
        head = f"POST /prompt HTTP/1.1\r\nHost: {host}\r\nContent-Length: 9000000\r\n\r\n{{"
        slow: list[asyncio.StreamWriter] = []
        for _ in range(guard.MOST_LARGE):
            _, writer = await asyncio.open_connection(host, int(port))
            writer.write(head.encode())
            slow.append(writer)
        large = {"prompt": {}, "extra_data": {"text": "x" * 2**21}}
        async with asyncio.timeout(30):
            while (reply := await visitor.post("/prompt", large)).status != 503:
                assert reply.status == 400
        assert "large requests" in reply.json["error"]
        assert (await visitor.post("/prompt", {"prompt": {}})).status == 400
        for writer in slow:
            writer.close()
        async with asyncio.timeout(30):
            while (await visitor.post("/prompt", large)).status == 503:
                await asyncio.sleep(0.01)

    visit(tmp_path, script)
