"""Workflow files: JSON in any shape, and pictures of every kind that carry a workflow."""

from __future__ import annotations

import io
import json
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Picture
from PIL.PngImagePlugin import PngInfo

from vinode.graph.errors import WorkflowError
from vinode.graph.png_text import SIGNATURE, read_png_text
from vinode.graph.workflow import MAX_BYTES, Workflow, dump, from_json, parse
from vinode.graph.workflow_file import picture_text, read, write

PROMPT = json.dumps({"1": {"class_type": "Note", "inputs": {"text": "狐"}}})
NODES = parse(PROMPT).nodes


def chunk(kind: bytes, content: bytes) -> bytes:
    """Write a chunk of a PNG."""
    return (
        struct.pack(">I", len(content))
        + kind
        + content
        + struct.pack(">I", zlib.crc32(kind + content))
    )


def picture(*texts: bytes, behind: bool = False, side: int = 8) -> bytes:
    """Write a black PNG with chunks before its pixels or behind them."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0))
    pixels = chunk(b"IDAT", zlib.compress(bytes((side + 1) * side)))
    parts = [pixels, *texts] if behind else [*texts, pixels]
    return SIGNATURE + header + b"".join(parts) + chunk(b"IEND", b"")


ESCAPED = PROMPT.encode()
RAW = json.dumps(json.loads(PROMPT), ensure_ascii=False).encode()
KINDS = {
    "tEXt": chunk(b"tEXt", b"prompt\0" + ESCAPED),
    "zTXt": chunk(b"zTXt", b"prompt\0\0" + zlib.compress(ESCAPED)),
    "iTXt": chunk(b"iTXt", b"prompt\0\0\0en\0Anfrage\0" + RAW),
    "iTXt packed": chunk(b"iTXt", b"prompt\0\1\0\0\0" + zlib.compress(RAW)),
}


@pytest.mark.parametrize("behind", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_png_carries_a_workflow_in_any_text(kind: str, behind: bool, tmp_path: Path) -> None:
    """Before the pixels or behind them, packed or not."""
    path = tmp_path / "a.png"
    path.write_bytes(picture(KINDS[kind], behind=behind))
    assert read(path).nodes == NODES


def test_pillow_writes_what_is_read(tmp_path: Path) -> None:
    """Whatever chunk Pillow chooses for the text."""
    for text in (PROMPT, json.dumps(json.loads(PROMPT), ensure_ascii=False)):
        info = PngInfo()
        info.add_text("prompt", text)
        Picture.new("RGB", (4, 4)).save(tmp_path / "a.png", pnginfo=info)
        assert read(tmp_path / "a.png").nodes == NODES


def test_a_png_that_is_cut_off_still_gives_its_workflow(tmp_path: Path) -> None:
    """The pixels are not needed; without the text it carries none."""
    whole = picture(KINDS["tEXt"])
    path = tmp_path / "a.png"
    path.write_bytes(whole[:-20])
    assert read(path).nodes == NODES
    for length in range(8, whole.index(b"IDAT") - 8):
        path.write_bytes(whole[:length])
        with pytest.raises(WorkflowError, match="carries no workflow; open a picture"):
            read(path)


def test_pixels_are_never_decoded(tmp_path: Path) -> None:
    """A picture that would be 10 GB in memory is opened for its text, behind the pixels too."""
    bomb = picture(KINDS["tEXt"], behind=True)
    huge = chunk(b"IHDR", struct.pack(">IIBBBBB", 100_000, 100_000, 8, 0, 0, 0, 0))
    path = tmp_path / "a.png"
    path.write_bytes(SIGNATURE + huge + bomb[len(SIGNATURE) + len(huge) :])
    assert read(path).nodes == NODES


def test_a_text_that_unpacks_without_end_is_left_out() -> None:
    """A few kB that are 5 MB; beside it another text is read."""
    bomb = chunk(b"zTXt", b"prompt\0\0" + zlib.compress(bytes(5 << 20)))
    damaged = chunk(b"zTXt", b"vinode\0\0" + b"\x99" * 9)
    file = io.BytesIO(picture(bomb, damaged, chunk(b"tEXt", b"a\0b")))
    assert read_png_text(file, 1 << 20) == {"a": "b"}


def test_a_picture_of_the_editor_only_says_how_to_go_on(tmp_path: Path) -> None:
    """ComfyUI's editor can save such a picture."""
    path = tmp_path / "a.png"
    path.write_bytes(picture(chunk(b"tEXt", b'workflow\0{"nodes": []}')))
    with pytest.raises(WorkflowError, match=r"editor shows.*choose Workflow > Export \(API\)"):
        read(path)


