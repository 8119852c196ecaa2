"""Is a device's answer right? The measure, its records, and what becomes of a wrong one."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graph.chains import chain, go_on, picture, saved, untimed
from vinode.graph.devices import SIMULATED, parse_hint
from vinode.graph.part import Simulation
from vinode.graph.pool import Inference, Pool
from vinode.graph.rightness import (
    MIN_SNR_DB,
    Checks,
    FixedPort,
    Rightness,
    fixed_inputs,
    snr_db,
    trials,
    worst,
)
from vinode.graph.values import ModelPart

HINT = parse_hint(SIMULATED, "")
FOUND = Rightness(41.5, "NPU", "1.2 8.4", "2026.4.1", "2026-12-01T00:00:00+00:00")
INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    ("answer", "wanted", "db"),
    [
        ([1.1], [1.0], 20),
        ([110.0, 0.0], [100.0, 0.0], 20),
        ([2.0], [1.0], 0),
        ([-1.0], [1.0], -6.0206),
        ([0.0, 0.0], [3.0, 4.0], 0),
        ([3.0, 4.0], [3.0, 4.0], INF),
        ([0.0, 0.0], [0.0, 0.0], INF),
        ([1e-4, 0.0], [0.0, 0.0], 23.0103),
        ([1.0, 0.0], [0.0, 0.0], -56.9897),
        ([NAN, 1.0], [1.0, 1.0], -INF),
        ([INF, 1.0], [1.0, 1.0], -INF),
        ([1.0, 1.1], [NAN, 1.0], 20),
        ([INF, 1.1], [INF, 1.0], 20),
        ([-INF, 1.1], [INF, 1.0], 20),
        ([5.0], [NAN], INF),
        ([], [], INF),
        ([1.0], [1.0, 1.0], -INF),
        ([1.0, 1.0], [1.0], -INF),
    ],
)
def test_the_measure(answer: list[float], wanted: list[float], db: float) -> None:
    """What the CPU itself gives as NaN or infinite says nothing of the device."""
    found = snr_db(np.array(answer, np.float32), np.array(wanted, np.float32))
    assert found == pytest.approx(db, abs=1e-3)


@pytest.mark.parametrize(
    ("answer", "wanted", "dtype", "db"),
    [
        ([3, 1, 2], [3, 1, 2], "int64", INF),
        ([0, 255], [255, 0], "uint8", -3.0103),
        ([-128], [127], "int8", -6.0547),
        ([0, 10], [0, 11], "uint64", 20.8279),
        ([True, False], [True, False], "bool", INF),
        ([False, False], [True, False], "bool", 0),
    ],
)
def test_whole_numbers_do_not_wrap(
    answer: list[int], wanted: list[int], dtype: str, db: float
) -> None:
    """In uint8, 0 - 255 is 1."""
    found = snr_db(np.array(answer, dtype), np.array(wanted, dtype))
    assert found == pytest.approx(db, abs=1e-3)


def test_half_precision_does_not_overflow() -> None:
    """Sums of float16 are taken in float64."""
    wanted = np.full(10_000, 300, np.float16)
    assert snr_db(wanted * np.float16(1.01), wanted) == pytest.approx(40, abs=0.5)


@given(
    st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=8),
    st.floats(0.0078125, 128, width=32),
)
def test_scale_does_not_matter(values: list[float], scale: float) -> None:
    """A model whose outputs are ten times as large is as right."""
    wanted = np.array(values, np.float64) + 1e3 + 1
    answer = wanted + 1
    assert snr_db(answer * scale, wanted * scale) == pytest.approx(snr_db(answer, wanted))


def test_the_worst_output_counts() -> None:
    """A wrong one of two is wrong."""
    one = np.ones(3, np.float32)
    assert worst([{"a": one, "b": one * 2}], [{"a": one, "b": one}]) == 0


def test_the_fixed_input_is_the_same_each_time() -> None:
    """Pixels, token ids and masks are valid ones."""
    ports: list[tuple[str, tuple[int, ...], np.dtype[Any]]] = [
        ("x", (2, 3), np.dtype(np.float16)),
        ("pixels", (1, 64, 64, 3), np.dtype(np.uint8)),
        ("ids", (1, 77), np.dtype(np.int64)),
        ("mask", (77,), np.dtype(np.bool_)),
        ("scalar", (), np.dtype(np.float32)),
    ]
    first, second = fixed_inputs(ports), fixed_inputs(ports)
    for name, shape, dtype in ports:
        assert (first[name].shape, first[name].dtype) == (shape, dtype)
        assert (first[name] == second[name]).all()
    assert set(first["ids"].ravel().tolist()) == {0, 1}
    assert first["pixels"].max() > 250


PICTURE = ("image", (1, 3, 32, 24), np.dtype(np.float32))


@pytest.mark.parametrize(
    ("port", "is_picture"),
    [
        (PICTURE, True),
        (("image", (2, 64, 48, 1), np.dtype(np.uint8)), True),
        (("image", (1, 3, 32, 24), np.dtype(np.float16)), True),
        (("latent", (1, 4, 64, 64), np.dtype(np.float32)), False),
        (("tokens", (1, 77), np.dtype(np.int64)), False),
        (("tiny", (1, 3, 4, 4), np.dtype(np.float32)), False),
        (("ids", (1, 3, 32, 24), np.dtype(np.int64)), False),
    ],
)
def test_what_takes_a_picture_is_tried_on_one_too(port: FixedPort, is_picture: bool) -> None:
    """After noise; of the port's shape, type and range, and nothing like noise."""
    given = trials([port, ("scale", (1,), np.dtype(np.float32))])
    assert len(given) == 1 + is_picture
    for inputs in given:
        assert (inputs[port[0]].shape, inputs[port[0]].dtype) == port[1:]
    if is_picture:
        picture = given[1][port[0]].astype(np.float64)
        low, high = (0, 255) if port[2] == np.uint8 else (-1, 1)
        assert low <= picture.min() < picture.max() <= high
        assert picture.std() > 0.2 * (high - low) / 2
        steps = np.abs(np.diff(picture, axis=2 if port[1][1] == 3 else 1))
        assert np.median(steps) < 0.02 * (high - low)
        assert given[1]["scale"] == given[0]["scale"]


