"""Loading pictures: every kind of file, every way a file or a name can be wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from tests.nodes.context import CallContext, folders_below
from tests.nodes.pictures import checked, fingerprint, load, picture
from vinode.graph.context import Folders
from vinode.graph.errors import NodeError
from vinode.nodes.algorithms import picture_file
from vinode.nodes.files import load_image, load_image_mask


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """Give empty folders; pictures go into folders.input."""
    return folders_below(tmp_path / "run")


@pytest.mark.parametrize("name", ["a.png", "a.bmp", "a.webp", "a.tiff", "sub/a.png"])
def test_8_bit_colours_are_kept_exactly(folders: Folders, name: str) -> None:
    """And the mask has the size of the picture, all off."""
    path = folders.input / name
    path.parent.mkdir(exist_ok=True)
    picture().save(path, lossless=True)
    loaded = load(folders, name)
    assert loaded.image.pixels.dtype == np.uint8
    np.testing.assert_array_equal(loaded.image.pixels[0], np.asarray(picture()))
    assert loaded.mask.shape == (1, 2, 3)
    assert loaded.mask.max() == 0


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_alpha_becomes_the_mask(folders: Folders, mode: str) -> None:
    """On where the picture is transparent; the colours below are kept."""
    picture(mode).save(folders.input / "a.png")
    loaded = load(folders, "a.png")
    pixels = np.asarray(picture(mode).convert("RGBA"))
    np.testing.assert_array_equal(loaded.image.pixels[0], pixels[..., :3])
    np.testing.assert_allclose(loaded.mask[0], 1 - pixels[..., 3] / 255, atol=1e-6)


def test_a_transparent_palette_entry_becomes_the_mask(folders: Folders) -> None:
    """As it is in most GIFs and many small PNGs."""
    indices = PIL.Image.fromarray(np.array([[0, 1]], np.uint8), "L").convert("P")
    indices.putpalette([255, 0, 0, 0, 255, 0])
    indices.save(folders.input / "a.png", transparency=1)
    loaded = load(folders, "a.png")
    assert loaded.mask.tolist() == [[[0, 1]]]
    assert loaded.image.pixels[0, 0].tolist() == [[255, 0, 0], [0, 255, 0]]


def test_a_camera_held_upright_gives_an_upright_picture(folders: Folders) -> None:
    """EXIF orientation 6 is a quarter turn to the right."""
    turned = picture(size=(4, 2))
    exif = PIL.Image.Exif()
    exif[0x0112] = 6
    turned.save(folders.input / "a.png", exif=exif)
    loaded = load(folders, "a.png")
    expected = np.rot90(np.asarray(turned), -1)
    np.testing.assert_array_equal(loaded.image.pixels[0], expected)
    assert loaded.mask.shape == (1, 4, 2)


def test_16_bit_grey_keeps_its_bits(folders: Folders) -> None:
    """Two neighbours of 65536 levels stay apart."""
    deep = np.array([[0, 1, 32768, 65535]], np.uint16)
    PIL.Image.fromarray(deep).save(folders.input / "a.png")
    loaded = load(folders, "a.png")
    assert loaded.image.pixels.dtype == np.float32
    np.testing.assert_allclose(loaded.image.pixels[0, 0, :, 1] * 65535, deep[0], atol=0.01)


def test_float_pictures_stay_float(folders: Folders) -> None:
    """Without what is no number, or outside of 0..1."""
    values = np.array([[0.3, np.nan, -1, 2]], np.float32)
    PIL.Image.fromarray(values).save(folders.input / "a.tiff")
    loaded = load(folders, "a.tiff")
    np.testing.assert_allclose(loaded.image.pixels[0, 0, :, 2], [0.3, 0, 0, 1], atol=1e-6)


def test_pages_of_8_and_16_bits_have_one_range(folders: Folders) -> None:
    """White is white on both."""
    pages = [PIL.Image.new("L", (3, 2), 255), PIL.Image.new("I;16", (3, 2), 65535)]
    pages[0].save(folders.input / "a.tiff", save_all=True, append_images=pages[1:])
    pixels = load(folders, "a.tiff").image.pixels
    assert pixels.dtype == np.float32
    np.testing.assert_allclose(pixels, np.ones((2, 2, 3, 3)), atol=1e-6)


@pytest.mark.parametrize("suffix", ["gif", "webp", "png"])
def test_frames_become_a_batch(folders: Folders, suffix: str) -> None:
    """In their order."""
    frames = [PIL.Image.new("RGB", (3, 2), (40 * n, 0, 0)) for n in range(4)]
    path = folders.input / f"a.{suffix}"
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=90, lossless=True)
    loaded = load(folders, path.name)
    assert loaded.image.pixels[:, 0, 0, 0].tolist() == [0, 40, 80, 120]
    assert loaded.mask.shape == (4, 2, 3)


def test_the_stand_in_of_an_animated_png_is_no_frame(folders: Folders) -> None:
    """It is for programs that show no animation."""
    frames = [PIL.Image.new("RGB", (3, 2), (40 * n, 0, 0)) for n in range(3)]
    path = folders.input / "a.png"
    frames[0].save(path, save_all=True, append_images=frames[1:], default_image=True, duration=90)
    assert load(folders, "a.png").image.pixels[:, 0, 0, 0].tolist() == [40, 80]


def test_frames_of_another_size_are_left_out(folders: Folders) -> None:
    """A batch has one size."""
    pages = [picture(), picture(size=(5, 5)), picture(seed=2)]
    pages[0].save(folders.input / "a.tiff", save_all=True, append_images=pages[1:])
    assert load(folders, "a.tiff").image.shape == (2, 2, 3, 3)


@pytest.mark.parametrize(
    ("channel", "expected"), [("alpha", 0.8), ("red", 0.2), ("green", 0.4), ("blue", 0.6)]
)
def test_one_channel_as_a_mask(folders: Folders, channel: str, expected: float) -> None:
    """Alpha is turned round, as in LoadImage; colours are not."""
    PIL.Image.new("RGBA", (1, 1), (51, 102, 153, 51)).save(folders.input / "a.png")
    mask = load_image_mask(CallContext(folders), "a.png", channel)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    np.testing.assert_allclose(mask, [[[expected]]], atol=1e-6)


def png_bytes(folders: Folders) -> bytes:
    """Give a valid file."""
    path = folders.temp / "valid.png"
    picture(size=(64, 64)).save(path)
    return path.read_bytes()


BROKEN: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda _: b"", "the file is empty"),
    "text": (lambda _: b"once upon a time", "no picture that can be read"),
    "header only": (lambda data: data[:20], r"no picture that can be read|damaged or cut off"),
    "cut off": (lambda data: data[: len(data) // 2], "damaged or cut off"),
    "damaged": (lambda data: data[:50] + bytes(400) + data[450:], "damaged or cut off"),
    "postscript": (lambda _: b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "no picture"),
    "pickle": (lambda _: b"\x80\x04]\x94.", "no picture"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_one_sentence(folders: Folders, case: str) -> None:
    """With the file's name and what to do."""
    breaking, problem = BROKEN[case]
    (folders.input / "a.png").write_bytes(breaking(png_bytes(folders)))
    with pytest.raises(NodeError, match=problem) as caught:
        load_image(CallContext(folders), "a.png")
    (fault,) = caught.value.faults
    assert "a.png" in fault.got
    assert fault.fix
    assert "\n" not in str(fault)


