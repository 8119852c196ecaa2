"""Measure a text-to-image model: does what it draws look like its caption's own glyph?

`python -m tools.evaluate_text_to_image FOLDER --sheets DIR` draws with diffusers in float32. With
`--back-end module:function` the same figures are measured through another engine: the function is
given the folder and returns a `BackEnd`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tools.train_text_to_image.captions import LOOKS, Look, is_held_out, plain_names, prompt
from tools.train_text_to_image.glyphs import (
    DEFAULT_FONT,
    Glyph,
    compose,
    contact_sheet,
    load_glyphs,
    shrink,
)

Images = NDArray[np.float32]
CAPTIONS, PAIRS = 100, 60
FIRST_SEEDS = (1000, 2000)  # of the two sets: picture k of a set is drawn from its first seed + k
SAMPLES_AT_ONCE = 50
FREE_PROMPTS = (
    *("apple", "blue apple", "blue apple on yellow", "car", "green car on pink", "cat"),
    *("cat on red", "dog", "house", "purple house on green", "star", "heart"),
    *("red heart on blue", "tree", "flower", "pizza", "rocket", "fish"),
    *("orange fish on blue", "smiley", "crown on purple", "pink frog on black"),
    *("moon on black", "guitar", "butterfly"),
)


class BackEnd(Protocol):
    """An engine that runs the model of one folder."""

    def draw(self, prompts: Sequence[str], seeds: Sequence[int]) -> Images:
        """Draw one picture a prompt: (n, 3, 64, 64) float32 0..1, noise from that seed."""
        ...

    def redraw(self, images: Images) -> Images:
        """Send pictures (n, 3, 64, 64) float32 0..1 through the VAE and back."""
        ...


class Diffusers:
    """The reference: diffusers on the CPU, float32."""

    def __init__(self, folder: Path, steps: int = 25, guidance: float = 4.0) -> None:
        import torch
        from diffusers import StableDiffusionPipeline

        self._steps, self._guidance = steps, guidance
        self._pipe = StableDiffusionPipeline.from_pretrained(folder).to(torch.float32)
        self._pipe.set_progress_bar_config(disable=True)

    def draw(self, prompts: Sequence[str], seeds: Sequence[int]) -> Images:
        """See BackEnd."""
        import torch

        noise = [torch.Generator().manual_seed(seed) for seed in seeds]
        drawn = self._pipe(
            list(prompts),
            generator=noise,
            num_inference_steps=self._steps,
            guidance_scale=self._guidance,
            output_type="np",
        )
        return np.ascontiguousarray(drawn.images.transpose(0, 3, 1, 2), np.float32)

    def redraw(self, images: Images) -> Images:
        """See BackEnd."""
        import torch

        with torch.no_grad():
            z = self._pipe.vae.encode(torch.from_numpy(images) * 2 - 1).latent_dist.mode()
            return ((self._pipe.vae.decode(z).sample + 1) / 2).clamp(0, 1).numpy()


@dataclass(frozen=True, slots=True)
class Found:
    """Of how many pictures the own glyph is the nearest, or among the five nearest."""

    top1_16: int
    top5_16: int
    top1_32: int
    top5_32: int


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured; each tuple has one entry a seed set."""

    glyphs: int
    captions: int
    found: tuple[Found, ...]
    unseen: int
    unseen_one_colour: tuple[int, ...]
    unseen_two_colours: tuple[int, ...]
    psnr_db: float

    def failures(self) -> list[str]:
        """Name the bars that are missed."""
        least5 = min(min(f.top5_16, f.top5_32) for f in self.found)
        least1 = min(min(f.top1_16, f.top1_32) for f in self.found)
        checks = (
            ("top 5", least5 / self.captions, 0.97),
            ("top 1", least1 / self.captions, 0.92),
            ("unseen colour pairs", min(self.unseen_one_colour) / self.unseen, 0.75),
            ("PSNR", self.psnr_db, 29.0),
        )
        return [f"{name}: {got:.3g}, bar {bar:g}" for name, got, bar in checks if got < bar]


def ranks(drawn: Images, references: Images, own: Sequence[int], side: int) -> NDArray[np.int64]:
    """Give for each picture how many references are nearer than its own, seen at side × side.

    drawn       (n, 3, 64, 64) float32 0..1
    references  (m, 3, 64, 64) float32 0..1
    own         n rows of `references`
    returns     (n,) int64, 0 where the own is the nearest
    """
    seen = shrink(references, side).reshape(len(references), -1)
    places = []
    for picture, row in zip(shrink(drawn, side).reshape(len(drawn), -1), own, strict=True):
        distance = ((seen - picture) ** 2).sum(1)
        places.append(int((distance < distance[row]).sum()))
    return np.array(places, np.int64)


