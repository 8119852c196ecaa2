"""Draw with vinode's own nodes, for the evaluation: OpenVINO in float32 on the CPU.

python -m tools.evaluate_text_to_image FOLDER --back-end tools.vinode_back_end:open_folder
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinode.graph.cache import Cache
from vinode.graph.context import Folders
from vinode.graph.graph import build
from vinode.graph.node import collect
from vinode.graph.plan import make
from vinode.graph.pool import Pool
from vinode.graph.run import run
from vinode.graph.values import Image
from vinode.graph.workflow import NodeId, from_json
from vinode.nodes import files, latent, loaders, sample, text, vae
from vinode.nodes.algorithms.picture_file import write_png

Images = NDArray[np.float32]
Node = tuple[str, dict[str, Any]]

_STEPS, _GUIDANCE = 25, 4.0


class Vinode:
    """Runs workflows on one folder's model; what stays the same from picture to picture is kept."""

    def __init__(self, folder: Path) -> None:
        self._scratch = tempfile.TemporaryDirectory()
        root = Path(self._scratch.name)
        checkpoints = root / "models" / "checkpoints"
        checkpoints.mkdir(parents=True)
        (root / "input").mkdir()
        (checkpoints / "model").symlink_to(folder.resolve(), target_is_directory=True)
        self._folders = Folders(root / "input", root / "output", root / "temp", (root / "models",))
        self._types = collect([files, latent, loaders, sample, text, vae])
        self._pool, self._cache = Pool(), Cache()
        self._load: Mapping[str, Node] = {
            "load": ("CheckpointLoaderSimple", {"ckpt_name": "model"}),
        }

    def draw(self, prompts: Sequence[str], seeds: Sequence[int]) -> Images:
        """Draw one picture a prompt: (n, 3, 64, 64) float32 0..1, noise from that seed."""
        pictures = [self._drawn(*pair) for pair in zip(prompts, seeds, strict=True)]
        return np.concatenate(pictures).transpose(0, 3, 1, 2)

    def redraw(self, images: Images) -> Images:
        """Send pictures (n, 3, 64, 64) float32 0..1 through the VAE and back."""
        pictures: list[Images] = []
        for index, image in enumerate(images):
            name = f"{index}.png"
            with (self._folders.input / name).open("wb") as file:
                pixels = np.rint(image.transpose(1, 2, 0) * 255).astype(np.uint8)
                write_png(pixels, {}, file, 1)
            nodes: dict[str, Node] = {
                "photo": ("LoadImage", {"image": name}),
                "coded": ("VAEEncode", {"pixels": ["photo", 0], "vae": ["load", 2]}),
                "x": ("VAEDecode", {"samples": ["coded", 0], "vae": ["load", 2]}),
            }
            pictures.append(self._run(nodes))
        return np.concatenate(pictures).transpose(0, 3, 1, 2)

    def _drawn(self, prompt: str, seed: int) -> Images:
        links = {
            "model": ["load", 0],
            "positive": ["yes", 0],
            "negative": ["no", 0],
            "latent_image": ["empty", 0],
        }
        nodes: dict[str, Node] = {
            "yes": ("CLIPTextEncode", {"text": prompt, "clip": ["load", 1]}),
            "no": ("CLIPTextEncode", {"text": "", "clip": ["load", 1]}),
            "empty": ("EmptyLatentImage", {"width": 64, "height": 64}),
            "draw": (
                "KSampler",
                {
                    **links,
                    "seed": seed,
                    "steps": _STEPS,
                    "cfg": _GUIDANCE,
                    "sampler_name": "ddim",
                    "scheduler": "ddim_uniform",
                },
            ),
            "x": ("VAEDecode", {"samples": ["draw", 0], "vae": ["load", 2]}),
        }
        return self._run(nodes)

    def _run(self, nodes: Mapping[str, Node]) -> Images:
        document: dict[str, Any] = {
            id: {
                "class_type": kind,
                "inputs": inputs,
                "_meta": {"device": "CPU", "precision": "f32"},
            }
            for id, (kind, inputs) in {**self._load, **nodes}.items()
        }
        graph = build(from_json(document), self._types, self._folders)
        plan = make(graph, self._folders, self._cache, ["x"])
        done = run(
            plan, lambda event: None, folders=self._folders, pool=self._pool, cache=self._cache
        )
        if done.status != "done":
            raise RuntimeError("\n".join(map(str, (*graph.faults, *done.faults))))
        (value,) = done.outputs[NodeId("x")][0]
        assert isinstance(value, Image)
        pixels: Images = value.as_float()
        return pixels


def open_folder(folder: Path) -> Vinode:
    """Give the back end for a folder that the training has written."""
    return Vinode(folder)
