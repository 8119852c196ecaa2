"""What is offered for a reason: in which order, and nothing that was tried already."""

from __future__ import annotations

from typing import get_args

import pytest

from vinode.graph.devices import parse_hint
from vinode.graph.fixes import INPUT_RULES, offered
from vinode.graph.placement import Code, Reason
from vinode.graph.rewrites import REWRITES

F32 = ("INFERENCE_PRECISION_HINT",)


def values(code: Code, device: str, sentence: str = "", **tried: tuple[str, ...]) -> list[str]:
    """Give the values of what is offered, advice left out."""
    fixes = offered(Reason(code, sentence, "ask somebody"), device, **tried)
    assert not fixes or [fix.kind for fix in fixes].index("advice") == len(fixes) - 1
    return [fix.value for fix in fixes if fix.kind != "advice"]


@pytest.mark.parametrize(
    ("code", "device", "sentence", "tried", "wanted"),
    [
        ("op-unsupported", "NPU", "no Tan in a", {}, ["CPU"]),
        ("op-unsupported", "NPU.1", "no Tan in a", {"available": ("CPU", "GPU")}, ["GPU", "CPU"]),
        ("op-unsupported", "HETERO:NPU,GPU", "Tan", {"available": ("GPU.0", "GPU.1")}, ["CPU"]),
        ("op-unsupported", "NPUSIM_CPU", "no Tan in a", {}, ["HETERO:NPUSIM_CPU,CPU", "CPU"]),
        ("op-unsupported", "CPU", "LogSoftmax x", {}, ["log-softmax-axis"]),
        ("op-unsupported", "CPU", "no MyOp in a", {"available": ("CPU", "GPU")}, []),
        ("compile-failed", "CPU", "at Bucketize", {}, ["bucketize-i32", "multiple-64"]),
        ("out-of-memory", "CPU", "", {}, ["batch-1", "multiple-64", "half-size"]),
        ("inference-failed", "NPU", "", {"available": ("GPU.0",)}, ["GPU.0", "CPU", "AUTO"]),
        ("inference-failed", "CPU", "", {}, []),
        (
            "op-unsupported",
            "GPU.1",
            "LogSoftmax x",
            {},
            ["log-softmax-axis", "HETERO:GPU.1,CPU", "CPU"],
        ),
        ("op-unsupported", "HETERO:GPU,CPU", "MVN x", {}, ["layer-norm-decomposed", "CPU"]),
        (
            "op-unsupported",
            "NPU",
            "Softmax x",
            {"rewrites": ("softmax-decomposed",)},
            ["CPU"],
        ),
        ("compile-failed", "NPU", "at Bucketize", {}, ["bucketize-i32", "CPU", "multiple-64"]),
        ("dynamic-shape", "NPU", "", {}, ["constant-sizes", "CPU", "static-size"]),
        ("dynamic-shape", "NPU", "", {"rewrites": ("constant-sizes",)}, ["CPU", "static-size"]),
        ("out-of-memory", "NPU", "", {}, ["CPU", "batch-1", "multiple-64", "half-size"]),
        ("compile-timeout", "NPU", "", {}, ["CPU", "batch-1", "multiple-64", "half-size"]),
        ("device-absent", "NPU", "", {}, ["CPU", "AUTO"]),
        ("driver-too-old", "NPU", "", {}, ["CPU", "AUTO"]),
        ("wrong-result", "NPU", "", {}, ["CPU"]),
        ("wrong-result", "GPU", "", {}, ["precision=f32", "CPU"]),
        ("wrong-result", "GPU", "", {"options": F32}, ["CPU"]),
        ("precision-unsupported", "NPU", "", {"options": F32}, ["precision", "CPU"]),
        ("option-ignored", "CPU", f"CPU does not know {F32[0]}", {"options": F32}, ["precision"]),
        (
            "option-ignored",
            "CPU",
            "nothing that bucketize-i32 replaces",
            {"rewrites": ("bucketize-i32", "constant-sizes")},
            ["rewrites.bucketize-i32"],
        ),
        ("split-too-small", "HETERO:NPU,CPU", "", {}, ["CPU"]),
        ("python-node", "CPU", "", {}, []),
    ],
)
def test_the_least_change_comes_first(
    code: Code, device: str, sentence: str, tried: dict[str, tuple[str, ...]], wanted: list[str]
) -> None:
    """What changes no result is before what does."""
    assert values(code, device, sentence, **tried) == wanted


@pytest.mark.parametrize("code", get_args(Code))
def test_what_is_offered_can_be_written(code: Code) -> None:
    """Hints parse, names are known; advice says what the reason's fix says."""
    said = " ".join(type for rewrite in REWRITES.values() for type in rewrite.types)
    for fix in offered(Reason(code, said, "ask somebody"), "NPU", options=F32):
        match fix.kind:
            case "device":
                assert parse_hint(fix.value, "").text == fix.value
            case "rewrite":
                assert fix.sentence == REWRITES[fix.value].sentence
            case "input":
                assert fix.value in INPUT_RULES
            case "option":
                assert fix.value == "precision"
            case "advice":
                assert fix.sentence == "ask somebody"
