"""What a conversion makes: the record, the preprocessing, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.converters.finders import save_finder
from tests.converters.models import (
    SIZE,
    STRIDES,
    save_detector,
    save_ir,
    save_onnx,
    save_onnx_with_weights,
)
from vinode.converters import ir
from vinode.converters.cards import Card
from vinode.converters.convert import ensure, refuse_wrong
from vinode.converters.library import add_model, convert_file, pull_model
from vinode.converters.record import Record, Verification, record_from, record_text
from vinode.converters.store import Artifact, Store
from vinode.graph.errors import ModelError
from vinode.graph.rightness import snr_db

OPTIONS = {"input": SIZE, "strides": STRIDES}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Make an empty store."""
    return Store((tmp_path / "models",))


def _add(store: Store, path: Path, options: dict[str, Any]) -> Card:
    return add_model(store, path, "bright", "detector", "blazeface", ["spot"], options, "CC0-1.0")


def _record(store: Store, digest: str) -> Record:
    found = store.find(digest)
    assert isinstance(found, Artifact)
    return found.record


def test_a_detector_takes_the_picture_as_it_is(store: Store, tmp_path: Path) -> None:
    """Preprocessing is inside, names are stable, and it answers as the source does."""
    _add(store, save_detector(tmp_path), OPTIONS)
    record = _record(store, ensure(store, "bright").digest)
    assert [(port.name, port.shape, port.dtype) for port in record.inputs] == [
        ("image", (1, 32, 32, 3), "u8")
    ]
    assert {port.name: port.shape for port in record.outputs} == {
        "boxes": (1, 32, 16),
        "logits": (1, 32, 1),
    }
    checked = record.verification
    assert checked is not None, record.steps[-1].log
    assert checked.snr_db is None or checked.snr_db > 60
    assert checked.cosine > 0.9999
    assert [step.name for step in record.steps] == ["read", "prepare", "write", "compare"]
    assert any("scale (127.5)" in line for line in record.steps[1].log)


def test_a_record_says_all_that_made_the_artifact(store: Store, tmp_path: Path) -> None:
    """And is read back as it was written."""
    card = _add(store, save_detector(tmp_path), OPTIONS)
    part = ensure(store, "bright")
    text = (part.xml.parent / "record.json").read_text(encoding="utf-8")
    row = json.loads(text)
    assert row["source"]["sha256"] == card.source.sha256
    assert row["source"]["file"] == "bright.xml"
    assert row["licence"] == "CC0-1.0"
    assert row["recipe"]["converter"] == "detector"
    assert row["recipe"]["options"]["strides"] == STRIDES
    assert set(row["packages"]) == {"numpy", "openvino"}
    assert row["weights_dtype"] == "f16"
    assert row["date"].endswith("Z")
    nothing = ("quantisation", "calibration", "device", "driver", "platform")
    assert {row[name] for name in nothing} == {None}
    assert record_text(record_from(text)) == text


def test_a_record_of_a_later_version_is_read(store: Store, tmp_path: Path) -> None:
    """Fields that are not known yet are passed over, at every level."""
    model = save_ir(tmp_path)
    part = convert_file(store, model)
    path = part.xml.parent / "record.json"
    row = json.loads(path.read_text(encoding="utf-8"))
    row |= {"vinode_record": 7, "later": {"a": 1}}
    for inner in (row["source"], row["steps"][0], row["files"]["model.bin"], row["inputs"][0]):
        inner["later"] = [1]
    path.write_text(json.dumps(row), encoding="utf-8")
    assert convert_file(store, model) == part


@pytest.mark.parametrize("name", ["../model.bin", "a/b", "..", "C:x"])
def test_a_record_names_no_file_elsewhere(name: str, store: Store, tmp_path: Path) -> None:
    """A name in a record is a name in its folder."""
    part = convert_file(store, save_ir(tmp_path))
    row = json.loads((part.xml.parent / "record.json").read_text(encoding="utf-8"))
    row["files"][name] = row["files"]["model.bin"]
    with pytest.raises(ValueError, match="not a file name"):
        record_from(json.dumps(row))


def test_onnx_becomes_ir_that_answers_the_same(store: Store, tmp_path: Path) -> None:
    """Any model file, without a kind."""
    part = convert_file(store, save_onnx(tmp_path / "relu.onnx"))
    assert part.name == "relu"
    core = ir.new_core()
    compiled = core.compile_model(ir.read_as_it_is(core, part.xml), "CPU")
    x = np.array([[-1, 0, 2, 3]], np.float32)
    assert compiled({"x": x})["y"].tolist() == [[0, 0, 2, 3]]


def test_the_same_model_elsewhere_has_the_same_address(store: Store, tmp_path: Path) -> None:
    """Content decides, not name or folder."""
    first = convert_file(store, save_onnx(tmp_path / "a.onnx"))
    second = convert_file(store, save_onnx(tmp_path / "b.onnx"))
    assert first.digest == second.digest
    irs = [convert_file(store, save_ir(tmp_path / str(seed), seed=seed)) for seed in (0, 1)]
    assert irs[0].digest != irs[1].digest  # the .xml is the same, the weights are not


