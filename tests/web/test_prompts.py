"""POST /prompt: what is accepted, and what is said of the rest in ComfyUI's shapes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from tests.web.room import FINE
from tests.web.visit import Visitor, visit
from vinode.graph.strict_json import Json


def node(kind: str, **inputs: Json) -> dict[str, Json]:
    """Make a node."""
    return {"class_type": kind, "inputs": inputs}


EMPTY = node("EmptyImage", width=8, height=8)
SAVE = node("SaveImage", images=["1", 0])


def refused(folder: Path, prompt: Json, **more: Json) -> Any:
    """Hand in a prompt that is refused; gives the answer's body."""

    async def script(visitor: Visitor) -> Any:
        reply = await visitor.post("/prompt", {"prompt": prompt, **more})
        assert reply.status == 400, reply.body
        assert visitor.site.supervisor.queue.remaining() == 0
        body = reply.json
        assert set(body) == {"error", "node_errors"}
        assert set(body["error"]) == {"type", "message", "details", "extra_info"}
        for told in body["node_errors"].values():
            assert {"errors", "dependent_outputs", "class_type"} == set(told)
            for each in told["errors"]:
                assert set(each) == {"type", "message", "details", "extra_info"}
        return body

    return visit(folder, script)


@pytest.mark.parametrize(
    ("at", "broken", "type", "extra"),
    [
        ("1", node("EmptyImage", width="two", height=8), "invalid_input_type", "width"),
        ("1", node("EmptyImage", width=-4, height=8), "value_smaller_than_min", "width"),
        ("1", node("EmptyImage", width=10**9, height=8), "value_bigger_than_max", "width"),
        ("2", node("SaveImage"), "required_input_missing", "images"),
        ("2", node("SaveImage", images=["9", 0]), "bad_linked_input", "images"),
        ("2", node("SaveImage", images=["1", 7]), "bad_linked_input", "images"),
        ("1", node("LoadImage", image="none.png"), "custom_validation_failed", "image"),
        ("1", node("LoadImage", image="../../etc/passwd"), "custom_validation_failed", "image"),
        ("1", node("LoadImage", image="/etc/passwd"), "custom_validation_failed", "image"),
        ("1", node("LoadImage", image="\\\\a\\b.png"), "custom_validation_failed", "image"),
    ],
)  # fmt: skip
def test_faults_of_a_node_have_comfyuis_names(
    tmp_path: Path, at: str, broken: Json, type: str, extra: str
) -> None:
    """With the input, the outputs that need the node, and our own sentence."""
    body = refused(tmp_path, {"1": EMPTY, "2": SAVE, at: broken})
    assert body["error"]["type"] == "prompt_outputs_failed_validation"
    told = body["node_errors"][at]
    assert told["dependent_outputs"] == ["2"]
    assert told["class_type"] == broken["class_type"]
    (error,) = told["errors"]
    assert error["type"] == type
    assert error["extra_info"]["input_name"] == extra
    assert error["details"] in body["error"]["details"]
    assert f"node {at} ({broken['class_type']}), input {extra}" in error["details"]


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    """Of several nodes, in one answer."""
    scale = node("ImageScale", image=["1", 0], upscale_method="zzz", width=-4, height=8)
    prompt = {"1": node("EmptyImage", width="x", height=8), "2": scale, "3": node("SaveImage")}
    prompt["4"] = node("PreviewImage", images=["2", 0])
    body = refused(tmp_path, prompt)
    types = {id: [e["type"] for e in told["errors"]] for id, told in body["node_errors"].items()}
    assert types["1"] == ["invalid_input_type"]
    assert sorted(types["2"])[-2:] == ["value_not_in_list", "value_smaller_than_min"]
    assert types["3"] == ["required_input_missing"]


