"""The NPU preflight without the compiler: texts, pieces of models, verdicts, installation."""

# OpenVINO's stubs leave half of each operation untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportGeneralTypeIssues=false

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import pytest
from openvino import opset15 as op

from tests.converters.npu_models import given, saved
from vinode.converters.npu_compiler import cut
from vinode.converters.npu_compiler.asking import ask
from vinode.converters.npu_compiler.culprit import Search, find
from vinode.converters.npu_compiler.find import LOADER, VARIABLE, Compiler, wheel_folder
from vinode.converters.npu_compiler.find import find as find_compiler
from vinode.converters.npu_compiler.install import VERSION, plan, refuse_impossible, uninstall
from vinode.converters.npu_compiler.texts import estimate_seconds, read_failure, resembles
from vinode.converters.npu_compiler.verdict import Question, Verdict, Verdicts
from vinode.graph.errors import ModelError
from vinode.graph.placement import Fix, Reason

RETURNED = (
    "Exception from src\\plugin.cpp:560:\nCompilation failed: [NPU_VCL] Compiler returned msg:\n"
)
FAILED = f"{RETURNED}Compilation failed\n\n"


def net() -> ov.Model:
    """Make x -> Add -> Relu -> Reshape to six dimensions -> Sin -> Reshape -> two outputs."""
    x = given(1, 4, 2, 2)
    added = op.add(x, op.constant(np.ones((1, 4, 2, 2), np.float32)))
    wide = op.sin(op.reshape(op.relu(added), [1, 2, 2, 1, 2, 2], False))
    back = op.reshape(wide, [1, 4, 2, 2], False)
    return ov.Model([back.output(0), op.exp(added).output(0)], [x], "net")


def computed(model: ov.Model, array: Any) -> list[Any]:
    """Run a model on the CPU."""
    made = ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return list(made([array] * len(model.inputs)).values())


def test_a_text_is_read_from_where_it_stands() -> None:
    """From the log where the message says nothing; from the message else; from the plugin's own."""
    log = (
        "[INFO] 01:02:03.4 [x] nothing\n"
        "[ERROR] 01:02:03.4 [vpux-compiler] Bufferize failed : Antialiasing is not supported.\n"
        "[ERROR] 01:02:03.5 [vpux-compiler] Failed Pass Bufferize on Operation loc(module)\n"
    )
    said = read_failure(FAILED, log)
    assert (said.row.code, said.plugin) == ("op-unsupported", False)
    assert said.sentence == "Bufferize failed : Antialiasing is not supported."
    said = read_failure(f"{RETURNED}Unsupported data type 'f4e2m1'\n\n", "")
    assert (said.row.code, said.sentence) == (
        "precision-unsupported",
        "Unsupported data type 'f4e2m1'",
    )
    said = read_failure("Exception from a.cpp:1:\nWrong value. Supported values: f16, i8", "")
    assert (said.row.code, said.plugin) == ("precision-unsupported", True)
    said = read_failure(FAILED, "[ERROR] 01:02:03.4 [vpux-compiler] Newpass failed : odd\n")
    assert (said.row.code, said.match) == ("compile-failed", None)


def test_failures_are_compared_by_their_cause() -> None:
    """A piece that fails for another cause proves nothing."""
    strides = read_failure(f"{RETURNED}Attribute strides can't be processed", "")
    mode = read_failure(f"{RETURNED}String attribute mode is not supported", "")
    first = read_failure(FAILED, "[ERROR] 1:1 [c] One failed : 17\n")
    same = read_failure(FAILED, "[ERROR] 1:1 [c] One failed : 18\n")
    other = read_failure(FAILED, "[ERROR] 1:1 [c] Two failed : 17\n")
    assert resembles(strides, mode)
    assert resembles(first, same)
    assert not resembles(first, other)
    assert not resembles(strides, first)


def test_the_estimate_is_read_and_its_doubt() -> None:
    """In seconds; None where the compiler told none."""
    log = "[INFO] 1 [a]   Estimated inference latency: 158.62 us in dpu frequency 1850.00 MHz\n"
    assert estimate_seconds(log) == (158.62 / 1e6, False)
    assert estimate_seconds(f"{log}3 tasks with invalid cost") == (158.62 / 1e6, True)
    assert estimate_seconds("") == (None, False)


