"""Runs in a real worker: told, recorded, cancelled, and what becomes of one that kills it."""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path

import psutil
import pytest
from PIL import Image as Picture

from tests.web.room import FINE, error_of, one, room
from vinode.graph.saved_report import read_report
from vinode.web.queue import Queue
from vinode.web.runs import NewRun
from vinode.web.settings import Limits


def test_a_run_is_told_and_recorded(tmp_path: Path) -> None:
    """The same messages to listeners and in the history; the report reads as the CLI's does."""

    async def scene() -> None:
        async with room(tmp_path) as here:
            first = await here.over(here.submit(FINE, client_id="me"))
            again = await here.over(here.submit(FINE))
        assert (first.state, again.state) == ("done", "done")
        messages = json.loads(first.messages)
        assert [event for event, _ in messages] == [
            "execution_start",
            "execution_cached",
            "execution_success",
        ]
        assert messages == [[d["event"], d["data"]] for d in here.of("execution", first.id)]
        assert {data["prompt_id"] for _, data in messages} == {first.id}
        picture = {"filename": "fine_00001_.png", "subfolder": "", "type": "output"}
        assert json.loads(first.outputs) == {"2": {"images": [picture]}}
        assert json.loads(again.outputs) == json.loads(first.outputs)
        report = read_report(first.report, "report")
        assert [node.state for node in report.nodes.values()] == ["done", "done"]
        assert json.loads(again.messages)[1][1]["nodes"] == ["1", "2"]
        ended = [data["entry"] for data in here.of("node-ended", first.id)]
        assert ended == json.loads(first.report)["nodes"]
        assert {each.client_id for each in here.told if each.run == first.id} == {"me"}
        assert here.told[-1].data["phase"] == "stopped"

    asyncio.run(scene())


def test_a_picture_carries_what_made_it(tmp_path: Path) -> None:
    """The prompt as it was handed in, and what the client wants in beside it."""
    prompt = json.dumps(FINE, indent=3)
    extra = json.dumps({"extra_pnginfo": {"workflow": {"nodes": ["ä"]}, "prompt": "no", "": 1}})

    async def scene() -> None:
        async with room(tmp_path) as here:
            queued = here.supervisor.submit(NewRun(prompt, extra_data=extra))
            await here.over(queued.id)

    asyncio.run(scene())
    with Picture.open(tmp_path / "output" / "fine_00001_.png") as picture:
        text = dict(picture.info)
    assert text["prompt"] == prompt
    assert json.loads(text["workflow"]) == {"nodes": ["ä"]}
    assert set(text) == {"prompt", "workflow"}


@pytest.mark.parametrize("stubborn", [False, True])
def test_cancel(tmp_path: Path, stubborn: bool) -> None:
    """A node that does not listen is ended with its process."""

    async def scene() -> None:
        async with room(tmp_path, Limits(cancel=0.5)) as here:
            id = here.submit(one("Sleep", stubborn=stubborn))
            waits, fine = here.submit(one("Sleep")), here.submit(FINE)
            await here.until(here.started)
            assert here.supervisor.running_nodes == ["7"]
            assert here.supervisor.cancel(waits)
            assert here.supervisor.cancel(id)
            run = await here.over(id)
            assert json.loads(run.messages)[-1][0] == "execution_interrupted"
            assert run.state == "cancelled"
            assert here.queue.get(waits).state == "cancelled"  # type: ignore[union-attr]
            assert (await here.over(fine)).state == "done"
            assert here.supervisor.state.restarts == int(stubborn)
            assert not here.supervisor.cancel(id)
            assert not here.supervisor.interrupt()

    asyncio.run(scene())


def test_pause_reorder_and_rerun(tmp_path: Path) -> None:
    """Runs run in the order in which they stand when they are begun."""

    async def scene() -> None:
        async with room(tmp_path) as here:
            here.queue.pause()
            names = [here.submit({**FINE, "9": FINE["1"]}, id=name) for name in "abcd"]
            here.queue.move("d", 0)
            here.queue.to_front("c")
            here.supervisor.changed()
            await here.until(lambda: here.supervisor.state.phase == "ready")
            assert here.queue.running() == []
            here.queue.resume()
            here.supervisor.changed()
            for name in names:
                await here.over(name)
            again = here.queue.rerun("b")
            here.supervisor.changed()
            assert again is not None
            assert (await here.over(again.id)).state == "done"
            ended = [each.run for each in here.told if each.kind == "run-ended"]
            assert ended == ["c", "d", "a", "b", again.id]

    asyncio.run(scene())


