"""Our own routes: the queue steered, runs compared, placement foretold, models fetched."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.web.room import FINE
from tests.web.visit import Visitor, visit
from vinode.graph.errors import Fault, ModelError
from vinode.graph.saved_report import read_report


def test_the_queue_is_steered(tmp_path: Path) -> None:
    """Paused, reordered, cancelled, run anew; each change is told to our clients."""

    async def script(visitor: Visitor) -> None:
        async def order() -> list[str]:
            told = (await visitor.get("/vinode/queue")).json
            return [run["prompt_id"] for run in told["pending"]]

        async with visitor.socket("vinode=1") as socket:
            assert (await visitor.post("/vinode/queue/pause")).json == {"paused": True}
            async with asyncio.timeout(10):
                while (told := await socket.receive_json())["type"] != "vinode_queue":
                    pass
            assert told["data"] == {"remaining": 0, "paused": True}
        posted = [await visitor.post("/prompt", {"prompt": FINE}) for _ in "abc"]
        a, b, c = (reply.json["prompt_id"] for reply in posted)
        assert await order() == [a, b, c]
        await visitor.post("/vinode/queue/move", {"prompt_id": c, "position": 0})
        assert await order() == [c, a, b]
        await visitor.post("/vinode/queue/front", {"prompt_id": b})
        assert await order() == [b, c, a]
        cancelled = await visitor.post("/vinode/queue/cancel", {"prompt_id": b})
        assert cancelled.json == {"cancelled": True}
        again = await visitor.post("/vinode/queue/rerun", {"prompt_id": b, "client_id": "x"})
        assert (await order())[-1] == again.json["prompt_id"]
        page = (await visitor.get("/vinode/history?limit=1")).json
        assert (page["runs"][0]["prompt_id"], page["runs"][0]["state"]) == (b, "cancelled")
        await visitor.post("/vinode/queue/cancel", {"prompt_id": a})
        first = (await visitor.get("/vinode/history?limit=1")).json
        second = (await visitor.get(f"/vinode/history?limit=1&before={first['next']!r}")).json
        assert [first["runs"][0]["prompt_id"], second["runs"][0]["prompt_id"]] == [a, b]
        assert (await visitor.post("/vinode/history/prune", {"keep": 1})).json == {"forgotten": 1}
        assert (await visitor.post("/vinode/queue/resume")).json == {"paused": False}

    visit(tmp_path, script)


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("queue/move", {"prompt_id": "x"}, "position: must be given"),
        ("queue/move", {"prompt_id": "x", "position": 1.5}, "expected whole number"),
        ("queue/move", {"prompt_id": "x", "position": True}, "expected whole number"),
        ("queue/move", {"prompt_id": "x", "position": -1}, "at least 0"),
        ("queue/front", {"prompt": "x"}, "did you mean prompt_id?"),
        ("queue/front", {"prompt_id": 5}, "expected text"),
        ("queue/front", [], "expected an object"),
        ("queue/rerun", {"prompt_id": "none"}, "none of this id"),
        ("queue/pause", {"x": 1}, "no such field"),
        ("history/prune", {"keep": "all"}, "expected whole number"),
        ("placement", {}, "prompt: must be given"),
        ("placement", {"prompt": {"1": 5}}, "class_type"),
        ("placement", {"prompt": FINE, "device": "XPU"}, "XPU"),
        ("models/pull", {"name": "face-frontt"}, "face-front"),
        ("models/convert", {"file": "../../etc/passwd"}, "leaves its folder"),
        ("models/convert", {"file": "none.onnx"}, "no such file"),
        ("models/remove", {"name": "../x"}, "x"),
    ],
)  # fmt: skip
def test_bodies_are_read_strictly(tmp_path: Path, path: str, body: Any, said: str) -> None:
    """What is wrong is one sentence with the place."""

    async def script(visitor: Visitor) -> None:
        reply = await visitor.post(f"/vinode/{path}", body)
        assert 400 <= reply.status < 500
        assert said in reply.json["error"]
        assert "\n" not in reply.json["error"]

    visit(tmp_path, script)


def test_timing_trace_and_comparison_of_runs(tmp_path: Path) -> None:
    """Of two runs that were made here."""

    async def script(visitor: Visitor) -> None:
        ids: list[str] = []
        for width in (8, 16):
            graph = json.loads(json.dumps(FINE))
            graph["1"]["inputs"]["width"] = width
            ids.append((await visitor.run(graph))["prompt"][1])
        timing = await visitor.get(f"/vinode/timing/{ids[0]}")
        assert set(read_report(timing.body, "timing").nodes) == {"1", "2"}
        trace = (await visitor.get(f"/vinode/trace/{ids[0]}")).json["traceEvents"]
        spans = [event for event in trace if event["ph"] == "X"]
        assert [span["args"]["id"] for span in spans] == ["1", "2"]
        assert spans[0]["ts"] + spans[0]["dur"] <= spans[1]["ts"]
        compared = (await visitor.get(f"/vinode/compare?a={ids[0]}&b={ids[1]}")).json
        assert {node["id"] for node in compared["nodes"]} == {"1", "2"}
        full = (await visitor.get(f"/vinode/runs/{ids[0]}")).json
        assert (full["state"], full["prompt"]["1"]["inputs"]["width"]) == ("done", 8)
        for path in ("timing/none", "trace/none", "runs/none", f"compare?a={ids[0]}", "compare"):
            assert (await visitor.get(f"/vinode/{path}")).status == 404

    visit(tmp_path, script, worker=True)


DETECT = {
    "1": {"class_type": "DetectorLoader", "inputs": {"model": "face-front"}},
    "2": {"class_type": "EmptyImage", "inputs": {"width": 64, "height": 64}},
    "3": {"class_type": "DetectObjects", "inputs": {"detector": ["1", 0], "image": ["2", 0]}},
    "4": {"class_type": "DrawBoxes", "inputs": {"image": ["2", 0], "boxes": ["3", 0]}},
    "5": {"class_type": "PreviewImage", "inputs": {"images": ["4", 0]}},
}


def test_placement_is_foretold_without_running(tmp_path: Path) -> None:
    """Host nodes on the host; faults stand beside what is known."""

    async def script(visitor: Visitor) -> None:
        told = (await visitor.post("/vinode/placement", {"prompt": FINE})).json
        assert told["faults"] == []
        assert [(n["node"], n["lane"]) for n in told["nodes"]] == [("1", "host"), ("2", "host")]
        told = (await visitor.post("/vinode/placement", {"prompt": DETECT})).json
        assert [fault["node"] for fault in told["faults"]] == ["1"]  # the model is not here
        (detect,) = [node for node in told["nodes"] if node["node"] == "3"]
        assert detect["candidates"] == ["CPU"]
        assert detect["lane"] == "CPU"
        asked = {"prompt": DETECT, "device": "NPU"}
        (detect,) = [
            node
            for node in (await visitor.post("/vinode/placement", asked)).json["nodes"]
            if node["node"] == "3"
        ]
        assert (detect["requested"], detect["lane"]) == ("NPU", "CPU")  # there is no NPU

    visit(tmp_path, script)


def test_preflight_asks_the_compiler_there_is(tmp_path: Path) -> None:
    """Or says that there is none."""

    async def script(visitor: Visitor) -> int:
        return (await visitor.post("/vinode/preflight", {"prompt": FINE})).status

    def ask(graph: Any, folders: Any, platforms: list[str]) -> Any:
        if platforms == ["none"]:
            fault = Fault("NPU compiler", "there is none", fix="install it")
            raise ModelError(replace(fault, code="compiler-missing"))
        return [{"platform": name} for name in platforms]

    async def asking(visitor: Visitor) -> None:
        body = {"prompt": FINE, "platforms": ["4000"]}
        told = (await visitor.post("/vinode/preflight", body)).json
        assert told == {"available": True, "faults": [], "outlooks": [{"platform": "4000"}]}
        reply = await visitor.post("/vinode/preflight", {**body, "platforms": ["none"]})
        assert (reply.status, "install it" in reply.json["error"]) == (501, True)

    assert visit(tmp_path / "a", script) == 501
    visit(tmp_path / "b", asking, preflight=ask)


def test_a_job_that_fails_says_why_and_one_can_be_cancelled(tmp_path: Path) -> None:
    """Told to our clients as it goes; nothing is fetched for what is no model."""
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "bad.onnx").write_bytes(b"no model")

    async def script(visitor: Visitor) -> None:
        async with visitor.socket("vinode=1") as socket:
            begun = await visitor.post("/vinode/models/convert", {"file": "bad.onnx"})
            assert begun.status == 202
            jobs: list[Any] = []
            async with asyncio.timeout(60):
                while not jobs or jobs[-1]["state"] != "failed":
                    told = await socket.receive_json()
                    jobs += [told["data"]] if told["type"] == "vinode_job" else []
            assert jobs[-1]["problem"]
            assert [job["state"] for job in jobs][:2] == ["running", "failed"]
        second = await visitor.post("/vinode/models/convert", {"file": "bad.onnx"})
        id = second.json["id"]
        cancelled = await visitor.post("/vinode/models/cancel", {"id": id})
        assert cancelled.json == {"cancelled": True}
        await asyncio.sleep(0.1)
        jobs = (await visitor.get("/vinode/models")).json["jobs"]
        assert jobs[-1]["state"] == "cancelled"
        assert (await visitor.post("/vinode/models/cancel", {"id": id})).json == {
            "cancelled": False
        }

    visit(tmp_path, script)


def test_devices_are_told_once_the_worker_knows_them(tmp_path: Path) -> None:
    """The CPU is always among them."""

    async def script(visitor: Visitor) -> None:
        async with asyncio.timeout(60):
            while not (told := (await visitor.get("/vinode/devices")).json)["known"]:
                await asyncio.sleep(0.05)
        assert "CPU" in [device["name"] for device in told["devices"]]
        stats = (await visitor.get("/system_stats")).json
        assert [device["type"] for device in stats["devices"]][-1] == "cpu"
        assert (await visitor.post("/vinode/devices")).json == {"asked": True}
        assert (await visitor.get("/vinode")).json["worker"] in ("ready", "busy")

    visit(tmp_path, script, worker=True)
