"""Pictures over the network: taken in, named, shown, and nothing else shown with them."""

from __future__ import annotations

import asyncio
import io
import os
import zlib
from collections.abc import AsyncGenerator
from pathlib import Path

import aiohttp
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from tests.web.visit import Visitor, visit
from vinode.web import upload


def picture(colour: str = "red", form: str = "PNG") -> bytes:
    """Make a small picture file."""
    kept = io.BytesIO()
    Image.new("RGB", (4, 3), colour).save(kept, form)
    return kept.getvalue()


def form(content: bytes, name: str = "fox.png", **fields: str) -> aiohttp.FormData:
    """Make an upload."""
    made = aiohttp.FormData(quote_fields=False)
    made.add_field("image", content, filename=name, content_type="image/png")
    for key, value in fields.items():
        made.add_field(key, value)
    return made


def test_an_upload_is_kept_named_and_seen(tmp_path: Path) -> None:
    """The same picture keeps its name; another one of that name gets a number."""

    async def script(visitor: Visitor) -> None:
        async def send(content: bytes, **fields: str) -> str:
            reply = await visitor.ask("POST", "/api/upload/image", data=form(content, **fields))
            assert reply.status == 200, reply.body
            return str(reply.json["name"])

        assert await send(picture()) == "fox.png"
        assert await send(picture()) == "fox.png"
        assert await send(picture("blue")) == "fox (1).png"
        assert await send(picture("blue"), overwrite="true") == "fox.png"
        assert await send(picture(), subfolder="a/b") == "fox.png"
        seen = await visitor.get("/view?filename=fox.png&type=input")
        assert (seen.body, seen.headers["Content-Type"]) == (picture("blue"), "image/png")
        seen = await visitor.get("/view?filename=fox.png&type=input&subfolder=a/b")
        assert seen.body == picture()
        seen = await visitor.get("/view?filename=fox.png%20[input]")
        assert seen.body == picture("blue")
        small = await visitor.get("/view?filename=fox.png&type=input&preview=webp;80")
        assert Image.open(io.BytesIO(small.body)).format == "WEBP"
        alpha = await visitor.get("/view?filename=fox.png&type=input&channel=a")
        assert Image.open(io.BytesIO(alpha.body)).mode == "L"
        assert not list(tmp_path.rglob(".upload-*"))

    visit(tmp_path, script)


@pytest.mark.parametrize("name", ["../a.png", "..\\a.png", "/etc/a.png", "C:\\a.png"])
def test_the_folder_in_an_uploads_name_is_dropped(tmp_path: Path, name: str) -> None:
    """As browsers do; what is left is a plain name in its folder."""

    async def script(visitor: Visitor) -> None:
        reply = await visitor.ask("POST", "/upload/image", data=form(picture(), name))
        assert reply.json == {"name": "a.png", "subfolder": "", "type": "input"}

    visit(tmp_path, script)
    assert [path.name for path in tmp_path.rglob("*.png")] == ["a.png"]


@pytest.mark.parametrize(
    ("content", "name", "fields"),
    [
        (picture(), "fox.png", {"subfolder": "../.."}),
        (picture(), "fox.png", {"subfolder": "/tmp"}),
        (picture(), "fox.png", {"subfolder": "C:\\x"}),
        (picture(), "fox.png", {"type": "models"}),
        (picture(), "fox.html", {}),
        (picture(), "fox.svg", {}),
        (picture(), "nul.png", {}),
        (picture(), ".png", {}),
        (b"<svg onload='alert(1)'/>", "fox.png", {}),
        (b"", "fox.png", {}),
        (picture()[:40], "fox.png", {}),
    ],
)
def test_bad_uploads_leave_nothing(
    tmp_path: Path, content: bytes, name: str, fields: dict[str, str]
) -> None:
    """Whatever is wrong, it is one sentence, and no file."""

    async def script(visitor: Visitor) -> None:
        data = form(content, name, **fields)
        reply = await visitor.ask("POST", "/upload/image", data=data)
        assert reply.status == 400, reply.body
        assert reply.json["error"]

    visit(tmp_path, script)
    assert not [path for path in tmp_path.rglob("*") if path.suffix in (".png", ".svg", ".html")]
    assert not list(tmp_path.rglob(".upload-*"))


def test_a_picture_that_would_fill_the_memory_is_not_decoded(tmp_path: Path) -> None:
    """60,000 by 60,000 pixels are a few hundred bytes, and stay so."""
    head = (60_000).to_bytes(4, "big") * 2 + b"\x08\x02\x00\x00\x00"

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            len(body).to_bytes(4, "big") + kind + body + zlib.crc32(kind + body).to_bytes(4, "big")
        )

    bomb = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 99))
    bomb += chunk(b"IEND", b"")

    async def script(visitor: Visitor) -> None:
        reply = await visitor.ask("POST", "/upload/image", data=form(bomb))
        assert reply.status == 400
        assert "pixels" in reply.json["error"]
        (tmp_path / "output").mkdir()
        (tmp_path / "output" / "bomb.png").write_bytes(bomb)
        for asked in ("preview=webp", "channel=rgb"):
            assert (await visitor.get(f"/view?filename=bomb.png&{asked}")).status == 400

    visit(tmp_path, script)


