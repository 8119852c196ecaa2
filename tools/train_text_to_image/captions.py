"""Word what is drawn: names, colours, backgrounds; and keep some colourings back for the test."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tools.train_text_to_image.glyphs import Glyph

Colour = tuple[int, int, int]
WHITE: Colour = (255, 255, 255)
COLOURS: dict[str, Colour] = {
    "red": (220, 45, 45),
    "orange": (245, 150, 40),
    "yellow": (250, 215, 70),
    "green": (60, 170, 80),
    "blue": (50, 110, 225),
    "purple": (145, 75, 190),
    "pink": (245, 150, 190),
    "black": (25, 25, 25),
}
TINTS = tuple(name for name in COLOURS if name != "black")
# Names that say a colour already: "blue red apple" would teach nonsense.
_COLOURED = frozenset([*COLOURS, "white", "brown", "grey", "gray", "golden", "gold"])
_TEMPLATES = ("{}",) * 6 + ("a {}", "{} emoji", "an emoji of {}", "a picture of {}")
_SHARES = (0.55, 0.15, 0.15, 0.15)  # plain, on a background, tinted, both


@dataclass(frozen=True, slots=True)
class Look:
    """How a glyph is coloured: names of COLOURS, "" for a white background or no tint."""

    background: str = ""
    tint: str = ""

    @property
    def colours(self) -> tuple[Colour, Colour | None]:
        """The background's colour, and the tint's or None."""
        return COLOURS.get(self.background, WHITE), COLOURS.get(self.tint)


PLAIN = Look()
# The same colour twice would be a glyph that cannot be seen.
LOOKS: tuple[Look, ...] = tuple(
    Look(background, tint)
    for background, tint in itertools.product(("", *COLOURS), ("", *TINTS))
    if not tint or background != tint
)
_BY_KIND = tuple(
    tuple(i for i, look in enumerate(LOOKS) if (bool(look.background), bool(look.tint)) == kind)
    for kind in ((False, False), (True, False), (False, True), (True, True))
)


def _one_in_ten(char: str, look: Look) -> bool:
    return zlib.crc32(f"{char} {look.background} {look.tint}".encode()) % 10 == 0


def is_held_out(char: str, look: Look) -> bool:
    """Say whether a coloured glyph is kept back: one in ten of its backgrounds, tints and pairs.

    A pair is also kept back with its half, so a colour kept back is never seen in company either.
    """
    halves = {look, Look(background=look.background), Look(tint=look.tint)} - {PLAIN}
    return any(_one_in_ten(char, half) for half in halves)


def plain_names(names: Sequence[str]) -> tuple[str, ...]:
    """Give the names that say no colour: those a tint can stand before."""
    return tuple(name for name in names if _COLOURED.isdisjoint(name.split()))


def caption(rng: np.random.Generator, glyph: Glyph, look: Look) -> str:
    """Word one caption: mostly the first name; now and then a synonym, a word less, a new order."""
    names = plain_names(glyph.names) if look.tint else glyph.names
    name = names[0] if rng.random() < 0.6 else names[rng.integers(len(names))]
    words = name.split()
    if rng.random() < 0.12 and len(words) > 1:
        if len(words) > 2 and rng.random() < 0.67:
            del words[rng.integers(len(words))]
        else:
            words = [words[k] for k in rng.permutation(len(words))]
    if look.tint:
        words.insert(0, look.tint)
    text = _TEMPLATES[rng.integers(len(_TEMPLATES))].format(" ".join(words))
    if look.background or rng.random() < 0.05:
        text += f" on {look.background or 'white'}" + ("", "", " background")[rng.integers(3)]
    return text


def prompt(glyph: Glyph, look: Look) -> str:
    """Give the caption a user would type: the first name, "red cat on blue"."""
    name = plain_names(glyph.names)[0] if look.tint else glyph.names[0]
    return f"{look.tint} {name}".strip() + (f" on {look.background}" if look.background else "")


def example(rng: np.random.Generator, glyphs: Sequence[Glyph]) -> tuple[int, int, str]:
    """Draw one example that may be shown: index in LOOKS, index in `glyphs`, caption."""
    while True:
        kind = _BY_KIND[rng.choice(4, p=_SHARES)]
        look, which = kind[rng.integers(len(kind))], int(rng.integers(len(glyphs)))
        glyph = glyphs[which]
        if LOOKS[look].tint and not plain_names(glyph.names):
            continue
        if not is_held_out(glyph.char, LOOKS[look]):
            return look, which, caption(rng, glyph, LOOKS[look])
