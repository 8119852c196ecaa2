"""What docs/npu.md promises: platforms, and the code for whoever writes nodes."""

from __future__ import annotations

import re
from pathlib import Path

from vinode.converters.npu_compiler.preflight import PLATFORMS
from vinode.graph.context import Folders
from vinode.graph.drop_in import execute
from vinode.graph.node import call_hook, collect
from vinode.graph.values import Detector, ModelPart, PartUse

PAGE = (Path(__file__).parents[2] / "docs" / "npu.md").read_text(encoding="utf-8")


def test_the_platforms_are_those_that_can_be_asked() -> None:
    """No other, and none forgotten."""
    assert re.findall(r"^\| (\d{4}) \|", PAGE, re.MULTILINE) == list(PLATFORMS)


def test_the_node_tells_its_parts(tmp_path: Path) -> None:
    """The block is a pack whose hook says what the node then runs."""
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "twice.py").write_text(code, encoding="utf-8")
    declared = collect([execute(tmp_path / "twice.py", "docs_npu")])["my_pack.Twice"]
    assert declared.parts is not None
    part = ModelPart("m", Path("m.xml"), "0", 0)
    folders = Folders(tmp_path, tmp_path, tmp_path, ())
    told = call_hook(declared.parts, {"detector": Detector(part, "f", ())}, folders)
    assert told == [PartUse(part, {"image": (1, 128, 128, 3)}, 2)]
    assert call_hook(declared.parts, {"detector": None}, folders) is None
