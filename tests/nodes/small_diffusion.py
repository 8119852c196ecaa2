"""Small real models of the diffusion kinds, made of OpenVINO operations with known answers."""

# OpenVINO's stubs leave half of each operation untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportGeneralTypeIssues=false

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
from openvino import opset13 as op

from vinode.graph.diffusion import Clip, DiffusionModel, NoiseSchedule, Prediction, Vae, time_waves
from vinode.graph.values import ModelPart

COLOURS = np.array([[1, 0, 0, 0.2], [0, 1, 0, 0.1], [0, 0, 1, -0.1]], np.float32)


def part(model: ov.Model, path: Path) -> ModelPart:
    """Save a model and give it as a part."""
    ov.save_model(model, path, compress_to_fp16=False)
    digest = hashlib.sha256(path.read_bytes() + path.with_suffix(".bin").read_bytes())
    size = path.with_suffix(".bin").stat().st_size
    return ModelPart(path.stem, path, digest.hexdigest(), size)


def vae(folder: Path, scale: int = 8, blur: int = 1) -> Vae:
    """Make an autoencoder: a cell becomes scale² equal pixels, and a cell is their mean.

    blur  cells (odd) that the decoder averages over, so that tiles see their edges
    """
    return Vae(
        part(_decoder(scale, blur), folder / "decoder.xml"),
        part(_encoder(scale), folder / "encoder.xml"),
        "sd1",
        scale=scale,
    )


def _decoder(scale: int, blur: int) -> ov.Model:
    latent = op.parameter([-1, 4, -1, -1], np.float32, name="latent")
    latent.output(0).set_names({"latent"})
    x: Any = latent
    if blur > 1:
        kernel = np.zeros((4, 4, blur, blur), np.float32)
        kernel[range(4), range(4)] = 1 / blur**2
        edge = op.constant(np.array([0, 0, blur // 2, blur // 2]))
        x = op.pad(x, edge, edge, "edge")
        x = op.convolution(x, op.constant(kernel), [1, 1], [0, 0], [0, 0], [1, 1])
    x = op.convolution(x, op.constant(COLOURS[..., None, None]), [1, 1], [0, 0], [0, 0], [1, 1])
    factors = op.constant(np.array([scale, scale], np.float32))
    x = op.interpolate(x, factors, "nearest", "scales", axes=op.constant(np.array([2, 3])))
    image = op.transpose(x, op.constant(np.array([0, 2, 3, 1])))
    image.output(0).set_names({"image"})
    return ov.Model([image], [latent], "decoder")


def _encoder(scale: int) -> ov.Model:
    image = op.parameter([-1, -1, -1, 3], np.float32, name="image")
    image.output(0).set_names({"image"})
    x: Any = op.transpose(image, op.constant(np.array([0, 3, 1, 2])))
    x = op.avg_pool(x, [scale, scale], [0, 0], [0, 0], [scale, scale], False)
    mix = np.zeros((4, 3, 1, 1), np.float32)
    mix[range(3), range(3)] = 1
    latent = op.convolution(x, op.constant(mix), [1, 1], [0, 0], [0, 0], [1, 1])
    latent.output(0).set_names({"latent"})
    return ov.Model([latent], [image], "encoder")


def gaussian_unet(
    folder: Path, prediction: Prediction = "epsilon", in_channels: int = 4
) -> DiffusionModel:
    """Make the exact denoiser of pictures that are N(mean, 1) in each cell, the mean from the text.

    For x = sqrt(a) x0 + sqrt(1 - a) e with x0 ~ N(m, 1), the best guess is
    e = sqrt(1 - a) (x - sqrt(a) m), since x ~ N(sqrt(a) m, 1); m is the context's mean.
    """
    schedule = NoiseSchedule()
    betas = np.linspace(schedule.beta_start**0.5, schedule.beta_end**0.5, schedule.steps) ** 2
    alphas = np.cumprod(1 - betas).astype(np.float32)
    sample = op.parameter([-1, in_channels, -1, -1], np.float32, name="sample")
    time = op.parameter([64], np.float32, name="time")
    context = op.parameter([-1, -1, 8], np.float32, name="context")
    for port in (sample, time, context):
        port.output(0).set_names({port.get_friendly_name()})
    row = _timestep(time, schedule.steps)
    a: Any = op.gather(op.constant(alphas), row, op.constant(0))
    root, rest = op.sqrt(a), op.sqrt(op.subtract(op.constant(np.float32(1)), a))
    mean = op.reduce_mean(context, op.constant(np.array([1, 2])), keep_dims=True)
    mean = op.unsqueeze(mean, op.constant(np.array([3])))
    four = op.slice(
        sample, *(op.constant(np.array([value])) for value in (0, 4, 1)), op.constant(np.array([1]))
    )
    noise = op.multiply(rest, op.subtract(four, op.multiply(root, mean)))
    answer: Any = noise
    if prediction == "v_prediction":  # sqrt(a) e - sqrt(1 - a) x0; x0 from x and e
        clean = op.divide(op.subtract(four, op.multiply(rest, noise)), root)
        answer = op.subtract(op.multiply(root, noise), op.multiply(rest, clean))
    answer.output(0).set_names({"prediction"})
    model = ov.Model([answer], [sample, time, context], "unet")
    return DiffusionModel(
        part(model, folder / "unet.xml"),
        "sd1",
        prediction,
        in_channels=in_channels,
        context_width=8,
        time_width=64,
    )


def _timestep(time: Any, steps: int) -> Any:
    """Find the timestep whose waves are nearest to those given, (1) int."""
    table = np.stack([time_waves(step, 64) for step in range(steps)])
    nearness = op.matmul(op.constant(table), time, False, False)
    _, row = op.topk(nearness, op.constant(np.int64(1)), 0, "max", "none").outputs()
    return row


def text_encoder(folder: Path, layers: int = 3, width: int = 8) -> Clip:
    """Make a text encoder whose layer n adds n times the mean of a token and those before it.

    Token t has the vector of `token_table`; layer_n gives embeddings + n * running means.
    """
    embeddings = op.parameter([-1, 77, width], np.float32, name="embeddings")
    embeddings.output(0).set_names({"embeddings"})
    before = np.tril(np.ones((77, 77), np.float32))
    means = op.matmul(op.constant(before / before.sum(1, keepdims=True)), embeddings, False, False)
    answers: list[Any] = []
    for layer in range(1, layers + 1):
        answer = op.add(embeddings, op.multiply(means, op.constant(np.float32(layer))))
        answer.output(0).set_names({f"layer_{layer}"})
        answers.append(answer)
    np.save(folder / "tokens.npy", token_table(width))
    model = part(ov.Model(answers, [embeddings], "text_encoder"), folder / "text_encoder.xml")
    return Clip(model, "sd1", folder / "tokens.npy", layers, width)


def token_table(width: int = 8) -> Any:
    """Give the vectors of all tokens of the small text encoder, (49408, width) float16."""
    rng = np.random.default_rng(3)
    return rng.standard_normal((49408, width)).astype(np.float16)