def test_kinds_that_do_not_fit_and_circles_are_named(tmp_path: Path) -> None:
    """With both ends of the link, and the way round."""
    prompt = {"1": node("PrimitiveInt", value=1), "2": SAVE}
    (error,) = refused(tmp_path / "a", prompt)["node_errors"]["2"]["errors"]
    assert error["type"] == "return_type_mismatch"
    assert error["extra_info"]["received_type"] == "INT"
    assert error["extra_info"]["linked_node"] == ["1", 0]
    prompt = {"1": node("ImageInvert", image=["2", 0]), "2": node("ImageInvert", image=["1", 0])}
    body = refused(tmp_path / "b", {**prompt, "3": node("SaveImage", images=["2", 0])})
    errors = [error for told in body["node_errors"].values() for error in told["errors"]]
    assert errors[0]["type"] == "dependency_cycle"
    assert set(errors[0]["extra_info"]["cycle_nodes"]) == {"1", "2"}


@pytest.mark.parametrize(
    ("body", "type"),
    [
        (b"", "no_prompt"), (b"{}", "no_prompt"), (b"null", "invalid_prompt"),
        (b"[]", "invalid_prompt"), (b"{", "invalid_prompt"), (b"\xff", "invalid_prompt"),
        (b'{"prompt": 5}', "invalid_prompt"), (b'{"prompt": {}}', "prompt_no_outputs"),
        (b'{"prompt": {"1": 5}}', "missing_node_type"),
        (b'{"prompt": {"1": {"class_type": "Nope"}}}', "missing_node_type"),
        (b'{"prompt": {}, "prompt_id": "no"}', "invalid_prompt_id"),
        (b'{"prompt": {}, "number": "first"}', "invalid_prompt"),
        (b'{"prompt": {}, "number": NaN}', "invalid_prompt"),
        (b'{"prompt": {}, "number": 1e999}', "invalid_prompt"),
        (b'{"prompt": {}, "client_id": 5}', "invalid_prompt"),
        (b'{"prompt": {}, "extra_data": []}', "invalid_prompt"),
        (b'{"prompt": {}, "vinode": {"devise": "NPU"}}', "invalid_prompt"),
        (b'{"prompt": {}, "vinode": {"device": "XPU"}}', "invalid_prompt"),
        (b'{"prompt": {}, "partial_execution_targets": ["x"]}', "invalid_prompt"),
        (b'{"prompt": ' + b"[" * 5000 + b"]" * 5000 + b"}", "invalid_prompt"),
        (b'{"prompt": {"a": ' + b"9" * 9999 + b"}}", "invalid_prompt"),
    ],
)  # fmt: skip
def test_bodies_that_are_none_are_refused_in_a_sentence(
    tmp_path: Path, body: bytes, type: str
) -> None:
    """In the shape that ComfyUI's clients read."""

    async def script(visitor: Visitor) -> Any:
        reply = await visitor.ask("POST", "/prompt", data=body)
        assert reply.status == 400
        return reply.json

    told = visit(tmp_path, script)
    assert told["error"]["type"] == type
    assert told["error"]["message"]


def test_what_can_run_runs_and_the_rest_is_told(tmp_path: Path) -> None:
    """As in ComfyUI, one output that is wrong does not hold up the others."""

    async def script(visitor: Visitor) -> None:
        prompt = {**FINE, "8": node("PreviewImage"), "9": node("ImageInvert")}
        reply = await visitor.post("/prompt", {"prompt": prompt})
        assert reply.status == 200
        assert list(reply.json["node_errors"]) == ["8"]
        (run,) = visitor.site.supervisor.queue.pending()
        assert run.targets == ("2",)
        only = {"prompt": prompt, "partial_execution_targets": ["1"]}
        assert (await visitor.post("/prompt", only)).json["node_errors"] == {}

    visit(tmp_path, script)


