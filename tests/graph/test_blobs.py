"""Blobs on disk: whole and made for just this, or not found."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import openvino as ov
import pytest

from tests.graph.chains import SHAPE, chain, saved
from vinode.graph.blobs import BlobKey, Blobs
from vinode.graph.compile import blob_key
from vinode.graph.devices import SIMULATED
from vinode.graph.part import Asked, Simulation

KEY = BlobKey("d1", {"x": [1, 4]}, {"A": "1"}, "NPU Intel AI Boost", "1.2 8.4", "2026.4.1")


def kept(blobs: Blobs, key: BlobKey = KEY, content: bytes = b"compiled") -> Path:
    """Keep a blob."""
    return blobs.keep(key, content)


def test_a_blob_is_found_again(tmp_path: Path) -> None:
    """Shapes may be lists or tuples; what it was made for stands beside it."""
    blobs = Blobs(tmp_path / "new" / "folder")
    assert blobs.find(KEY) is None
    path = kept(blobs)
    assert blobs.find(KEY) == path
    assert blobs.find(replace(KEY, shapes={"x": (1, 4)})) == path
    assert path.read_bytes() == b"compiled"
    noted = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert noted["made_for"]["driver"] == "1.2 8.4"
    assert {file.suffix for file in blobs.folder.iterdir()} == {".blob", ".json"}


@pytest.mark.parametrize(
    "changed",
    [
        {"digest": "d2"},
        {"shapes": {"x": [1, 5]}},
        {"shapes": {"y": [1, 4]}},
        {"options": {"A": "2"}},
        {"options": {}},
        {"device": "NPU another"},
        {"driver": "1.3 8.4"},
        {"openvino": "2026.4.2"},
        {"rewrites": ("softmax-decomposed",)},
    ],
)
def test_another_thing_to_compile_is_another_blob(tmp_path: Path, changed: dict[str, Any]) -> None:
    """A driver's update makes old blobs unfindable, whatever they are."""
    blobs = Blobs(tmp_path)
    kept(blobs)
    assert blobs.find(replace(KEY, **changed)) is None
    assert blobs.find(KEY) is not None


def test_every_field_of_the_key_counts() -> None:
    """A field that is added is in the rows above."""
    names = {field.name for field in fields(BlobKey)}
    assert names == {
        "digest",
        "shapes",
        "options",
        "device",
        "driver",
        "openvino",
        "rewrites",
    }


def cut(path: Path) -> None:
    """Leave half of the file."""
    path.write_bytes(path.read_bytes()[:4])


def no_text(path: Path) -> None:
    """Leave bytes that are no UTF-8."""
    path.write_bytes(b"\xff\xfe")


def write(text: str) -> Callable[[Path], object]:
    """Give what writes a text into a file."""
    return lambda path: path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("suffix", "damage"),
    [
        (".blob", cut),
        (".blob", write("COMPILED")),
        (".blob", write("")),
        (".blob", Path.unlink),
        (".json", cut),
        (".json", write("")),
        (".json", write("[]")),
        (".json", write("3")),
        (".json", write('"sha256"')),
        (".json", write("{}")),
        (".json", write('{"sha256": null}')),
        (".json", no_text),
        (".json", Path.unlink),
    ],
)
def test_what_is_damaged_is_not_trusted(
    tmp_path: Path, suffix: str, damage: Callable[[Path], object]
) -> None:
    """It is made anew, and found then."""
    blobs = Blobs(tmp_path)
    damage(kept(blobs).with_suffix(suffix))
    assert blobs.find(KEY) is None
    kept(blobs, content=b"another")
    found = blobs.find(KEY)
    assert found is not None
    assert found.read_bytes() == b"another"


