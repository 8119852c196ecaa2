"""The model that comes with the program draws what its prompts say, without download or torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image as Picture

from vinode.cli import call
from vinode.converters.model_folders import BUILT_IN

MODEL = BUILT_IN / "checkpoints" / "text-to-image"
WORKFLOW = Path(__file__).parents[1] / "workflows" / "text_to_image.json"
PARTS = ("text_encoder", "unet", "vae_decoder", "vae_encoder")


def drawn(folder: Path, *sets: str) -> NDArray[np.float64]:
    """Draw with the shipped workflow; gives the mean picture (64, 64, 3), 0..1."""
    words = ["--models", str(folder / "models"), "--output", str(folder / "out"), "--quiet"]
    assert call(["run", str(WORKFLOW), *words, *(f"--set={change}" for change in sets)]) == 0
    pictures = [np.asarray(Picture.open(path)) for path in sorted((folder / "out").iterdir())]
    mean: NDArray[np.float64] = np.mean(pictures, axis=0) / 255
    return mean


def corners(picture: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the colour of the background."""
    mean: NDArray[np.float64] = np.concatenate([picture[:6, :6], picture[-6:, -6:]]).mean((0, 1))
    return mean


def test_a_red_heart_on_blue_is_red_on_blue(tmp_path: Path) -> None:
    """Four pictures of one seed, on the mean of them."""
    picture = drawn(tmp_path)
    red, green, blue = picture[24:36, 24:40].mean((0, 1))
    assert red > max(green, blue) + 0.3
    red, green, blue = corners(picture)
    assert blue > max(red, green) + 0.2


def test_another_prompt_is_another_picture(tmp_path: Path) -> None:
    """Tint and background go with the words, not with the glyph."""
    picture = drawn(tmp_path, "Prompt.text=green heart on yellow")
    red, green, blue = picture[24:36, 24:40].mean((0, 1))
    assert green > max(red, blue)
    red, green, blue = corners(picture)
    assert min(red, green) > blue + 0.2


def test_no_torch_is_imported(tmp_path: Path) -> None:
    """In a process of its own, on empty model folders."""
    script = (
        "import json, sys\n"
        "from vinode.cli import call\n"
        "code = call(sys.argv[1:])\n"
        "names = ('torch', 'diffusers', 'transformers', 'optimum', 'nncf')\n"
        "print(json.dumps([code, [name for name in names if name in sys.modules]]))\n"
    )
    words = ["run", WORKFLOW, "--models", tmp_path / "models", "--output", tmp_path, "--quiet"]
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, words), "--set=Sampler.steps=2"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert json.loads(done.stdout.splitlines()[-1]) == [0, []], done.stderr
    assert len(list(tmp_path.glob("*.png"))) == 4


def test_what_is_shipped_is_small_and_tells_where_it_comes_from() -> None:
    """At most 16 MB of weights, an IR and record a part, licence and recipe on the card."""
    weights = list(MODEL.rglob("*.safetensors"))
    assert len(weights) == 3
    assert sum(path.stat().st_size for path in weights) <= 16_000_000
    for part in PARTS:
        names = {path.name for path in (MODEL / "openvino" / part).iterdir()}
        assert {"model.xml", "model.bin", "record.json"} <= names
    card = (MODEL / "README.md").read_text(encoding="utf-8")
    for word in ("Open Font License", "Noto", "python -m tools.train_text_to_image", "cannot"):
        assert word in card
    assert not (MODEL / "tokenizer").exists()


@pytest.mark.parametrize("name", ["image_to_image", "inpaint"])
def test_the_other_workflows_keep_of_their_picture(name: str, tmp_path: Path) -> None:
    """What they are given is still to be seen, but not the same."""
    file = WORKFLOW.with_name(f"{name}.json")
    words = ["--models", str(tmp_path / "models"), "--output", str(tmp_path / "out"), "--quiet"]
    assert call(["run", str(file), *words]) == 0
    with Picture.open(file.parent / "photos" / "apple.png") as opened:
        before = np.asarray(opened.convert("RGB")) / 255
    (path, *_) = sorted((tmp_path / "out").iterdir())
    after = np.asarray(Picture.open(path)) / 255
    assert after.shape == before.shape
    changed = np.abs(after - before).mean()
    assert 0.005 < changed < 0.3