def test_seeds_and_texts_arrive_exactly(tmp_path: Path) -> None:
    """Whole numbers to 2^64-1, in the queue's items as in the history's."""
    seed = 2**64 - 1

    async def script(visitor: Visitor) -> None:
        prompt = {**FINE, "5": node("PrimitiveInt", value=2**53 + 1)}
        extra = {"seed": seed, "text": "ü😀\\n"}
        id = "0123abcd-0000-4000-8000-00000000000f"
        body = {"prompt": prompt, "prompt_id": id, "extra_data": extra, "client_id": "me"}
        reply = await visitor.post("/prompt", {**body, "number": 7.5})
        assert (reply.json["prompt_id"], reply.json["number"]) == (id, 7.5)
        queue = await visitor.get("/queue")
        assert str(seed).encode() in queue.body
        ((number, listed, graph, kept, outputs),) = queue.json["queue_pending"]
        assert (number, listed, graph, outputs) == (7.5, id, prompt, ["2"])
        assert kept["seed"] == seed
        assert kept["text"] == extra["text"]
        assert kept["client_id"] == "me"
        assert (await visitor.post("/prompt", body)).status == 409
        again = await visitor.post("/prompt", {"prompt": prompt, "front": True})
        assert again.json["number"] < 0

    visit(tmp_path, script)


def test_a_million_nodes_are_refused_before_they_are_parsed(tmp_path: Path) -> None:
    """By their bytes, or by their count; meanwhile others are answered."""
    nodes = ",".join(f'"{i}":{{"class_type":"A"}}' for i in range(1_000_000))
    wide = f'{{"prompt":{{{nodes}}}}}'.encode()

    async def script(visitor: Visitor) -> None:
        begun = time.process_time()
        for body, status in ((wide, 400), (wide + b" " * 2**23, 413)):
            reply = await visitor.ask("POST", "/prompt", data=chunks(body))
            assert reply.status == status
            assert "at most" in reply.body.decode() or "more than" in reply.body.decode()
        assert time.process_time() - begun < 5

    visit(tmp_path, script)


def test_a_long_chain_is_accepted_and_its_end_named(tmp_path: Path) -> None:
    """Ten thousand nodes deep, right or wrong at the far end."""
    chain = {str(i): node("ImageInvert", image=[str(i - 1), 0]) for i in range(1, 10_000)}
    chain["end"] = node("PreviewImage", images=["9999", 0])

    async def script(visitor: Visitor) -> None:
        fine = {"0": EMPTY, **chain}
        assert (await visitor.post("/prompt", {"prompt": fine})).status == 200
        wrong = {"0": node("EmptyImage", width=0, height=8), **chain}
        reply = await visitor.post("/prompt", {"prompt": wrong})
        assert reply.status == 400
        assert reply.json["node_errors"]["0"]["dependent_outputs"] == ["end"]

    visit(tmp_path, script)


async def chunks(body: bytes) -> Any:
    """Give a body in pieces, so that its length is not told beforehand."""
    for start in range(0, len(body), 2**20):
        yield body[start : start + 2**20]


def test_what_is_said_of_very_many_faults_has_an_end(tmp_path: Path) -> None:
    """A hundred thousand inputs or nodes that are none: not all are named or compared."""
    inputs = {f"i{number}": 1 for number in range(100_000)}
    prompt = {"1": node("EmptyImage", **inputs), "2": SAVE}

    async def script(visitor: Visitor) -> None:
        reply = await visitor.post("/prompt", {"prompt": prompt})
        assert len(reply.body) < 2**20
        lost = {str(number): node("Lost") for number in range(50_000)}
        reply = await visitor.post("/prompt", {"prompt": lost})
        assert reply.status == 400
        assert len(reply.json["node_errors"]) == 1000

    visit(tmp_path, script)


def test_a_saved_file_is_a_body(tmp_path: Path) -> None:
    """As it lies on the disk, its version included."""
    saved: dict[str, Json] = {"vinode": 1, "prompt": FINE, "extra_data": {}}

    async def script(visitor: Visitor) -> int:
        reply = await visitor.post("/prompt", saved)
        return reply.status

    assert visit(tmp_path, script) == 200
