"""Text that a PNG file carries, read without decoding its pixels.

Pillow finds text behind the pixels only by decoding them; a picture may be far too large for that,
or cut off in the middle with its workflow whole at the start.
"""

from __future__ import annotations

import struct
import zlib
from typing import BinaryIO

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MAX_CHUNKS = 100_000  # a picture of 4 GB has about this many pieces of pixels


def read_png_text(file: BinaryIO, limit: int) -> dict[str, str]:
    """Give keyword -> text of a PNG's tEXt, zTXt and iTXt chunks, as far as the file goes.

    Texts of more than `limit` bytes together, and texts that are damaged, are left out.
    """
    found: dict[str, str] = {}
    room = limit
    file.seek(len(SIGNATURE))
    for _ in range(MAX_CHUNKS):
        header = file.read(8)
        if len(header) < 8:
            break
        size, kind = struct.unpack(">I4s", header)
        if kind not in (b"tEXt", b"zTXt", b"iTXt") or size > room + 200:
            file.seek(size + 4, 1)  # the chunk and its checksum
            continue
        content = file.read(size)
        file.seek(4, 1)
        keyword, _, rest = content.partition(b"\0")
        text = _text(kind, rest, room) if len(content) == size else None
        if text is not None:
            room -= len(text)
            found.setdefault(keyword.decode("latin-1"), text)
    return found


def _text(kind: bytes, content: bytes, limit: int) -> str | None:
    if kind == b"tEXt":
        return content.decode("latin-1")
    if kind == b"zTXt":  # method, compressed
        plain = _inflate(content[1:], limit)
        return None if plain is None else plain.decode("latin-1")
    # iTXt: flag, method, language, NUL, translated keyword, NUL, text
    _, _, rest = content[2:].partition(b"\0")
    _, _, body = rest.partition(b"\0")
    text = _inflate(body, limit) if content[:1] == b"\x01" else body
    return None if text is None else text.decode("utf-8", "replace")


def _inflate(packed: bytes, limit: int) -> bytes | None:
    """Unpack at most `limit` bytes; None where there is more, or where it is damaged."""
    unpacker = zlib.decompressobj()
    try:
        plain = unpacker.decompress(packed, limit)
    except zlib.error:
        return None
    return plain if unpacker.eof else None
