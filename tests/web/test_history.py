"""The queue and the history as ComfyUI's clients read and change them."""

from __future__ import annotations

import json
from pathlib import Path

from tests.web.room import FINE
from tests.web.visit import Visitor, visit
from vinode.graph.strict_json import Json


def test_a_run_is_made_and_its_history_has_times(tmp_path: Path) -> None:
    """ComfyUI's entry, with ours beside it."""

    async def script(visitor: Visitor) -> None:
        entry = await visitor.run(FINE, extra_data={"extra_pnginfo": {"workflow": {"nodes": []}}})
        assert entry["status"]["status_str"] == "success"
        assert entry["status"]["completed"] is True
        assert [event for event, _ in entry["status"]["messages"]] == [
            "execution_start", "execution_cached", "execution_success",
        ]  # fmt: skip
        (image,) = entry["outputs"]["2"]["images"]
        seen = await visitor.get("/view", params=image)
        assert seen.body.startswith(b"\x89PNG")
        assert b"extra_pnginfo" not in seen.body
        assert b'{"nodes": []}' in seen.body
        report = entry["vinode"]["report"]
        assert [node["id"] for node in report["nodes"]] == ["1", "2"]
        assert all(node["placement"]["where"] == "CPU" for node in report["nodes"])
        assert list((await visitor.get("/history?max_items=1")).json) == [entry["prompt"][1]]

    visit(tmp_path, script, worker=True)


def test_the_history_is_paged_as_comfyui_pages_it(tmp_path: Path) -> None:
    """Without an offset the newest; with one, counted from the oldest."""

    async def script(visitor: Visitor) -> None:
        ids = [(await visitor.post("/prompt", {"prompt": FINE})).json["prompt_id"] for _ in "abcde"]
        for id in ids:
            assert (await visitor.get(f"/history/{id}")).json == {}
            visitor.site.supervisor.cancel(id)

        async def page(query: str) -> list[str]:
            return list((await visitor.get(f"/history?{query}")).json)

        assert await page("") == ids
        assert await page("max_items=2") == ids[3:]
        assert await page("max_items=2&offset=-1") == ids[3:]
        assert await page("max_items=2&offset=1") == ids[1:3]
        assert await page("offset=3") == ids[3:]
        assert await page("max_items=0") == []
        assert await page("offset=9") == []
        assert (await visitor.get("/history?max_items=many")).status == 400
        await visitor.post("/history", {"delete": [ids[0], "none"]})
        assert await page("") == ids[1:]
        await visitor.post("/history", {"clear": True})
        assert await page("") == []

    visit(tmp_path, script)


def test_queue_is_deleted_from_and_cleared(tmp_path: Path) -> None:
    """Waiting runs only; unknown ids are no fault, as in ComfyUI."""

    async def script(visitor: Visitor) -> None:
        ids = [(await visitor.post("/prompt", {"prompt": FINE})).json["prompt_id"] for _ in "abc"]
        assert (await visitor.post("/queue", {"delete": [ids[0], "none"]})).status == 200
        waiting = (await visitor.get("/queue")).json["queue_pending"]
        assert [item[1] for item in waiting] == ids[1:]
        assert (await visitor.post("/queue", {"clear": True})).status == 200
        assert (await visitor.get("/prompt")).json == {"exec_info": {"queue_remaining": 0}}
        assert (await visitor.post("/interrupt")).status == 200
        assert (await visitor.post("/interrupt", {"prompt_id": ids[0]})).status == 200
        assert (await visitor.post("/free", {"unload_models": True})).status == 200
        wrong: list[tuple[str, Json]] = [
            ("/queue", {"delete": ids[0]}), ("/queue", {"clear": 1}), ("/queue", {"claer": True}),
            ("/queue", []), ("/free", {"free_memory": "yes"}), ("/interrupt", {"prompt_id": 5}),
        ]  # fmt: skip
        for path, body in wrong:
            reply = await visitor.post(path, body)
            assert reply.status == 400
            assert json.dumps(reply.json["error"])

    visit(tmp_path, script)


def test_runs_of_every_state_are_jobs(tmp_path: Path) -> None:
    """As the stock canvas asks for them, with the numbers of its page echoed."""

    async def script(visitor: Visitor) -> None:
        ids = [(await visitor.post("/prompt", {"prompt": FINE})).json["prompt_id"] for _ in "abc"]
        assert (await visitor.post(f"/api/jobs/{ids[0]}/cancel")).json == {"cancelled": True}
        told = (await visitor.get("/api/jobs?status=in_progress,pending&limit=1&offset=1")).json
        assert told["pagination"] == {"offset": 1, "limit": 1, "total": 2, "has_more": False}
        assert [(job["id"], job["status"]) for job in told["jobs"]] == [(ids[1], "pending")]
        one = (await visitor.get(f"/api/jobs/{ids[0]}")).json
        assert (one["status"], one["workflow"]["prompt"]) == ("cancelled", FINE)
        assert (await visitor.get("/api/jobs/none")).status == 404
        assert (await visitor.get("/api/jobs?status=odd")).status == 400

    visit(tmp_path, script)
