"""What the text-to-image model is taught: pictures of things, and words people use for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("emoji", reason="pip install .[train]")

from tools.train_text_to_image.captions import (
    COLOURS,
    LOOKS,
    PLAIN,
    caption,
    example,
    is_held_out,
    plain_names,
    prompt,
)
from tools.train_text_to_image.everyday import EVERYDAY
from tools.train_text_to_image.glyphs import (
    ALIKE,
    DEFAULT_FONT,
    Glyph,
    compose,
    load_glyphs,
    pictured,
    shrink,
)

needs_font = pytest.mark.skipif(
    not DEFAULT_FONT.exists(), reason="apt install fonts-noto-color-emoji"
)


@pytest.fixture(scope="module")
def glyphs() -> tuple[list[Glyph], Any]:
    """Read the font once for all tests here."""
    return load_glyphs()


@pytest.mark.parametrize("char", [*"🔤🅰🈁㊙🕐➡♈©🔟🆗🏧", "\N{KEYCAP TEN}"])
def test_lettering_is_no_picture(char: str) -> None:
    """Sixty-four pixels and a tiny text encoder cannot spell."""
    assert not pictured(char)


@pytest.mark.parametrize("char", "🍎🚗🐈🐕🏠⭐❤🍕🚀☂⏰✂")
def test_things_are_pictures(char: str) -> None:
    """What people ask for first is there."""
    assert pictured(char)


@needs_font
def test_every_everyday_word_belongs_to_one_glyph_that_is_drawn(
    glyphs: tuple[list[Glyph], Any],
) -> None:
    """An alias of a glyph that was left out, or of two at once, would teach nothing."""
    names = [glyph.names[0] for glyph in glyphs[0]]
    assert set(EVERYDAY) <= set(names)
    assert {"apple", "car", "cat", "dog", "house", "star", "heart"} <= {
        name for glyph in glyphs[0] for name in glyph.names
    }
    assert not any(word in names for text in EVERYDAY.values() for word in text.split(", "))


@needs_font
def test_no_name_means_two_glyphs(glyphs: tuple[list[Glyph], Any]) -> None:
    """A model that is told "book" for two pictures draws something between them."""
    names = [name for glyph in glyphs[0] for name in glyph.names]
    assert sorted(names) == sorted(set(names))


@needs_font
def test_no_two_glyphs_look_the_same(glyphs: tuple[list[Glyph], Any]) -> None:
    """Or a picture could not be told to be its caption's."""
    small = shrink(compose(glyphs[1]), 16).reshape(len(glyphs[0]), -1)
    nearest = min(
        float(np.sqrt(((small[k + 1 :] - small[k]) ** 2).mean(1)).min())
        for k in range(len(small) - 1)
    )
    assert nearest >= ALIKE
    assert len(glyphs[0]) > 900


@needs_font
def test_a_seed_gives_the_same_examples_again(glyphs: tuple[list[Glyph], Any]) -> None:
    """A run that is taken up again must see what it would have seen."""
    first, second, other = (
        [example(rng, glyphs[0]) for _ in range(200)]
        for rng in map(np.random.default_rng, (5, 5, 6))
    )
    assert first == second
    assert first != other


@needs_font
def test_what_is_held_out_is_never_shown(glyphs: tuple[list[Glyph], Any]) -> None:
    """Else the figure for colourings never seen would mean nothing."""
    rng = np.random.default_rng(0)
    shown = [example(rng, glyphs[0]) for _ in range(20_000)]
    assert not any(is_held_out(glyphs[0][which].char, LOOKS[look]) for look, which, _ in shown)
    assert {look for look, _, _ in shown} == set(range(len(LOOKS)))


def test_a_tenth_of_single_colours_is_held_out_and_with_it_every_pair_of_it() -> None:
    """A tint that is held out on white is not shown on blue either."""
    chars = [chr(code) for code in range(0x1F400, 0x1F4FF)]
    single = [look for look in LOOKS if bool(look.background) != bool(look.tint)]
    share = np.mean([is_held_out(char, look) for char in chars for look in single])
    assert 0.08 < share < 0.12
    for char in chars:
        for look in LOOKS:
            if look.tint and look.background and not is_held_out(char, look):
                assert not is_held_out(char, type(look)(background=look.background))
                assert not is_held_out(char, type(look)(tint=look.tint))
        assert not is_held_out(char, PLAIN)


def test_a_tint_stands_before_a_name_without_a_colour() -> None:
    """Nobody asks for a blue red apple."""
    apple = Glyph("🍎", ("red apple", "apple"))
    look = next(look for look in LOOKS if (look.background, look.tint) == ("yellow", "blue"))
    assert prompt(apple, look) == "blue apple on yellow"
    rng = np.random.default_rng(0)
    for text in (caption(rng, apple, look) for _ in range(100)):
        assert "blue apple" in text
        assert "on yellow" in text
        assert "red" not in text
    assert plain_names(("blue heart",)) == ()


def test_tint_and_background_go_where_they_belong() -> None:
    """Around the glyph the background, in it the tint's lights and shades."""
    picture = np.zeros((1, 4, 4, 4), np.uint8)
    picture[0, 1:3, 1:3] = (153, 153, 153, 255)  # the grey that a tint replaces by itself
    drawn = compose(picture, COLOURS["yellow"], COLOURS["blue"])[0] * 255
    assert drawn[:, 0, 0] == pytest.approx(COLOURS["yellow"])
    assert drawn[:, 1, 1] == pytest.approx(COLOURS["blue"], abs=0.5)
