"""Saved workflows and settings over the network."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from tests.web.visit import Visitor, visit


def test_a_workflow_is_saved_listed_moved_and_removed(tmp_path: Path) -> None:
    """By names with encoded slashes, as ComfyUI's clients write them."""

    async def script(visitor: Visitor) -> None:
        name = quote("workflows/fox ü.json", safe="")
        reply = await visitor.ask("POST", f"/api/userdata/{name}", data=b'{"a": 1}')
        assert (reply.status, reply.json) == (200, "workflows/fox ü.json")
        assert (await visitor.post(f"/userdata/{name}?overwrite=false", {})).status == 409
        found = await visitor.get(f"/userdata/{name}")
        assert found.body == b'{"a": 1}'
        assert found.headers["Content-Disposition"] == "attachment"
        assert (await visitor.get("/userdata?dir=workflows")).json == ["fox ü.json"]
        asked = "/userdata?dir=workflows&recurse=true&full_info=true"
        (about,) = (await visitor.get(asked)).json
        assert (about["path"], about["size"]) == ("fox ü.json", 8)
        listed = (await visitor.get("/v2/userdata")).json
        assert [each["type"] for each in listed] == ["directory", "file"]
        target = quote("workflows/b/c.json", safe="")
        moved = await visitor.post(f"/userdata/{name}/move/{target}")
        assert moved.json == "workflows/b/c.json"
        assert (await visitor.ask("DELETE", f"/userdata/{target}")).status == 204
        assert (await visitor.ask("DELETE", f"/userdata/{target}")).status == 404
        assert (await visitor.get("/userdata?dir=nowhere")).status == 404
        assert (await visitor.get("/userdata")).status == 400

    visit(tmp_path, script)


def test_names_that_leave_the_folder_write_nothing(tmp_path: Path) -> None:
    """Nothing appears outside, and nothing inside."""

    async def script(visitor: Visitor) -> None:
        for name in ("../a.json", "..\\a.json", "/tmp/a.json", "C:\\a.json", "a/../../b", "nul"):
            coded = quote(name, safe="")
            reply = await visitor.ask("POST", f"/userdata/{coded}", data=b"{}")
            assert reply.status == 400, name
            for target in (f"/userdata/{coded}", f"/userdata?dir={coded}"):
                assert (await visitor.get(target)).status == 400
            assert (await visitor.post(f"/userdata/ok.json/move/{coded}")).status in (400, 404)

    before = sorted(tmp_path.parent.iterdir())
    visit(tmp_path, script)
    assert sorted(tmp_path.parent.iterdir()) == before
    assert not list((tmp_path / "state").rglob("*.json"))


def test_a_page_that_a_user_keeps_is_never_shown(tmp_path: Path) -> None:
    """HTML is sent to be saved, as bytes."""

    async def script(visitor: Visitor) -> None:
        await visitor.ask("POST", "/userdata/x.html", data=b"<script>alert(1)</script>")
        found = await visitor.get("/userdata/x.html")
        assert found.headers["Content-Type"] == "application/octet-stream"
        assert found.headers["Content-Disposition"] == "attachment"

    visit(tmp_path, script)


def test_settings_are_merged_and_kept(tmp_path: Path) -> None:
    """Also past a restart."""

    async def script(visitor: Visitor) -> None:
        assert (await visitor.post("/settings", {"a": 1, "b": [2**64 - 1]})).status == 200
        assert (await visitor.post("/settings/a", {"x": None})).status == 200
        assert (await visitor.get("/settings/none")).json is None
        assert (await visitor.post("/settings", ["no object"])).status == 400
        assert (await visitor.post("/settings/a", "x" * 2**21)).status == 413

    async def again(visitor: Visitor) -> None:
        assert (await visitor.get("/settings")).json == {"a": {"x": None}, "b": [2**64 - 1]}

    visit(tmp_path, script)
    visit(tmp_path, again)
