"""Prompts encoded by a small text encoder whose answers are known, and mixed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file  # pyright: ignore[reportUnknownVariableType]

from tests.graph.engine import FOLDERS, Nodes, Ran
from tests.nodes.context import CallContext, folders_below
from tests.nodes.shelf import with_shelf
from tests.nodes.small_diffusion import text_encoder, token_table
from vinode.graph.diffusion import Clip, Conditioning, Prompt
from vinode.graph.errors import NodeError
from vinode.graph.node import call_hook
from vinode.graph.values import ModelPart
from vinode.nodes import text as text_nodes
from vinode.nodes.algorithms.clip_tokens import END, START, encode

F32 = NDArray[np.float32]
CPU = {"x": "CPU"}
TABLE = token_table().astype(np.float32)


@pytest.fixture
def clip(tmp_path: Path) -> Clip:
    """Give the small text encoder: 3 layers, 8 numbers a token."""
    return text_encoder(tmp_path)


def workflow(text: str, skip: int | None = None) -> Nodes:
    """Encode a text, with an earlier layer or not."""
    source = "clip" if skip is None else "skip"
    nodes: Nodes = {
        "clip": ("ShelfClip", {}),
        "x": ("CLIPTextEncode", {"text": text, "clip": [source, 0]}),
    }
    if skip is not None:
        layer = {"clip": ["clip", 0], "stop_at_clip_layer": skip}
        nodes = {**nodes, "skip": ("CLIPSetLastLayer", layer)}
    return nodes


def run(clip: Clip, text: str, skip: int | None = None) -> Ran:
    """Run the encoder on the CPU."""
    ran = with_shelf(text_nodes, clip=clip).run(workflow(text, skip), ["x"], devices=CPU)
    assert ran.outcome.status == "done", ran.outcome.faults
    return ran


def prompt_of(ran: Ran) -> Prompt:
    """Give the one prompt of node `x`."""
    value = ran.value("x")
    assert isinstance(value, Conditioning)
    (prompt,) = value.prompts
    return prompt


def encoded(tokens: list[int], layer: int = 3, pad: int = END) -> F32:
    """Do in NumPy what the small encoder does with a text of at most 75 tokens."""
    whole = [START, *tokens, END]
    vectors = TABLE[whole + [pad] * (77 - len(whole))]
    means = np.cumsum(vectors, 0) / np.arange(1, 78)[:, None]
    return np.asarray(vectors + layer * means, np.float32)


@pytest.mark.parametrize(("skip", "layer"), [(None, 3), (-1, 3), (-2, 2), (-3, 1), (-24, 3)])
def test_a_prompt_is_encoded(clip: Clip, skip: int | None, layer: int) -> None:
    """With the layer asked for; `pooled` is the last layer's state at the first end, always."""
    prompt = prompt_of(run(clip, "a photo of a cat", skip))
    tokens = encode("a photo of a cat")
    assert prompt.embeddings.shape == (1, 77, 8)
    np.testing.assert_allclose(prompt.embeddings[0], encoded(tokens, layer), atol=1e-4)
    np.testing.assert_allclose(prompt.options["pooled"], encoded(tokens)[[6]], atol=1e-4)


def test_a_long_prompt_is_encoded_in_chunks(clip: Clip, tmp_path: Path) -> None:
    """One after the other, each from its own start; the first gives `pooled`; SD 2 fills with 0."""
    prompt = prompt_of(run(Clip(clip.encoder, "sd2", clip.tokens, 3, 8, pad=0), "cat " * 80))
    assert prompt.embeddings.shape == (1, 154, 8)
    first, second = encoded([2368] * 75, pad=0), encoded([2368] * 5, pad=0)
    np.testing.assert_allclose(prompt.embeddings[0], np.concatenate([first, second]), atol=1e-4)
    np.testing.assert_allclose(prompt.options["pooled"], first[[76]], atol=1e-4)


