"""The models of a computer: listed, added, pulled, removed, verified; and their cards."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.converters.models import save_ir, save_onnx
from vinode.converters.cards import Source, card_from, catalogue
from vinode.converters.library import (
    Listed,
    add_model,
    detector_names,
    list_models,
    pull_model,
    remove_model,
    verify_models,
)
from vinode.converters.store import Store
from vinode.graph.errors import ModelError


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Make an empty store."""
    return Store((tmp_path / "models",))


def _listed(store: Store, name: str) -> Listed:
    return next(row for row in list_models(store) if row.name == name)


def _files(store: Store) -> list[str]:
    found = [path for path in store.home.rglob("*") if path.is_file() and path.suffix != ".lock"]
    return sorted(path.name for path in found)


def test_a_model_goes_through_its_states(store: Store, tmp_path: Path) -> None:
    """Added, converted, damaged, mended, removed."""
    path = save_onnx(tmp_path / "Relu Net.onnx")
    add_model(store, path, licence="CC0-1.0")
    row = _listed(store, "relu-net")
    assert (row.state, row.bytes, row.licence) == ("pulled", path.stat().st_size, "CC0-1.0")
    part = pull_model(store, "relu-net")
    assert _listed(store, "relu-net").state == "converted"
    part.xml.write_text("", encoding="utf-8")
    assert _listed(store, "relu-net").state == "damaged"
    pull_model(store, "relu-net")
    assert _listed(store, "relu-net").state == "converted"
    assert remove_model(store, "relu-net") > path.stat().st_size
    assert _files(store) == []
    assert path.is_file()
    with pytest.raises(ModelError, match="no such model"):
        remove_model(store, "relu-net")


def test_a_file_may_stay_where_it_is(store: Store, tmp_path: Path) -> None:
    """Gigabytes are not copied, but the hash still decides."""
    path = save_onnx(tmp_path / "relu.onnx")
    add_model(store, path, copy=False)
    assert _files(store) == ["relu.json"]
    pull_model(store, "relu")
    remove_model(store, "relu")
    add_model(store, path, copy=False)
    path.write_bytes(path.read_bytes()[:-1] + b"\x0c")
    with pytest.raises(ModelError, match="has changed since it was added"):
        pull_model(store, "relu")
    path.unlink()
    with pytest.raises(ModelError, match="the file is not there any more"):
        pull_model(store, "relu")


def test_a_name_belongs_to_one_model(store: Store, tmp_path: Path) -> None:
    """The same file twice is fine; another file under the name is not."""
    path = save_onnx(tmp_path / "relu.onnx")
    assert add_model(store, path) == add_model(store, path)
    with pytest.raises(ModelError, match="belongs to another model; got relu"):
        add_model(store, save_ir(tmp_path), "relu")
    with pytest.raises(ModelError, match="belongs to another model"):
        add_model(store, path, "face-short-range")


@pytest.mark.parametrize("name", ["../up", "a/b", "NUL", "nul.x", "con", "Ä", "a" * 65, ".a", "a."])
def test_a_name_is_a_file_name_everywhere(name: str, store: Store, tmp_path: Path) -> None:
    """Windows included."""
    with pytest.raises(ModelError, match="a model's name is"):
        add_model(store, save_onnx(tmp_path / "relu.onnx"), name)
    assert not store.home.exists()


def test_what_two_models_share_stays_until_both_are_gone(store: Store, tmp_path: Path) -> None:
    """Sources and IR are by content."""
    path = save_onnx(tmp_path / "relu.onnx")
    for name in ("one", "two"):
        add_model(store, path, name)
        pull_model(store, name)
    remove_model(store, "one")
    assert _listed(store, "two").state == "converted"
    remove_model(store, "two")
    assert _files(store) == []


def test_verify_reads_every_file_again(store: Store, tmp_path: Path) -> None:
    """Also what was read before, and what the clock does not show."""
    add_model(store, save_ir(tmp_path), "tiny")
    part = pull_model(store, "tiny")
    assert verify_models(store) == []
    weights = part.xml.with_suffix(".bin")
    state, content = weights.stat(), bytearray(weights.read_bytes())
    content[0] ^= 1
    weights.write_bytes(content)
    os.utime(weights, ns=(state.st_atime_ns, state.st_mtime_ns))
    (fault,) = verify_models(store)
    assert fault.code == "model-damaged"
    assert fault.fix == "vinode models pull tiny"
    pull_model(store, "tiny")
    assert verify_models(store) == []
    kept = next((store.home / "sources").rglob("*.bin"))
    kept.write_bytes(b"")
    (fault,) = verify_models(store)
    assert "source of 'tiny'" in fault.problem
    pull_model(store, "tiny")
    assert verify_models(store) == []


