"""Prompts as ComfyUI reads them: weights, escapes, textual inversions, chunks of 75 tokens."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from safetensors.numpy import save_file  # pyright: ignore[reportUnknownVariableType]

from vinode.graph.errors import NodeError
from vinode.nodes.algorithms.clip_tokens import END, START, encode
from vinode.nodes.algorithms.prompt_text import (
    Chunk,
    Lookup,
    chunks_of,
    embedding_names,
    read_prompt,
    weigh,
)
from vinode.nodes.algorithms.text_embeddings import read_embedding

WEIGHTS: list[tuple[str, list[tuple[str, float]]]] = [
    ("", []),
    ("a (b:1.2) c", [("a ", 1), ("b", 1.2), (" c", 1)]),
    ("(a)", [("a", 1.1)]),
    ("((a) b)", [("a", 1.1**2), (" b", 1.1)]),
    ("((a:1.5) b:0.5)", [("a", 1.5), (" b", 0.5)]),
    (r"\(a\) (b\):2)", [("(a) ", 1), ("b)", 2)]),
    ("(a:b)", [("a:b", 1.1)]),
    ("(:2)", [(":2", 1.1)]),
    ("(a:-1) (b: 2 ) (c:1e1)", [("a", -1), (" ", 1), ("b", 2), (" ", 1), ("c", 10)]),
    ("(theme: infinity)", [("theme: infinity", 1.1)]),
    ("a) (b) c", [("a) (b) c", 1)]),
    ("(a (b)", [("a ", 1.1), ("(b", 1.1)]),
    ("(a", [("(a", 1)]),
    ("()", []),
    ("[a] {b}", [("[a] {b}", 1)]),
    ("a \ud83d", [("a \ufffd", 1)]),
]


@pytest.mark.parametrize(("text", "expected"), WEIGHTS)
def test_weights_of_a_text(text: str, expected: list[tuple[str, float]]) -> None:
    """What is inside of brackets, and how much it weighs."""
    pieces = weigh(text)
    assert [words for words, _ in pieces] == [words for words, _ in expected]
    assert [weight for _, weight in pieces] == pytest.approx([weight for _, weight in expected])


def plainly(text: str, weight: float) -> list[tuple[str, float]]:
    """Do the same by the definition: a bracket opens at level 0 and closes where it is 0 again."""
    levels = list(accumulate({"(": 1, ")": -1}.get(letter, 0) for letter in text))
    opening = [i for i, s in enumerate(text) if s == "(" and levels[i] == 1]
    first = next((i for i in opening if i == 0 or levels[i - 1] == 0), len(text))
    pieces = [(text[:first], weight)] if first else []
    if first == len(text):
        return pieces
    last = next((i for i in range(first, len(text)) if levels[i] == 0), len(text) - 1)
    group, rest = text[first : last + 1], text[last + 1 :]
    if not group.endswith(")"):
        return [*pieces, (group, weight)]
    inside, inner = group[1:-1], weight * 1.1
    words, colon, number = inside.rpartition(":")
    if colon and words:
        try:
            inside, inner = words, float(number)
        except ValueError:
            inside = group[1:-1]
    return [*pieces, *plainly(inside, inner), *plainly(rest, weight)]


@given(st.text("()a:1. ", max_size=14))
def test_any_brackets_are_read_by_the_definition(text: str) -> None:
    """Unbalanced ones too."""
    assert weigh(text) == plainly(text, 1.0)


def test_very_deep_brackets_are_read() -> None:
    """No recursion, and no time that grows with the square."""
    ((words, weight),) = weigh("(" * 100_000 + "a:2" + ")" * 100_000)
    assert (words, weight) == ("a", 2)
    with pytest.raises(NodeError, match="weight in the prompt is too large"):
        read_prompt("(" * 1000 + "a" + ")" * 1000, END, nothing)


def nothing(name: str) -> str:
    """Find no textual inversion."""
    return f"no {name}"


def ids(chunk: Chunk) -> list[int]:
    """Give the tokens of a chunk without vectors."""
    return [token if isinstance(token, int) else -1 for token in chunk.tokens]


@pytest.mark.parametrize("pad", [END, 0])
def test_a_short_prompt_is_one_chunk(pad: int) -> None:
    """Start, tokens, end, filling; weights only on the tokens."""
    (chunk,) = read_prompt("a (photo:1.5)", pad, nothing).chunks
    assert ids(chunk) == [START, *encode("a photo"), END] + [pad] * 73
    assert chunk.weights.tolist() == [1, 1, 1.5] + [1] * 74
    assert chunk.end == 3


def test_no_text_is_one_chunk() -> None:
    """So that a negative prompt may be empty."""
    reading = read_prompt("  ", END, nothing)
    assert ids(reading.chunks[0]) == [START] + [END] * 76
    assert not reading.is_weighted


def test_a_long_prompt_is_cut_at_75_tokens() -> None:
    """A group of 8 or more tokens is cut; a shorter one moves on whole."""
    long = read_prompt("cat " * 80, 0, nothing).chunks
    assert [ids(chunk).count(2368) for chunk in long] == [75, 5]
    assert [chunk.end for chunk in long] == [76, 6]
    kept = read_prompt("cat " * 70 + "(dog dog dog dog dog dog:2)", 0, nothing).chunks
    assert [chunk.end for chunk in kept] == [71, 7]
    cut = read_prompt("cat " * 70 + "(dog dog dog dog dog dog dog dog:2)", 0, nothing).chunks
    assert [chunk.end for chunk in cut] == [76, 4]
    assert cut[1].weights[:5].tolist() == [1, 2, 2, 2, 1]


@given(st.lists(st.integers(0, 200), max_size=12), st.integers(0, 3))
def test_chunks_keep_every_token_in_order(lengths: list[int], pad: int) -> None:
    """Whatever the groups are; each chunk has 77."""
    numbers = iter(range(10, 10_000))
    groups = [([next(numbers) for _ in range(length)], 1.0) for length in lengths]
    chunks = chunks_of(groups, pad)
    assert {len(chunk.tokens) for chunk in chunks} == {77}
    kept = [token for chunk in chunks for token in ids(chunk)[1 : chunk.end]]
    assert kept == [token for tokens, _ in groups for token in tokens]


def finder(**known: int) -> Lookup:
    """Find some names, each with so many vectors."""
    return lambda name: np.ones((known[name], 4), np.float32) if name in known else f"no {name}"


INVERSIONS = [
    ("embedding:style", 3, 0),
    ("embedding:style, a cat", 3, 3),
    ("a embedding:style\nembedding:style cat", 6, 2),
    ("(embedding:style:1.2)", 3, 0),
    ("a,embedding:style", 0, len(encode("a,embedding:style"))),
    ("embedding: style", 3, 0),
    ("embedding:", 0, len(encode("embedding:"))),
    ("embedding:long", 100, 0),
]


@pytest.mark.parametrize(("text", "vectors", "words"), INVERSIONS)
def test_textual_inversions_take_the_place_of_tokens(text: str, vectors: int, words: int) -> None:
    """At the begin of words, behind a space or a line break; commas around the name are text."""
    reading = read_prompt(text, 0, finder(style=3, long=100))
    tokens = [token for chunk in reading.chunks for token in ids(chunk)[1 : chunk.end]]
    assert (tokens.count(-1), len(tokens) - tokens.count(-1)) == (vectors, words)
    assert reading.notes == ()


def test_a_missing_inversion_is_ignored_with_a_note() -> None:
    """Once, however often it is named; the text around it stays."""
    reading = read_prompt("embedding:none, cat embedding:none,", END, nothing)
    assert reading.notes == ("no none",)
    assert ids(reading.chunks[0])[1:4] == encode(", cat") + encode(",")
    assert embedding_names("a embedding:x, (embedding:y:2)") == ["x,", "x", "y"]


def test_inversions_are_found_in_the_folders(tmp_path: Path) -> None:
    """With suffix or not, below subfolders; half precision; the tensor that fits the encoder."""
    (tmp_path / "styles").mkdir()
    both: dict[str, NDArray[Any]] = {
        "clip_g": np.ones((2, 6), np.float32),
        "clip_l": np.full((2, 4), 0.5, np.float16),
    }
    save_file(both, tmp_path / "styles" / "fox.safetensors")
    for name in ("fox", "fox.safetensors", "styles/fox", "styles\\fox"):
        found = read_embedding(name, [tmp_path], 4)
        assert not isinstance(found, str), found
        assert found.tolist() == [[0.5] * 4] * 2


def test_why_an_inversion_is_ignored(tmp_path: Path) -> None:
    """In a sentence: missing, outside, pickled, damaged, of another model, not finite."""
    inside = tmp_path / "embeddings"
    inside.mkdir()
    save_file({"x": np.ones((1, 6), np.float32)}, tmp_path / "outside.safetensors")
    save_file({"x": np.ones((1, 6), np.float32)}, inside / "wide.safetensors")
    save_file({"x": np.full((1, 4), np.nan, np.float32)}, inside / "nan.safetensors")
    (inside / "bad.safetensors").write_bytes(b"nonsense" * 9)
    (inside / "old.pt").write_bytes(b"\x80\x04")
    outside = str(tmp_path / "outside")
    sentences = {
        "none": "there is no such safetensors file",
        "../outside": "there is no such safetensors file",
        outside: "there is no such safetensors file",
        "x\0y": "there is no such safetensors file",
        "n" * 5000: "there is no such safetensors file",
        "old": "old.pt is a Python pickle",
        "old.pt": "old.pt is a Python pickle",
        "bad": "no model format",
        "wide": "have 6 numbers, this text encoder's have 4",
        "nan": "not finite",
    }
    for name, sentence in sentences.items():
        told = read_embedding(name, [inside], 4)
        assert isinstance(told, str)
        assert sentence in told, (name, told)
        assert told.startswith("embedding:")
