"""What may mend a reason, as values that can be applied to a workflow."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from vinode.graph.devices import OPTIONS, parts_of, real_npu
from vinode.graph.placement import Code, Fix, Reason
from vinode.graph.rewrites import REWRITES

# Rule for inputs upstream of the node -> what it does.
INPUT_RULES: Mapping[str, str] = {
    "batch-1": "make one picture at a time",
    "multiple-64": "round width and height up to multiples of 64",
    "half-size": "halve width and height",
    "static-size": "give it pictures of one fixed size",
}

_TOO_MUCH: tuple[Code, ...] = ("compile-timeout", "out-of-memory")
_SMALLER = ("batch-1", "multiple-64", "half-size")


def offered(
    reason: Reason,
    device: str,
    rewrites: Sequence[str] = (),
    options: Sequence[str] = (),
    available: Sequence[str] = (),
) -> tuple[Fix, ...]:
    """Give what may mend a reason: what changes no result first, advice last.

    device     where it was tried: "NPU", "HETERO:NPU,CPU"
    rewrites   those that were tried already
    options    OpenVINO properties that were asked for
    available  devices that are here
    """
    if reason.code == "python-node":
        return ()
    advice = (Fix("advice", "", reason.fix),) if reason.fix else ()
    elsewhere = _elsewhere(device, available)
    match reason.code:
        case "op-unsupported":
            fixes = (*_matching(reason, rewrites), *_split(device), *elsewhere)
        case "compile-failed":
            fixes = (*_matching(reason, rewrites), *elsewhere, _input("multiple-64"))
        case "dynamic-shape":
            named = () if "constant-sizes" in rewrites else (_rewrite("constant-sizes"),)
            fixes = (*named, *elsewhere, STATIC_SIZE)
        case "wrong-result":
            fixes = (*_precision(device, options), *elsewhere)
        case "precision-unsupported":
            fixes = (*_dropped("precision", options), *elsewhere)
        case "option-ignored":
            fixes = tuple(_ignored(reason, rewrites, options))
        case "split-too-small":
            fixes = elsewhere
        case code if code in _TOO_MUCH:
            fixes = (*elsewhere, *map(_input, _SMALLER))
        case _:  # the device is not here, or failed
            auto = Fix("device", "AUTO", "let vinode choose among the devices that are here")
            fixes = (*elsewhere, auto) if device != "CPU" else ()
    return (*fixes, *advice)


def _elsewhere(device: str, available: Sequence[str]) -> tuple[Fix, ...]:
    """Offer the other devices: a GPU for what an NPU does not take, and the CPU."""
    tried = parts_of(device)
    gpus = [name for name in available if name.startswith("GPU")]
    asked = any(name.startswith("GPU") for name in tried)
    found: list[Fix] = []
    if gpus and not asked and any(name.startswith("NPU") for name in tried):
        found.append(Fix("device", gpus[0], f"run the node on {gpus[0]}"))
    if device != "CPU":
        found.append(Fix("device", "CPU", "run the node on the CPU"))
    return tuple(found)


def _split(device: str) -> tuple[Fix, ...]:
    """Offer to split the model where that may help.

    Asked beforehand, an NPU says that it takes every operation: it would be given this one again.
    """
    if device == "CPU" or device.startswith("HETERO:") or real_npu(device):
        return ()
    sentence = f"split the model: what {device} takes there, the rest on the CPU"
    return (Fix("device", f"HETERO:{device},CPU", sentence),)


def _input(rule: str) -> Fix:
    return Fix("input", rule, INPUT_RULES[rule])


STATIC_SIZE = _input("static-size")


def _rewrite(name: str) -> Fix:
    return Fix("rewrite", name, REWRITES[name].sentence)


def _matching(reason: Reason, tried: Sequence[str]) -> list[Fix]:
    """Give the rewrites of operations that the reason names."""
    words = set(re.findall(r"\w+", " ".join((reason.sentence, *reason.ops))))
    return [
        _rewrite(name)
        for name, rewrite in REWRITES.items()
        if name not in tried and words.intersection(rewrite.types)
    ]


def _precision(device: str, options: Sequence[str]) -> tuple[Fix, ...]:
    """Offer f32 where the device has it: an NPU has not."""
    if "GPU" not in device or OPTIONS["precision"][0] in options:
        return ()
    return (Fix("option", "precision=f32", "compute in f32, which takes longer"),)


def _dropped(key: str, options: Sequence[str]) -> tuple[Fix, ...]:
    if OPTIONS[key][0] not in options:
        return ()
    return (Fix("option", key, f"drop {key}, which has no effect there"),)


def _ignored(reason: Reason, rewrites: Sequence[str], options: Sequence[str]) -> list[Fix]:
    """Drop what the reason says has no effect."""
    found = [
        fix
        for key, (name, _) in OPTIONS.items()
        if name in reason.sentence
        for fix in _dropped(key, options)
    ]
    return found + [
        Fix("option", f"rewrites.{name}", f"drop the rewrite {name}")
        for name in rewrites
        if name in reason.sentence
    ]