def test_an_operation_alone_computes_what_it_did() -> None:
    """Its constants stay, what came from others becomes an input; six dimensions come in flat."""
    x = np.array(range(-8, 8), np.float32).reshape(1, 4, 2, 2)
    model = net()
    names = {op.get_type_name(): op.get_friendly_name() for op in cut.working(model)}
    added = cut.alone(model, names["Add"])
    assert added is not None
    assert computed(added, x)[0].tolist() == (x + 1).tolist()
    sine = cut.alone(model, names["Sin"])
    assert sine is not None
    assert [len(port.shape) for port in (*sine.inputs, *sine.outputs)] == [1, 1]
    np.testing.assert_allclose(computed(sine, x.reshape(-1))[0], np.sin(x).reshape(-1), atol=1e-6)


def test_the_first_operations_compute_what_they_did() -> None:
    """Each that another one needs, or that ends the model, is an output."""
    x = np.array(range(-8, 8), np.float32).reshape(1, 4, 2, 2)
    model = net()
    work = cut.working(model)
    whole = cut.up_to(model, len(work))
    assert whole is not None
    mine, its = (sorted(computed(each, x), key=np.sum) for each in (whole, net()))
    np.testing.assert_allclose(mine, its, atol=1e-6)
    for count in range(1, len(work)):
        piece = cut.up_to(model, count)
        assert piece is not None
        assert len(cut.working(piece)) >= count
        assert all(len(port.shape) <= 5 for port in piece.outputs)
        assert all(np.isfinite(array).all() for array in computed(piece, x))


def test_what_follows_from_constants_is_no_work() -> None:
    """Weights that are converted and scaled are folded."""
    weight = op.convert(op.constant(np.ones((4, 4), np.float16)), "f32")
    x = given(1, 4)
    model = ov.Model([op.matmul(x, op.multiply(weight, weight), False, True)], [x], "m")
    assert [each.get_type_name() for each in cut.working(model)] == ["MatMul"]


def has(*types: str) -> Callable[[ov.Model, float], bool]:
    """Make a stand-in for a compiler that fails where all of these types are in the model."""

    def fails(model: ov.Model, limit: float) -> bool:
        return set(types) <= {each.get_type_name() for each in model.get_ordered_ops()}

    return fails


def test_the_operation_at_fault_is_found() -> None:
    """Alone where it fails alone, by halving where two must meet; none where nothing fails."""
    soon = time.monotonic() + 60
    found = find(net(), None, Search(has("Sin"), soon))
    assert found is not None
    assert ([each.type for each in found.ops], found.how) == (["Sin"], "it does not compile alone")
    found = find(net(), None, Search(has("Relu", "Exp", "Sin"), soon))
    assert found is not None
    assert found.how == "the model fails from there on"
    assert found.ops[0].type in ("Sin", "Exp", "Relu")
    assert find(net(), None, Search(has("Relu", "Exp", "Sin"), soon, halving=False)) is None
    assert find(net(), None, Search(has("Sin"), time.monotonic())) is None
    assert find(net(), None, Search(has("Sin"), time.monotonic() + 5, 10, halving=False)) is None


def test_a_text_that_names_one_operation_needs_no_compile() -> None:
    """The search must not be asked."""

    def never(model: ov.Model, limit: float) -> bool:
        raise AssertionError

    said = read_failure(FAILED, "[ERROR] 1:1 [c] 'IE.ReLU' op operand #0 must be f16, but got x\n")
    found = find(net(), said, Search(never, time.monotonic()))
    assert found is not None
    assert [each.type for each in found.ops] == ["Relu"]


REASON = Reason("op-unsupported", "s", "f", ("Tan a",), (Fix("device", "CPU", "c"),))
QUESTION = Question("d", {"x": (1, 3)}, {}, (), "4000", "c 1")


def verdict(reason: Reason | None, seconds: float = 1.0) -> Verdict:
    """Make a verdict."""
    return Verdict("4000", reason, 3, seconds, 5, 6, 0.1, True, "8.4")


