"""What a node's models executed -> its Placement: measured, not what they claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vinode.graph.compiled import Compiled
from vinode.graph.devices import Hint
from vinode.graph.placement import Placement, Reason
from vinode.graph.profile import OpTime, layout_time, ran_on_cpu
from vinode.graph.split import Split, executed, submodels, time_shares

BUSIEST = 10  # operations kept a node
# From this share on, changing layouts is worth a word.
HIGH_LAYOUT = 0.2
HIGH_LAYOUT_NS = 1_000_000  # and from this time on: nobody converts a model for less


@dataclass(frozen=True, slots=True)
class Used:
    """A compiled model that a node used: what executed, and the ns of its compute phase."""

    compiled: Compiled
    ops: tuple[OpTime, ...]
    compute: int


def placement(hint: Hint, used: Sequence[Used], reasons: Sequence[Reason]) -> Placement:
    """Say where a node ran.

    Time on each device is what its operations took; where a device gives no profile, the time of
    the whole inference, and of a split model the share of its operations.
    """
    spent: dict[str, float] = {}
    counted: dict[str, float] = {}
    ops: list[OpTime] = []
    told = list(reasons)
    for model in used:
        if not model.compute:  # its request was held, and nothing ran
            continue
        for device, share in _where(model, told).items():
            spent[device] = spent.get(device, 0.0) + share * model.compute
        for device, count in _counts(model).items():
            counted[device] = counted.get(device, 0.0) + count
        ops += model.ops
    layout, layout_ns = layout_time(ops)
    return Placement(
        hint.text,
        _shares(spent),
        tuple(dict.fromkeys(told)),
        _shares(counted),
        layout,
        tuple(sorted(ops, key=lambda op: -op.ns)[:BUSIEST]),
        tuple(_split(model) for model in used if model.compiled.split is not None),
        sum(_between(model) for model in used),
        min((m.compiled.snr_db for m in used if m.compiled.snr_db is not None), default=None),
        layout_ns,
    )


def truth(claimed: Sequence[str], ops: Sequence[OpTime]) -> tuple[str, ...]:
    """Correct a claim by the kernels that executed.

    OpenVINO's NPUW says NPU where it compiled for the CPU; its kernels tell.
    """
    honest = any("CPU" in device for device in claimed)
    return ("CPU",) if ran_on_cpu(ops) and not honest else tuple(claimed)


def _where(model: Used, told: list[Reason]) -> dict[str, float]:
    compiled, ops = model.compiled, model.ops
    if compiled.split is not None:
        return time_shares(ops, compiled.where) or dict(compiled.split.shares)
    devices = truth(compiled.claimed, ops)
    if devices != compiled.claimed:
        claim = ", ".join(compiled.claimed)
        sentence = f"the compiled model claims {claim}, but the kernels that executed are the CPU's"
        fix = "`vinode doctor` tells what the device lacks"
        told.append(Reason("device-absent", sentence, fix))
    return dict.fromkeys(devices, 1 / len(devices))


def _counts(model: Used) -> dict[str, float]:
    compiled, ops = model.compiled, model.ops
    if compiled.split is not None and ops:
        return executed(ops, compiled.where)
    if compiled.split is not None:
        return dict(compiled.split.shares)
    devices = truth(compiled.claimed, ops)
    return dict.fromkeys(devices, max(1, len(ops)) / len(devices))


def _between(model: Used) -> int:
    """Give the ns that a split model's inferences took and none of its operations did."""
    if model.compiled.split is None or not model.ops:
        return 0
    return max(0, model.compute - sum(op.ns for op in model.ops))


def _split(model: Used) -> Split:
    assert model.compiled.split is not None
    return replace(model.compiled.split, submodels=submodels(model.ops, model.compiled.where))


def _shares(amounts: dict[str, float]) -> dict[str, float]:
    total = sum(amounts.values())
    return {device: amount / total for device, amount in amounts.items()} if total else {}
