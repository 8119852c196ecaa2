"""The store: content addresses, damage, kills, two processes at once, disks that refuse."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.converters.models import save_ir
from vinode.converters.convert import ensure, ready
from vinode.converters.files import UNWATCHED
from vinode.converters.library import add_model, pull_model
from vinode.converters.record import Recipe, record_from
from vinode.converters.store import Artifact, Damage, Store
from vinode.graph.errors import Cancelled, ModelError
from vinode.graph.values import ModelPart

# Run by a fresh process: convert "tiny" and tell the steps that were worked through.
CONVERT = """
import json, sys, time
from pathlib import Path
from vinode.converters.convert import ensure
from vinode.converters.store import Store

store, start, hang_at = Store((Path(sys.argv[1]),)), Path(sys.argv[2]), sys.argv[3]
steps = []

def progress(step, done, total):
    steps.append(step)
    if step == hang_at:
        print("hanging", flush=True)
        time.sleep(60)

while not start.exists():
    time.sleep(0.01)
part = ensure(store, "tiny", progress)
print(json.dumps({"steps": steps, "digest": part.digest}))
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Make a store with one model, added but not converted."""
    made = Store((tmp_path / "models",))
    add_model(made, save_ir(tmp_path / "from"), "tiny")
    return made


def _process(store: Store, start: Path, hang_at: str = "") -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", CONVERT, str(store.home), str(start), hang_at]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_an_artifact_is_whole_and_tells_where_it_comes_from(store: Store) -> None:
    """Its record has hash and size of every file."""
    part = ensure(store, "tiny")
    assert _names(part.xml.parent) == ["model.bin", "model.xml", "record.json"]
    record = record_from((part.xml.parent / "record.json").read_text(encoding="utf-8"))
    assert record.recipe.digest == part.digest == part.xml.parent.name
    assert (
        record.files["model.bin"].bytes == part.bytes == part.xml.with_suffix(".bin").stat().st_size
    )
    assert _names(store.home / "store") == [part.digest]


def test_two_processes_at_once_make_one_artifact(store: Store, tmp_path: Path) -> None:
    """The second waits for the first and takes what it made."""
    start = tmp_path / "start"
    children = [_process(store, start) for _ in range(2)]
    start.touch()
    told = [json.loads(child.communicate(timeout=60)[0]) for child in children]
    assert sum(row["steps"].count("write") for row in told) == 1
    assert {row["digest"] for row in told} == set(_names(store.home / "store"))


def test_a_kill_during_convert_leaves_nothing_that_is_trusted(store: Store, tmp_path: Path) -> None:
    """What it left beside is removed by the next."""
    start = tmp_path / "start"
    start.touch()
    child = _process(store, start, hang_at="compare")
    assert child.stdout is not None
    assert child.stdout.readline() == "hanging\n"
    child.kill()
    child.communicate()
    assert [name.endswith(".part") for name in _names(store.home / "store")] == [True]
    assert ready(store, store.card("tiny")) is None
    part = ensure(store, "tiny")
    assert _names(store.home / "store") == [part.digest]


def test_leftovers_are_swept_but_not_those_at_work(store: Store, tmp_path: Path) -> None:
    """Who holds the lock is at work."""
    left = store.home / "store" / f"{'0' * 64}.part"
    left.mkdir(parents=True)
    start = tmp_path / "start"
    start.touch()
    child = _process(store, start, hang_at="write")
    assert child.stdout is not None
    child.stdout.readline()
    assert store.sweep() == [f"store/{left.name}"]
    assert len(_names(store.home / "store")) == 1
    child.kill()
    child.communicate()


def _flip(part: ModelPart) -> None:
    content = bytearray(part.xml.with_suffix(".bin").read_bytes())
    content[5] ^= 1
    part.xml.with_suffix(".bin").write_bytes(content)


def _cut(part: ModelPart) -> None:
    part.xml.with_suffix(".bin").write_bytes(b"")


def _lose(part: ModelPart) -> None:
    part.xml.unlink()


def _no_record(part: ModelPart) -> None:
    (part.xml.parent / "record.json").write_text("{", encoding="utf-8")


def _foreign_record(part: ModelPart) -> None:
    path = part.xml.parent / "record.json"
    row = json.loads(path.read_text(encoding="utf-8"))
    row["recipe"]["version"] += 1
    path.write_text(json.dumps(row), encoding="utf-8")


@pytest.mark.parametrize("damage", [_flip, _cut, _lose, _no_record, _foreign_record])
def test_a_damaged_artifact_is_made_again(
    damage: Callable[[ModelPart], None], store: Store
) -> None:
    """Noticed in the same process too, and the record says why it was made again."""
    part = ensure(store, "tiny")
    good = part.xml.with_suffix(".bin").read_bytes()
    damage(part)
    assert isinstance(store.find(part.digest), Damage)
    again = ensure(store, "tiny")
    assert again == part
    assert part.xml.with_suffix(".bin").read_bytes() == good
    found = store.find(part.digest)
    assert isinstance(found, Artifact)
    assert found.record.steps[0].log[0].startswith("rebuilt: ")


def test_damage_without_a_source_is_told_with_the_fix(store: Store, tmp_path: Path) -> None:
    """It is never used, and no other file is taken for the source."""
    part = ensure(store, "tiny")
    _flip(part)
    source = store.source(store.card("tiny").source)
    assert source is not None
    source.write_text("another", encoding="utf-8")
    save_ir(tmp_path / "from", seed=1)
    with pytest.raises(ModelError, match=r"damaged .*vinode models pull tiny") as caught:
        ensure(store, "tiny")
    assert caught.value.faults[0].code == "model-missing"
    assert caught.value.faults[0].got == "tiny"
    with pytest.raises(ModelError, match="has changed since it was added"):
        pull_model(store, "tiny")


def test_the_first_folder_is_written_and_all_are_read(store: Store, tmp_path: Path) -> None:
    """A model converted on a shared disk is not converted again."""
    part = ensure(store, "tiny")
    both = Store((tmp_path / "mine", store.home))
    assert ensure(both, "tiny") == part
    assert not (tmp_path / "mine").exists()
    _flip(part)
    again = ensure(both, "tiny")
    assert again.xml.is_relative_to(tmp_path / "mine")
    assert ensure(both, "tiny") == again


def test_a_folder_that_cannot_be_made_is_one_sentence(store: Store, tmp_path: Path) -> None:
    """Simulated by a file in its place; nothing half is left."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    blocked = Store((tmp_path / "file", store.home))
    with pytest.raises(ModelError, match="a file stands where a folder is needed") as caught:
        ensure(blocked, "tiny")
    assert caught.value.faults[0].code == "model-disk"
    assert not (store.home / "store").exists()


