"""A part before it is compiled: what is asked, its shapes, and what refuses it already."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from vinode.graph.blobs import Blobs
from vinode.graph.devices import SIMULATED, parts_of
from vinode.graph.errors import Fault, ModelError
from vinode.graph.placement import Reason, classify, last_line
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
    """Give the model the shapes of its inputs; ModelError names those that do not fit."""
    import openvino as ov

    wanted = {name: ov.PartialShape(list(shape)) for name, shape in shapes}
    known = {port.get_any_name(): port.get_partial_shape() for port in model.inputs}
    if known.keys() != wanted.keys():
        raise _wrong_names(part, known.keys(), wanted.keys())
    changed = {name: shape for name, shape in wanted.items() if known[name] != shape}
    if not changed:
        return
    try:
        model.reshape(changed)
    except RuntimeError as error:
        names = [name for name in changed if _is_at_fault(model, name, changed)] or list(changed)
        many = "inputs" if len(names) > 1 else "input"
        place = f"model {part.name}, {many} {', '.join(names)}"
        takes = f"takes {', '.join(str(known[name]) for name in names)}"
        got = ", ".join(str(dict(shapes)[name]) for name in names)
        fix = "give shapes that its operations can follow"
        if len(names) > 1:
            fix = "give shapes that fit each other"
        fix = f"{fix}; OpenVINO says: {last_line(str(error))}"
        raise ModelError(Fault(place, takes, got, fix, "bad-inputs")) from error


def _wrong_names(part: ModelPart, known: Set[str], given: Set[str]) -> ModelError:
    absent, strange = sorted(known - given), sorted(given - known)
    fixes = [f"give {', '.join(absent)}"] if absent else []
    fixes += [f"leave {', '.join(strange)} out"] if strange else []
    problem = f"takes the inputs {', '.join(sorted(known))}"
    got = ", ".join(sorted(given)) or "nothing"
    return ModelError(Fault(f"model {part.name}", problem, got, " and ".join(fixes), "bad-inputs"))


def _is_at_fault(model: ov.Model, name: str, changed: Mapping[str, ov.PartialShape]) -> bool:
    """Say whether all would be well if it were not for the sizes that one input changes."""
    import openvino as ov

    port = next(port for port in model.inputs if port.get_any_name() == name)
    own, wanted = port.get_partial_shape(), changed[name]
    free = ov.PartialShape.dynamic(own.rank)
    if own.rank == wanted.rank:
        free = ov.PartialShape([-1 if a != b else a for a, b in zip(own, wanted, strict=True)])
    trial = model.clone()
    try:
        trial.reshape({**changed, name: free})
    except RuntimeError:
        return False
    return True


def refused_before(core: ov.Core, model: ov.Model, asked: Asked) -> Reason | None:
    """Find what can be known before compiling: shapes, and operations of a single device.

    The NPU's query says yes to every operation, so there only compiling tells.
    """
    device = asked.device
    if device.startswith("NPU"):
        names = unfixed(model)
        if names:
            sentence = f"{device}: the input {', '.join(names)} has no fixed shape"
            fix = "give the node a fixed size: the device takes static shapes only"
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


def unfixed(model: ov.Model) -> tuple[str, ...]:
    """Name the inputs that have a size which an NPU needs fixed.

    It takes a batch that is not, where the model's layout says which axis that is. Sizes that are
    not fixed inside, as after NonZero, it may take: only the compile tells.
    """
    return tuple(port.get_any_name() for port in model.inputs if _is_unfixed(port))


def _is_unfixed(port: ov.Output) -> bool:
    from openvino import layout_helpers

    shape, layout = port.get_partial_shape(), layout_helpers.get_layout(port)
    if shape.is_static:
        return False
    if shape.rank.is_dynamic or not layout_helpers.has_batch(layout):
        return True
    batch = layout_helpers.batch_idx(layout)
    return any(size.is_dynamic for axis, size in enumerate(shape) if axis != batch)


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
