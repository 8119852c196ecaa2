"""`vinode fix` on sizes: built-in nodes make the pictures, a device refuses them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.probe_pack import SIM, prepare, simulate, write
from tests.cli.test_fix import Terminal
from vinode.cli import call

# What a driver says where its memory does not suffice.
FULL = "L0 zeMemAllocDevice result: ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, code 0x70000003"
LOOK = '''
"""Runs the model once for each picture of a batch."""
from pathlib import Path

import numpy as np

from vinode.graph.context import Context
from vinode.graph.node import node
from vinode.graph.values import Detector, Image, ModelPart

PART = ModelPart("probe", Path(__file__).parent / "probe.xml", "0" * 16, 64)


@node("Look", category="test", output=True)
def look(detector: Detector, image: Image, context: Context) -> None:
    """Show the pictures' sizes."""
    count, height, width, _ = image.pixels.shape
    context.infer(PART, {"x": np.ones((count, 64), np.float32)})
    context.show("sizes", [[count, height, width]])
'''
PICTURES: dict[str, Any] = {
    "1": {"class_type": "ProbeModel", "inputs": {}},
    "2": {"class_type": "EmptyImage", "inputs": {"width": 300, "height": 128, "batch_size": 3}},
    "3": {"class_type": "Look", "inputs": {"detector": ["1", 0], "image": ["2", 0]}},
    "4": {
        "class_type": "ImageScale",
        "inputs": {"image": ["2", 0], "width": 500, "height": 130, "crop": "disabled"},
    },
}


def prepared(folder: Path, through: str) -> list[str]:
    """Write packs and a workflow whose pictures come through a node; gives the words to run it."""
    words = prepare(folder, SIM)
    (folder / "packs/look_pack.py").write_text(LOOK, encoding="utf-8")
    look = {"detector": ["1", 0], "image": [through, 0]}
    nodes = {**PICTURES, "3": {"class_type": "Look", "inputs": look, "_meta": {"device": SIM}}}
    write(folder / "w.json", nodes)
    return words


def shown(folder: Path, words: list[str]) -> list[int]:
    """Run the workflow on the stand-in without a fault, and give what the model's node saw."""
    report = folder / "report.json"
    assert call(["run", *words, "--quiet", "--report", str(report), "--simulate", "{}"]) == 0
    rows = {row["id"]: row for row in json.loads(report.read_text(encoding="utf-8"))["nodes"]}
    (size,) = rows["3"]["shown"]["sizes"]
    return list(size)


@pytest.mark.parametrize(
    ("through", "answers", "done", "seen"),
    [
        ("2", "n\ny\n", ["node 2 (EmptyImage), input batch_size: 1 instead of 3"], [1, 128, 300]),
        (
            "2",
            "n\nn\ny\n",
            ["node 2 (EmptyImage), input width: 320 instead of 300"],
            [3, 128, 320],
        ),
        (
            "4",
            "n\nn\ny\n",
            [
                "node 4 (ImageScale), input width: 512 instead of 500",
                "node 4 (ImageScale), input height: 192 instead of 130",
                "node 2 (EmptyImage), input width: 320 instead of 300",
            ],
            [3, 192, 512],
        ),
        (
            "4",
            "n\nn\nn\ny\n",
            [
                "node 4 (ImageScale), input width: 256 instead of 500",
                "node 4 (ImageScale), input height: 128 instead of 130",
                "node 2 (EmptyImage), input width: 192 instead of 300",
                "node 2 (EmptyImage), input height: 64 instead of 128",
            ],
            [3, 128, 256],
        ),
    ],
)
def test_sizes_and_batches_are_changed_where_pictures_are_made(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    through: str,
    answers: str,
    done: list[str],
    seen: list[int],
) -> None:
    """The user declines the CPU, and takes another size; the workflow then runs with it."""
    monkeypatch.chdir(tmp_path)
    words = prepared(tmp_path, through)
    monkeypatch.setattr("sys.stdin", Terminal(answers))
    assert call(["fix", *words, *simulate(fails=FULL)]) == 0
    out = capsys.readouterr().out
    assert "node 3 (Look) [out-of-memory]" in out
    changed = [line.partition("changed: ")[2] for line in out.splitlines() if "changed: " in line]
    assert changed == done
    assert shown(tmp_path, words) == seen