def test_weights_move_a_token_away_from_no_text(clip: Clip) -> None:
    """Each by its own weight; tokens without one are exactly as they were; `pooled` has none."""
    weighted = prompt_of(run(clip, "a (red:1.5) fox"))
    plain = prompt_of(run(clip, "a red fox"))
    nothing = prompt_of(run(clip, "")).embeddings
    expected = plain.embeddings.copy()
    expected[0, 2] = nothing[0, 2] + 1.5 * (plain.embeddings[0, 2] - nothing[0, 2])
    np.testing.assert_allclose(weighted.embeddings, expected, atol=1e-5)
    same = np.delete(weighted.embeddings, 2, 1) == np.delete(plain.embeddings, 2, 1)
    assert same.all()
    assert (weighted.options["pooled"] == plain.options["pooled"]).all()


def test_a_textual_inversion_is_used(clip: Clip, tmp_path: Path) -> None:
    """Its vectors stand where tokens do; a missing one is told under the node."""
    vectors = np.arange(16, dtype=np.float32).reshape(2, 8) / 16
    save_file({"emb_params": vectors}, tmp_path / "style.safetensors")
    with_folder = Clip(clip.encoder, "sd1", clip.tokens, 3, 8, embeddings=(tmp_path,))
    ran = run(with_folder, "embedding:style cat embedding:gone")
    rows = np.concatenate([TABLE[[START]], vectors, TABLE[[2368] + [END] * 73]])
    means = np.cumsum(rows, 0) / np.arange(1, 78)[:, None]
    np.testing.assert_allclose(prompt_of(ran).embeddings[0], rows + 3 * means, atol=1e-4)
    (note,) = ran.finished("x").shown["notes"]
    assert str(note).startswith("embedding:gone is ignored: there is no such safetensors file")


@pytest.mark.parametrize(
    ("text", "calls"), [("", 1), ("cat " * 80, 2), ("(cat:2) " * 80, 3), ("(cat:1)", 1)]
)
def test_what_will_run_is_told_before(clip: Clip, text: str, calls: int) -> None:
    """The chunks, and an empty prompt where there are weights; always one shape."""
    hook = text_nodes.clip_text_encode.parts
    assert hook
    (use,) = call_hook(hook, {"text": text, "clip": clip}, FOLDERS)
    assert (use.part, use.shapes, use.calls) == (clip.encoder, {"embeddings": (1, 77, 8)}, calls)
    assert call_hook(hook, {"text": text}, FOLDERS) is None


def test_what_overflows_is_computed_again_in_float32(clip: Clip, tmp_path: Path) -> None:
    """Where that is not finite either, the node fails."""

    def infer(part: ModelPart, inputs: Mapping[str, Any]) -> dict[str, F32]:
        state = np.full((1, 77, 8), 1 if context.exact and curable else np.inf, np.float32)
        return {f"layer_{layer}": state for layer in (1, 2, 3)}

    curable, context = True, CallContext(folders_below(tmp_path), infer=infer)
    assert text_nodes.clip_text_encode("a", clip, context).prompts[0].embeddings.max() == 1
    curable = False
    with pytest.raises(NodeError, match="in float32 neither"):
        text_nodes.clip_text_encode("a", clip, context)


@pytest.mark.parametrize("content", [b"", b"nonsense", None])
def test_a_damaged_token_table_is_one_sentence(clip: Clip, content: bytes | None) -> None:
    """Not a file, or of another shape."""
    if content is None:
        np.save(clip.tokens, np.zeros((5, 8), np.float16))
    else:
        clip.tokens.write_bytes(content)
    ran = with_shelf(text_nodes, clip=clip).run(workflow("a"), ["x"], devices=CPU)
    (fault,) = ran.outcome.faults
    assert "table of tokens" in fault.problem
    assert fault.fix == "convert the model again"


