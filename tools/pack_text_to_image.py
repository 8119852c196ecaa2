"""Put the trained text-to-image model where the program ships it, with its IR ready beside it.

python -m tools.pack_text_to_image FOLDER    FOLDER is what tools.train_text_to_image wrote; needs
                                             `pip install .[convert]`

What is shipped: weights, configs and card of each part; the IR, its record and the token table of
each part in `openvino/`. The tokenizer is the program's own, so its files are left out.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from vinode.converters.model_folders import BUILT_IN
from vinode.converters.stable_diffusion.load import load_checkpoint
from vinode.converters.store import Store

NAME = "text-to-image"
KEPT = ("README.md", "model_index.json", "scheduler", "text_encoder", "unet", "vae")


def main() -> None:
    """Copy, convert, and tell the sizes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    given = parser.parse_args().folder
    target = BUILT_IN / "checkpoints" / NAME
    if target.exists():
        shutil.rmtree(target)
    target.mkdir(parents=True)
    for name in KEPT:
        copy = shutil.copytree if (given / name).is_dir() else shutil.copy2
        copy(given / name, target / name)
    add_ir(target)
    for path in sorted(target.rglob("*")):
        if path.is_file() and path.stat().st_size > 100_000:
            print(f"{path.stat().st_size / 1e6:7.2f} MB  {path.relative_to(target)}")


def add_ir(target: Path) -> None:
    """Convert the parts, and lay what the store has made of each into `openvino/`."""
    with tempfile.TemporaryDirectory() as scratch:
        found = load_checkpoint(Store((Path(scratch),)), target)
        assert found.model is not None
        assert found.clip is not None
        assert found.vae is not None
        assert found.vae.encoder is not None
        parts = {
            "text_encoder": found.clip.encoder,
            "unet": found.model.unet,
            "vae_decoder": found.vae.decoder,
            "vae_encoder": found.vae.encoder,
        }
        for name, part in parts.items():
            shutil.copytree(part.xml.parent, target / "openvino" / name)


if __name__ == "__main__":
    main()
