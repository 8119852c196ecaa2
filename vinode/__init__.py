"""The one door for node authors: everything a pack imports comes from here."""

import sys

# OpenVINO's Python package tells its maker of each import through this one, unless the user has
# opted out. vinode makes no connection that nobody asked for; without it OpenVINO goes on as well.
if "openvino_telemetry" not in sys.modules:
    sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]

from vinode.graph.context import Blocked, Context, Expansion, Folders, Lazy, Subgraph
from vinode.graph.diffusion import (
    Clip,
    Conditioning,
    DiffusionModel,
    Latent,
    NoiseSchedule,
    Prompt,
    Sampler,
    Sigmas,
    Vae,
)
from vinode.graph.errors import Cancelled, Fault, NodeError
from vinode.graph.kinds import Kind
from vinode.graph.node import node
from vinode.graph.ports import Choices, Range, Seed, Text
from vinode.graph.values import Boxes, Detector, Image, Mask, ModelPart, PartUse

__version__ = "0.1.0"

__all__ = [
    "Blocked",
    "Boxes",
    "Cancelled",
    "Choices",
    "Clip",
    "Conditioning",
    "Context",
    "Detector",
    "DiffusionModel",
    "Expansion",
    "Fault",
    "Folders",
    "Image",
    "Kind",
    "Latent",
    "Lazy",
    "Mask",
    "ModelPart",
    "NodeError",
    "NoiseSchedule",
    "PartUse",
    "Prompt",
    "Range",
    "Sampler",
    "Seed",
    "Sigmas",
    "Subgraph",
    "Text",
    "Vae",
    "node",
]
