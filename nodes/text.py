"""Encode prompts for diffusion models, and mix what was encoded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from vinode.converters.model_folders import roots
from vinode.graph.context import Context, Folders
from vinode.graph.diffusion import Clip, Conditioning, Prompt
from vinode.graph.errors import NodeError
from vinode.graph.node import node
from vinode.graph.ports import Range, Text
from vinode.graph.values import PartUse
from vinode.nodes.algorithms.clip_tokens import END
from vinode.nodes.algorithms.prompt_text import (
    LENGTH,
    Chunk,
    Lookup,
    chunks_of,
    embedding_names,
    read_prompt,
)
from vinode.nodes.algorithms.tensor_file import content_mark
from vinode.nodes.algorithms.text_embeddings import find_embedding, read_embedding

F32 = NDArray[np.float32]


@node("CLIPSetLastLayer", category="conditioning", title="CLIP Set Last Layer", known=True)
def clip_set_last_layer(
    clip: Clip, stop_at_clip_layer: Annotated[int, Range(-24, -1)] = -1
) -> Clip:
    """Let a text encoder answer with an earlier layer, as many models were trained ("CLIP skip 2").

    clip                from a loader
    stop_at_clip_layer  -1 the last layer, -2 the one before it; the last too where there are fewer
    """
    return replace(clip, skip=stop_at_clip_layer)


def _lookup(clip: Clip) -> Lookup:
    return lambda name: read_embedding(name, clip.embeddings, clip.width)


def _uses(text: str | None, clip: Clip | None) -> list[PartUse] | None:
    """Tell what is run: the encoder, once a chunk, and once for no text where weights need it."""
    if clip is None:
        return None
    calls = 1
    if text is not None:
        reading = read_prompt(text, clip.pad, _lookup(clip))
        calls = len(reading.chunks) + reading.is_weighted
    return [PartUse(clip.encoder, {"embeddings": (1, LENGTH, clip.width)}, calls=calls)]


def _shape(text: str | None, clip: Clip | None) -> Conditioning | None:
    """Tell before the run how large the encoded prompt will be."""
    if text is None or clip is None:
        return None
    chunks = len(read_prompt(text, clip.pad, _lookup(clip)).chunks)
    return Conditioning((Prompt(np.zeros((1, chunks * LENGTH, clip.width), np.float32)),))


def _embedding_files(text: str | None, folders: Folders) -> str:
    """Depend on the textual inversions that a prompt names: an edited file is read again."""
    names = embedding_names(text or "")
    below = roots("embeddings", folders) if names else ()
    found = [find_embedding(name, below) for name in names]
    return " ".join(content_mark(path) for path in found if path is not None)


@node(
    "CLIPTextEncode",
    category="conditioning",
    title="CLIP Text Encode (Prompt)",
    known=_shape,
    parts=_uses,
    fingerprint=_embedding_files,
)
def clip_text_encode(
    text: Annotated[str, Text(multiline=True)], clip: Clip, context: Context
) -> Conditioning:
    """Encode a prompt. More than 75 tokens are encoded in several chunks.

    text  (words:1.3) weigh more, (words:0.7) less, (words) 1.1 times; a plain bracket is written
          \\( or \\); embedding:name takes a textual inversion from the folder embeddings
    clip  the text encoder that belongs to the model
    """
    reading = read_prompt(text, clip.pad, _lookup(clip))
    if reading.notes:
        context.show("notes", reading.notes)
    empty = chunks_of([], clip.pad) if reading.is_weighted else ()
    answers = _answers([*reading.chunks, *empty], clip, context)
    last, chosen = f"layer_{clip.layers}", _layer(clip)
    pooled = answers[0][last][:, reading.chunks[0].end]
    states = [answer[chosen] for answer in answers]
    if empty:
        nothing = states.pop()
        states = [
            _weighted(state, nothing, chunk)
            for state, chunk in zip(states, reading.chunks, strict=True)
        ]
    return Conditioning((Prompt(np.concatenate(states, axis=1), {"pooled": pooled.copy()}),))


def _layer(clip: Clip) -> str:
    """Name the answer that is used; of an encoder with fewer layers the last one."""
    number = clip.layers + 1 + clip.skip
    return f"layer_{number if number >= 1 else clip.layers}"


def _answers(chunks: Sequence[Chunk], clip: Clip, context: Context) -> list[Mapping[str, F32]]:
    """Run the encoder chunk by chunk: one compiled shape serves every length of text."""
    table = _token_table(clip)
    answers: list[Mapping[str, F32]] = []
    for number, chunk in enumerate(chunks):
        context.progress(number, len(chunks))
        rows = [table[token] if isinstance(token, int) else token for token in chunk.tokens]
        given = {"embeddings": np.stack(rows).astype(np.float32)[np.newaxis]}
        answer = context.infer(clip.encoder, given)
        if not _is_finite(answer):
            answer = context.infer(clip.encoder, given, exact=True)
        if not _is_finite(answer):
            fix = "the model file or a textual inversion may be damaged"
            problem = "the encoder's answer is not finite, in float32 neither"
            raise NodeError(problem, clip.encoder.name, fix)
        answers.append(answer)
    return answers


def _is_finite(answer: Mapping[str, F32]) -> bool:
    return all(np.isfinite(values).all() for values in answer.values())


def _token_table(clip: Clip) -> NDArray[Any]:
    """Map the table of token vectors into memory: a prompt looks a few of its rows up."""
    fix = "convert the model again"
    try:
        table: NDArray[Any] = np.load(clip.tokens, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        problem = "the text encoder's table of tokens cannot be read"
        raise NodeError(problem, str(clip.tokens), fix) from error
    if table.ndim != 2 or table.shape[0] <= END or table.shape[1] != clip.width:
        problem = f"the text encoder's table of tokens is not ({END + 1}, {clip.width})"
        raise NodeError(problem, str(table.shape), fix)
    return table


def _weighted(state: F32, nothing: F32, chunk: Chunk) -> F32:
    """Move each token's state away from that of an empty prompt, or towards it.

    state, nothing  (1, 77, D)
    """
    weights = chunk.weights[np.newaxis, :, np.newaxis]
    # Where a weight is 1, rounding must change nothing.
    mixed: F32 = np.where(weights == 1, state, (state - nothing) * weights + nothing)
    return mixed


@node("ConditioningCombine", category="conditioning", title="Conditioning (Combine)", known=True)
def conditioning_combine(
    conditioning_1: Conditioning, conditioning_2: Conditioning
) -> Conditioning:
    """Follow several prompts at once: what the model predicts for each is averaged.

    conditioning_1, conditioning_2  encoded prompts
    """
    return Conditioning(conditioning_1.prompts + conditioning_2.prompts)


def _concat_shape(
    conditioning_to: Conditioning | None, conditioning_from: Conditioning | None
) -> Conditioning | None:
    """Tell before the run how long the prompts will be."""
    if conditioning_to is None or conditioning_from is None or not conditioning_from.prompts:
        return conditioning_to
    return Conditioning(_appended(conditioning_to, conditioning_from.prompts[0]))


@node(
    "ConditioningConcat",
    category="conditioning",
    title="Conditioning (Concat)",
    known=_concat_shape,
)
def conditioning_concat(
    conditioning_to: Conditioning, conditioning_from: Conditioning, context: Context
) -> Conditioning:
    """Append a prompt to others, as if both were one text.

    conditioning_to    each of its prompts is made longer and keeps its options
    conditioning_from  appended; where it has several prompts, the first
    """
    added = _first(conditioning_from, context)
    if added is None:
        return conditioning_to
    return Conditioning(_appended(conditioning_to, added))


def _appended(conditioning: Conditioning, added: Prompt) -> tuple[Prompt, ...]:
    prompts: list[Prompt] = []
    for prompt in conditioning.prompts:
        ours, theirs = _same_batch(prompt.embeddings, added.embeddings)
        prompts.append(Prompt(np.concatenate([ours, theirs], axis=1), prompt.options))
    return tuple(prompts)


def _average_shape(conditioning_to: Conditioning | None) -> Conditioning | None:
    """Tell before the run how long the prompts will be: as long as they are."""
    return conditioning_to


@node(
    "ConditioningAverage",
    category="conditioning",
    title="Conditioning (Average)",
    known=_average_shape,
)
def conditioning_average(
    conditioning_to: Conditioning,
    conditioning_from: Conditioning,
    context: Context,
    conditioning_to_strength: Annotated[float, Range(0, 1, step=0.01)] = 1.0,
) -> Conditioning:
    """Blend prompts: somewhere between the one and the other.

    conditioning_to           each of its prompts is blended and keeps its length and options
    conditioning_from         blended in; where it has several prompts, the first
    conditioning_to_strength  1: only conditioning_to, 0: only conditioning_from
    """
    other = _first(conditioning_from, context)
    if other is None:
        return conditioning_to
    strength = np.float32(conditioning_to_strength)
    return Conditioning(
        tuple(_blended(prompt, other, strength) for prompt in conditioning_to.prompts)
    )


def _blended(prompt: Prompt, other: Prompt, strength: np.float32) -> Prompt:
    length = prompt.embeddings.shape[1]
    rest = np.float32(1) - strength
    ours, theirs = _same_batch(prompt.embeddings, other.embeddings[:, :length])
    theirs = np.pad(theirs, ((0, 0), (0, length - theirs.shape[1]), (0, 0)))
    options = dict(prompt.options)
    pooled, other_pooled = options.get("pooled"), other.options.get("pooled")
    if pooled is not None and other_pooled is not None:
        options["pooled"] = pooled * strength + other_pooled * rest
    elif other_pooled is not None:
        options["pooled"] = other_pooled
    return Prompt(np.asarray(ours * strength + theirs * rest, np.float32), options)


@node(
    "ConditioningZeroOut",
    category="advanced/conditioning",
    title="Conditioning (Zero Out)",
    known=True,
)
def conditioning_zero_out(conditioning: Conditioning) -> Conditioning:
    """Put zeros in place of a prompt: no text at all, for models that were trained so.

    conditioning  gives the shape
    """
    prompts: list[Prompt] = []
    for prompt in conditioning.prompts:
        options = dict(prompt.options)
        if options.get("pooled") is not None:
            options["pooled"] = np.zeros_like(options["pooled"])
        prompts.append(Prompt(np.zeros_like(prompt.embeddings), options))
    return Conditioning(tuple(prompts))


def _first(conditioning: Conditioning, context: Context) -> Prompt | None:
    if len(conditioning.prompts) > 1:
        context.show("notes", ["conditioning_from has several prompts: only the first is used"])
    return conditioning.prompts[0] if conditioning.prompts else None


def _same_batch(ours: F32, theirs: F32) -> tuple[F32, F32]:
    """Repeat a single prompt for a batch of the other; NodeError where they do not fit."""
    if ours.shape[2] != theirs.shape[2]:
        got = f"{ours.shape[2]} and {theirs.shape[2]} numbers a token"
        raise NodeError("the prompts are of different text encoders", got, "use one CLIP for both")
    batch = max(len(ours), len(theirs))
    if not {len(ours), len(theirs)} <= {1, batch}:
        got = f"{len(ours)} and {len(theirs)}"
        raise NodeError("the prompts are batches of different sizes", got, "give single prompts")
    return (
        np.broadcast_to(ours, (batch, *ours.shape[1:])),
        np.broadcast_to(theirs, (batch, *theirs.shape[1:])),
    )
