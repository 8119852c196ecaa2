"""What was found in a file or folder: its parts, where their weights are, and how they are used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from vinode.converters.stable_diffusion.family import Family, Part
from vinode.graph.diffusion import NoiseSchedule, Prediction

Layout: TypeAlias = Literal["original", "diffusers", "openvino", "ready"]

Config: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PartSource:
    """Where a part's weights are.

    layout  names of the tensors: "original" as the models were published, "diffusers" as there
            (and in transformers); "openvino": optimum-intel's IR; "ready": our own IR and record
    files   that it is made of, the first is the largest; all in one folder. Of "ready" its folder
    prefix  of its tensors' names in the file
    config  of the model's class in diffusers or transformers, as JSON
    bytes   about as many as the part's IR will have
    """

    part: Part
    layout: Layout
    files: tuple[Path, ...]
    prefix: str
    config: Config = field(hash=False)
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """A checkpoint, VAE, text encoder or UNet as it lies on the disk.

    scale            pixels a latent cell is wide and high
    distilled_steps  0, or of a latent consistency model
    """

    path: Path
    family: Family
    parts: Mapping[Part, PartSource] = field(hash=False)
    prediction: Prediction = "epsilon"
    schedule: NoiseSchedule = field(default_factory=NoiseSchedule)
    pad: int = 49407
    scale: int = 8
    latent_factor: float = 0.18215
    distilled_steps: int = 0
