"""Read a prompt as ComfyUI does: weights in brackets, textual inversions, chunks of 75 tokens.

`(words)` weigh 1.1 times what is around them, `(words:1.3)` weigh 1.3 whatever is around them, and
`\\(` is a plain bracket. Saved workflows give the pictures they gave before only if every oddity of
that grammar is kept, such as a bracket that is never closed, so it is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vinode.graph.errors import NodeError, short
from vinode.nodes.algorithms.clip_tokens import END, START, encode
from vinode.nodes.algorithms.limits import MAX_TEXT

F32 = NDArray[np.float32]
# A token's number, or its vector (D,) where textual inversion gives one.
Token: TypeAlias = int | F32
Group: TypeAlias = tuple[Sequence[Token], float]
# Gives the vectors (n, D) of a name, or says why it is ignored.
Lookup: TypeAlias = Callable[[str], F32 | str]

LENGTH = 77  # of a chunk, start and end included
_WORDS = LENGTH - 2
_KEPT_TOGETHER = 8  # a group of fewer tokens is not cut: it goes into the next chunk whole
_STEP = 1.1
_HEAVIEST = 1e6
_NAME = "embedding:"
_BEFORE_NAME = re.compile(rf"[ \n](?={_NAME})")
# Plain brackets while the text is read; halves of surrogate pairs stand in no text.
_OPEN, _CLOSE = "\udc28", "\udc29"


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """What the text encoder reads at once: start, up to 75 tokens, end, and filling.

    tokens   77
    weights  (77,) float32, 1 for what no bracket is around
    """

    tokens: tuple[Token, ...]
    weights: F32

    @property
    def end(self) -> int:
        """Give the place of the first end: its state stands for the whole text."""
        marks = (place for place, token in enumerate(self.tokens) if isinstance(token, int))
        return next(place for place in marks if self.tokens[place] == END)


@dataclass(frozen=True, slots=True)
class Reading:
    """A prompt as it was read.

    chunks  at least one
    notes   what was ignored, and why
    """

    chunks: tuple[Chunk, ...]
    notes: tuple[str, ...] = ()

    @property
    def is_weighted(self) -> bool:
        """Say whether any token has a weight other than 1."""
        return any((chunk.weights != 1).any() for chunk in self.chunks)


def read_prompt(text: str, pad: int, lookup: Lookup) -> Reading:
    """Read a prompt.

    pad     token that fills up the last chunk, and a chunk that a group did not fit into
    lookup  finds textual inversions
    """
    if len(text) > MAX_TEXT:
        got = f"{len(text)} characters"
        raise NodeError(f"the text is longer than {MAX_TEXT} characters", got, "shorten it")
    groups: list[Group] = []
    notes: list[str] = []
    for words, weight in weigh(text):
        if abs(weight) > _HEAVIEST:
            raise NodeError("a weight in the prompt is too large", short(weight), "use 0 to 2")
        groups += ((tokens, weight) for tokens in _tokens(words, lookup, notes))
    return Reading(chunks_of(groups, pad), tuple(dict.fromkeys(notes)))


def embedding_names(text: str) -> list[str]:
    """List the names of textual inversions in a prompt, with the commas behind and without."""
    asked: list[str] = []
    if _NAME not in text:
        return asked

    def ask(name: str) -> str:
        asked.append(name)
        return ""

    for words, _ in weigh(text):
        for _ in _tokens(words, ask, []):
            pass
    return asked


def weigh(text: str) -> list[tuple[str, float]]:
    r"""Take a text apart into words and their weights, brackets taken off.

    >>> weigh(r"a (red:1.2) ((fox)) \(x\)")
    [('a ', 1.0), ('red', 1.2), (' ', 1.0), ('fox', 1.2100000000000002), (' (x)', 1.0)]
    """
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    marked, ends = _brackets(whole.replace("\\)", _CLOSE).replace("\\(", _OPEN))
    pieces: list[tuple[str, float]] = []
    waiting = [(0, len(marked), 1.0)]  # stretches of the text, the first one last
    while waiting:
        start, stop, weight = waiting.pop()
        opened = marked.find("(", start, stop)
        plain_end = stop if opened < 0 else opened
        if plain_end > start:
            pieces.append((_plain(marked[start:plain_end]), weight))
        if opened < 0:
            continue
        closed = ends.get(opened, stop)
        if closed >= stop:  # never closed: what ends in a bracket all the same is taken for a pair
            closed = stop - 1
            if marked[closed] != ")":
                pieces.append((_plain(marked[opened:stop]), weight))
                continue
        if closed + 1 < stop:
            waiting.append((closed + 1, stop, weight))
        waiting.append(_inside(marked, opened + 1, closed, weight))
    return pieces


def _plain(marked: str) -> str:
    return marked.replace(_OPEN, "(").replace(_CLOSE, ")")


def _brackets(text: str) -> tuple[str, dict[int, int]]:
    """Pair the brackets; one that closes nothing becomes plain, and so does the next to open.

    returns  the text with plain brackets marked, and opening -> closing place
    """
    letters, ends = list(text), dict[int, int]()
    opened: list[int] = []
    owed = 0
    for found in re.finditer(r"[()]", text):
        place = found.start()
        if found[0] == "(":
            if owed:
                owed -= 1
                letters[place] = _OPEN
            else:
                opened.append(place)
        elif opened:
            ends[opened.pop()] = place
        else:
            owed += 1
            letters[place] = _CLOSE
    return "".join(letters), ends


def _inside(text: str, start: int, stop: int, around: float) -> tuple[int, int, float]:
    """Read the weight at the end of a bracket's content: 1.1 times that around where none is."""
    behind = text.rfind(")", start, stop) + 1  # no number holds a bracket
    colon = text.rfind(":", max(start, behind), stop)
    if colon > start:
        try:
            weight = float(text[colon + 1 : stop])
        except ValueError:
            weight = math.nan
        if math.isfinite(weight):  # "(theme: infinity)" is a theme
            return start, colon, weight
    return start, stop, around * _STEP


