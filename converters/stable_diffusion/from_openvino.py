"""Optimum-intel's IR -> ours: the same operations, other inputs and outputs. No torch.

What its models take and give: input_ids -> last_hidden_state, hidden_states.N; sample, timestep
(whole), encoder_hidden_states -> out_sample; latent_sample -> sample; sample -> latent_parameters,
pictures (B, 3, H, W) -1..1.
"""

# OpenVINO's stubs leave half of each operation untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportGeneralTypeIssues=false, reportArgumentType=false

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinode.converters import ir
from vinode.converters.formats import refusal
from vinode.converters.stable_diffusion import openvino_text
from vinode.converters.stable_diffusion.family import time_width
from vinode.converters.stable_diffusion.found import PartSource
from vinode.converters.stable_diffusion.from_torch import (
    TIMESTEP,
    TOKENS_FILE,
    example,
    save_reference,
    write,
)
from vinode.graph.errors import ModelError

Arrays = Mapping[str, NDArray[Any]]


def convert(source: PartSource, folder: Path, tell: Callable[[str], None]) -> None:
    """Write model.xml, its weights, and what the source answers (reference.npz)."""
    core = ir.new_core()
    tell("load")
    model = ir.read(core, source.files[0])
    if source.part == "text_encoder":
        table = openvino_text.token_table(source, model)
        np.save(folder / TOKENS_FILE, table.astype(np.float16))
        ids = np.random.default_rng(1).integers(0, len(table), (2, 77))
        given: Arrays = {"embeddings": table[ids].astype(np.float32)}
        fed: Arrays = {"input_ids": ids}
    else:
        given = example(source)
        fed = _fed(source, given)
    tell("reference")
    answers = _answers(core, source, fed)
    tell("wrap")
    _WRAPS[source.part](source, model)
    model.validate_nodes_and_infer_types()
    save_reference(folder, given, answers)
    tell("write")
    write(model, folder / "model.xml")


def _fed(source: PartSource, given: Arrays) -> Arrays:
    if source.part == "unet":
        step = np.array([TIMESTEP], np.float32)
        return {
            "sample": given["sample"],
            "timestep": step,
            "encoder_hidden_states": given["context"],
        }
    if source.part == "vae_decoder":
        return {"latent_sample": given["latent"]}
    return {"sample": np.ascontiguousarray(given["image"].transpose(0, 3, 1, 2)) * 2 - 1}


def _answers(core: Any, source: PartSource, fed: Arrays) -> dict[str, NDArray[Any]]:
    """Run the source as it is, and name what it answers."""
    model = ir.read_as_it_is(core, source.files[0])
    compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    names = {name for port in compiled.inputs for name in port.get_names()}
    missing = sorted(names - fed.keys() - {"timestep_cond"})
    if missing or len(compiled.inputs) > len(fed) + ("timestep_cond" in names):
        raise _foreign(source, f"it takes {', '.join(sorted(names))}")
    ready: dict[str, Any] = {}
    for port in compiled.inputs:
        name = port.get_any_name()
        if name == "timestep_cond":
            ready[name] = np.zeros((2, port.partial_shape[1].get_length()), np.float32)
            continue
        array = fed[name].astype(port.get_element_type().to_dtype())
        ready[name] = array.reshape(()) if not len(port.partial_shape) else array
    given = compiled(ready)
    if source.part == "text_encoder":
        last = given["last_hidden_state"]
        return {f"layer_{openvino_text.layers_of(model)}": np.array(last)}
    if source.part == "unet":
        return {"prediction": np.array(given[0])}
    if source.part == "vae_decoder":
        return {"image": np.array(given[0]).transpose(0, 2, 3, 1) * 0.5 + 0.5}
    return {"latent": np.array(given[0])[:, : int(source.config["latent_channels"])]}


def _foreign(source: PartSource, what: str) -> ModelError:
    problem = f"this IR is not one that optimum-intel writes: {what}"
    return refusal(source.files[0], problem, "give the checkpoint that it was made from")


