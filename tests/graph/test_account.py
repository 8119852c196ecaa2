"""What a node's models executed -> where it ran: shares of time and of operations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.graph.chains import SHAPE, chain, go_on, picture, saved, untimed
from vinode.graph.account import Used, placement
from vinode.graph.compiled import Compiled, Usage
from vinode.graph.devices import SIMULATED, parse_hint
from vinode.graph.part import Simulation
from vinode.graph.placement import Reason
from vinode.graph.pool import Pool
from vinode.graph.profile import OpTime

HETERO = f"HETERO:{SIMULATED},CPU"
HINT = parse_hint(SIMULATED, "")
SIN = Simulation(refused=frozenset({"Sin"}))


def compiled(folder: Path, device: str, *steps: str) -> Compiled:
    """Compile a chain for a device of a pool whose stand-in takes no Sin."""
    part = saved(chain(*steps), folder, "-".join(steps))
    with Pool(simulate=SIN).open(
        part, (("x", SHAPE),), parse_hint(device, ""), untimed, go_on
    ) as session:
        return session.compiled


def ran(name: str, ns: int, submodel: int = 0, type: str = "Convolution") -> OpTime:
    """Make an operation that executed on the CPU plugin."""
    return OpTime(name, type, "jit_avx512_f32", submodel, ns)


def test_one_model_on_one_device(tmp_path: Path) -> None:
    """All of the time and of the operations; the busiest first."""
    model = compiled(tmp_path, SIMULATED, "conv", "relu")
    ops = (ran("a", 10), ran("b", 60), ran("c", 30, type="Reorder"))
    found = placement(HINT, [Used(model, ops, 500)], ())
    assert (found.requested, found.where) == (SIMULATED, f"{SIMULATED} (simulated)")
    assert (found.actual, found.ops) == ({SIMULATED: 1.0}, {SIMULATED: 1.0})
    assert [op.name for op in found.busiest] == ["b", "c", "a"]
    assert found.layout == 0.3
    assert found.snr_db == model.snr_db
    assert (found.splits, found.between, found.simulated) == ((), 0, True)


def test_several_models_weigh_by_their_time(tmp_path: Path) -> None:
    """And by their operations: each that executed counts once."""
    near = compiled(tmp_path, SIMULATED, "conv")
    here = compiled(tmp_path, "CPU", "conv", "relu")
    used = [
        Used(near, (ran("a", 1), ran("b", 1), ran("c", 1)), 300),
        Used(here, (ran("a", 1),), 100),
    ]
    found = placement(HINT, used, ())
    assert found.actual == {SIMULATED: 0.75, "CPU": 0.25}
    assert found.ops == {SIMULATED: 0.75, "CPU": 0.25}
    assert found.where == f"{SIMULATED} (simulated) 75%, CPU 25%"
    assert len(found.busiest) == 4


def test_a_split_model_beside_a_whole_one(tmp_path: Path) -> None:
    """The operations of both are counted as they executed, not one as shares."""
    split = compiled(tmp_path, HETERO, "conv", "sin", "conv")
    whole = compiled(tmp_path, "CPU", "conv")
    ops = (ran("conv0", 30), ran("sin1", 20, 1, "Eltwise"), ran("conv2", 30, 2), ran("x", 20, 2))
    found = placement(HINT, [Used(split, ops, 400), Used(whole, (ran("a", 5),) * 4, 400)], ())
    assert found.actual == {SIMULATED: pytest.approx(0.4), "CPU": pytest.approx(0.6)}
    assert found.ops == {SIMULATED: 3 / 8, "CPU": 5 / 8}
    assert [one.submodels for one in found.splits] == [((SIMULATED, 1), ("CPU", 1), (SIMULATED, 2))]
    assert found.between == 300


def test_a_split_model_that_gives_no_profile(tmp_path: Path) -> None:
    """Its time is shared out as its operations are: nobody measured it."""
    split = compiled(tmp_path, HETERO, "conv", "sin", "conv")
    found = placement(HINT, [Used(split, (), 300)], ())
    assert found.actual == {SIMULATED: pytest.approx(2 / 3), "CPU": pytest.approx(1 / 3)}
    assert found.ops == {SIMULATED: pytest.approx(2 / 3), "CPU": pytest.approx(1 / 3)}
    assert found.between == 0


def test_a_model_that_gives_no_profile(tmp_path: Path) -> None:
    """The time of the whole inference is the device's."""
    found = placement(HINT, [Used(compiled(tmp_path, "CPU", "conv"), (), 300)], ())
    assert (found.actual, found.ops) == ({"CPU": 1.0}, {"CPU": 1.0})


