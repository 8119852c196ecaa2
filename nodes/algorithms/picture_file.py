"""Read and write picture files with Pillow; every way a file can be wrong is one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import PIL.Image
import PIL.ImageOps
from numpy.typing import NDArray
from PIL.PngImagePlugin import PngInfo

from vinode.graph.errors import Fault
from vinode.nodes.algorithms.limits import MAX_FRAMES, MAX_PIXELS

# What Pillow itself decodes, asked in this order; the first five need no further plugins loaded.
# EPS is left out on purpose: Pillow would start Ghostscript for it.
FORMATS = (
    "PNG", "JPEG", "GIF", "BMP", "PPM", "DIB", "WEBP", "TIFF", "ICO", "JPEG2000", "DDS", "PCX",
    "QOI", "AVIF", "TGA",
)  # fmt: skip
SUFFIXES = frozenset(
    {
        ".apng", ".avif", ".bmp", ".dds", ".dib", ".gif", ".ico", ".jfif", ".jp2", ".jpeg", ".jpg",
        ".mpo", ".pcx", ".pgm", ".png", ".pnm", ".ppm", ".qoi", ".tga", ".tif", ".tiff", ".webp",
    }
)  # fmt: skip
# Formats whose further frames are further pictures; those of an MPO are depth maps or thumbnails.
_ANIMATED = ("AVIF", "GIF", "PNG", "TIFF", "WEBP")
_ORIENTATION = 0x0112  # of EXIF: 5 and more lie on their side
_BOMB = (PIL.Image.DecompressionBombError, PIL.Image.DecompressionBombWarning)


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A picture file as arrays.

    colours  (B, H, W, 3) uint8 0..255 or float32 0..1, RGB
    alpha    (B, H, W) float32 0..1, 1 is opaque; None where the file has none
    """

    colours: NDArray[Any]
    alpha: NDArray[np.float32] | None


def read_picture(path: Path) -> Picture | Fault:
    """Read every frame of a picture, turned upright as its EXIF orientation says.

    Deep grey pictures (16 bits and more, float) become float32, all others stay uint8. Frames of
    another size than the first are left out.
    """
    if not path.is_file():
        return _no_file(path)
    try:
        with PIL.Image.open(path, formats=FORMATS) as picture:
            fault = _too_large(picture, path)
            if fault:
                return fault
            frames = list(_frames(picture))
    except Exception as error:  # a damaged file makes Pillow's decoders raise nearly anything
        return _unreadable(path, error)
    colours = np.stack(_alike([frame for frame, _ in frames]))
    alphas = [alpha for _, alpha in frames]
    if all(alpha is None for alpha in alphas):
        return Picture(colours, None)
    opaque = np.ones(colours.shape[1:3], np.float32)
    return Picture(colours, np.stack([opaque if alpha is None else alpha for alpha in alphas]))


def header_fault(path: Path) -> Fault | None:
    """Say what is wrong with a picture as far as its header tells, without decoding it."""
    if not path.is_file():
        return _no_file(path)
    try:
        with PIL.Image.open(path, formats=FORMATS) as picture:
            return _too_large(picture, path)
    except Exception as error:  # a damaged file makes Pillow's decoders raise nearly anything
        return _unreadable(path, error)


def picture_size(path: Path) -> tuple[int, int, int] | None:
    """Give frames, height and width in pixels as the header tells them; None where it is wrong."""
    try:
        with PIL.Image.open(path, formats=FORMATS) as picture:
            if _too_large(picture, path):
                return None
            upright = picture.getexif().get(_ORIENTATION, 1) < 5
            height, width = picture.height, picture.width
            sides = (height, width) if upright else (width, height)
            return _count(picture), *sides
    except Exception:  # a damaged file makes Pillow's decoders raise nearly anything
        return None


def write_png(
    pixels: NDArray[np.uint8], text: Mapping[str, str], file: BinaryIO, compress_level: int
) -> None:
    """Write one picture as PNG.

    pixels          (H, W, 3 or 4) uint8 0..255
    text            keys of 1 to 79 latin-1 characters -> text; workflows are kept this way
    compress_level  0..9 of zlib
    """
    info = PngInfo()
    for key, value in text.items():
        # Half of a surrogate pair cannot be written in any encoding of a PNG.
        info.add_text(key, value.encode("utf-8", "replace").decode("utf-8"))
    picture = PIL.Image.fromarray(np.ascontiguousarray(pixels))
    picture.save(file, "PNG", pnginfo=info, compress_level=compress_level)


