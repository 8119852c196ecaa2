"""Is what a device computes right? Its output against the CPU's in f32, on a fixed input."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vinode.graph.whole_file import write_whole

# Half precision gives 40 dB and more on sound models, int8 about 25; below this it shows.
MIN_SNR_DB = 20.0
# What counts as the signal where the CPU gives zeros alone: half precision is not to fail there.
_SILENCE = 1e-3
_SMALLEST = 8  # pixels: what is smaller is no picture

FixedPort: TypeAlias = tuple[str, tuple[int, ...], np.dtype[Any]]  # name, shape, dtype


@dataclass(frozen=True, slots=True)
class Rightness:
    """How close a device's answer is to the CPU's.

    snr_db  signal to noise ratio of the worst output; inf where they are equal; -inf
            where the answer is NaN, infinite or of another shape
    """

    snr_db: float
    device: str
    driver: str
    openvino: str
    date: str

    @property
    def problem(self) -> str:
        """Say what is wrong with the answer, or "" where it is right."""
        if self.snr_db >= MIN_SNR_DB:
            return ""
        if self.snr_db == -math.inf:
            return "its answer has NaN, infinity or another shape where the CPU's has numbers"
        far = f"its answer is {self.snr_db:.0f} dB from the CPU's"
        return f"{far}; at least {MIN_SNR_DB:.0f} dB are right"


def snr_db(answer: NDArray[Any], wanted: NDArray[Any]) -> float:
    """Give 10·log10(Σ wanted² / Σ (answer − wanted)²) in dB, any dtype; -inf where shapes differ.

    Where the wanted value is itself NaN or infinite there is nothing to compare with.
    """
    if answer.shape != wanted.shape:
        return -math.inf
    known = np.isfinite(wanted)
    right = wanted[known].astype(np.float64)
    noise = answer[known].astype(np.float64) - right
    if not np.isfinite(noise).all():
        return -math.inf
    wrong, signal = float((noise**2).sum()), float((right**2).sum())
    if wrong == 0:
        return math.inf
    return 10 * math.log10((signal or _SILENCE**2 * right.size) / wrong)


def fixed_inputs(ports: Sequence[FixedPort]) -> dict[str, NDArray[Any]]:
    """Make the same noise for a model each time.

    Floats are standard normal, whole numbers 0..255 for u8 and 0..1 otherwise, which are valid
    pixels, token ids and masks.
    """
    random = np.random.default_rng(20)
    made: dict[str, NDArray[Any]] = {}
    for name, shape, dtype in ports:
        if dtype.kind == "f":
            made[name] = random.standard_normal(shape).astype(dtype)
        else:
            made[name] = random.integers(0, 256 if dtype == np.uint8 else 2, shape).astype(dtype)
    return made


def trials(ports: Sequence[FixedPort]) -> list[dict[str, NDArray[Any]]]:
    """Give the inputs to compare on: noise, and a picture where an input takes one.

    A model that finds things finds none in noise: its answer is next to nothing there, and half
    precision alone is far from it. U²-Net gives 0.0004 of 1, which bfloat16 misses by more.
    """
    noise = fixed_inputs(ports)
    pictures = {
        name: scene(shape, axes).astype(dtype)
        for name, shape, dtype in ports
        if (axes := _picture_axes(shape, dtype)) is not None
    }
    for name, picture in pictures.items():
        if picture.dtype.kind == "f":
            pictures[name] = (picture / 127.5 - 1).astype(picture.dtype)
    return [noise, {**noise, **pictures}] if pictures else [noise]


def _picture_axes(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[int, int] | None:
    """Give the axes of height and width, where it is a batch of grey or RGB pictures."""
    if len(shape) != 4 or (dtype.kind != "f" and dtype != np.uint8):
        return None
    for channels, axes in ((1, (2, 3)), (3, (1, 2))):
        if shape[channels] in (1, 3) and min(shape[axes[0]], shape[axes[1]]) >= _SMALLEST:
            return axes
    return None


def scene(shape: tuple[int, ...], axes: tuple[int, int]) -> NDArray[np.float64]:
    """Paint a bright disc before a slope: something to find, with an edge and smooth parts.

    shape, axes  of the array, and which of its axes are height and width
    returns      0..255
    """
    (channels,) = {1, 2, 3} - set(axes)
    y, x, channel = (_ramp(shape, axis) for axis in (*axes, channels))
    painted = 40 + 60 * x / shape[axes[1]] + 50 * y / shape[axes[0]] + 15 * channel
    far = (x / shape[axes[1]] - 0.5) ** 2 + (y / shape[axes[0]] - 0.45) ** 2
    disc = 230 - 40 * y / shape[axes[0]] - 20 * channel
    np.copyto(painted, disc, where=far < 0.25**2)
    return painted


def _ramp(shape: tuple[int, ...], axis: int) -> NDArray[np.float64]:
    """Give 0, 1, 2, ... along an axis."""
    ramp = np.arange(shape[axis], dtype=np.float64)
    along = [1] * len(shape)
    along[axis] = -1
    return np.broadcast_to(ramp.reshape(along), shape)


def worst(
    answers: Sequence[Mapping[str, NDArray[Any]]], wanted: Sequence[Mapping[str, NDArray[Any]]]
) -> float:
    """Give the lowest SNR in dB over all outputs, each over all trials: powers are added."""
    pairs = list(zip(answers, wanted, strict=True))
    for name in wanted[0]:
        if any(answer[name].shape != right[name].shape for answer, right in pairs):
            return -math.inf
    return min(snr_db(_joined(answers, name), _joined(wanted, name)) for name in wanted[0])


def _joined(trials: Sequence[Mapping[str, NDArray[Any]]], name: str) -> NDArray[Any]:
    return np.concatenate([trial[name].ravel() for trial in trials])


class Checks:
    """Results of the comparison, a file a model and device, kept beside the blobs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, key: str) -> Rightness | None:
        """Give what an earlier comparison found for this key."""
        try:
            noted = json.loads((self.folder / f"{key}.check.json").read_text(encoding="utf-8"))
            noted["snr_db"] = float(noted["snr_db"])
            found = Rightness(**noted)
            return None if math.isnan(found.snr_db) else found
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def keep(self, key: str, found: Rightness) -> None:
        """Note a comparison, whole or not at all; where the disk refuses, it is made again."""
        # JSON has no infinity: the figure is kept as text.
        noted = {**asdict(found), "snr_db": str(found.snr_db)}
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self.folder / f"{key}.check.json", json.dumps(noted, indent=1).encode())


def now() -> str:
    """Give the time in UTC as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")