def test_powers_are_added_over_trials() -> None:
    """Next to nothing, and far from it, counts for little beside a whole answer that is right."""
    quiet, loud = np.full(4, 1e-3), np.ones(4)
    wanted = [{"y": quiet}, {"y": loud}]
    assert worst([{"y": quiet * 2}, {"y": loud * 1.01}], wanted) == pytest.approx(40, abs=0.1)
    assert worst([{"y": quiet}, {"y": loud * 2}], wanted) == pytest.approx(0, abs=0.1)
    assert worst([{"y": quiet * 2000}, {"y": loud}], wanted) < 0
    assert worst([{"y": quiet[:2]}, {"y": loud}], wanted) == -INF
    assert worst([{"y": quiet * np.nan}, {"y": loud}], wanted) == -INF


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Infinity too, which JSON has no number for."""
    checks = Checks(tmp_path / "new")
    assert checks.find("a") is None
    for snr in (41.5, INF, -INF):
        found = Rightness(snr, "NPU", "1.2 8.4", "2026.4.1", FOUND.date)
        checks.keep("a", found)
        assert checks.find("a") == found
    assert [file.name for file in checks.folder.iterdir()] == ["a.check.json"]


@pytest.mark.parametrize(
    "text",
    ["", "{", "3", "[]", "null", "{}", '{"snr_db": 3}', '{"snr_db": "nan", "device": ""}']
    + [
        json.dumps({**dict.fromkeys(Rightness.__slots__, "x"), "snr_db": snr})
        for snr in ("nan", "much")
    ],
)
def test_a_damaged_record_is_none(tmp_path: Path, text: str) -> None:
    """The comparison is done again."""
    (tmp_path / "a.check.json").write_text(text, encoding="utf-8")
    assert Checks(tmp_path).find("a") is None


def used(pool: Pool, part: ModelPart) -> Inference:
    """Run a part once on the stand-in."""
    return pool.infer(part, {"x": picture()}, HINT, untimed, go_on)


def test_a_right_device_is_kept_with_its_figure(tmp_path: Path) -> None:
    """Half precision is right; the record tells driver and version."""
    part, folder = saved(chain("conv", "sin"), tmp_path), tmp_path / "blobs"
    done = used(Pool(simulate=True, folder=folder), part)
    snr = done.compiled.snr_db
    assert snr is not None
    assert snr >= MIN_SNR_DB
    assert (done.compiled.device, done.reasons) == (SIMULATED, ())
    (file,) = folder.glob("*.check.json")
    noted = json.loads(file.read_text(encoding="utf-8"))
    assert float(noted["snr_db"]) == snr
    assert (noted["device"], noted["openvino"]) == (SIMULATED, ov.get_version())
    assert "noise 0.0" in noted["driver"]
    assert noted["date"].startswith("20")


def test_a_second_start_does_not_compare_again(tmp_path: Path) -> None:
    """It believes the record, here one that was changed by hand."""
    part, folder = saved(chain("conv", "sin"), tmp_path), tmp_path / "blobs"
    used(Pool(simulate=True, folder=folder), part)
    (file,) = folder.glob("*.check.json")
    noted = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**noted, "snr_db": "33.25"}), encoding="utf-8")
    assert used(Pool(simulate=True, folder=folder), part).compiled.snr_db == 33.25
    file.write_text(json.dumps({**noted, "snr_db": "-inf"}), encoding="utf-8")
    done = used(Pool(simulate=True, folder=folder), part)
    assert done.compiled.device == "CPU"
    assert "NaN" in done.reasons[0].sentence


def test_another_driver_is_compared_again(tmp_path: Path) -> None:
    """What was right with one may be wrong with the next."""
    part, folder = saved(chain("conv", "sin"), tmp_path), tmp_path / "blobs"
    assert used(Pool(simulate=True, folder=folder), part).compiled.device == SIMULATED
    worse = Pool(simulate=Simulation(noise=0.5), folder=folder)
    assert used(worse, part).compiled.device == "CPU"
    assert len(list(folder.glob("*.check.json"))) == 2
    assert used(Pool(simulate=True, folder=folder), part).compiled.device == SIMULATED


def test_a_wrong_device_is_left_or_accepted(tmp_path: Path) -> None:
    """Accepting it is the user's choice, and stays a reason."""
    part, wrong = saved(chain("conv", "sin"), tmp_path), Simulation(noise=0.5)
    done = used(Pool(simulate=wrong), part)
    (reason,) = done.reasons
    assert (reason.code, done.compiled.device) == ("wrong-result", "CPU")
    assert "--accept-wrong" in reason.fix
    assert done.compiled.snr_db is None
    done = used(Pool(simulate=wrong, accept_wrong=True), part)
    (reason,) = done.reasons
    assert (reason.code, done.compiled.device) == ("wrong-result", SIMULATED)
    snr = done.compiled.snr_db
    assert snr is not None
    assert snr < MIN_SNR_DB


def test_the_cpu_is_not_compared_with_itself(tmp_path: Path) -> None:
    """No figure, no record, no time."""
    part, folder = saved(chain("conv"), tmp_path), tmp_path / "blobs"
    pool = Pool(folder=folder)
    done = pool.infer(part, {"x": picture()}, parse_hint("CPU", ""), untimed, go_on)
    assert done.compiled.snr_db is None
    assert not folder.exists()
