"""Device hints, and which devices exist here. OpenVINO is imported only when it is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vinode.graph.errors import Fault, VinodeError, nearest, short

if TYPE_CHECKING:  # for its types only: importing OpenVINO costs a quarter of a second
    import openvino as ov

FAMILIES = ("CPU", "GPU", "NPU")
# OpenVINO lets the CPU plugin stand under a second name only where the name contains CPU; tests and
# demonstrations use it as a simulated accelerator, and everything that shows it says so.
SIMULATED = "NPUSIM_CPU"

_ONE = re.compile(r"(CPU|GPU(\.[0-9]{1,2})?|NPU(\.[0-9]{1,2})?|NPUSIM_CPU)")


@dataclass(frozen=True, slots=True)
class Hint:
    """Where a node should run.

    devices   candidates in order of preference; () where vinode decides (AUTO)
    hetero    the model may be split over the devices
    strict    refuse to fall back: the trailing `!`
    options   OpenVINO properties asked for beside the device, as OpenVINO names them
    rewrites  exact rewrites of the model before it is compiled, by name
    """

    text: str
    devices: tuple[str, ...]
    hetero: bool = False
    strict: bool = False
    options: tuple[tuple[str, str], ...] = ()
    rewrites: tuple[str, ...] = ()


def parse_hint(text: object, place: str) -> Hint:
    """Read `AUTO`, `CPU`, `GPU`, `GPU.1`, `NPU`, `HETERO:NPU,CPU`, each with `!` or without.

    >>> parse_hint("npu!", "").devices, parse_hint("npu!", "").strict
    (('NPU',), True)
    """
    if not isinstance(text, str):
        raise _bad_hint(place, text)
    name = text.strip().upper()
    strict = name.endswith("!")
    name = name.rstrip("!").strip()
    if name == "AUTO":
        return Hint(name + "!" * strict, (), strict=strict)
    hetero = name.startswith("HETERO:")
    devices = tuple(part.strip() for part in name.removeprefix("HETERO:").split(","))
    if (
        len(set(devices)) < len(devices)
        or (len(devices) > 1) is not hetero
        or not all(_ONE.fullmatch(part) for part in devices)
    ):
        raise _bad_hint(place, text)
    return Hint(name + "!" * strict, devices, hetero, strict)


def _bad_hint(place: str, text: object) -> VinodeError:
    known = ("AUTO", *FAMILIES, "HETERO:NPU,CPU")
    close = nearest(text, known) if isinstance(text, str) else ""
    fix = f"did you mean {close}?" if close else f"use one of {', '.join(known)}, or GPU.1"
    devices = text.upper().split(",") if isinstance(text, str) else []
    if len(devices) > 1 and all(_ONE.fullmatch(name) for name in devices):
        fix = f"several devices are HETERO:{','.join(devices)}"
    return VinodeError(Fault(place, "no such device hint", short(text), fix, "bad-hint"))


# Name -> kind of a node's model -> hint; "*" is every other kind. For `--device NAME`.
PRESETS: Mapping[str, Mapping[str, str]] = {
    "all-npu": {"*": "NPU"},
    "all-gpu": {"*": "GPU"},
    "unet-npu": {"MODEL": "NPU", "VAE": "GPU", "*": "CPU"},
}


def preset_hints(name: str) -> Mapping[str, Hint]:
    """Give a preset's hints by kind of model; with `!` none of them falls back. Empty: no preset.

    >>> {kind: hint.text for kind, hint in preset_hints("all-npu!").items()}
    {'*': 'NPU!'}
    """
    strict = "!" if name.endswith("!") else ""
    preset = PRESETS.get(name.rstrip("!").strip().lower(), {})
    return {kind: parse_hint(f"{text}{strict}", name) for kind, text in preset.items()}


# `_meta` key -> OpenVINO's property and the values it takes.
OPTIONS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "precision": ("INFERENCE_PRECISION_HINT", ("f32", "f16", "bf16")),
    "performance": ("PERFORMANCE_HINT", ("LATENCY", "THROUGHPUT", "CUMULATIVE_THROUGHPUT")),
    "priority": ("MODEL_PRIORITY", ("LOW", "MEDIUM", "HIGH")),
}


def parse_options(meta: Mapping[str, object], place: str) -> tuple[tuple[str, str], ...]:
    """Read a node's precision, performance and priority; as OpenVINO names their values.

    >>> parse_options({"precision": "f32", "title": "Sampler"}, "")
    (('INFERENCE_PRECISION_HINT', 'f32'),)
    """
    options: list[tuple[str, str]] = []
    for key, (name, values) in OPTIONS.items():
        given = meta.get(key)
        if given is None:
            continue
        known = {value.lower(): value for value in values}
        if not isinstance(given, str) or given.lower() not in known:
            close = nearest(given, values) if isinstance(given, str) else ""
            fix = f"did you mean {close}?" if close else f"use one of {', '.join(values)}"
            fault = Fault(f"{place}, {key}", f"no such {key}", short(given), fix, "bad-hint")
            raise VinodeError(fault)
        options.append((name, known[given.lower()]))
    return tuple(options)


def in_float32(hint: Hint) -> Hint:
    """Give a hint that computes in float32, whatever else it asks for.

    >>> in_float32(parse_hint("GPU", "")).options
    (('INFERENCE_PRECISION_HINT', 'f32'),)
    """
    name, _ = OPTIONS["precision"]
    others = tuple(option for option in hint.options if option[0] != name)
    return replace(hint, options=(*others, (name, "f32")))


def shown(name: str) -> str:
    """Name a device for people: one that is simulated is never shown without the word.

    >>> shown("CPU"), shown("NPUSIM_CPU")
    ('CPU', 'NPUSIM_CPU (simulated)')
    """
    return f"{name} (simulated)" if SIMULATED in name else name


@dataclass(frozen=True, slots=True)
class Device:
    """A device that OpenVINO found.

    name        as in a hint: CPU, GPU, GPU.1, NPU
    full_name   the maker's name
    properties  what the plugin tells of itself, as text; a property it refuses is absent
    """

    name: str
    full_name: str
    properties: Mapping[str, str]

    @property
    def simulated(self) -> bool:
        """Say whether this is the CPU under another name."""
        return self.name == SIMULATED


_ASKED = (
    "NPU_DRIVER_VERSION",
    "NPU_COMPILER_VERSION",
    "DEVICE_ARCHITECTURE",
    "NPU_DEVICE_TOTAL_MEM_SIZE",
    "GPU_DEVICE_TOTAL_MEM_SIZE",
    "OPTIMIZATION_CAPABILITIES",
)


def present(core: ov.Core) -> tuple[Device, ...]:
    """List the devices that are really there, accelerators first.

    A plugin that is installed but finds no hardware is not listed.
    """
    names: list[str] = list(core.available_devices)
    order = {"NPU": 0, "GPU": 1, "CPU": 3}
    names.sort(key=lambda name: (order.get(name.split(".")[0], 2), name))
    return tuple(_describe(core, name) for name in names)


def _describe(core: ov.Core, name: str) -> Device:
    properties: dict[str, str] = {}
    for asked in _ASKED:
        try:
            properties[asked] = str(core.get_property(name, asked))
        except RuntimeError:  # each plugin knows other properties; one it lacks is simply absent
            continue
    try:
        full_name = str(core.get_property(name, "FULL_DEVICE_NAME"))
    except RuntimeError:
        full_name = name
    return Device(name, full_name, properties)


def candidates(hint: Hint, available: tuple[str, ...]) -> tuple[str, ...]:
    """Give the devices to try, in order; the CPU is last unless the hint forbids it.

    AUTO is decided here, in the open: the first present of NPU, GPU, CPU. OpenVINO's own AUTO
    swallows compile errors and mistyped names.
    """
    wanted = hint.devices
    if not wanted:
        # OpenVINO lists devices by name; sorting is stable, so GPU.0 stays before GPU.1.
        names = [name for name in available if name.split(".")[0] in ("NPU", "GPU")]
        accelerators = sorted(names, key=lambda name: not name.startswith("NPU"))
        wanted = tuple(accelerators) if hint.strict and accelerators else (*accelerators, "CPU")
    if hint.hetero:
        wanted = (f"HETERO:{','.join(hint.devices)}",)
    return wanted if hint.strict or "CPU" in wanted else (*wanted, "CPU")


def here(name: str, available: tuple[str, ...]) -> str:
    """Give an asked device as OpenVINO lists it, or "" where it is not here.

    One GPU is listed as GPU, several as GPU.0, GPU.1; OpenVINO takes GPU and GPU.0 for one.

    >>> here("GPU.0", ("CPU", "GPU")), here("GPU", ("CPU", "GPU.0", "GPU.1")), here("NPU", ("CPU",))
    ('GPU', 'GPU.0', '')
    """
    spellings = (name, f"{name}.0", name.removesuffix(".0"))
    return next((spelling for spelling in spellings if spelling in available), "")


def parts_of(device: str) -> tuple[str, ...]:
    """Name the devices that take part in one that may be split.

    >>> parts_of("HETERO:NPU,CPU"), parts_of("GPU.1")
    (('NPU', 'CPU'), ('GPU.1',))
    """
    return tuple(device.removeprefix("HETERO:").split(","))


def first_here(devices: Sequence[str], available: tuple[str, ...]) -> str:
    """Give the first of several that is here, as OpenVINO lists it; of a split its first part.

    >>> first_here(("HETERO:NPU,CPU", "GPU.0", "CPU"), ("CPU", "GPU"))
    'GPU'
    """
    for device in devices:
        found = [here(name, available) for name in parts_of(device)]
        if all(found):
            return found[0]
    return parts_of(devices[0])[0] if devices else ""


def lane_of(hint: Hint, available: tuple[str, ...]) -> str:
    """Name the device that a hint will probably use: nodes on one run one after the other.

    >>> lane_of(Hint("AUTO", ()), ("CPU",)), lane_of(Hint("NPU", ("NPU",)), ("CPU", "NPU"))
    ('CPU', 'NPU')
    """
    return first_here(candidates(hint, available), available)


def halves_apart(device: str) -> bool:
    """Say whether a device is better off with two calls of batch 1 than with one of batch 2.

    An NPU is: by its compiler's estimate for platform 4000, Stable Diffusion 1.5's UNet takes
    2 x 267 = 534 ms in two calls and 582 ms in one; compiling takes 220 s instead of 416 s and
    5.2 GB instead of 7.5 GB. What the two halves give is bit-identical on the CPU. Its stand-in
    does as it would.

    >>> halves_apart("NPU"), halves_apart("GPU.0"), halves_apart("CPU")
    (True, False, False)
    """
    return device.startswith("NPU")


def real_npu(name: str) -> bool:
    """Say whether a device is an NPU, and not its stand-in.

    >>> real_npu("NPU.0"), real_npu("NPUSIM_CPU"), real_npu("HETERO:NPU,CPU")
    (True, False, False)
    """
    return name.split(".")[0] == "NPU"
