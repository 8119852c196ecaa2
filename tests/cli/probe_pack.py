"""A model with a softmax in its middle, a pack that runs it, and a workflow of both."""

# OpenVINO's stubs leave half of each operation untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportGeneralTypeIssues=false

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
from openvino import opset13 as op

SIM = "NPUSIM_CPU"
SOFTMAX = "__module.head/aten::softmax/Softmax"
WIDTH = 64  # of the model's input and of all within it: 256 bytes in float32

PACK = '''
"""Runs the model that stands beside this file."""
from pathlib import Path
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from vinode.graph.context import Context
from vinode.graph.kinds import Kind
from vinode.graph.node import node
from vinode.graph.values import Detector, ModelPart

PART = ModelPart("probe", Path(__file__).parent / "probe.xml", "0" * 16, 64)


@dataclass(frozen=True)
class Model:
    """A handle as a diffusion model's."""

    kind: ClassVar[Kind]


Model.kind = Kind("MODEL", "a handle", python=Model, is_model=True)


class Handles(NamedTuple):
    """The same model as two kinds."""

    detector: Detector
    model: Model


@node("ProbeModel", category="test")
def probe_model() -> Handles:
    """Give the model."""
    return Handles(Detector(PART, "probe", ()), Model())


@node("Probe", category="test", output=True)
def probe(
    detector: Detector, context: Context, width: int = 64, batch_size: int = 1
) -> float:
    """Run it once."""
    return float(context.infer(PART, {"x": np.ones((batch_size, 64), np.float32)})["y"].sum())


@node("ProbeUnet", category="test", output=True)
def probe_unet(model: Model, context: Context) -> float:
    """Run it once, as a sampler would."""
    return float(context.infer(PART, {"x": np.ones((1, 64), np.float32)})["y"].sum())


@node("Number", category="test")
def number(value: int = 500) -> int:
    """Give a number."""
    return value
'''

WORKFLOW: dict[str, Any] = {
    "1": {"class_type": "ProbeModel", "inputs": {}},
    "2": {"class_type": "Number", "inputs": {"value": 500}},
    "3": {"class_type": "Probe", "inputs": {"detector": ["1", 0], "width": ["2", 0]}},
}


def save_probe(folder: Path) -> None:
    """Write the model, (B, 64) to (B, 64): product, softmax, product; its names are torch's."""
    random = np.random.default_rng(0)
    x = op.parameter([-1, WIDTH], np.float32, name="x")
    x.output(0).get_tensor().set_names({"x"})
    first = op.matmul(x, op.constant(_weights(random)), False, False)
    first.set_friendly_name("__module.body/aten::linear/MatMul")
    middle = op.softmax(first, -1)
    middle.set_friendly_name(SOFTMAX)
    last = op.matmul(middle, op.constant(_weights(random)), False, False)
    last.set_friendly_name("__module.tail/aten::linear/MatMul")
    last.output(0).get_tensor().set_names({"y"})
    path = folder / "probe.xml"
    ov.save_model(ov.Model([last], [x], "probe"), path, compress_to_fp16=False)


def _weights(random: np.random.Generator) -> np.ndarray[Any, Any]:
    return random.standard_normal((WIDTH, WIDTH)).astype(np.float32)


def prepare(folder: Path, device: str = "", **meta: object) -> list[str]:
    """Write model, pack and workflow; gives the words that run it."""
    pack = folder / "packs"
    pack.mkdir()
    save_probe(pack)
    (pack / "probe_pack.py").write_text(PACK, encoding="utf-8")
    own = {**meta, **({"device": device} if device else {})}
    write(folder / "w.json", {**WORKFLOW, "3": {**WORKFLOW["3"], "_meta": own}})
    return [str(folder / "w.json"), "--nodes", str(pack), "--models", str(folder / "models")]


def write(path: Path, workflow: object) -> str:
    """Write a workflow and give its path."""
    path.write_text(json.dumps({"vinode": 1, "prompt": workflow}), encoding="utf-8")
    return str(path)


def simulate(**fields: object) -> list[str]:
    """Give the words that simulate a device."""
    return ["--simulate", json.dumps(fields)]
