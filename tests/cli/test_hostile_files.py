"""Files that are far too large, cut off, or not what they seem, given to the whole program."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest

from tests.cli.program import save, save_noise
from vinode.cli import call

Capture = pytest.CaptureFixture[str]

LOAD = {
    "1": {"class_type": "LoadImage", "inputs": {"image": "photo.png"}},
    "2": {"class_type": "SaveImage", "inputs": {"images": ["1", 0]}},
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in an empty folder."""
    monkeypatch.chdir(tmp_path)


def ends(capsys: Capture, file: str) -> tuple[int, str]:
    """Run a workflow; gives exit code and the one sentence that was said."""
    code = call(["run", file, "--quiet"])
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return code, err.strip()


def test_a_million_nodes(capsys: Capture) -> None:
    """Refused by their number, before any is looked at."""
    Path("w.json").write_text("{" + ", ".join(f'"{n}": 0' for n in range(10**6)) + "}")
    said = "w.json: a workflow has at most 200,000 nodes; got 1,000,000"
    assert ends(capsys, "w.json") == (2, said)


def test_a_hundred_thousand_brackets(capsys: Capture) -> None:
    """Closed or not, lists or objects."""
    for text in ("[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000):
        Path("w.json").write_text(text)
        code, said = ends(capsys, "w.json")
        assert (code, "nested deeper than 200 levels" in said) == (2, True)


def test_a_picture_that_unpacks_without_end(capsys: Capture) -> None:
    """A few kB that would be 30 GB: refused by its header, before the run."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        crc = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + crc

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0))
    pixels = chunk(b"IDAT", zlib.compress(bytes(10**6)))
    bomb = b"\x89PNG\r\n\x1a\n" + header + pixels + chunk(b"IEND", b"")
    Path("photo.png").write_bytes(bomb)
    code, said = ends(capsys, save(Path("w.json"), LOAD))
    assert code == 2
    assert said.startswith("node 1 (LoadImage), input image: the picture ")
    assert said.endswith("; make it smaller")
    assert not Path("output").exists()


@pytest.mark.parametrize(("length", "code"), [(0, 2), (8, 2), (20, 2), (60, 1), (10_000, 1)])
def test_a_picture_that_is_cut_off(length: int, code: int, capsys: Capture) -> None:
    """Before the run where the header is not whole, else when it is decoded; nothing is saved."""
    save_noise(Path("photo.png"), 64)
    whole = Path("photo.png").read_bytes()
    assert len(whole) > 10_000
    Path("photo.png").write_bytes(whole[:length])
    found, said = ends(capsys, save(Path("w.json"), LOAD))
    assert found == code
    assert said.startswith("node 1 (LoadImage)")
    assert "photo.png" in said
    assert not Path("output").exists() or list(Path("output").iterdir()) == []


def test_a_picture_without_a_workflow_given_as_one(capsys: Capture) -> None:
    """A photo dropped in by mistake."""
    save_noise(Path("photo.png"), 8)
    said = (
        "photo.png: the picture carries no workflow; open a picture that vinode or ComfyUI saved, "
    )
    assert ends(capsys, "photo.png") == (2, said + "or the workflow's JSON")