def test_weights_in_a_file_beside_are_part_of_the_model(store: Store, tmp_path: Path) -> None:
    """The ONNX file itself is the same; its weights are not, and neither is the IR."""
    answers: list[float] = []
    digests: set[str] = set()
    for weight in (1, 5):
        content = np.full(4, weight, np.float32).tobytes()
        path = save_onnx_with_weights(tmp_path / "add.onnx", "add.data", content)
        part = convert_file(store, path)
        digests.add(part.digest)
        core = ir.new_core()
        compiled = core.compile_model(ir.read_as_it_is(core, part.xml), "CPU")
        answers.append(float(compiled({"x": np.zeros((1, 4), np.float32)})["y"][0, 0]))
    assert answers == [1, 5]
    assert len(digests) == 2


def test_a_kept_copy_has_its_weights_beside_it(store: Store, tmp_path: Path) -> None:
    """The original may go."""
    content = np.full(4, 7, np.float32).tobytes()
    path = save_onnx_with_weights(tmp_path / "add.onnx", "add.data", content)
    add_model(store, path)
    path.unlink()
    path.with_name("add.data").unlink()
    assert pull_model(store, "add").bytes


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "other strides": ({"input": 32, "strides": [[8, 1]]}, "16 anchors follow from the strides"),
    "another size": ({"input": 64, "strides": [[8, 2]]}, "does not take one picture"),
    "no strides": ({"input": 32}, "options are wrong"),
    "strides that do not divide": ({"input": 32, "strides": [[7, 2]]}, "options are wrong"),
    "not a number": ({"input": "32", "strides": STRIDES}, "options are wrong"),
}


@pytest.mark.parametrize("case", WRONG)
def test_options_that_do_not_fit_the_model_are_refused(
    case: str, store: Store, tmp_path: Path
) -> None:
    """Before or while it is converted, and nothing is left in the store."""
    options, sentence = WRONG[case]
    path = save_detector(tmp_path)

    def both() -> None:
        _add(store, path, options)
        ensure(store, "bright")

    with pytest.raises(ModelError, match=sentence):
        both()
    assert not list((store.home / "store").glob("*"))


def test_a_conversion_that_answers_otherwise_is_refused(store: Store, tmp_path: Path) -> None:
    """Measured against another model's weights, the difference is seen."""
    part = convert_file(store, save_ir(tmp_path, seed=0))
    core = ir.new_core()
    other = ir.read(core, save_ir(tmp_path / "other", seed=1))
    checked, _ = ir.compare(core, other, part.xml)
    card = Card("tiny", _record(store, part.digest).source)
    assert checked is not None
    with pytest.raises(ModelError, match="answers otherwise"):
        refuse_wrong(card, checked)
    refuse_wrong(card, replace(checked, snr_db=ir.WRONG_BELOW_DB))
    refuse_wrong(card, Verification(0, None, 1, "identical"))


def test_a_model_that_finds_nothing_in_noise_is_converted(store: Store, tmp_path: Path) -> None:
    """Its answer to noise is next to nothing, and half precision far from it: that is no fault."""
    source = save_finder(tmp_path / "source" / "finder.xml")
    part = convert_file(store, source)
    checked = _record(store, part.digest).verification
    assert checked is not None
    assert checked.snr_db is not None
    assert checked.snr_db > ir.WRONG_BELOW_DB
    core = ir.new_core()
    noise = np.random.default_rng(20).standard_normal((1, 3, 48, 48)).astype(np.float32)
    exact, halved = (
        core.compile_model(str(path), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})([noise])[0]
        for path in (source, part.xml)
    )
    assert snr_db(halved, exact) < ir.WRONG_BELOW_DB


def test_a_model_that_finds_other_things_is_refused(store: Store, tmp_path: Path) -> None:
    """Another threshold is another answer."""
    part = convert_file(store, save_finder(tmp_path / "source" / "finder.xml"))
    core = ir.new_core()
    other = ir.read(core, save_finder(tmp_path / "other" / "finder.xml", threshold=8))
    checked, _ = ir.compare(core, other, part.xml)
    with pytest.raises(ModelError, match="answers otherwise"):
        refuse_wrong(Card("finder", _record(store, part.digest).source), checked)


def test_an_unknown_name_offers_the_nearest(store: Store) -> None:
    """A typing mistake is the usual reason."""
    with pytest.raises(ModelError, match="did you mean 'face-short-range'"):
        ensure(store, "face-short-rnge")


def test_nothing_is_downloaded_by_itself(store: Store) -> None:
    """The engine asks; only `pull` fetches."""
    with pytest.raises(ModelError) as caught:
        ensure(store, "face-short-range")
    fault = caught.value.faults[0]
    assert (fault.code, fault.got) == ("model-missing", "face-short-range")
    assert fault.fix == "vinode models pull face-short-range, or run with --pull"
    assert not store.home.exists()