def test_an_upload_that_is_too_large_ends_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its own word before a byte is read; without its word, as it grows."""

    async def script(visitor: Visitor) -> None:
        head = {"Content-Type": "multipart/form-data; boundary=b", "Content-Length": str(2**40)}
        host, port = visitor.url.removeprefix("http://").split(":")
        reader, writer = await aiohttp_raw(host, int(port))
        lines = [f"{name}: {value}\r\n" for name, value in head.items()]
        writer.write(
            f"POST /upload/image HTTP/1.1\r\nHost: {host}\r\n{''.join(lines)}\r\n".encode()
        )
        assert b" 413 " in await reader.readline()
        writer.close()
        monkeypatch.setattr(upload, "MAX_UPLOAD", 2**20)

        async def pieces() -> AsyncGenerator[bytes]:
            yield b'--b\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\n\r\n'
            for _ in range(1000):
                yield bytes(2**16)

        form = {"Content-Type": "multipart/form-data; boundary=b"}
        reply = await visitor.ask("POST", "/upload/image", data=pieces(), headers=form)
        assert reply.status == 413

    visit(tmp_path, script)
    assert not list(tmp_path.rglob(".upload-*"))


async def aiohttp_raw(host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open a plain socket."""
    return await asyncio.open_connection(host, port)


def test_a_mask_is_put_on_the_original(tmp_path: Path) -> None:
    """Its alpha, and nothing else of it; the text of the original stays."""
    text = PngInfo()
    text.add_text("prompt", "{}")
    (tmp_path / "output").mkdir()
    Image.new("RGB", (4, 3), "red").save(tmp_path / "output" / "fox.png", pnginfo=text)
    mask = io.BytesIO()
    Image.new("RGBA", (4, 3), (0, 0, 255, 7)).save(mask, "PNG")

    async def script(visitor: Visitor) -> None:
        ref = '{"filename": "fox.png", "type": "output"}'
        data = form(mask.getvalue(), "masked.png", original_ref=ref)
        assert (await visitor.ask("POST", "/upload/mask", data=data)).status == 200
        for bad in ('{"filename": "../../x"}', "[]", "{", '{"filename": "no.png"}'):
            data = form(mask.getvalue(), "bad.png", original_ref=bad)
            assert (await visitor.ask("POST", "/upload/mask", data=data)).status == 400

    visit(tmp_path, script)
    with Image.open(tmp_path / "input" / "masked.png") as made:
        assert made.getpixel((0, 0)) == (255, 0, 0, 7)
        assert made.info["prompt"] == "{}"
    assert not (tmp_path / "input" / "bad.png").exists()


def test_what_a_browser_could_run_is_sent_to_be_saved(tmp_path: Path) -> None:
    """HTML, SVG, scripts: as bytes, whatever they are called."""
    output = tmp_path / "output"
    output.mkdir()
    for name in ("a.html", "a.svg", "a.js", "a.xml", "a.xhtml", "a.css", "a"):
        (output / name).write_text("<script>alert(1)</script>")

    async def script(visitor: Visitor) -> None:
        for path in output.iterdir():
            seen = await visitor.get(f"/view?filename={path.name}")
            assert seen.headers["Content-Disposition"] == "attachment"
            assert seen.headers["Content-Type"] == "application/octet-stream"

    visit(tmp_path, script)


@pytest.mark.skipif(os.name == "nt", reason="making links needs a right on Windows")
def test_nothing_outside_is_shown(tmp_path: Path) -> None:
    """By no spelling of a path, and through no link."""
    (tmp_path / "secret.png").write_bytes(picture())
    output = tmp_path / "output"
    output.mkdir()
    (output / "link.png").symlink_to(tmp_path / "secret.png")
    (output / "up").symlink_to(tmp_path)

    async def script(visitor: Visitor) -> None:
        for query in (
            "filename=../secret.png", "filename=..%5Csecret.png",
            "filename=secret.png&subfolder=..",
            f"filename={tmp_path}/secret.png", "filename=link.png", "filename=up/secret.png",
            "filename=secret.png&subfolder=up", "filename=a%00.png", "filename=//server/a.png",
            "filename=%5C%5Cserver%5Ca.png", "filename=C:%5Ca.png", "filename=nul", "filename=",
            "filename=a.png&type=models", "filename=../secret.png%20[temp]",
        ):  # fmt: skip
            assert (await visitor.get(f"/view?{query}")).status == 400, query
        assert (await visitor.get("/view?filename=none.png")).status == 404
        for path in ("/..%2Fsecret.png", "/%2e%2e/secret.png", "/assets/..%2F..%2Fsecret.png"):
            assert (await visitor.get(path)).status == 404

    visit(tmp_path, script)