def test_verdicts_are_kept_whole(tmp_path: Path) -> None:
    """Another compiler or shape is another question; damage is asked again."""
    kept = Verdicts(tmp_path / "verdicts")
    assert kept.find(QUESTION, 10) is None
    for each in (verdict(None), verdict(REASON)):
        kept.keep(QUESTION, each)
        assert kept.find(QUESTION, 10) == each
    assert kept.find(Question("d", {"x": (1, 3)}, {}, (), "4000", "c 2"), 10) is None
    assert kept.find(Question("d", {"x": (1, 4)}, {}, (), "4000", "c 1"), 10) is None
    (file,) = (tmp_path / "verdicts").iterdir()
    file.write_text(file.read_text(encoding="utf-8")[:-40], encoding="utf-8")
    assert kept.find(QUESTION, 10) is None
    Verdicts(None).keep(QUESTION, verdict(None))
    assert Verdicts(None).find(QUESTION, 10) is None


def test_running_out_of_time_counts_only_for_as_much_time(tmp_path: Path) -> None:
    """Who allows more asks again."""
    kept = Verdicts(tmp_path)
    kept.keep(QUESTION, verdict(Reason("compile-timeout", "s"), 30.5))
    assert kept.find(QUESTION, 30) is not None
    assert kept.find(QUESTION, 31) is None


@pytest.mark.skipif(sys.platform == "win32", reason="there the wheel has the compiler")
def test_where_there_is_none_the_error_says_how_to_get_it(tmp_path: Path) -> None:
    """A half-made one counts for nothing."""
    (tmp_path / "npu-compiler" / "libs").mkdir(parents=True)
    with pytest.raises(ModelError, match="vinode npu-compiler install") as raised:
        find_compiler(tmp_path)
    (fault,) = raised.value.faults
    assert fault.code == "compiler-missing"
    assert LOADER["linux"] in fault.problem
    assert uninstall(tmp_path)
    assert not uninstall(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder or a file in it; a wrong one is told with the name of what is missing."""
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(ModelError, match=VARIABLE):
        find_compiler(tmp_path)
    loader = tmp_path / LOADER.get(sys.platform, LOADER["linux"])
    loader.write_bytes(b"x")
    found = find_compiler(tmp_path)
    assert (found.folder, found.wine) == (tmp_path, None)
    monkeypatch.setenv(VARIABLE, str(loader))
    assert find_compiler(tmp_path) == found
    loader.write_bytes(b"xx")
    assert find_compiler(tmp_path).identity != found.identity


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_library_that_is_none_is_no_verdict(tmp_path: Path) -> None:
    """OpenVINO's plugin really looks into the named folder, and what it says is passed on."""
    part = saved(tmp_path, op.relu(x := given(1, 2)), [x])
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    (libraries / LOADER["linux"]).write_bytes(b"no library")
    compiler = Compiler(libraries, None, "none")
    with pytest.raises(ModelError, match="does not start") as raised:
        ask(compiler, part.xml, {"NPU_PLATFORM": "4000"}, 60)
    assert "er_loader.so: file too short" in str(raised.value)


def test_the_wheel_under_wine_is_the_openvino_of_this_program() -> None:
    """Another version may read another IR: raise both together, with the hash."""
    assert version("openvino").startswith(VERSION)
    assert (wheel_folder() / "..").resolve().name == "openvino"


def test_an_installation_tells_what_it_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody's system is changed unasked; without apt-get the packages are named."""
    monkeypatch.setenv("PATH", str(tmp_path))
    wanted = plan(tmp_path)
    assert {"wine", "gcc-mingw-w64-x86-64"} < set(wanted.packages)
    assert wanted.sentences[0].startswith("apt-get install wine64 wine")
    assert str(tmp_path) in wanted.sentences[-1]
    with pytest.raises(ModelError, match=r"no apt-get here|Linux only"):
        refuse_impossible(wanted)


@pytest.mark.skipif(sys.platform != "linux", reason="set up on Linux only")
def test_who_may_not_install_packages_is_told_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only packages need root: where they are there, anybody may go on."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    for name in ("apt-get", "wine"):
        (tmp_path / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    with pytest.raises(ModelError, match=r"sudo apt-get install .*mingw"):
        refuse_impossible(plan(tmp_path))
    (tmp_path / "x86_64-w64-mingw32-gcc").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "x86_64-w64-mingw32-gcc").chmod(0o755)
    refuse_impossible(plan(tmp_path))