def test_the_check_finds_what_the_header_tells(folders: Folders) -> None:
    """Before the run, at the input's place."""
    (folders.input / "a.png").write_bytes(b"")
    (folders.input / "folder.png").mkdir()
    for name, code in (
        ("a.png", "file-unreadable"),
        ("folder.png", "file-unreadable"),
        ("b.png", "file-missing"),
        ("", "file-missing"),
        ("a\0.png", "file-missing"),
        ("x" * 5000, "file-missing"),
    ):
        fault = checked(folders, name)
        assert fault, name
        assert (fault.place, fault.code) == ("input image", code)
    assert checked(folders, None) is None


def test_a_missing_file_names_the_nearest(folders: Folders) -> None:
    """A slip of the finger is seen at once."""
    picture().save(folders.input / "fox.png")
    assert "did you mean 'fox.png'?" in str(checked(folders, "fxo.png"))


def test_too_many_pixels_are_refused_before_decoding(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Frames count together; Pillow's own guard counts too."""
    frames = [picture(seed=n) for n in range(3)]
    frames[0].save(folders.input / "a.gif", save_all=True, append_images=frames[1:])
    monkeypatch.setattr(picture_file, "MAX_PIXELS", 17)
    assert "all frames together" in str(checked(folders, "a.gif"))
    monkeypatch.setattr(picture_file, "MAX_PIXELS", 18)
    assert checked(folders, "a.gif") is None
    monkeypatch.setattr(picture_file, "MAX_FRAMES", 2)
    assert "more than 2 frames" in str(checked(folders, "a.gif"))
    monkeypatch.setattr(PIL.Image, "MAX_IMAGE_PIXELS", 2)
    assert "too large to be opened" in str(checked(folders, "a.gif"))


def test_the_fingerprint_is_that_of_the_content(folders: Folders) -> None:
    """Same content, same text, whatever the name; an edit changes it."""
    picture().save(folders.input / "a.png")
    picture().save(folders.input / "b.png")
    first = fingerprint(folders, "a.png")
    assert first
    assert first == fingerprint(folders, "b.png")
    picture(seed=1).save(folders.input / "b.png")
    assert first != fingerprint(folders, "b.png")
    assert fingerprint(folders, "c.png") is None
    assert fingerprint(folders, None) is None