def evaluate(back_end: BackEnd, font: Path = DEFAULT_FONT, sheets: Path | None = None) -> Figures:
    """Draw seen captions, and colourings never shown in training; look each up among the glyphs."""
    glyphs, pictures = load_glyphs(font)
    plain, coloured = compose(pictures), _Coloured(pictures)
    order = np.random.RandomState(7).permutation(len(glyphs))
    own = [int(i) for i in order[:CAPTIONS]]
    texts = [glyphs[i].names[0] for i in own]
    one = _held_out(glyphs, lambda look: bool(look.background) != bool(look.tint))
    two = _held_out(glyphs, lambda look: bool(look.background) and bool(look.tint))
    found: list[Found] = []
    unseen: tuple[list[int], list[int]] = ([], [])
    for first in FIRST_SEEDS:
        drawn = _draw(back_end, texts, first)
        _pairs_sheet(plain[own], drawn, sheets, f"seen-{first}.png")
        at16, at32 = (ranks(drawn, plain, own, side) for side in (16, 32))
        counts = [int((at < k).sum()) for at in (at16, at32) for k in (1, 5)]
        found.append(Found(*counts))
        for pairs, hits, name in ((one, unseen[0], "one"), (two, unseen[1], "two")):
            drawn = _draw(back_end, [prompt(glyphs[i], look) for look, i in pairs], first)
            hits.append(coloured.recognised(drawn, pairs))
            truth = [compose(pictures[i : i + 1], *look.colours)[0] for look, i in pairs]
            _pairs_sheet(np.stack(truth), drawn, sheets, f"unseen-{name}-{first}.png")
        print(
            f"seeds from {first}: {found[-1]}, unseen {unseen[0][-1]}, {unseen[1][-1]}", flush=True
        )
    if sheets:
        free = _draw(back_end, FREE_PROMPTS * 4, 5000)
        contact_sheet(free, sheets / "free.png", len(FREE_PROMPTS))
    again = np.concatenate([back_end.redraw(plain[k : k + 50]) for k in range(0, len(plain), 50)])
    psnr = float((-10 * np.log10(((plain - again) ** 2).mean((1, 2, 3)))).mean())
    return Figures(
        len(glyphs), CAPTIONS, tuple(found), PAIRS, tuple(unseen[0]), tuple(unseen[1]), psnr
    )


def _held_out(glyphs: Sequence[Glyph], wanted: Callable[[Look], bool]) -> list[tuple[Look, int]]:
    """Pick pairs of look and glyph, of those that training never shows."""
    pairs = [
        (look, i)
        for look in LOOKS
        if wanted(look)
        for i, glyph in enumerate(glyphs)
        if is_held_out(glyph.char, look) and (not look.tint or plain_names(glyph.names))
    ]
    return [pairs[k] for k in np.random.RandomState(7).permutation(len(pairs))[:PAIRS]]


class _Coloured:
    """All glyphs in any look, at 32×32: backgrounds are added to what was shrunk once a tint."""

    def __init__(self, pictures: NDArray[np.uint8]) -> None:
        self._pictures = pictures
        self._shrunk: dict[str, tuple[Images, Images]] = {}

    def of(self, look: Look) -> Images:
        """Give the glyphs (n, 3, 32, 32) in a look."""
        background, tint = look.colours
        if look.tint not in self._shrunk:
            black, white = (shrink(compose(self._pictures, (v,) * 3, tint), 32) for v in (0, 255))
            self._shrunk[look.tint] = black, white - black
        drawn, clear = self._shrunk[look.tint]
        behind = np.array(background, np.float32).reshape(3, 1, 1) / np.float32(255)
        return drawn + clear * behind

    def recognised(self, drawn: Images, pairs: Sequence[tuple[Look, int]]) -> int:
        """Count pictures whose own glyph is in the top 5 among all glyphs so coloured."""
        places = [
            ranks(drawn[k : k + 1], self.of(look), [i], 32)[0] for k, (look, i) in enumerate(pairs)
        ]
        return int((np.array(places) < 5).sum())


def _draw(back_end: BackEnd, prompts: Sequence[str], first_seed: int) -> Images:
    parts = [
        back_end.draw(
            prompts[k : k + SAMPLES_AT_ONCE],
            range(first_seed + k, first_seed + min(k + SAMPLES_AT_ONCE, len(prompts))),
        )
        for k in range(0, len(prompts), SAMPLES_AT_ONCE)
    ]
    return np.concatenate(parts)


def _pairs_sheet(truth: Images, drawn: Images, sheets: Path | None, name: str) -> None:
    if sheets:
        sheets.mkdir(parents=True, exist_ok=True)
        both = np.stack([truth, drawn], 1).reshape(-1, *truth.shape[1:])
        contact_sheet(both, sheets / name, 20)


def main() -> int:
    """Read the command line, measure, print the figures; 1 where a bar is missed."""
    parser = argparse.ArgumentParser(prog="python -m tools.evaluate_text_to_image")
    parser.add_argument("folder", type=Path, help="the model, as diffusers saves it")
    parser.add_argument("--sheets", type=Path, help="folder for pictures of what was drawn")
    parser.add_argument("--font", type=Path, default=DEFAULT_FONT, help="NotoColorEmoji.ttf")
    parser.add_argument(
        "--back-end", default=f"{Diffusers.__module__}:{Diffusers.__name__}", help="module:function"
    )
    options = parser.parse_args()
    for path in (options.font, options.folder / "model_index.json"):
        if not path.is_file():
            print(f"{path}: no such file", file=sys.stderr)
            return 2
    module, _, function = options.back_end.partition(":")
    make: Callable[[Path], BackEnd] = (
        Diffusers if module == "__main__" else getattr(importlib.import_module(module), function)
    )
    figures = evaluate(make(options.folder), options.font, options.sheets)
    print(json.dumps(asdict(figures)))
    failures = figures.failures()
    print("\n".join(failures) or "every bar holds")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
