"""CLIP's tokens: token for token those of transformers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.nodes.clip_reference import CASES, TEXTS, transformers_tokenizer
from vinode.nodes.algorithms.clip_tokens import END, START, encode

RECORDED: list[dict[str, Any]] = json.loads(CASES.read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: ascii(case["text"][:20]))
def test_tokens_are_those_recorded(case: dict[str, Any]) -> None:
    """Languages, emoji, long words, odd whitespace, control characters, numbers, apostrophes."""
    assert encode(case["text"]) == case["ids"]


def test_every_text_is_recorded() -> None:
    """The file is made of the list; a text without tokens is among them."""
    assert [case["text"] for case in RECORDED] == TEXTS
    assert encode(" \n\t") == []


@given(st.text())
def test_any_text_has_tokens(text: str) -> None:
    """Within the table, and only what is spelled out is a mark; halves of pairs are no crash."""
    tokens = encode(text + "\ud83d")
    assert all(0 <= token <= END for token in tokens)
    assert START not in tokens or "<|startoftext|>" in text


@given(st.lists(st.text("abcdefg,.!' é漢1", min_size=1), min_size=1))
def test_spaces_part_words(words: list[str]) -> None:
    """What stands on both sides of a space never becomes one token."""
    parts = [token for word in words for token in encode(word)]
    assert encode(" ".join(words)) == parts


@pytest.mark.torch
def test_tokens_are_those_of_transformers() -> None:
    """The recorded ones, and words of every length over all planes of Unicode."""
    reference = transformers_tokenizer()
    planes = [chr(code) for code in range(0, 0x20000, 7) if not 0xD800 <= code < 0xE000]
    rows = ["".join(planes[start : start + 40]) for start in range(0, len(planes), 40)]
    spaced = [" ".join(planes[start : start + 40]) for start in range(0, len(planes), 40)]
    for text in [*TEXTS, *rows, *spaced]:
        assert encode(text) == reference(text)["input_ids"][1:-1], ascii(text)