def _count(picture: PIL.Image.Image) -> int:
    return int(getattr(picture, "n_frames", 1)) if picture.format in _ANIMATED else 1


def _too_large(picture: PIL.Image.Image, path: Path) -> Fault | None:
    count = _count(picture)
    if count > MAX_FRAMES:
        fix = "cut the animation into pieces"
        return _fault(f"the picture has more than {MAX_FRAMES} frames", path.name, fix)
    if count * picture.width * picture.height <= MAX_PIXELS:
        return None
    problem = f"the picture has more than {MAX_PIXELS // 1024**2} Mi pixels, all frames together"
    got = f"{path.name}: {count} of {picture.width} × {picture.height}"
    return _fault(problem, got, "make it smaller")


def _frames(picture: PIL.Image.Image) -> Iterator[tuple[NDArray[Any], NDArray[np.float32] | None]]:
    size: tuple[int, ...] | None = None
    # In an animated PNG the first picture may be a stand-in for programs that show no animation.
    first = 1 if getattr(picture, "default_image", False) and _count(picture) > 1 else 0
    for number in range(first, _count(picture)):
        if number:
            picture.seek(number)
        picture.load()
        frame = _arrays(_upright(picture))
        size = size or frame[0].shape
        if frame[0].shape == size:
            yield frame


def _alike(frames: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Give frames of one dtype: where any is deep, those of 8 bits become float32 0..1 too."""
    if all(frame.dtype == np.uint8 for frame in frames):
        return frames
    return [
        np.multiply(frame, 1 / 255, dtype=np.float32) if frame.dtype == np.uint8 else frame
        for frame in frames
    ]


def _upright(frame: PIL.Image.Image) -> PIL.Image.Image:
    try:
        return PIL.ImageOps.exif_transpose(frame)
    except Exception:  # damaged EXIF raises nearly anything, and is no reason to lose the picture
        return frame


def _arrays(frame: PIL.Image.Image) -> tuple[NDArray[Any], NDArray[np.float32] | None]:
    """Give colours (H, W, 3) and alpha (H, W), or None where there is none."""
    if frame.mode == "F" or frame.mode.startswith("I"):
        grey = np.asarray(frame).astype(np.float32)
        if frame.mode != "F":
            grey /= np.float32(65535)
        grey = np.nan_to_num(grey, nan=0.0).clip(0, 1)
        return np.repeat(grey[..., None], 3, axis=2), None
    if frame.has_transparency_data:
        pixels = np.asarray(frame.convert("RGBA"))
        return pixels[..., :3], np.multiply(pixels[..., 3], 1 / 255, dtype=np.float32)
    return np.asarray(frame.convert("RGB")), None


def _no_file(path: Path) -> Fault:
    """Say what stands in place of a file; opening a pipe or a device could wait for ever."""
    if path.is_dir():
        return _fault("this is a folder, not a picture", path.name, "name a file in it")
    if path.exists():
        return _fault("this is no file that can be read", path.name, "name a picture")
    fix = "check the name"
    return Fault("picture", "there is no such file", path.name, fix, code="file-missing")


def _unreadable(path: Path, error: Exception) -> Fault:
    name = path.name
    if isinstance(error, PermissionError):
        return _fault("the file may not be read", name, "change its permissions")
    if isinstance(error, MemoryError):
        return _fault("the picture does not fit into memory", name, "make it smaller")
    if isinstance(error, _BOMB):
        return _fault(f"the picture is too large to be opened ({error})", name, "make it smaller")
    if path.is_file() and path.stat().st_size == 0:
        return _fault("the file is empty", name, "copy or save it again")
    if isinstance(error, PIL.UnidentifiedImageError):
        fix = "use PNG, JPEG, WebP, GIF, TIFF, BMP or AVIF"
        return _fault("the file is no picture that can be read", name, fix)
    fix = "copy or save it again"
    return _fault(f"the picture is damaged or cut off ({error})", name, fix)


def _fault(problem: str, got: str, fix: str) -> Fault:
    return Fault("picture", problem, got, fix, code="file-unreadable")
