"""The figures of the text-to-image model say what they claim to say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("emoji", reason="pip install .[train]")

from tools.evaluate_text_to_image import Found, Images, evaluate, ranks
from tools.train_text_to_image.captions import LOOKS, plain_names, prompt
from tools.train_text_to_image.glyphs import DEFAULT_FONT, compose, load_glyphs

needs_font = pytest.mark.skipif(
    not DEFAULT_FONT.exists(), reason="apt install fonts-noto-color-emoji"
)


class Copyist:
    """A back-end that draws the very glyph; from a seed on, always the first one."""

    def __init__(self, wrong_from: int) -> None:
        self._wrong_from = wrong_from
        glyphs, self._pictures = load_glyphs()
        self._meant = {
            prompt(glyph, look): (i, look)
            for i, glyph in enumerate(glyphs)
            for look in LOOKS
            if not look.tint or plain_names(glyph.names)
        }

    def draw(self, prompts: Sequence[str], seeds: Sequence[int]) -> Images:
        """Look the prompts up."""
        drawn = []
        for text, seed in zip(prompts, seeds, strict=True):
            i, look = self._meant[text]
            which = 0 if seed >= self._wrong_from else i
            drawn.append(compose(self._pictures[which : which + 1], *look.colours)[0])
        return np.stack(drawn)

    def redraw(self, images: Images) -> Images:
        """Be off by one hundredth everywhere: 40 dB."""
        return images - np.float32(0.01)


@needs_font
def test_a_perfect_copy_passes_and_a_wrong_one_is_counted(tmp_path: Path) -> None:
    """The second set of seeds draws the wrong glyph from its fiftieth picture on."""
    figures = evaluate(Copyist(wrong_from=2050), sheets=None)
    assert figures.found[0] == Found(100, 100, 100, 100)
    assert figures.unseen_one_colour[0] == figures.unseen == 60
    assert figures.unseen_two_colours[0] == 60
    assert figures.psnr_db == pytest.approx(40, abs=0.01)
    assert 50 <= figures.found[1].top1_32 < 60
    assert 50 <= figures.unseen_one_colour[1] < 60
    assert {line.split(":")[0] for line in figures.failures()} == {"top 5", "top 1"}


def test_a_rank_counts_the_glyphs_that_are_nearer() -> None:
    """Grey 0.45 is nearest to 0.4, then 0.6, then 0.2."""
    greys = np.array([0.2, 0.4, 0.6], np.float32).reshape(3, 1, 1, 1)
    references = np.broadcast_to(greys, (3, 3, 64, 64)).copy()
    drawn = np.full((3, 3, 64, 64), 0.45, np.float32)
    assert ranks(drawn, references, [0, 1, 2], 16).tolist() == [2, 0, 1]
