"""One picture of Stable Diffusion 1.5 by one program, in a process of its own.

python -m bench.sd15_run PROGRAM FOLDER STARTED    prints JSON; STARTED is time.monotonic()
"""

# torch, diffusers, optimum-intel and openvino-genai are in no environment that is checked.
# pyright: basic, reportMissingImports=false
# mypy: ignore-errors

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil

SIDE, STEPS, SCALE, TEXT = 512, 3, 7.0, "a lighthouse in the evening"
Told = dict[str, Any]
Moment = tuple[float, float]  # seconds on the clock, and of the processors for this process


def now() -> Moment:
    """Give the moment."""
    return time.monotonic(), time.process_time()


class Parts:
    """Adds up the seconds that the three models of a torch-like pipeline take."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def watch(self, holder: Any, name: str) -> None:
        """Time a method from now on."""
        plain: Callable[..., Any] = getattr(holder, name)

        def timed(*args: Any, **options: Any) -> Any:
            start = time.perf_counter()
            try:
                return plain(*args, **options)
            finally:
                self.seconds += time.perf_counter() - start

        setattr(holder, name, timed)


def vinode(folder: Path) -> Told:
    """This project: the workflow of a picture, run twice with two seeds."""
    from vinode.cli import places
    from vinode.graph.cache import Cache
    from vinode.graph.context import Folders
    from vinode.graph.events import NodeFinished, NodeProgress
    from vinode.graph.graph import build
    from vinode.graph.plan import make
    from vinode.graph.pool import Pool
    from vinode.graph.run import run
    from vinode.graph.workflow import parse

    types = places.packs([]).types
    folders = Folders(folder, folder / "out", folder / "temp", (folder / "models",), anywhere=True)
    pool, cache, told = Pool(folder=folder / "temp"), Cache(), Told()
    for seed in (1, 2):
        marks, compute, begin = dict[float, Moment](), list[float](), time.perf_counter()

        def tell(event: Any, marks=marks, compute=compute) -> None:
            if isinstance(event, NodeProgress) and event.total == STEPS and not event.note:
                marks.setdefault(event.done, now())
            if isinstance(event, NodeFinished):
                compute.append(event.timing.phases.get("compute", 0) / 1e9)

        graph = build(parse(json.dumps(workflow("sd15", seed))), types, folders)
        outcome = run(make(graph, folders, cache), tell, folders=folders, pool=pool, cache=cache)
        assert outcome.status == "done", outcome
        told.setdefault("marks", [marks[done] for done in sorted(marks) if done])
        told["outside"] = time.perf_counter() - begin - sum(compute)
    return told


def workflow(checkpoint: str, seed: int) -> Mapping[str, Any]:
    """Give the workflow of one picture."""
    size = {"width": SIDE, "height": SIDE, "batch_size": 1}
    drawing = {"seed": seed, "steps": STEPS, "cfg": SCALE, "sampler_name": "euler"}
    wires = {
        "model": ["1", 0],
        "positive": ["2", 0],
        "negative": ["3", 0],
        "latent_image": ["4", 0],
    }
    rows: dict[str, tuple[str, Mapping[str, Any]]] = {
        "1": ("CheckpointLoaderSimple", {"ckpt_name": checkpoint}),
        "2": ("CLIPTextEncode", {"text": TEXT, "clip": ["1", 1]}),
        "3": ("CLIPTextEncode", {"text": "", "clip": ["1", 1]}),
        "4": ("EmptyLatentImage", size),
        "5": ("KSampler", {**drawing, **wires, "scheduler": "normal", "denoise": 1.0}),
        "6": ("VAEDecode", {"samples": ["5", 0], "vae": ["1", 2]}),
        "7": ("PreviewImage", {"images": ["6", 0]}),
    }
    return {id: {"class_type": kind, "inputs": given} for id, (kind, given) in rows.items()}


def drawn(pipe: Any, parts: Parts, **options: Any) -> Told:
    """Draw twice with a pipeline of diffusers' kind."""
    told = Told()
    for _ in range(2):
        marks, begin, parts.seconds = list[Moment](), time.perf_counter(), 0.0

        def tell(pipe: Any, step: int, at: Any, given: Told, marks=marks) -> Told:
            marks.append(now())
            return given

        pipe(
            TEXT,
            num_inference_steps=STEPS,
            guidance_scale=SCALE,
            height=SIDE,
            width=SIDE,
            callback_on_step_end=tell,
            **options,
        )
        told.setdefault("marks", marks)
        told["outside"] = time.perf_counter() - begin - parts.seconds
    return told


def diffusers(folder: Path) -> Told:
    """Diffusers with torch in bfloat16."""
    import torch
    from diffusers import StableDiffusionPipeline

    pipe = StableDiffusionPipeline.from_pretrained(folder / "sd15", torch_dtype=torch.bfloat16)
    pipe.set_progress_bar_config(disable=True)
    parts = Parts()
    parts.watch(pipe.unet, "forward")
    parts.watch(pipe.text_encoder, "forward")
    parts.watch(pipe.vae, "decode")
    return drawn(pipe, parts)


def optimum(folder: Path) -> Told:
    """optimum-intel, with fixed shapes."""
    import torch  # noqa: F401  optimum-intel imports it too late otherwise
    from optimum.intel import OVStableDiffusionPipeline

    pipe = OVStableDiffusionPipeline.from_pretrained(folder / "optimum", compile=False)
    pipe.reshape(batch_size=1, height=SIDE, width=SIDE, num_images_per_prompt=1)
    pipe.compile()
    pipe.set_progress_bar_config(disable=True)
    parts = Parts()
    for holder in (pipe.unet, pipe.text_encoder, pipe.vae_decoder):
        parts.watch(holder, "forward")
    return drawn(pipe, parts)


def genai(folder: Path) -> Told:
    """openvino-genai on optimum-intel's IR, with fixed shapes."""
    import openvino_genai

    pipe = openvino_genai.Text2ImagePipeline(str(folder / "optimum"))
    pipe.reshape(1, SIDE, SIDE, SCALE)
    pipe.compile("CPU")
    told = Told()
    for _ in range(2):
        marks, begin = list[Moment](), time.perf_counter()

        def tell(step: int, steps: int, latent: Any, marks=marks) -> bool:
            marks.append(now())
            return False

        given = {"num_inference_steps": STEPS, "guidance_scale": SCALE, "callback": tell}
        pipe.generate(TEXT, height=SIDE, width=SIDE, **given)
        told.setdefault("marks", marks)
        spent = time.perf_counter() - begin
        metrics = pipe.get_performance_metrics()
        models = metrics.get_inference_duration() / 1e3
        told["outside"] = spent - models
    return told


PROGRAMS: Mapping[str, Callable[[Path], Told]] = {
    "vinode": vinode,
    "optimum-intel": optimum,
    "openvino-genai": genai,
    "diffusers, torch bf16": diffusers,
}


def main() -> None:
    """Run one program, and print what was measured."""
    name, folder, started = sys.argv[1:4]
    told = PROGRAMS[name](Path(folder))
    marks = told.pop("marks")
    told["start"], told["start_cpu"] = marks[0][0] - float(started), marks[0][1]
    pairs = list(itertools.pairwise(marks))
    told["steps"] = [after[0] - before[0] for before, after in pairs]
    told["steps_cpu"] = [after[1] - before[1] for before, after in pairs]
    used = psutil.Process().memory_info()
    told["peak"] = getattr(used, "peak_wset", 0) or _most_linux()
    print(json.dumps(told))


def _most_linux() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
