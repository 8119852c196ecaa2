"""Cut a text into the tokens of CLIP: byte pairs in lower case, Radford et al. 2021.

The method is byte pair encoding (Sennrich et al. 2016, arXiv:1508.07909) over the bytes of a text,
as CLIP has it (arXiv:2103.00020, section 2.4). Its list of merges, clip_merges.txt.gz, is the part
that CLIP uses of OpenAI's bpe_simple_vocab_16e6.txt.gz; its licence is in clip_merges.LICENSE.txt.
"""

from __future__ import annotations

import functools
import gzip
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

START, END = 49406, 49407
_START, _END = "<|startoftext|>", "<|endoftext|>"
_MERGES = Path(__file__).with_name("clip_merges.txt.gz")
_WORD_END = "</w>"
# English endings, a run of letters, one digit, or a run of anything else that is no space.
_WORD = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


def encode(text: str) -> list[int]:
    """Give the tokens of a text, without start and end.

    text     any; half of a surrogate pair counts as U+FFFD
    returns  0..49407 each; 49406 and 49407 only where the text spells them out

    >>> encode("a photo of a cat")
    [320, 1125, 539, 320, 2368]
    """
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return tokenizer().encode(whole, add_special_tokens=False).ids


@functools.cache
def tokenizer() -> Tokenizer:
    """Give the tokenizer: lower case, byte-level BPE, 49,408 tokens (Radford et al. 2021)."""
    merges = [_pair(line) for line in _merge_lines()]
    letters = _byte_letters()
    names = [*letters, *(letter + _WORD_END for letter in letters)]
    names += ["".join(pair) for pair in merges]
    vocabulary = {name: id for id, name in enumerate([*names, _START, _END])}
    model = models.BPE(
        vocabulary,
        merges,
        continuing_subword_prefix="",
        end_of_word_suffix=_WORD_END,
        unk_token=_END,
    )
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_WORD), "removed", invert=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    marks = [AddedToken(name, normalized=False) for name in (_START, _END)]
    tokenizer.add_special_tokens(marks)  # pyright: ignore[reportUnknownMemberType]
    return tokenizer


def _merge_lines() -> list[str]:
    return gzip.decompress(_MERGES.read_bytes()).decode("utf-8").splitlines()


def _pair(line: str) -> tuple[str, str]:
    left, _, right = line.partition(" ")
    return left, right


def _byte_letters() -> list[str]:
    """Give the letter that stands for each byte: those that can be seen first, then the others."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    unseen = [byte for byte in range(256) if byte not in seen]
    return [*map(chr, seen), *(chr(256 + place) for place in range(len(unseen)))]
