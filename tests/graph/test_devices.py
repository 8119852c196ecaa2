"""Device hints: what is read, what is refused, and which devices a hint stands for."""

from __future__ import annotations

import openvino as ov
import pytest

from vinode.graph.devices import SIMULATED, candidates, parse_hint, parse_options, present
from vinode.graph.errors import VinodeError


@pytest.mark.parametrize(
    ("text", "shown", "devices", "hetero", "strict"),
    [
        ("AUTO", "AUTO", (), False, False),
        ("auto!", "AUTO!", (), False, True),
        ("CPU", "CPU", ("CPU",), False, False),
        (" npu ", "NPU", ("NPU",), False, False),
        ("NPU!", "NPU!", ("NPU",), False, True),
        ("NPU !", "NPU!", ("NPU",), False, True),
        ("gpu.1", "GPU.1", ("GPU.1",), False, False),
        ("GPU.12!", "GPU.12!", ("GPU.12",), False, True),
        ("HETERO:NPU,CPU", "HETERO:NPU,CPU", ("NPU", "CPU"), True, False),
        ("hetero:gpu.1, cpu!", "HETERO:GPU.1, CPU!", ("GPU.1", "CPU"), True, True),
        (SIMULATED, SIMULATED, (SIMULATED,), False, False),
    ],
)
def test_a_hint_is_read(
    text: str, shown: str, devices: tuple[str, ...], hetero: bool, strict: bool
) -> None:
    """In any case; what it is shown as is read as the same hint again."""
    hint = parse_hint(text, "here")
    assert (hint.text, hint.devices, hint.hetero, hint.strict) == (shown, devices, hetero, strict)
    assert parse_hint(hint.text, "here") == hint


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("", "use one of AUTO, CPU, GPU, NPU, HETERO:NPU,CPU, or GPU.1"),
        ("!", "use one of"),
        ("NPUU", "did you mean NPU?"),
        ("cpuu!", "did you mean CPU?"),
        ("HETERO:", "did you mean HETERO:NPU,CPU?"),
        ("HETERO:NPU", "did you mean HETERO:NPU,CPU?"),
        ("HETERO:NPU,", "did you mean HETERO:NPU,CPU?"),
        ("HETERO:NPU,AUTO", "did you mean HETERO:NPU,CPU?"),
        ("npu,gpu.1", "several devices are HETERO:NPU,GPU.1"),
        ("MULTI:GPU,CPU", "use one of"),
        ("GPU.", "did you mean GPU?"),
        ("GPU.123", "did you mean GPU?"),
        ("GPU.\u0661", "did you mean GPU?"),
        ("C" * 100_000, "use one of"),
        (None, "use one of"),
        (3, "use one of"),
        (True, "use one of"),
        (["NPU"], "use one of"),
    ],
)
def test_what_is_no_hint_is_refused(text: object, fix: str) -> None:
    """With the place, what was given, and the nearest hint."""
    with pytest.raises(VinodeError) as raised:
        parse_hint(text, "node 3 (KSampler), device")
    (fault,) = raised.value.faults
    assert (fault.place, fault.code) == ("node 3 (KSampler), device", "bad-hint")
    assert fault.problem == "no such device hint"
    assert fault.fix.startswith(fix)
    assert len(str(fault)) < 300


@pytest.mark.parametrize(
    ("hint", "available", "tried"),
    [
        ("AUTO", ("CPU", "GPU", "NPU"), ("NPU", "GPU", "CPU")),
        ("AUTO", ("GPU.0", "GPU.1", "CPU"), ("GPU.0", "GPU.1", "CPU")),
        ("AUTO", ("CPU",), ("CPU",)),
        ("CPU", ("NPU", "CPU"), ("CPU",)),
        ("NPU", ("CPU",), ("NPU", "CPU")),
        ("NPU!", ("NPU", "CPU"), ("NPU",)),
        ("NPU!", ("CPU",), ("NPU",)),
        ("HETERO:NPU,CPU", ("NPU", "CPU"), ("HETERO:NPU,CPU", "CPU")),
        ("HETERO:NPU,CPU!", ("NPU", "CPU"), ("HETERO:NPU,CPU",)),
    ],
)
def test_a_hint_stands_for_devices_in_order(
    hint: str, available: tuple[str, ...], tried: tuple[str, ...]
) -> None:
    """The CPU comes last unless it is forbidden; a simulated device is never chosen by itself."""
    assert candidates(parse_hint(hint, ""), available) == tried
    assert candidates(parse_hint(hint, ""), (*available, SIMULATED)) == tried


@pytest.mark.parametrize(
    ("meta", "options"),
    [
        ({}, ()),
        ({"title": "Sampler", "precision": None}, ()),
        ({"precision": "F16"}, (("INFERENCE_PRECISION_HINT", "f16"),)),
        ({"performance": "latency"}, (("PERFORMANCE_HINT", "LATENCY"),)),
    ],
)
def test_options_are_read(meta: dict[str, object], options: tuple[tuple[str, str], ...]) -> None:
    """In any case; what is left out is not asked for."""
    assert parse_options(meta, "here") == options


@pytest.mark.parametrize("value", ["fp16", "", 16, True, ["f16"], {}])
def test_what_is_no_option_is_refused(value: object) -> None:
    """With the place and the values there are."""
    with pytest.raises(VinodeError, match=r"^here, precision: no such precision; got .*f16"):
        parse_options({"precision": value}, "here")


def test_the_devices_of_this_machine_are_told() -> None:
    """The CPU is always there and comes after every accelerator."""
    found = present(ov.Core())
    assert [device.name for device in found][-1] == "CPU"
    assert all(device.full_name and not device.simulated for device in found)