def _input(source: PartSource, model: Any, name: str) -> Any:
    for port in model.inputs:
        if name in port.get_names():
            return port.get_node()
    raise _foreign(source, f"it has no input {name}")


def _wrap_unet(source: PartSource, model: Any) -> None:
    import openvino as ov
    from openvino import opset13 as op

    _input(source, model, "encoder_hidden_states").output(0).get_tensor().set_names({"context"})
    _end(model, model.get_results()[0].input_value(0), "prediction")
    timestep = _input(source, model, "timestep")
    # The waves are given: in the precision of a device they would be those of another time.
    ours = op.parameter(ov.PartialShape([time_width(source.config)]), np.float32, name="time")
    ours.output(0).get_tensor().set_names({"time"})
    rows = op.unsqueeze(ours, op.constant(np.array([0])))
    for layer in _first_layers(source, timestep):
        layer.input(0).replace_source_output(rows.output(0))
    model.add_parameters([ours])
    model.remove_parameter(timestep)
    for port in list(model.inputs):
        if "timestep_cond" in port.get_names():
            width = port.partial_shape[1].get_length()
            _replace(port.get_node().output(0), op.constant(np.zeros((1, width), np.float32)))
            model.remove_parameter(port.get_node())


def _first_layers(source: PartSource, timestep: Any) -> list[Any]:
    """Find the layers that take the waves of a timestep: the first products behind it."""
    waiting, found, seen = [timestep], dict[str, Any](), set[str]()
    while waiting:
        for output in waiting.pop().outputs():
            for target in output.get_target_inputs():
                node = target.get_node()
                name = node.get_friendly_name()
                if node.get_type_name() == "MatMul":
                    found[name] = node
                elif name not in seen:
                    seen.add(name)
                    waiting.append(node)
    if not found:
        raise _foreign(source, "no layer takes its timestep")
    return list(found.values())


def _wrap_decoder(source: PartSource, model: Any) -> None:
    from openvino import opset13 as op

    _input(source, model, "latent_sample").output(0).get_tensor().set_names({"latent"})
    result = model.get_results()[0]
    half = op.constant(np.float32(0.5))
    rows = op.transpose(result.input_value(0), op.constant(np.array([0, 2, 3, 1])))
    picture = op.add(op.multiply(rows, half), half)
    _end(model, picture.output(0), "image")


def _wrap_encoder(source: PartSource, model: Any) -> None:
    import openvino as ov
    from openvino import opset13 as op

    sample = _input(source, model, "sample")
    image = op.parameter(ov.PartialShape([-1, -1, -1, 3]), np.float32, name="image")
    image.output(0).get_tensor().set_names({"image"})
    planes = op.transpose(image, op.constant(np.array([0, 3, 1, 2])))
    two, one = op.constant(np.float32(2)), op.constant(np.float32(1))
    scaled = op.subtract(op.multiply(planes, two), one)
    _replace(sample.output(0), scaled.output(0))
    model.remove_parameter(sample)
    model.add_parameters([image])
    channels = int(source.config["latent_channels"])
    ends = [op.constant(np.array([number])) for number in (0, channels, 1, 1)]
    mean = op.slice(model.get_results()[0].input_value(0), *ends)
    _end(model, mean.output(0), "latent")


def _end(model: Any, port: Any, name: str) -> None:
    """Make an operation's answer the only output of a model."""
    from openvino import opset13 as op

    for result in model.get_results():
        model.remove_result(result)
    result = op.result(port)
    result.output(0).get_tensor().set_names({name})
    model.add_results([result])


def _replace(old: Any, new: Any) -> None:
    for target in list(old.get_target_inputs()):
        target.replace_source_output(new)


_WRAPS: Mapping[str, Callable[[PartSource, Any], None]] = {
    "text_encoder": openvino_text.wrap,
    "unet": _wrap_unet,
    "vae_decoder": _wrap_decoder,
    "vae_encoder": _wrap_encoder,
}
