"""A model split over devices: which operation goes where, and what crosses between them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vinode.graph.profile import OpTime, module_path
from vinode.graph.rewrites import NO_WORK

if TYPE_CHECKING:  # for its types only: importing OpenVINO costs a quarter of a second
    import openvino as ov


@dataclass(frozen=True, slots=True)
class Refused:
    """An operation that a device does not take: its name, type, and place in the source model."""

    name: str
    type: str
    device: str

    @property
    def place(self) -> str:
        """Name the operation as messages do."""
        path = module_path(self.name)
        return f"{self.type} {path}" if path == self.name else f"{self.type} in {path}"


@dataclass(frozen=True, slots=True)
class Crossing:
    """A tensor that goes from one device to another. `bytes` is None where a shape is dynamic."""

    op: str
    source: str
    target: str
    bytes: int | None


@dataclass(frozen=True, slots=True)
class Split:
    """How a model is split.

    submodels  device and number of operations of each part, in run order; filled when it has run
    crossings  tensors that change device
    refused    operations that the preferred device does not take
    shares     device -> share of operations, 0..1
    """

    submodels: tuple[tuple[str, int], ...]
    crossings: tuple[Crossing, ...]
    refused: tuple[Refused, ...]
    shares: Mapping[str, float]

    @property
    def bytes(self) -> int:
        """Add up what crosses, as far as shapes are known."""
        return sum(crossing.bytes or 0 for crossing in self.crossings)


def assign(
    model: ov.Model, devices: Sequence[str], takes: Callable[[str], set[str]]
) -> tuple[Split, Mapping[str, str]]:
    """Give each operation to the first device that takes it; writes the affinities OpenVINO reads.

    takes  names of the operations that a device takes
    Returns the split and operation name -> device. Every operation gets an affinity: OpenVINO
    refuses a model where some have one and others none.
    """
    taken = {device: takes(device) for device in devices}
    where: dict[str, str] = {}
    refused: list[Refused] = []
    ops = model.get_ordered_ops()
    for op in ops:
        if op.get_type_name() in NO_WORK:
            continue
        name = op.get_friendly_name()
        chosen = next((device for device in devices if name in taken[device]), devices[-1])
        where[name] = chosen
        if chosen != devices[0]:
            refused.append(Refused(name, op.get_type_name(), devices[0]))
    place(model, where, devices[0])
    worked = [where[op.get_friendly_name()] for op in ops if op.get_friendly_name() in where]
    shares = {device: worked.count(device) / len(worked) for device in dict.fromkeys(worked)}
    return Split((), _crossings(ops, where, devices[0]), tuple(refused), shares), where


def place(model: ov.Model, where: Mapping[str, str], first: str) -> None:
    """Write operation -> device into a model as the affinities that OpenVINO reads."""
    for op in model.get_ordered_ops():
        op.get_rt_info()["affinity"] = _affinity(op, where, first)


def _affinity(op: ov.Node, where: Mapping[str, str], first: str) -> str:
    """Give an operation's device; inputs and constants follow a user, results their source."""
    own = where.get(op.get_friendly_name())
    if own:
        return own
    if op.get_type_name() == "Result":
        return where.get(op.input_value(0).get_node().get_friendly_name(), first)
    users = {
        port.get_node().get_friendly_name()
        for output in op.outputs()
        for port in output.get_target_inputs()
    }
    # OpenVINO gives the users in any order; the answer must be the same each time.
    devices = sorted({where[user] for user in users if user in where})
    return first if first in devices or not devices else devices[0]


def _crossings(
    ops: Sequence[ov.Node], where: Mapping[str, str], first: str
) -> tuple[Crossing, ...]:
    """Find the tensors that another device needs too.

    An input of the model that two devices need reaches the second through the first. Constants
    are there on each.
    """
    found: list[Crossing] = []
    for op in ops:
        if op.get_type_name() in ("Constant", "Result"):
            continue
        source = _affinity(op, where, first)
        for output in op.outputs():
            users = (port.get_node().get_friendly_name() for port in output.get_target_inputs())
            targets = {where[user] for user in users if user in where} - {source}
            shape = output.get_partial_shape()
            size = None
            if shape.is_static:
                size = math.prod(output.get_shape()) * output.get_element_type().size
            name = op.get_friendly_name()
            found += [Crossing(name, source, target, size) for target in sorted(targets)]
    return tuple(found)


def submodels(ops: Sequence[OpTime], where: Mapping[str, str]) -> tuple[tuple[str, int], ...]:
    """Tell the device and number of operations of each submodel that executed, in run order."""
    devices = _devices(ops, where)
    sizes = Counter(op.submodel for op in ops)
    return tuple((devices[number], sizes[number]) for number in sorted(sizes))


def executed(ops: Sequence[OpTime], where: Mapping[str, str]) -> dict[str, float]:
    """Count the operations that executed on each device."""
    counted: Counter[str] = Counter()
    for device, count in submodels(ops, where):
        counted[device] += count
    return {device: float(count) for device, count in counted.items()}


def time_shares(ops: Sequence[OpTime], where: Mapping[str, str]) -> dict[str, float]:
    """Give the share of measured time on each device, 0..1."""
    devices = _devices(ops, where)
    spent: dict[str, int] = {}
    for op in ops:
        device = devices[op.submodel]
        spent[device] = spent.get(device, 0) + op.ns
    total = sum(spent.values())
    return {device: ns / total for device, ns in spent.items()} if total else {}


def _devices(ops: Sequence[OpTime], where: Mapping[str, str]) -> dict[int, str]:
    """Give the device of each submodel: that of its operations that the source model has too.

    A plugin names what it adds after what is there: "relu_f32_abcd_bf16_acdb_conv". A submodel of
    such alone gets the device of the longest name that theirs begin with, else "?".
    """
    devices: dict[int, str] = {}
    for op in ops:
        if op.name in where:
            devices.setdefault(op.submodel, where[op.name])
    for op in ops:
        if op.submodel not in devices:
            begun = max((name for name in where if op.name.startswith(name)), key=len, default="")
            devices[op.submodel] = where.get(begun, "?")
    return devices
