"""The shipped workflow, posted to `/prompt` as any client would: the picture, and its timing."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import numpy as np
from PIL import Image

from tests.real_models import pulled
from tests.web.visit import Visitor, visit

WORKFLOWS = Path(__file__).parents[2] / "workflows"


def test_faces_are_found_over_http(tmp_path: Path) -> None:
    """The file as it is; then each node's time and device, and a picture with a frame in it."""
    file = json.loads((WORKFLOWS / "detect_faces.json").read_text(encoding="utf-8"))
    shutil.copytree(pulled("face-short-range"), tmp_path / "models")
    shutil.copytree(WORKFLOWS / "photos", tmp_path / "input" / "photos")

    async def script(visitor: Visitor) -> None:
        entry = await visitor.run(file["prompt"])
        assert entry["status"]["status_str"] == "success", entry["status"]
        nodes = {node["id"]: node for node in entry["vinode"]["report"]["nodes"]}
        assert set(nodes) == set(file["prompt"])
        assert nodes["3"]["phases"]["compute"] > 0
        assert nodes["3"]["placement"]["where"] == "CPU"
        (saved,) = entry["outputs"]["6"]["images"]
        reply = await visitor.get("/view", params=saved)
        assert reply.status == 200
        with Image.open(io.BytesIO(reply.body)) as found:
            assert json.loads(found.info["prompt"]) == file["prompt"]
            drawn = np.asarray(found)
        with Image.open(WORKFLOWS / "photos" / "astronaut.jpg") as photo:
            changed = np.any(drawn != np.asarray(photo.convert("RGB")), axis=2)
        rows, columns = np.nonzero(changed)
        frame = columns.min(), columns.max(), rows.max()  # a label stands above it
        assert np.abs(np.subtract(frame, (180, 274, 176))).max() < 10

    visit(tmp_path, script, worker=True)
