"""A part of a checkpoint -> IR, traced with torch; runs in a process of its own."""

# torch, diffusers and transformers are in no environment that is checked.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vinode.converters import ir
from vinode.converters.stable_diffusion.family import time_width
from vinode.converters.stable_diffusion.found import PartSource
from vinode.converters.stable_diffusion.weights import read_weights
from vinode.graph.diffusion import time_waves
from vinode.graph.errors import Fault, ModelError

if TYPE_CHECKING:  # for its types only: see below
    import openvino as ov

TOKENS_FILE, REFERENCE = "tokens.npy", "reference.npz"
# Odd, so that the UNet's upsampling is traced that takes its size from the other side: only it
# gives latents of any size. Small, since tracing runs the model.
CELLS = 13
TIMESTEP = 20.0  # small: there a foreign IR, whose table is rounded to float16, is right as well


def convert(source: PartSource, folder: Path, tell: Callable[[str], None]) -> None:
    """Write model.xml, its weights, and what torch answers (reference.npz), into a folder."""
    import torch

    with torch.no_grad():
        _convert(source, folder, tell)


def _convert(source: PartSource, folder: Path, tell: Callable[[str], None]) -> None:
    import torch

    from vinode.converters.stable_diffusion import modules

    logging.getLogger("nncf").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")  # of the tracer: sizes that it takes for constants are none
    tell("load")
    weights = read_weights(source)
    if source.part == "text_encoder":
        table = weights["embeddings.token_embedding.weight"]
        np.save(folder / TOKENS_FILE, table.half().numpy())
    module = modules.build(source, weights)
    del weights
    given = example(source)
    tell("reference")
    modules.compute_in_float(module)
    answers = module(*(torch.from_numpy(array) for array in given.values()))
    answers = answers if isinstance(answers, tuple) else (answers,)
    kept = {name: answer.numpy() for name, answer in zip(outputs(source), answers, strict=True)}
    save_reference(folder, given, kept)
    del answers, kept
    tell("trace")
    modules.halve(module)
    modules.compute_in_float(module)
    model = _traced(source, module, given)
    del module
    tell("write")
    write(model, folder / "model.xml")


def _traced(source: PartSource, module: Any, given: Mapping[str, NDArray[Any]]) -> ov.Model:
    import openvino as ov
    import torch

    tensors = {name: torch.from_numpy(array) for name, array in given.items()}
    shapes = {name: ov.PartialShape(list(shape)) for name, shape in inputs(source).items()}
    model = ov.convert_model(module, example_input=tensors, input=shapes)
    for port, name in zip(model.inputs, shapes, strict=True):
        port.get_tensor().set_names({name})
    for port, name in zip(model.outputs, outputs(source), strict=True):
        port.get_tensor().set_names({name})
    return model


def save_reference(
    folder: Path, given: Mapping[str, NDArray[Any]], answers: Mapping[str, NDArray[Any]]
) -> None:
    """Keep an input and what the source answers to it, for the comparison."""
    named: dict[str, Any] = {f"in:{name}": array for name, array in given.items()}
    named |= answers
    np.savez(folder / REFERENCE, **named)


def write(model: ov.Model, xml: Path) -> None:
    """Write IR as it is: its weights are float16 already, and what is not must stay exact."""
    import openvino as ov

    # Compiled, an operation may take over the names of those it is fused with; then a port has
    # several, and nobody knows which one is meant.
    ends = {result.input_value(0).get_node().get_friendly_name() for result in model.get_results()}
    for node in model.get_ops():
        kept = node.get_type_name() in ("Parameter", "Result") or node.get_friendly_name() in ends
        if not kept:
            for port in node.outputs():
                port.get_tensor().set_names(set())
    try:
        ov.save_model(model, xml, compress_to_fp16=False)
    except RuntimeError as error:
        fault = Fault(str(xml), "the IR cannot be written", ir.last_line(error), code="model-disk")
        raise ModelError(fault) from error


def inputs(source: PartSource) -> Mapping[str, tuple[int, ...]]:
    """Name a part's inputs, with their shapes; -1 is any size."""
    config = source.config
    if source.part == "text_encoder":
        return {"embeddings": (-1, 77, int(config["hidden_size"]))}
    if source.part == "unet":
        sample = (-1, int(config["in_channels"]), -1, -1)
        context = (-1, -1, int(config["cross_attention_dim"]))
        return {"sample": sample, "time": (time_width(config),), "context": context}
    if source.part == "vae_decoder":
        return {"latent": (-1, int(config["latent_channels"]), -1, -1)}
    return {"image": (-1, -1, -1, 3)}


def outputs(source: PartSource) -> tuple[str, ...]:
    """Name a part's outputs, in order."""
    if source.part == "text_encoder":
        layers = int(source.config["num_hidden_layers"])
        return tuple(f"layer_{number}" for number in range(1, layers + 1))
    return {"unet": ("prediction",), "vae_decoder": ("image",), "vae_encoder": ("latent",)}[
        source.part
    ]


def example(source: PartSource) -> dict[str, NDArray[np.float32]]:
    """Make the input that a part is traced and checked with, always the same."""
    random = np.random.default_rng(0)
    made: dict[str, NDArray[np.float32]] = {}
    for name, shape in inputs(source).items():
        free = {"image": 8 * CELLS, "context": 77}.get(name, CELLS)
        sizes = [2, *(free if size < 0 else size for size in shape[1:])]
        made[name] = random.standard_normal(sizes, np.float32)
    if "image" in made:
        made["image"] = random.random(made["image"].shape, np.float32)
    if "time" in made:
        made["time"] = time_waves(TIMESTEP, time_width(source.config))
    return made
