"""The real program in a process of its own, and small workflows to give to it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image as Picture

from vinode.graph.workflow import Json

ROOT = Path(__file__).parents[2]
DETECT_FACES = ROOT / "workflows" / "detect_faces.json"

SMALL: dict[str, Json] = {
    "1": {
        "class_type": "EmptyImage",
        "inputs": {"width": 16, "height": 8},
        "_meta": {"title": "Canvas"},
    },
    "2": {"class_type": "ImageInvert", "inputs": {"image": ["1", 0]}},
    "3": {"class_type": "SaveImage", "inputs": {"images": ["2", 0], "filename_prefix": "small"}},
}


def save(path: Path, nodes: Json = SMALL) -> str:
    """Write a workflow and give its path as the command line takes it."""
    path.write_text(json.dumps(nodes), encoding="utf-8")
    return str(path)


def save_noise(path: Path, side: int) -> None:
    """Write a picture that no compression makes small: about 3 side² bytes."""
    pixels = np.random.default_rng(0).integers(0, 256, (side, side, 3), np.uint8)
    Picture.fromarray(pixels).save(path)


def start(
    *words: str | Path, before: str = "", after: str = "", cwd: Path | None = None
) -> subprocess.Popen[str]:
    """Start `vinode` with these words; `before` and `after` are Python run in its process."""
    program = "from vinode.cli import main\nmain()"
    if after:
        program = (
            f"import vinode.cli\ncode = vinode.cli.call(sys.argv[1:])\n{after}\nsys.exit(code)"
        )
    script = f"import sys\n{before}\n{program}\n"
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", script, *map(str, words)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        cwd=cwd,
    )


def run_program(
    *words: str | Path, before: str = "", after: str = "", cwd: Path | None = None
) -> tuple[int, str, str]:
    """Run `vinode` to its end and give exit code, standard output and standard error."""
    with start(*words, before=before, after=after, cwd=cwd) as process:
        out, err = process.communicate(timeout=90)
    return process.returncode, out, err