def test_a_blob_under_another_ones_name_is_not_trusted(tmp_path: Path) -> None:
    """A note tells what its blob was made for."""
    blobs, other = Blobs(tmp_path), replace(KEY, driver="0.9")
    old = kept(blobs, other, b"of an old driver")
    for suffix in (".blob", ".json"):
        os.replace(old.with_suffix(suffix), tmp_path / f"{KEY.name}{suffix}")
    assert blobs.find(KEY) is None


def test_half_written_is_never_found(tmp_path: Path) -> None:
    """Neither the part alone, nor the blob before its note is there."""
    blobs = Blobs(tmp_path)
    part = tmp_path / "0a.part"
    part.write_bytes(b"comp")
    assert blobs.find(KEY) is None
    os.replace(part, tmp_path / f"{KEY.name}.blob")
    assert blobs.find(KEY) is None


def test_what_an_ended_process_left_is_removed(tmp_path: Path) -> None:
    """After days; a part that may still be written to stays."""
    blobs = Blobs(tmp_path)
    old, new = tmp_path / "0a.part", tmp_path / "0b.part"
    for part in (old, new):
        part.write_bytes(b"half")
    long_ago = old.stat().st_mtime - 3 * 86400
    os.utime(old, (long_ago, long_ago))
    kept(blobs)
    assert (old.exists(), new.exists()) == (False, True)


@pytest.mark.parametrize(
    ("other", "stays"),
    [
        ({"driver": "1.1 8.4"}, False),
        ({"openvino": "2026.3.0"}, False),
        ({"driver": "1.1 8.4", "shapes": {"x": [2, 4]}}, False),
        ({"shapes": {"x": [2, 4]}}, True),
        ({"options": {}}, True),
        ({"driver": "1.1 8.4", "digest": "d2"}, True),
        ({"driver": "1.1 8.4", "device": "GPU Arc"}, True),
    ],
)
def test_blobs_that_a_new_driver_replaces_go(
    tmp_path: Path, other: dict[str, Any], stays: bool
) -> None:
    """Of the same part and device alone: what another model has, another model may still use."""
    blobs = Blobs(tmp_path)
    old = kept(blobs, replace(KEY, **other))
    check = old.with_suffix(".check.json")
    check.write_text("{}")
    (tmp_path / "strange.json").write_text("[1]")
    new = kept(blobs)
    assert blobs.find(KEY) == new
    left = [path.exists() for path in (old, old.with_suffix(".json"), check)]
    assert left == [stays] * 3
    assert (tmp_path / "strange.json").exists()


def test_a_folder_that_cannot_be_made_keeps_nothing(tmp_path: Path) -> None:
    """It is an OSError, which whoever compiles goes on without; no part is left."""
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        kept(Blobs(tmp_path / "file" / "blobs"))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_key_of_what_is_asked(tmp_path: Path) -> None:
    """Device, shapes, options, rewrites and the stand-in's ways all count; the limit does not."""
    core = ov.Core()
    core.register_plugin("openvino_intel_cpu_plugin", SIMULATED)
    part = saved(chain("sin"), tmp_path)
    asked = Asked(part, (("x", SHAPE),), SIMULATED, simulation=Simulation())
    key = blob_key(core, asked)
    assert key.openvino == ov.get_version()
    assert key.device.startswith(f"{SIMULATED} ")
    assert len(key.device) > len(SIMULATED) + 1
    others = [
        replace(asked, shapes=(("x", (2, 4, 8, 8)),)),
        replace(asked, device="CPU"),
        replace(asked, device=f"HETERO:{SIMULATED},CPU"),
        replace(asked, options=(("PERFORMANCE_HINT", "LATENCY"),)),
        replace(asked, rewrites=("softmax-decomposed",)),
        replace(asked, simulation=Simulation(refused=frozenset({"Sin"}))),
        replace(asked, simulation=Simulation(noise=0.5)),
    ]
    names = {blob_key(core, other).name for other in (asked, *others)}
    assert len(names) == len(others) + 1
    assert blob_key(core, replace(asked, seconds=3.0)) == key
