"""The denoising model as `guidance` calls it: on the node's device, in the request's own memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vinode.graph.context import Context, OpenModel
from vinode.graph.diffusion import DiffusionModel, time_waves
from vinode.nodes.algorithms.sampling.arrays import Floats


@dataclass(frozen=True, slots=True)
class Calls:
    """How the model is called for a latent and its prompts.

    rows     of one call: all pictures times all prompts, or 1
    samples  latents that it is given: with several prompts, what comes before the prompt runs once
    count    calls that one look at the latent takes
    """

    rows: int
    samples: int
    count: int


def calls_of(batch: int, prompts: int, apart: bool) -> Calls:
    """Give one call for all, or one for each picture and prompt.

    Apart is what an NPU does better: it compiles for a batch of 1 in half the time and in 30 % less
    memory, and by its compiler's own estimate two such calls are faster than one of two. On a CPU
    the answers are the same to the bit.
    """
    rows = batch * prompts
    return Calls(1, 1, rows) if apart else Calls(rows, batch, 1)


def shapes_of(
    model: DiffusionModel, calls: Calls, height: int, width: int, tokens: int
) -> Mapping[str, tuple[int, ...]]:
    """Give the shapes that the model is compiled for; height and width in cells."""
    return {
        "sample": (calls.samples, model.in_channels, height, width),
        "time": (model.time_width,),
        "context": (calls.rows, tokens, model.context_width),
    }


@dataclass(frozen=True, slots=True, eq=False)
class Unet:
    """Runs the model. Others may run it between two looks: it is held for one look at a time."""

    context: Context
    model: DiffusionModel
    apart: bool

    def __call__(
        self, samples: Floats, timestep: float, contexts: Sequence[Floats]
    ) -> list[Floats]:
        """Predict for each context (B, T, D) on the same samples (B, C, h, w)."""
        calls = calls_of(len(samples), len(contexts), self.apart)
        height, width = samples.shape[2:]
        shapes = shapes_of(self.model, calls, height, width, contexts[0].shape[1])
        shared = calls.samples < calls.rows
        with self.context.open(self.model.unet, shapes, shared) as opened:
            opened.inputs["time"][...] = time_waves(timestep, self.model.time_width)
            if self.apart:
                return [self._one_by_one(opened, samples, prompt) for prompt in contexts]
            opened.inputs["sample"][...] = samples
            opened.inputs["context"][...] = np.concatenate(contexts)
            opened.run()
            answer = opened.views()["prediction"].astype(np.float32)
            return list(np.split(answer, len(contexts)))

    def _one_by_one(self, opened: OpenModel, samples: Floats, prompt: Floats) -> Floats:
        answers: list[Floats] = []
        for sample, tokens in zip(samples, prompt, strict=True):
            opened.inputs["sample"][0] = sample
            opened.inputs["context"][0] = tokens
            opened.run()
            answers.append(opened.views()["prediction"].astype(np.float32))
        return np.concatenate(answers)
