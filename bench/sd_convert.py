"""How long Stable Diffusion 1.5 takes to convert, and how much memory: random weights, true sizes.

python -m bench.sd_convert [FOLDER]    needs `pip install .[convert]`, 6 GB of disk, some minutes
"""

# torch, diffusers and transformers are in no environment that is checked.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import multiprocessing
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil

from bench.table import Figure, lines
from vinode.converters.stable_diffusion.load import load_checkpoint
from vinode.converters.store import Store

LIMIT_GB = 6.0  # of memory, all processes together
TEXT: Mapping[str, Any] = {
    "vocab_size": 49408,
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "hidden_act": "quick_gelu",
}
UNET: Mapping[str, Any] = {
    "block_out_channels": (320, 640, 1280, 1280),
    "cross_attention_dim": 768,
    "attention_head_dim": 8,
}
VAE: Mapping[str, Any] = {
    "block_out_channels": (128, 256, 512, 512),
    "layers_per_block": 2,
    "down_block_types": ("DownEncoderBlock2D",) * 4,
    "up_block_types": ("UpDecoderBlock2D",) * 4,
}


def make(folder: Path) -> None:
    """Write the folder as diffusers does: float16, random weights."""
    import torch
    from diffusers import AutoencoderKL, UNet2DConditionModel
    from transformers import CLIPTextConfig, CLIPTextModel

    torch.manual_seed(0)
    parts: dict[str, Callable[[], Any]] = {
        "text_encoder": lambda: CLIPTextModel(CLIPTextConfig(**TEXT)),
        "unet": lambda: UNet2DConditionModel(**UNET),
        "vae": lambda: AutoencoderKL(**VAE),
    }
    for name, build in parts.items():
        build().half().save_pretrained(folder / name, safe_serialization=True)
    (folder / "model_index.json").write_text(json.dumps({"_class_name": "StableDiffusionPipeline"}))


class Peak:
    """Watches the memory of this process and its children, ten times a second.

    most  step -> bytes
    """

    def __init__(self) -> None:
        self.step, self.most = "", dict[str, int]()
        self._over = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        own = psutil.Process()
        while not self._over.wait(0.1):
            used = 0
            for process in [own, *own.children(recursive=True)]:
                try:
                    used += process.memory_info().rss
                except psutil.NoSuchProcess:  # it ended meanwhile
                    continue
            self.most[self.step] = max(self.most.get(self.step, 0), used)

    def stop(self) -> int:
        """Give the most bytes of all."""
        self._over.set()
        return max(self.most.values())


def measure(folder: Path) -> list[Figure]:
    """Convert all parts once."""
    source = folder / "sd15"
    if not source.is_dir():
        builder = multiprocessing.get_context("spawn").Process(target=make, args=(source,))
        builder.start()
        builder.join()
    store, peak, starts = Store((folder / "models",)), Peak(), dict[str, float]()

    def progress(step: str, done: int, total: int) -> None:
        peak.step = step
        starts.setdefault(step, time.perf_counter())

    begin = time.perf_counter()
    load_checkpoint(store, source, progress)
    seconds, most = time.perf_counter() - begin, peak.stop() / 1e9
    ends = [*list(starts.values())[1:], time.perf_counter()]
    rows = [
        Figure(step, f"{end - start:.1f} s, {peak.most.get(step, 0) / 1e9:.2f} GB")
        for (step, start), end in zip(starts.items(), ends, strict=True)
    ]
    for path in sorted((folder / "models" / "store").glob("*/record.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        snr = f"{record['verification']['snr_db']:.1f} dB"
        rows.append(Figure(f"{record['name']} beside torch", snr))
    good = most <= LIMIT_GB
    begin = time.perf_counter()
    load_checkpoint(store, source)
    return [
        *rows,
        Figure("all parts", f"{seconds:.0f} s"),
        Figure("memory at most", f"{most:.2f} GB", f"<= {LIMIT_GB:g} GB", good),
        Figure("once more, converted", f"{time.perf_counter() - begin:.2f} s"),
    ]


def main() -> None:
    """Print the table."""
    if len(sys.argv) > 1:
        print("\n".join(lines(measure(Path(sys.argv[1])))))
        return
    with tempfile.TemporaryDirectory() as folder:
        print("\n".join(lines(measure(Path(folder)))))


if __name__ == "__main__":
    main()
