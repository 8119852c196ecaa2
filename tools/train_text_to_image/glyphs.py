"""Choose the emoji that 64 pixels can show, name them, and draw them."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import emoji
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from tools.train_text_to_image.everyday import EVERYDAY

SIZE, MARGIN = 64, 3  # pixels: side of a picture, and white kept free on every side
DEFAULT_FONT = Path("/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf")
_FONT_PIXELS = 109  # the only size in which the font holds its bitmaps
# Two glyphs nearer than this at 16×16 (root mean square, 0..1) look the same: the first one stays.
ALIKE = 0.085

# Lettering, signs and plain marks: what they mean is written or agreed upon, not pictured.
_NO_PICTURE = """
a9 ae 203c 2049 2122 2139 2194-21aa 23cf-23ef 23f1-23f2 23f8-23fa 24c2 25aa-25fe 2611 2622-262f
2638 2640-2653 2665 267b-267f 2695 269b 26a0 26a7 26aa-26ab 26ce 26d4 2705 2714-2721 2733-2734
2747 274c-2757 2763 2795-2797 27a1-27bf 2934-2935 2b05-2b1c 2b55 3030 303d 3297-3299 1f004-1f0cf
1f170-1f251 1f310 1f3a6 1f3b4 1f3e7-1f3e8 1f3ea 1f494-1f497 1f49e 1f49f 1f4a0 1f4a2 1f4a4
1f4ae-1f4af 1f4b1-1f4b2 1f4b4 1f4b6-1f4b7 1f4b9 1f4c4 1f4c5-1f4c6 1f4c8-1f4c9 1f4db 1f4df
1f4e4-1f4e5 1f4e7-1f4ea 1f4ec-1f4ed 1f4f2-1f4f6 1f500-1f509 1f50e 1f515 1f518-1f524 1f52f-1f530
1f532-1f533 1f536-1f53d 1f549 1f54e 1f5e8 1f5ef 1f6ab 1f6ad-1f6b1 1f6b3 1f6b7-1f6bc 1f6be
1f6c2-1f6c5 1f6d0 1f6d7 1f6dc 1f7f0 1f91a-1f91b 1f92c 1faaf 1faf1-1faf4 1faf7-1fafa 1f1e6-1f1ff
1f550-1f567 1f446-1f449 1f595 1f3fb-1f3ff
"""


@dataclass(frozen=True, slots=True)
class Glyph:
    """One emoji: its character, and its names, the best known first."""

    char: str
    names: tuple[str, ...]


def pictured(char: str) -> bool:
    """Say whether an emoji is a picture of a thing, not lettering or a sign."""
    for part in _NO_PICTURE.split():
        first, _, last = part.partition("-")
        if int(first, 16) <= ord(char) <= int(last or first, 16):
            return False
    return True


def _names(single: dict[str, dict[str, Any]]) -> dict[str, tuple[str, ...]]:
    """Name each emoji: its proper name, everyday ones, then others that no other emoji has."""
    proper = {char: _words(str(known["en"])) for char, known in single.items()}
    taken = {*proper.values(), *(word for text in EVERYDAY.values() for word in text.split(", "))}
    names: dict[str, tuple[str, ...]] = {}
    for char, known in single.items():
        everyday = EVERYDAY[proper[char]].split(", ") if proper[char] in EVERYDAY else []
        others = [_words(name) for name in [*known.get("alias", []), unicodedata.name(char, "")]]
        own = [proper[char], *everyday, *(name for name in others if name and name not in taken)]
        names[char] = tuple(dict.fromkeys(own))
        taken.update(own)
    return names


def _words(name: str) -> str:
    return re.sub(r"[\s_:]+", " ", name).strip().lower()


def _drawn(char: str, font: ImageFont.FreeTypeFont) -> Image.Image | None:
    """Give the glyph centred on a transparent square, or None where the font has none."""
    drawn = Image.new("RGBA", (136, 136))
    ImageDraw.Draw(drawn).text((0, 4), char, font=font, embedded_color=True)
    box = drawn.getbbox()
    if box is None:
        return None
    drawn = drawn.crop(box)
    scale = (SIZE - 2 * MARGIN) / max(drawn.size)
    width, height = (max(1, round(side * scale)) for side in drawn.size)
    # Premultiplied, or the colour of invisible pixels would bleed into the edge.
    small = drawn.convert("RGBa").resize((width, height), Image.Resampling.LANCZOS)
    square = Image.new("RGBA", (SIZE, SIZE))
    square.paste(small.convert("RGBA"), ((SIZE - width) // 2, (SIZE - height) // 2))
    return square


def load_glyphs(font_path: Path = DEFAULT_FONT) -> tuple[list[Glyph], NDArray[np.uint8]]:
    """Give the glyphs the model learns, in the order of their code points.

    returns  the n glyphs, and their pictures
             (n, 64, 64, 4) uint8  red green blue alpha
    """
    font = ImageFont.truetype(str(font_path), _FONT_PIXELS)
    # Status 1 marks parts of emoji (skin tones, hair); longer sequences are families and flags.
    data = {text.replace("\ufe0f", ""): known for text, known in emoji.EMOJI_DATA.items()}
    single = {c: known for c, known in data.items() if len(c) == 1 and known["status"] != 1}
    names = _names(single)
    # What people ask for comes first, so that it is not what an earlier likeness pushes out.
    chars = sorted(single, key=lambda char: (names[char][0] not in EVERYDAY, char))
    kept: dict[str, NDArray[np.uint8]] = {}
    seen = np.zeros((0, 16 * 16 * 3), np.float32)
    for char in filter(pictured, chars):
        drawn = _drawn(char, font)
        if drawn is None:
            continue
        picture = np.asarray(drawn)
        small = shrink(compose(picture[None]), 16).reshape(1, -1)
        if not len(seen) or np.sqrt(((seen - small) ** 2).mean(1)).min() >= ALIKE:
            seen = np.concatenate([seen, small])
            kept[char] = picture
    order = sorted(kept)
    return [Glyph(char, names[char]) for char in order], np.stack([kept[char] for char in order])


def compose(
    pictures: NDArray[np.uint8],
    background: tuple[int, int, int] = (255, 255, 255),
    tint: tuple[int, int, int] | None = None,
) -> NDArray[np.float32]:
    """Lay glyphs on a background; a tint recolours them and keeps their light and shade.

    pictures    (n, h, w, 4) uint8    red green blue alpha
    background  0..255 a channel
    returns     (n, 3, h, w) float32  0..1
    """
    rgb, alpha = np.split(pictures.astype(np.float32) / 255, [3], axis=-1)
    if tint is not None:
        grey = rgb @ np.array([[0.3], [0.59], [0.11]], np.float32)  # (n, h, w, 1) luma
        colour = np.array(tint, np.float32) / 255
        rgb = np.where(grey < 0.6, grey / 0.6 * colour, colour + (1 - colour) * (grey - 0.6) / 0.4)
    behind = np.array(background, np.float32) / 255
    mixed = rgb * alpha + behind * (1 - alpha)
    return np.ascontiguousarray(mixed.transpose(0, 3, 1, 2), np.float32)


def shrink(images: NDArray[np.float32], side: int) -> NDArray[np.float32]:
    """Average squares of pixels: (n, c, h, w) becomes (n, c, side, side)."""
    n, c, h, w = images.shape
    return images.reshape(n, c, side, h // side, side, w // side).mean((3, 5), dtype=np.float32)


def contact_sheet(images: NDArray[np.float32], path: Path, columns: int) -> None:
    """Save pictures (n, 3, h, w) float32 0..1 side by side as one PNG."""
    n, _, h, w = images.shape
    rows = -(-n // columns)
    filled = np.ones((rows * columns, 3, h, w), np.float32)
    filled[:n] = images.clip(0, 1)
    grid = filled.reshape(rows, columns, 3, h, w).transpose(0, 3, 1, 4, 2)
    Image.fromarray((grid.reshape(rows * h, columns * w, 3) * 255).round().astype(np.uint8)).save(
        path
    )