def conditioning(*shapes: tuple[int, int], pooled: bool = True, seed: int = 0) -> Conditioning:
    """Make prompts of random numbers, each (1, T, D)."""
    rng = np.random.default_rng(seed)
    return Conditioning(
        tuple(
            Prompt(
                rng.standard_normal((1, *shape)).astype(np.float32),
                {"pooled": rng.standard_normal((1, 8)).astype(np.float32)} if pooled else {},
            )
            for shape in shapes
        )
    )


@pytest.fixture
def context(tmp_path: Path) -> CallContext:
    """Give a context with empty folders."""
    return CallContext(folders_below(tmp_path / "run"))


def test_prompts_are_combined() -> None:
    """Side by side, none changed."""
    one, other = conditioning((77, 8)), conditioning((154, 8), (77, 8))
    assert text_nodes.conditioning_combine(one, other).prompts == one.prompts + other.prompts


def test_a_prompt_is_appended_to_each(context: CallContext) -> None:
    """Only the first of several, which is told; options are those of the longer one."""
    one, other = conditioning((77, 8), (154, 8)), conditioning((77, 8), (77, 8), seed=1)
    made = text_nodes.conditioning_concat(one, other, context).prompts
    assert [prompt.embeddings.shape[1] for prompt in made] == [154, 231]
    assert (made[0].embeddings[:, 77:] == other.prompts[0].embeddings).all()
    assert made[1].options is one.prompts[1].options
    assert "only the first is used" in str(context.shown)


@pytest.mark.parametrize("lengths", [(77, 77), (154, 77), (77, 154)])
def test_prompts_are_blended(context: CallContext, lengths: tuple[int, int]) -> None:
    """Number by number; a shorter one is filled with 0, a longer one cut."""
    one, other = conditioning((lengths[0], 8)), conditioning((lengths[1], 8), seed=1)
    (made,) = text_nodes.conditioning_average(one, other, context, 0.25).prompts
    ours, theirs = one.prompts[0], other.prompts[0]
    shared = min(lengths)
    filled = np.zeros_like(ours.embeddings)
    filled[:, :shared] = theirs.embeddings[:, :shared]
    np.testing.assert_allclose(made.embeddings, ours.embeddings / 4 + filled * 0.75, atol=1e-6)
    pooled = ours.options["pooled"] / 4 + theirs.options["pooled"] * 0.75
    np.testing.assert_allclose(made.options["pooled"], pooled, atol=1e-6)


@pytest.mark.parametrize("ours", [True, False])
@pytest.mark.parametrize("theirs", [True, False])
def test_pooled_is_taken_from_where_it_is(context: CallContext, ours: bool, theirs: bool) -> None:
    """From both, from one, or from none."""
    one, other = conditioning((77, 8), pooled=ours), conditioning((77, 8), pooled=theirs)
    (made,) = text_nodes.conditioning_average(one, other, context, 1.0).prompts
    assert ("pooled" in made.options) == (ours or theirs)


def test_strength_one_changes_nothing(context: CallContext) -> None:
    """And 0 gives the other."""
    one, other = conditioning((77, 8)), conditioning((77, 8), seed=1)
    for strength, expected in ((1.0, one), (0.0, other)):
        (made,) = text_nodes.conditioning_average(one, other, context, strength).prompts
        assert (made.embeddings == expected.prompts[0].embeddings).all()


def test_zeros_take_the_place_of_a_prompt() -> None:
    """Of `pooled` too; other options stay."""
    prompt = Prompt(np.ones((1, 77, 8), np.float32), {"pooled": np.ones((1, 8)), "other": 5})
    (made,) = text_nodes.conditioning_zero_out(Conditioning((prompt,))).prompts
    assert not made.embeddings.any()
    assert not made.options["pooled"].any()
    assert made.options["other"] == 5


def test_prompts_of_different_encoders_do_not_mix(context: CallContext) -> None:
    """768 and 1024 numbers a token: one sentence."""
    one, other = conditioning((77, 8)), conditioning((77, 6))
    with pytest.raises(NodeError, match="different text encoders; got 8 and 6 numbers a token"):
        text_nodes.conditioning_concat(one, other, context)
