"""What executed, and for how long: averages since the compile -> time of one user's inferences."""

# OpenVINO's stubs leave half of each operation untyped.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import openvino as ov
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graph.chains import SHAPE, chain, go_on, picture, saved, untimed
from vinode.graph import profile
from vinode.graph.compiled import Usage
from vinode.graph.devices import parse_hint
from vinode.graph.pool import Pool
from vinode.graph.profile import OpTime, ProfileReader, layout_time, module_path, ran_on_cpu

CPU = parse_hint("CPU", "")


@dataclass(slots=True)
class Recorded:
    """A request's profile as a plugin reports it, of one operation: whole us."""

    us: int

    @property
    def profiling_info(self) -> Sequence[Any]:
        """Give the one entry."""
        status, time = SimpleNamespace(name="EXECUTED"), timedelta(microseconds=self.us)
        fields = {"status": status, "node_name": "a", "node_type": "T", "exec_type": "k"}
        return [SimpleNamespace(real_time=time, **fields)]


def read(reader: ProfileReader, us: int) -> int:
    """Read a recorded profile; gives us."""
    (op,) = reader.read(cast(ov.InferRequest, Recorded(us)))
    return op.ns // 1000


def total_us(request: ov.InferRequest, runs: int) -> dict[str, int]:
    """Give the us of each operation in all inferences since the compile."""
    executed = [info for info in request.profiling_info if info.status.name == "EXECUTED"]
    return {info.node_name: info.real_time // timedelta(microseconds=1) * runs for info in executed}


def request_of(steps: Sequence[str]) -> ov.InferRequest:
    """Compile for the CPU with a profile; what is run is to be counted."""
    return (
        ov.Core().compile_model(chain(*steps), "CPU", {"PERF_COUNT": True}).create_infer_request()
    )


def test_readings_add_up_to_what_the_request_says_of_all_inferences() -> None:
    """Each average is cut to whole us: a reading of the n-th may be off by n and n - 1 us."""
    request, reader = request_of(["conv", "sin", "conv"]), ProfileReader()
    spent: dict[str, int] = {}
    for _ in range(12):
        reader.counted()
        request.infer({0: picture()})
        for op in reader.read(request):
            spent[op.name] = spent.get(op.name, 0) + op.ns // 1000
    total = total_us(request, 12)
    # An average that is cut to 0 us counts as not executed: a reading may know it from before.
    assert spent.keys() >= total.keys()
    assert {"conv0", "sin1", "conv2"} <= spent.keys()
    for name, us in total.items():
        assert abs(spent[name] - us) <= sum(n + n - 1 for n in range(1, 13)), name


@given(st.lists(st.integers(0, 3000), min_size=1, max_size=60), st.data())
def test_a_reading_is_off_by_no_more_than_the_averages_hide(
    durations: list[int], data: st.DataObject
) -> None:
    """At most n us now and m us at the last reading; never below nothing."""
    split = data.draw(st.integers(0, len(durations)))
    reader, done, before = ProfileReader(), 0, 0
    for until in sorted({split, len(durations)} - {0}):
        for _ in range(before, until):
            reader.counted()
        found = read(reader, sum(durations[:until]) // until)
        assert abs(found - sum(durations[before:until])) <= until + before
        assert found >= 0
        done, before = done + found, until
    assert reader.unread is False


def test_the_millionth_inference_takes_what_one_takes() -> None:
    """Cut to whole us, the sum of a million averages lacks up to a second."""
    reader = ProfileReader()
    for _ in range(1_000_000):
        reader.counted()
    read(reader, 7)
    reader.counted()
    assert read(reader, 7) == 7
    reader.counted()
    reader.counted()
    assert read(reader, 7) == 14


def test_the_time_of_short_inferences_is_shared_out_as_last_read() -> None:
    """Until what was computed is worth a reading; and that one leaves out none of them."""
    request, reader = request_of(["conv", "sin"]), ProfileReader()

    def taken(inferences: int, ns: int) -> dict[str, int]:
        for _ in range(inferences):
            reader.counted()
            request.infer({0: picture()})
        return {op.name: op.ns for op in reader.take(request, ns)}

    first = taken(1, 1000)
    assert {"conv0", "sin1"} <= first.keys()
    assert taken(3, 500) == {name: ns // 2 for name, ns in first.items()}
    assert reader.unread is False
    again = taken(2, 60 * 10**9)
    total = total_us(request, 6)
    for name, ns in again.items():
        # Two of the five since the first reading, each average cut to whole us.
        assert abs(ns / 1000 - (total[name] - first[name] / 1000) * 2 / 5) <= 6


def test_a_device_that_reports_the_last_inference_alone() -> None:
    """An NPU does: the last stands for all since the last reading."""
    reader = ProfileReader(averages=False)
    for _ in range(3):
        reader.counted()
    assert read(reader, 50) == 150
    reader.counted()
    assert read(reader, 20) == 20


def test_two_users_of_one_compiled_model_get_their_own_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Together it is what the request counted, less the inference that was nobody's."""
    monkeypatch.setattr(profile, "WORTH", 0)  # read each time, short as they are
    part, pool = saved(chain("conv", "sin"), tmp_path), Pool()
    first, second = Usage(), Usage()
    for user, times in ((first, 3), (second, 2), (first, 1)):
        with pool.open(part, (("x", SHAPE),), CPU, untimed, go_on, user) as session:
            session.write({"x": picture()})
            for _ in range(times):
                session.run()
    compiled = session.compiled
    for user in (first, second):
        pool.settle(compiled, user)
    total = total_us(compiled.request, 6)
    own = {op.name: op.ns // 1000 for op in first.ops[compiled]}
    other = {op.name: op.ns // 1000 for op in second.ops[compiled]}
    assert {*own, *other} >= total.keys()
    assert all(ns > 0 for ns in (own["sin1"], other["sin1"]))
    for name, us in total.items():
        assert abs(own[name] + other[name] - us) <= sum(range(7))


def test_inferences_of_nobody_are_not_the_next_users(tmp_path: Path) -> None:
    """A first comparison runs before the first user: its time is not that user's."""
    pool = Pool(simulate=True)
    part, user = saved(chain("conv", "sin"), tmp_path), Usage()
    with pool.open(part, (("x", SHAPE),), parse_hint("NPUSIM_CPU", ""), untimed, go_on, user) as s:
        before = total_us(s.compiled.request, 1)
        assert before["sin1"] > 0
    pool.settle(s.compiled, user)
    assert [op.ns for op in user.ops[s.compiled]] == [0] * len(before)


def test_without_a_profile_nothing_executed() -> None:
    """A model compiled without PERF_COUNT has entries, none of which ran."""
    request = ov.Core().compile_model(chain("sin"), "CPU").create_infer_request()
    reader = ProfileReader()
    reader.counted()
    request.infer({0: picture()})
    assert reader.read(request) == ()


@pytest.mark.parametrize(
    ("kernel", "on_cpu"),
    [
        ("brgconv_avx512_amx_bf16", True),
        ("jit_uni_f32", True),
        ("jit_f32", True),
        ("ref_any_f32", True),
        ("gemm_any_f32", True),
        ("brgemm_avx2_f32", True),
        ("gemm_tiled_opt__f16", False),
        ("convolution_gpu_bfyx_os_iyx_osv16__f16", False),
        ("arg_max_min_opt__f16", False),
        ("softmax_gpu_bf__f16", False),
        ("reorder_data_ref__f32", False),
        ("jit:gemm:any__f16", False),
        ("ocl:ref:any__f16", False),
        ("DPU", False),
        ("Shave", False),
        ("DMA", False),
        ("", False),
    ],
)
def test_kernels_of_the_cpu_are_told_from_others(kernel: str, on_cpu: bool) -> None:
    """A GPU's gemm is no CPU kernel, though the CPU has a gemm too."""
    assert ran_on_cpu([OpTime("a", "MatMul", kernel, 0, 1)]) is on_cpu


def test_what_the_cpu_runs_here_is_known_as_the_cpus() -> None:
    """The names are read from the plugin that is installed."""
    request, reader = request_of(["conv", "sin", "relu"]), ProfileReader()
    reader.counted()
    request.infer({0: picture()})
    ops = reader.read(request)
    assert all(ran_on_cpu([op]) for op in ops), [op.kernel for op in ops]


def test_the_share_of_layout_changes() -> None:
    """Reorders, transposes and converts, of the time of all; nothing of nothing."""
    ops = [
        OpTime("a", "Convolution", "", 0, 60),
        OpTime("b", "Reorder", "", 0, 20),
        OpTime("c", "Transpose", "", 0, 15),
        OpTime("d", "Convert", "", 1, 5),
    ]
    assert layout_time(ops) == (0.4, sum(op.ns for op in ops) * 0.4)
    assert layout_time([OpTime("a", "Convolution", "", 0, 0)]) == (0, 0)
    assert layout_time([]) == (0, 0)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("__module.down_blocks.0.attn/aten::softmax/Softmax", "down_blocks.0.attn"),
        ("__module.conv_in/aten::_convolution/Convolution_2", "conv_in"),
        ("__module.a.b/prim::ListConstruct/Concat", "a.b"),
        ("__module.a.b", "a.b"),
        ("__module./aten::add/Add", "__module./aten::add/Add"),
        ("aten::add/Add_3", "aten::add"),
        ("/down/attn/MatMul", "down/attn"),
        ("/MatMul", "/MatMul"),
        ("model_1/conv2d/Conv2D", "model_1/conv2d"),
        ("Conv_12", "Conv_12"),
        ("Conv_12/WithoutBiases", "Conv_12"),
        ("", ""),
    ],
)
def test_the_place_in_the_source_model(name: str, place: str) -> None:
    """Torch, ONNX and TensorFlow name operations each in their way."""
    assert module_path(name) == place
