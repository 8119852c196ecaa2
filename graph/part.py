"""A part before it is compiled: what is asked, its shapes, and what refuses it already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from vinode.graph.blobs import Blobs
from vinode.graph.devices import SIMULATED, parts_of
from vinode.graph.errors import Fault, ModelError
from vinode.graph.placement import Reason, classify
from vinode.graph.profile import module_path
from vinode.graph.rewrites import NO_WORK
from vinode.graph.values import ModelPart

if TYPE_CHECKING:  # for its types only: importing OpenVINO costs a quarter of a second
    import openvino as ov

Shapes: TypeAlias = tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class Simulation:
    """The CPU under the name NPUSIM_CPU, made to behave like an accelerator in one respect.

    It proves plumbing, not an NPU's numbers or limits; everything that shows it says simulated.

    refused           types of operations that it does not take
    in_child          compile it in a child process and keep its blob, as for an NPU
    bytes_per_second  speed of its link; None: as fast as memory
    noise             relative error added to its outputs
    fails             what its driver says as each inference fails; "" where none does
    """

    refused: frozenset[str] = frozenset()
    in_child: bool = False
    bytes_per_second: float | None = None
    noise: float = 0.0
    fails: str = ""

    @property
    def traits(self) -> str:
        """Tell how it behaves, as a driver's version tells it of a real device."""
        return f"takes no {sorted(self.refused)}, noise {self.noise}"


@dataclass(frozen=True, slots=True)
class Asked:
    """What to compile, and how.

    device    "CPU", "GPU.1", "NPU", "HETERO:NPU,CPU"
    options   OpenVINO properties, as their names and values are written
    blobs     where blobs of slow compilers are kept; None: nowhere
    seconds   limit of a compile in a child process
    rewrites  exact rewrites of the model before it is compiled, by name
    """

    part: ModelPart
    shapes: Shapes
    device: str
    options: tuple[tuple[str, str], ...] = ()
    blobs: Blobs | None = None
    seconds: float = 1800.0
    simulation: Simulation | None = None
    rewrites: tuple[str, ...] = ()

    @property
    def devices(self) -> tuple[str, ...]:
        """Name the devices that take part."""
        return parts_of(self.device)

    @property
    def needs_child(self) -> bool:
        """Say whether a compiler may crash or hang: the NPU's, or a stand-in for it."""
        simulated = self.simulation is not None and self.simulation.in_child
        return any(
            name.startswith("NPU") and (name != SIMULATED or simulated) for name in self.devices
        )


def read(core: ov.Core, part: ModelPart) -> ov.Model:
    """Read a part's IR; ModelError where it is damaged."""
    try:
        model: ov.Model = core.read_model(str(part.xml))  # pyright: ignore[reportUnknownMemberType]
    except RuntimeError as error:
        fix = f"`vinode models verify` finds damage, `vinode models pull {part.name}` mends it"
        sentence = classify(error, "OpenVINO").sentence
        raise ModelError(Fault(f"model {part.name}", sentence, fix=fix)) from error
    return model


def reshape(model: ov.Model, part: ModelPart, shapes: Shapes) -> None:
    """Give the model the shapes of its inputs; ModelError names the input that does not fit."""
    import openvino as ov

    wanted = dict(shapes)
    known = {port.get_any_name(): port.get_partial_shape() for port in model.inputs}
    if known.keys() != wanted.keys():
        got = ", ".join(sorted(wanted)) or "nothing"
        problem = f"takes the inputs {', '.join(sorted(known))}"
        raise ModelError(Fault(f"model {part.name}", problem, got, code="bad-inputs"))
    changed = {
        name: ov.PartialShape(list(shape))
        for name, shape in wanted.items()
        if known[name] != ov.PartialShape(list(shape))
    }
    if not changed:
        return
    try:
        model.reshape(changed)
    except RuntimeError as error:
        name = next(iter(changed))
        place = f"model {part.name}, input {name}"
        said = classify(error, "OpenVINO").sentence
        fault = Fault(place, f"takes {known[name]}", str(wanted[name]), said, "bad-inputs")
        raise ModelError(fault) from error


def refused_before(core: ov.Core, model: ov.Model, asked: Asked) -> Reason | None:
    """Find what can be known before compiling: shapes, and operations of a single device.

    The NPU's query says yes to every operation, so there only compiling tells.
    """
    device = asked.device
    if device.startswith("NPU"):
        moving = [op for op in model.get_ordered_ops() if _is_dynamic(op)]
        if moving:
            path = module_path(moving[0].get_friendly_name())
            sentence = f"{device}: {len(moving)} operations have no fixed shape, first {path}"
            fix = "give the node a fixed size: the device takes static shapes only"
            names = tuple(op.get_friendly_name() for op in moving[:20])
            return Reason("dynamic-shape", sentence, fix, names)
    if device != SIMULATED:
        return None
    taken = takes(core, model, SIMULATED, asked.simulation)
    left = [op for op in model.get_ordered_ops() if op.get_friendly_name() not in taken]
    left = [op for op in left if op.get_type_name() not in NO_WORK]
    if not left:
        return None
    first = left[0]
    where = module_path(first.get_friendly_name())
    many = "1 operation:" if len(left) == 1 else f"{len(left)} operations, first"
    sentence = f"{device} does not take {many} {first.get_type_name()} in {where}"
    fix = f"use HETERO:{device},CPU to run these on the CPU, or replace the operation by its equal"
    names = tuple(f"{op.get_type_name()} {op.get_friendly_name()}" for op in left[:20])
    return Reason("op-unsupported", sentence, fix, names)


def _is_dynamic(op: ov.Node) -> bool:
    return any(output.get_partial_shape().is_dynamic for output in op.outputs())


def takes(core: ov.Core, model: ov.Model, device: str, simulation: Simulation | None) -> set[str]:
    """Name the operations that a device says it takes."""
    mapping: dict[str, str] = core.query_model(model, device)  # pyright: ignore
    names = set(mapping)
    if device == SIMULATED and simulation is not None and simulation.refused:
        names -= {
            op.get_friendly_name()
            for op in model.get_ordered_ops()
            if op.get_type_name() in simulation.refused
        }
    return names