def _tokens(words: str, lookup: Lookup, notes: list[str]) -> Iterator[Sequence[Token]]:
    """Give the tokens of words that share a weight, each textual inversion for itself."""
    for piece in filter(None, _BEFORE_NAME.split(words)):
        rest = piece
        if piece.startswith(_NAME) and piece[len(_NAME) :].strip():
            name, *others = piece[len(_NAME) :].split()
            vectors, left = _vectors(name, lookup)
            if isinstance(vectors, str):
                notes.append(vectors)
            else:
                yield list(vectors)
            rest = " ".join([*left, *others])
        if rest:
            yield encode(rest)


def _vectors(name: str, lookup: Lookup) -> tuple[F32 | str, list[str]]:
    """Look a name up, and without the commas around it where it is not found."""
    found = lookup(name)
    stripped = name.strip(",")
    if not isinstance(found, str) or stripped == name or not stripped:
        return found, []
    return lookup(stripped), [name[len(stripped) :]]


def chunks_of(groups: Sequence[Group], pad: int) -> tuple[Chunk, ...]:
    """Put groups of tokens into chunks of 75, filled up with `pad`; none give one empty chunk."""
    rows: list[list[tuple[Token, float]]] = [[]]
    for tokens, weight in groups:
        placed = 0
        while placed < len(tokens):
            room = _WORDS - len(rows[-1])
            left = len(tokens) - placed
            taken = left if left <= room else room if len(tokens) >= _KEPT_TOGETHER else 0
            rows[-1] += ((token, weight) for token in tokens[placed : placed + taken])
            placed += taken
            if taken < left:
                rows.append([])
    return tuple(_chunk(row, pad) for row in rows)


def _chunk(row: list[tuple[Token, float]], pad: int) -> Chunk:
    filling = [pad] * (_WORDS - len(row))
    weights = np.ones(LENGTH, np.float32)
    weights[1 : len(row) + 1] = [weight for _, weight in row]
    return Chunk((START, *(token for token, _ in row), END, *filling), weights)