def test_a_model_that_was_held_but_never_ran(tmp_path: Path) -> None:
    """Nothing executed anywhere; the reasons stay."""
    model = compiled(tmp_path, "CPU", "conv")
    reason = Reason("device-absent", "no NPU is here")
    found = placement(HINT, [Used(model, (), 0)], (reason, reason))
    assert (found.actual, found.ops, found.where) == ({}, {}, "")
    assert found.reasons == (reason,)
    assert placement(HINT, [], ()).actual == {}
    other = Used(compiled(tmp_path, SIMULATED, "relu"), (ran("a", 1),), 5)
    assert placement(HINT, [Used(model, (), 0), other], ()).actual == {SIMULATED: 1.0}


def test_a_claim_that_the_kernels_deny(tmp_path: Path) -> None:
    """It is corrected, and a reason says so; one that names the CPU is no lie."""
    model = compiled(tmp_path, "CPU", "conv")
    model.claimed = ("NPU",)
    found = placement(parse_hint("NPU", ""), [Used(model, (ran("a", 1),), 5)], ())
    assert found.actual == {"CPU": 1.0}
    (reason,) = found.reasons
    assert reason.code == "device-absent"
    assert "claims NPU" in reason.sentence
    honest = replace(ran("a", 1), kernel="DPU")
    found = placement(parse_hint("NPU", ""), [Used(model, (honest,), 5)], ())
    assert (found.actual, found.reasons) == ({"NPU": 1.0}, ())


def test_the_worst_of_several_models_is_told(tmp_path: Path) -> None:
    """The one on the CPU has no figure."""
    models = [compiled(tmp_path, SIMULATED, "conv"), compiled(tmp_path, SIMULATED, "relu")]
    models[0].snr_db, models[1].snr_db = 44.0, 31.0
    models.append(compiled(tmp_path, "CPU", "conv"))
    assert placement(HINT, [Used(model, (), 1) for model in models], ()).snr_db == 31.0


def test_one_compiled_model_of_two_nodes(tmp_path: Path) -> None:
    """Each node's account holds what it executed, though the request is one."""
    pool, part = Pool(), saved(chain("conv", "sin"), tmp_path)
    hint = parse_hint("CPU", "")
    first, second = Usage(), Usage()
    one = pool.infer(part, {"x": picture()}, hint, untimed, go_on, first)
    two = pool.infer(part, {"x": picture()}, hint, untimed, go_on, second)
    assert one.compiled is two.compiled
    assert {op.name for op in first.ops[one.compiled]} >= {"conv0", "sin1"}  # filled already
    assert one.compiled not in second.ops
    pool.settle(two.compiled, second)
    before = dict(first.ops)
    pool.settle(one.compiled, first)
    assert first.ops == before
    for user, done in ((first, one), (second, two)):
        ops = user.ops[done.compiled]
        found = placement(hint, [Used(done.compiled, ops, done.computed)], done.reasons)
        assert found.actual == {"CPU": 1.0}
        assert sum(op.ns for op in ops) > 0
        assert done.computed > 0


def test_a_model_used_while_another_is_held(tmp_path: Path) -> None:
    """Each has its own time: what ran inside is not counted with what was held."""
    pool, hint = Pool(), parse_hint("CPU", "")
    outer, inner = saved(chain("relu"), tmp_path, "a"), saved(chain("conv", "sin"), tmp_path, "b")
    with pool.open(outer, (("x", SHAPE),), hint, untimed, go_on) as session:
        session.run()
        before = session.computed
        done = pool.infer(inner, {"x": picture()}, hint, untimed, go_on)
        assert session.computed == before
        session.run()
    assert session.computed > before > 0
    assert done.computed > 0