def test_a_stop_in_the_midst_loses_nothing(tmp_path: Path) -> None:
    """The run waits again, and is begun anew by the next server."""

    async def scene() -> None:
        async with room(tmp_path) as here:
            long, fine = here.submit(one("Sleep", seconds=1.0)), here.submit(FINE)
            await here.until(here.started)
            pid = here.supervisor.state.pid
        assert not psutil.pid_exists(pid)
        async with room(tmp_path) as here:
            assert (await here.over(long)).state == "done"
            assert (await here.over(fine)).state == "done"
        assert [path.name for path in tmp_path.glob("running-*")] == []

    asyncio.run(scene())


def test_a_stop_after_a_cancel_is_the_end_of_the_run(tmp_path: Path) -> None:
    """It does not come back with the next server, though its node did not listen."""

    async def scene() -> None:
        async with room(tmp_path) as here:
            id = here.submit(one("Sleep", stubborn=True))
            await here.until(here.started)
            here.supervisor.cancel(id)
        with Queue(tmp_path / "queue.sqlite") as queue:
            assert (queue.remaining(), queue.history(1)[0].state) == (0, "cancelled")
            assert [data["state"] for data in here.of("run-ended", id)] == ["cancelled"]

    asyncio.run(scene())


def test_what_is_printed_does_not_end_in_the_pipe(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Of the node, of a library, of a child."""

    async def scene() -> None:
        async with room(tmp_path) as here:
            run = await here.over(here.submit(one("Loud")))
            assert run.state == "done"
            assert json.loads(run.outputs)["7"]["text"] == ["said", 7]

    asyncio.run(scene())
    out, err = capfd.readouterr()
    assert out == ""
    assert (err.count("written"), err.count("printed")) == (1000, 2)


def test_a_preview_is_a_small_picture(tmp_path: Path) -> None:
    """JPEG, of the batch's first picture."""

    async def scene() -> None:
        async with room(tmp_path) as here:
            await here.over(here.submit(one("Preview")))
            (content,) = [each.preview for each in here.told if each.preview]
        with Picture.open(io.BytesIO(content)) as picture:
            assert (picture.format, picture.size) == ("JPEG", (512, 384))
            level = picture.getpixel((9, 9))
            assert level == (128, 128, 128) or level == (127, 127, 127)

    asyncio.run(scene())


def test_a_node_that_fails_fails_the_run(tmp_path: Path) -> None:
    """With its traceback, and what else ran; a prompt that cannot run has failed as well."""

    async def scene() -> None:
        async with room(tmp_path) as here:
            run = await here.over(here.submit({**FINE, **one("Fail")}))
            error = error_of(run)
            assert (run.state, error["node_id"]) == ("failed", "7")
            assert error["exception_type"] == "ZeroDivisionError"
            assert sorted(error["executed"]) == ["1", "2"]
            assert "2" in json.loads(run.outputs)
            bad = await here.over(here.submit(one("Unknown")))
            assert (bad.state, error_of(bad)["faults"][0]["code"]) == ("failed", "unknown-node")
            assert here.supervisor.state.restarts == 0

    asyncio.run(scene())


def test_devices_and_free(tmp_path: Path) -> None:
    """The worker tells of its devices by itself; what was kept can be dropped."""

    async def scene() -> None:
        async with room(tmp_path) as here:
            await here.until(lambda: here.supervisor.state.devices is not None)
            assert "CPU" in [d["name"] for d in here.supervisor.state.devices or []]
            assert here.supervisor.state.openvino.startswith("2026.")
            await here.over(here.submit(FINE))
            here.supervisor.free(models=True, results=True)
            run = await here.over(here.submit(FINE))
            assert json.loads(run.messages)[1][1]["nodes"] == []

    asyncio.run(scene())