def test_what_is_wrong_inside_a_picture_is_told_with_its_place(tmp_path: Path) -> None:
    """The file and the text in it."""
    path = tmp_path / "a.png"
    path.write_bytes(picture(chunk(b"tEXt", b"prompt\0{")))
    with pytest.raises(WorkflowError, match=r"a\.png, text `prompt`, line 1, column 2: not JSON"):
        read(path)
    path.write_bytes(picture(KINDS["tEXt"], chunk(b"tEXt", b'vinode\0{"extra_data": 5}')))
    with pytest.raises(WorkflowError, match=r"a\.png, text `vinode`, extra_data: no object; got 5"):
        read(path)


def test_a_webp_of_comfyui_is_read(tmp_path: Path) -> None:
    """EXIF Model carries the graph, Make the editor's format."""
    exif = Picture.Exif()
    exif[0x0110], exif[0x010F] = f"prompt:{PROMPT}", 'workflow:{"nodes": []}'
    path = tmp_path / "a.webp"
    Picture.new("RGB", (4, 4)).save(path, exif=exif)
    assert read(path).nodes == NODES
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(WorkflowError, match="the picture is damaged; copy or save it again"):
        read(path)
    Picture.new("RGB", (4, 4)).save(path)
    with pytest.raises(WorkflowError, match="carries no workflow"):
        read(path)


def test_our_picture_gives_back_all_that_was_saved(tmp_path: Path) -> None:
    """What the editor needs beside the graph too: groups, view."""
    workflow = from_json(
        {"prompt": json.loads(PROMPT), "extra_data": {"vinode": {"groups": ["狐"]}}}
    )
    info = PngInfo()
    for key, text in picture_text(workflow).items():
        info.add_text(key, text)
    array = np.zeros((4, 4, 3), np.uint8)
    Picture.fromarray(array).save(tmp_path / "a.png", pnginfo=info)
    assert read(tmp_path / "a.png") == workflow


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_json_file_is_read_in_its_encoding(encoding: str, tmp_path: Path) -> None:
    """As editors on Windows write them."""
    path = tmp_path / "狐.json"
    path.write_text(json.dumps(json.loads(PROMPT), ensure_ascii=False), encoding=encoding)
    assert read(path).nodes == NODES


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "nothing is in it; open another file"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "a picture that carries no workflow; give it to"),
        (b"PK\x03\x04 a zip", "not JSON"),
        (b"RIFF\x00\x00\x00\x00WEBP", "the picture is damaged"),
        (SIGNATURE, "carries no workflow"),
        ("狐".encode("gbk"), "not text in UTF-8"),
    ],
)
def test_what_is_no_workflow_file_is_one_sentence(
    content: bytes, sentence: str, tmp_path: Path
) -> None:
    """With the file's name in front."""
    path = tmp_path / "w.json"
    path.write_bytes(content)
    with pytest.raises(WorkflowError, match=sentence) as raised:
        read(path)
    assert len(raised.value.faults) == 1
    assert raised.value.faults[0].place.startswith(str(path))


def test_what_is_no_file_is_one_sentence(tmp_path: Path) -> None:
    """Missing, a folder, below a file, a name that no file can have, too large."""
    file = tmp_path / "file"
    file.write_text("x")
    large = tmp_path / "large"
    with large.open("wb") as made:
        made.truncate(MAX_BYTES + 100)
    for path, sentence in [
        (tmp_path / "none", "none: no such file; check the name"),
        (tmp_path, "this is a folder, not a file; name a workflow file in it"),
        (tmp_path / "a\0b", "cannot be read: .*; check the path"),
        (tmp_path / ("x" * 5000), r"(cannot be read|no such file)"),
        (large, "at most 64 MB"),
    ]:
        with pytest.raises(WorkflowError, match=sentence):
            read(path)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no /dev")
def test_a_file_without_end_is_not_read_to_its_end() -> None:
    """Only as much as a workflow may have."""
    with pytest.raises(WorkflowError, match="at most 64 MB"):
        read(Path("/dev/zero"))


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    """Half letters are kept as escapes, and nothing is left beside it."""
    workflow = parse(r'{"1": {"class_type": "Note", "inputs": {"text": "\ud83d 狐 🦊"}}}')
    path = tmp_path / "w.json"
    path.write_text("old")
    write(workflow, path)
    assert read(path) == workflow
    assert "狐 🦊".encode() in path.read_bytes()
    assert b"\r" not in path.read_bytes()
    assert [entry.name for entry in tmp_path.iterdir()] == ["w.json"]


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    """A folder stands in its place."""
    (tmp_path / "w.json").mkdir()
    with pytest.raises(OSError, match=r"w\.json"):
        write(Workflow({}), tmp_path / "w.json")
    assert [entry.name for entry in tmp_path.iterdir()] == ["w.json"]


def test_the_shipped_workflows_are_as_we_write_them() -> None:
    """Opening and saving one changes nothing."""
    for path in (Path(__file__).parents[2] / "workflows").glob("*.json"):
        assert dump(read(path)) == path.read_text(encoding="utf-8"), path.name
