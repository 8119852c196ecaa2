"""What a sampling tells before it runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vinode.graph.diffusion import Conditioning, DiffusionModel, Latent, Prompt
from vinode.graph.values import ModelPart
from vinode.nodes.algorithms.sampling.drawing import How, Order, uses

LEVELS = np.array([3, 1, 0], np.float32)


def told(tokens: int, negative: int, scale: float, apart: bool = False) -> tuple[int, ...]:
    """Give the shape of the context and, last, the calls, for a positive and a negative prompt."""
    yes, no = (
        Conditioning((Prompt(np.zeros((1, length, 8), np.float32)),))
        for length in (tokens, negative)
    )
    model = DiffusionModel(ModelPart("none", Path(), "", 0), "sd1", context_width=8)
    latent = Latent(np.zeros((1, 4, 8, 8), np.float32))
    (use,) = uses(Order(model, yes, no, latent, How("euler", LEVELS, 0, scale)), apart)
    return *use.shapes["context"], use.calls


@pytest.mark.parametrize(
    ("tokens", "negative", "scale", "apart", "expected"),
    [
        (77, 77, 2.0, False, (2, 77, 8, 2)),
        (154, 231, 2.0, False, (2, 462, 8, 2)),
        (77, 154, 2.0, True, (1, 154, 8, 4)),
        (154, 231, 1.0, False, (1, 154, 8, 2)),
    ],
)
def test_shapes_are_those_of_the_prompts_that_are_asked_for(
    tokens: int, negative: int, scale: float, apart: bool, expected: tuple[int, ...]
) -> None:
    """Prompts of one call have one length; at a scale of 1 the negative one has no say."""
    assert told(tokens, negative, scale, apart) == expected


def test_nothing_is_foretold_without_a_prompt() -> None:
    """The run refuses it."""
    model = DiffusionModel(ModelPart("none", Path(), "", 0), "sd1")
    latent = Latent(np.zeros((1, 4, 8, 8), np.float32))
    nothing = Conditioning(())
    how = How("euler", LEVELS, 0, 2.0)
    assert uses(Order(model, nothing, nothing, latent, how), False) == []
