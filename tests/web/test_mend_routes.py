"""Routes that mend: a fix applied to a graph, and what the computer lacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.web.room import FINE
from tests.web.visit import Visitor, visit

STEPS: dict[str, Any] = {
    "1": {"class_type": "EmptyImage", "inputs": {"width": 500, "height": 64, "batch_size": 4}},
    "2": {
        "class_type": "DetectObjects",
        "inputs": {"image": ["1", 0]},
        "_meta": {"device": "NPU", "title": "Find"},
    },
}


@pytest.mark.parametrize(
    ("kind", "value", "node", "place"),
    [
        ("device", "CPU", "2", ("2", "_meta", "device", "CPU")),
        ("option", "precision=f32", "2", ("2", "_meta", "precision", "f32")),
        ("rewrite", "layernorm", "2", ("2", "_meta", "rewrites", ["layernorm"])),
        ("input", "batch-1", "2", ("1", "inputs", "batch_size", 1)),
        ("input", "multiple-64", "2", ("1", "inputs", "width", 512)),
    ],
)
def test_a_fix_changes_what_it_says(
    tmp_path: Path, kind: str, value: str, node: str, place: tuple[str, str, str, Any]
) -> None:
    """One place of the graph, and nothing else of it."""
    id, part, name, wanted = place

    async def script(visitor: Visitor) -> None:
        body = {"prompt": STEPS, "node": node, "kind": kind, "value": value}
        told = (await visitor.post("/vinode/fix", body)).json
        (done,) = told["done"]
        assert id in done
        changed = told["prompt"]
        assert changed[id][part].pop(name) == wanted
        before = {**STEPS[id], part: {k: v for k, v in STEPS[id][part].items() if k != name}}
        assert changed == {**STEPS, id: before}

    visit(tmp_path, script)


def test_advice_changes_nothing(tmp_path: Path) -> None:
    """It is for a person."""

    async def script(visitor: Visitor) -> None:
        body = {"prompt": FINE, "node": "1", "kind": "advice", "value": ""}
        assert (await visitor.post("/vinode/fix", body)).json == {"prompt": FINE, "done": []}

    visit(tmp_path, script)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"node": "77"}, "no such node"),
        ({"kind": "magic"}, "no such kind of fix"),
        ({"prompt": {"1": 5}}, "class_type"),
        ({"kind": "device", "value": "XPU"}, "XPU"),
        ({"value": None}, "expected text"),
    ],
)
def test_a_fix_that_cannot_be_is_refused(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    """In one sentence."""

    async def script(visitor: Visitor) -> None:
        body = {"prompt": STEPS, "node": "2", "kind": "device", "value": "CPU", **change}
        reply = await visitor.post("/vinode/fix", body)
        assert 400 <= reply.status < 500
        assert said in reply.json["error"]

    visit(tmp_path, script)


def test_what_is_missing_is_told(tmp_path: Path) -> None:
    """As the doctor tells it: what is fine, and a fix for what is not."""

    async def script(visitor: Visitor) -> None:
        findings = (await visitor.get("/vinode/doctor")).json["findings"]
        named = {finding["name"]: finding for finding in findings}
        assert named["openvino"]["state"] == "ok"
        assert named["CPU"]["state"] == "ok"
        assert all(finding["fix"] for finding in findings if finding["state"] == "broken")

    visit(tmp_path, script)