def test_a_broken_card_does_not_hide_the_others(store: Store, tmp_path: Path) -> None:
    """Cards of later versions neither; `verify` names the broken one."""
    card = add_model(store, save_onnx(tmp_path / "relu.onnx"))
    (store.home / "cards" / "broken.json").write_text("{", encoding="utf-8")
    row = json.loads((store.home / "cards" / "relu.json").read_text(encoding="utf-8"))
    row |= {"name": "later", "kind": "detector", "family": "of-tomorrow", "more": 1}
    (store.home / "cards" / "later.json").write_text(json.dumps(row), encoding="utf-8")
    names = {listed.name for listed in list_models(store)}
    assert names == {*catalogue(), card.name, "later"}
    assert "later" not in detector_names(store)
    assert [fault.place.endswith("broken.json") for fault in verify_models(store)] == [True]


def test_the_catalogue_is_pinned() -> None:
    """Each row has hashes, sizes, a licence, and a file in a wheel."""
    assert "face-short-range" in catalogue()
    for card in catalogue().values():
        assert card.source.pypi is not None
        assert card.source.bytes > 0
        assert card.source.wheel_bytes > 0
        assert card.licence != "unknown"
        assert card.about


GOOD: dict[str, Any] = {
    "name": "a",
    "source": {"uri": "file:/a.onnx", "sha256": "0" * 64, "bytes": 1},
}
BAD: dict[str, tuple[object, str]] = {
    "no object": ([], "a card is a JSON object"),
    "no source": ({"name": "a"}, "`source` is a JSON object"),
    "no name": ({"source": GOOD["source"]}, "name, and the source's uri"),
    "another scheme": (
        {**GOOD, "source": {**GOOD["source"], "uri": "ftp:x"}},
        "a source is file:PATH or pypi:",
    ),
    "an option for pip": (
        {**GOOD, "source": {**GOOD["source"], "uri": "pypi:--index-url==1#a"}},
        "a source is file:PATH or pypi:",
    ),
    "two lines": (
        {**GOOD, "source": {**GOOD["source"], "uri": "pypi:a==1\n-r x#a"}},
        "a source is file:PATH or pypi:",
    ),
    "no hash": ({**GOOD, "source": {**GOOD["source"], "sha256": "x"}}, "64 hex digits"),
    "no wheel's hash": (
        {**GOOD, "source": {**GOOD["source"], "uri": "pypi:a==1#a"}},
        "64 hex digits",
    ),
    "a bad name": ({**GOOD, "name": "../a"}, "a model's name is"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_wrong_card_is_refused(case: str) -> None:
    """With the place and what is wrong."""
    plain, sentence = BAD[case]
    with pytest.raises(ModelError, match="row 3: ") as caught:
        card_from(plain, "row 3")
    assert sentence in str(caught.value)


def test_a_source_knows_its_file() -> None:
    """On every system, and with spaces in the path."""
    inside = Source("pypi:some-package==1.0#data/model v2.tflite", "0" * 64, 1)
    assert inside.file == "model v2.tflite"
    assert inside.pypi == ("some-package", "1.0", "data/model v2.tflite")
    assert Source("file:/some where/a.onnx", "0" * 64, 1).file == "a.onnx"


def test_what_is_freed_is_what_lay_on_the_disk(store: Store, tmp_path: Path) -> None:
    """Source, IR and record of this folder; the user's own file stays and does not count."""
    path = save_onnx(tmp_path / "relu.onnx")
    add_model(store, path, copy=False)
    pull_model(store, "relu")
    places = [store.home / "store", store.home / "sources"]
    on_disk = sum(
        file.stat().st_size for place in places for file in place.rglob("*") if file.is_file()
    )
    assert remove_model(store, "relu") == on_disk > 0
    assert path.is_file()


def test_a_model_of_another_folder_is_not_said_to_be_removed(tmp_path: Path) -> None:
    """The other folder may be a share that many read."""
    shared = Store((tmp_path / "shared",))
    add_model(shared, save_onnx(tmp_path / "relu.onnx"))
    both = Store((tmp_path / "mine", tmp_path / "shared"))
    with pytest.raises(ModelError, match="only the first folder is changed"):
        remove_model(both, "relu")
    assert "relu" in shared.cards()