def test_a_full_disk_leaves_nothing_half(store: Store) -> None:
    """The error of the system becomes a sentence with the fix."""

    def full(folder: Path) -> None:
        (folder / "half").write_bytes(b"half")
        raise OSError(28, os.strerror(28))  # ENOSPC

    source = store.card("tiny").source
    for area in (store.home / "sources" / source.key).iterdir():
        area.unlink()
    with pytest.raises(ModelError, match="the disk is full; free some space"):
        store.keep_source(source, full, UNWATCHED)
    assert _names(store.home / "sources") == [source.key]
    assert _names(store.home / "sources" / source.key) == []


def test_cancel_stops_between_steps_and_leaves_nothing(store: Store) -> None:
    """The next attempt starts afresh."""
    with pytest.raises(Cancelled):
        ensure(store, "tiny", cancelled=lambda: True)
    seen: list[str] = []

    def progress(step: str, done: int, total: int) -> None:
        seen.append(step)

    with pytest.raises(Cancelled):
        ensure(store, "tiny", progress, cancelled=lambda: "write" in seen)
    assert _names(store.home / "store") == []
    assert ensure(store, "tiny").xml.is_file()


@given(
    st.dictionaries(
        st.text(max_size=3), st.integers() | st.text(max_size=3) | st.none(), max_size=3
    )
)
def test_equal_recipes_have_equal_addresses(options: dict[str, object]) -> None:
    """The order of options does not matter; any other difference does."""
    reverse = dict(reversed(list(options.items())))
    digest = Recipe("a" * 64, "graph", 1, options).digest
    assert Recipe("a" * 64, "graph", 1, reverse).digest == digest
    assert Recipe("a" * 64, "graph", 2, options).digest != digest
    assert Recipe("b" * 64, "graph", 1, options).digest != digest
    assert Recipe("a" * 64, "graph", 1, {**options, "longer": 1}).digest != digest


def test_a_second_read_does_not_hash_again(store: Store) -> None:
    """Gigabytes are hashed once in a process; a changed file is another file."""
    part = ensure(store, "tiny")
    hashed: list[str] = []

    def progress(step: str, done: int, total: int) -> None:
        hashed.append(step)

    ensure(store, "tiny", progress)
    assert hashed == []
    os.utime(part.xml, (time.time() + 5, time.time() + 5))
    ensure(store, "tiny", progress)
    assert set(hashed) == {"hash"}
