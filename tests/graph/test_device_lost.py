"""A device that fails in the middle: the next one does the work, with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.graph.chains import SHAPE, chain, go_on, saved, untimed, used
from vinode.graph.compiled import Usage
from vinode.graph.devices import SIMULATED, parse_hint
from vinode.graph.errors import DeviceError
from vinode.graph.part import Simulation
from vinode.graph.pool import Pool
from vinode.graph.session import InferenceFailed
from vinode.graph.values import ModelPart

LOST = (
    "Exception from src/plugins/intel_npu/zero.cpp:1:\nL0 zeFenceHostSynchronize result: "
    "ZE_RESULT_ERROR_DEVICE_LOST, code 0x70000001 - device hung, reset, was removed\n"
)


@pytest.fixture(name="part")
def a_part(tmp_path: Path) -> ModelPart:
    """Give a model of two operations."""
    return saved(chain("conv", "sin"), tmp_path)


def lost(part: ModelPart, folder: Path, says: str = LOST) -> Pool:
    """Give a pool whose stand-in was right at first, and fails from now on."""
    used(Pool(simulate=True, folder=folder), part, SIMULATED)
    return Pool(simulate=Simulation(fails=says), folder=folder)


def test_a_device_lost_in_an_inference_is_left_for_the_next(
    part: ModelPart, tmp_path: Path
) -> None:
    """The node has its answer from the CPU, with the reason; it does not try again itself."""
    pool, user = lost(part, tmp_path / "blobs"), Usage()
    done = used(pool, part, SIMULATED, user)
    (reason,) = done.reasons
    assert (reason.code, done.compiled.device) == ("device-lost", "CPU")
    assert reason.sentence.endswith("device hung, reset, was removed")
    wanted = used(Pool(), part, "CPU").outputs["y"]
    assert (done.outputs["y"] == wanted).all()
    assert used(pool, part, SIMULATED, user).reasons == (reason,)
    assert list(user.lost.values()) == [reason]


def test_another_run_tries_the_device_again(part: ModelPart, tmp_path: Path) -> None:
    """The fix says "run again", so that must be of use."""
    pool, folder = lost(part, tmp_path / "blobs"), tmp_path / "blobs"
    assert used(pool, part, SIMULATED).compiled.device == "CPU"
    again = Usage()
    assert used(pool, part, SIMULATED, again).compiled.device == "CPU"
    assert len(again.lost) == 1  # it was tried, and failed again
    assert used(Pool(simulate=True, folder=folder), part, SIMULATED).compiled.device == SIMULATED


def test_a_lost_device_that_is_a_must_is_an_error(part: ModelPart, tmp_path: Path) -> None:
    """With the reason's code and the fix."""
    with pytest.raises(DeviceError) as failed:
        used(lost(part, tmp_path / "blobs"), part, f"{SIMULATED}!")
    (fault,) = failed.value.faults
    assert (fault.code, fault.got) == ("device-lost", f"{SIMULATED}!")
    assert "run again" in fault.fix


def test_a_device_lost_while_its_request_is_held(part: ModelPart, tmp_path: Path) -> None:
    """Whoever holds it is told; what it opens next is on the next device."""
    pool, user = lost(part, tmp_path / "blobs", "the driver says something new"), Usage()
    shapes, hint = (("x", SHAPE),), parse_hint(SIMULATED, "")
    with (
        pytest.raises(InferenceFailed, match="the driver says something new") as failed,
        pool.open(part, shapes, hint, untimed, go_on, user) as session,
    ):
        session.run()
    assert failed.value.reason.code == "inference-failed"  # it says nothing of a device
    with pool.open(part, shapes, hint, untimed, go_on, user) as session:
        session.run()
    assert session.compiled.device == "CPU"
    assert [reason.code for reason in session.reasons] == ["inference-failed"]


def test_memory_that_runs_out_in_an_inference(part: ModelPart, tmp_path: Path) -> None:
    """It is told as that, not as a failed compile."""
    pool = lost(part, tmp_path / "blobs", "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY")
    assert [r.code for r in used(pool, part, SIMULATED).reasons] == ["out-of-memory"]


def test_a_device_that_fails_at_its_first_answer(part: ModelPart) -> None:
    """There is no figure then, but a reason."""
    done = used(Pool(simulate=Simulation(fails=LOST)), part, SIMULATED)
    assert [reason.code for reason in done.reasons] == ["device-lost"]
    assert done.compiled.device == "CPU"
