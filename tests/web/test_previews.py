"""Previews go when they are old; nothing else does."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tests.web.visit import Visitor, visit
from vinode.web.previews import KEPT, sweep


def age_file(path: Path, seconds: float) -> None:
    """Make a file as old as that."""
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_only_old_previews_are_swept(tmp_path: Path) -> None:
    """A file of somebody else stays however old it is; so does a preview of today."""
    names = ("vinode_temp_abcde_00001_.png", "vinode_temp_fghij_00001_.png", "mine.png")
    for name, age in zip(names, (KEPT + 60, 0, KEPT + 60), strict=True):
        (tmp_path / name).write_bytes(b"x")
        age_file(tmp_path / name, age)
    assert sweep(tmp_path) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names[1:])
    assert sweep(tmp_path / "none") == 0


def test_what_a_run_previews_is_swept_at_a_later_start(tmp_path: Path) -> None:
    """By the name that the node gives it."""
    prompt = {
        "1": {"class_type": "EmptyImage", "inputs": {"width": 8, "height": 8}},
        "2": {"class_type": "PreviewImage", "inputs": {"images": ["1", 0]}},
    }

    async def script(visitor: Visitor) -> None:
        await visitor.run(prompt)

    visit(tmp_path, script, worker=True)
    (preview,) = (tmp_path / "temp").iterdir()
    age_file(preview, KEPT + 60)
    assert sweep(tmp_path / "temp") == 1
    assert not preview.exists()
