"""Which part of an accelerator's stack is missing here: real looks, in the order of the causes.

A device runs only where all of this is there: hardware, kernel driver, device file, permission,
loader, user-mode driver, compiler, and an OpenVINO that uses them. The first that is not there is
the answer; what comes after it cannot be judged and is shown as not reached.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:  # for its types only: importing OpenVINO costs a quarter of a second
    import openvino as ov

State: TypeAlias = Literal["ok", "old", "missing", "broken", "not reached"]
Version: TypeAlias = tuple[int, ...]

# OpenVINO 2026.4's NPU plugin asks the loader for this; loaders of 2023 and before lack it.
NEWEST_SYMBOL = "zeCommandListHostSynchronize"
# PCI ids of Intel's NPUs, for people, and the first Linux driver release for each.
NPU_IDS: dict[int, tuple[str, Version]] = {
    0x7D1D: ("Meteor Lake", (1, 17)),
    0xAD1D: ("Arrow Lake", (1, 17)),
    0x643E: ("Lunar Lake", (1, 17)),
    0xB03E: ("Panther Lake", (1, 28)),
    0xFD3E: ("Wildcat Lake", (1, 32)),
}
# What Intel asks for since OpenVINO 2024.5; the plugin tells it as 100 * 10000 + 3104.
MIN_WINDOWS_NPU: Version = (32, 0, 100, 3104)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `fix` says what to do where it is not ok."""

    name: str
    state: State
    detail: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """What OpenVINO itself says of a family of devices.

    names      devices it lists, as in a hint
    told       the first one's full name and versions
    driver     the first one's NPU_DRIVER_VERSION, or ""
    problem    what the plugin raised instead of answering, or ""
    """

    names: tuple[str, ...]
    told: str = ""
    driver: str = ""
    problem: str = ""


Probe: TypeAlias = tuple[str, Callable[[], Finding]]


def first_cause(probes: Sequence[Probe]) -> list[Finding]:
    """Look at one thing after the other up to the first that is not there."""
    found: list[Finding] = []
    cause = ""
    for name, look in probes:
        if cause:
            found.append(Finding(name, "not reached", f"after {cause}"))
            continue
        found.append(look())
        if found[-1].state in ("missing", "broken"):
            cause = name
    return found


def ask_openvino(core: ov.Core, family: str) -> Seen:
    """Ask OpenVINO for the devices of a family."""
    from vinode.graph.devices import present
    from vinode.graph.placement import last_line

    devices = [device for device in present(core) if device.name.split(".")[0] == family]
    if devices:
        first = devices[0]
        versions = [f"{key} {value}" for key, value in first.properties.items() if "VERSION" in key]
        told = ", ".join([first.full_name, *versions])
        driver = first.properties.get("NPU_DRIVER_VERSION", "")
        return Seen(tuple(device.name for device in devices), told, driver)
    try:
        core.get_property(family, "AVAILABLE_DEVICES")
    except RuntimeError as error:
        return Seen((), problem=last_line(str(error)))
    return Seen(())


def wheel_libraries() -> Path:
    """Give the folder of OpenVINO's libraries, without importing it."""
    spec = find_spec("openvino")
    places = spec.submodule_search_locations if spec else None
    return Path(places[0]) / "libs" if places else Path()


def version_in(text: str) -> Version:
    """Read the last dotted number of a text; () where there is none.

    >>> version_in("libze_loader.so.1.16.1"), version_in("libze_loader.so.1")
    ((1, 16, 1), ())
    """
    found = re.findall(r"\d+(?:\.\d+)+", text)
    return tuple(int(part) for part in found[-1].split(".")) if found else ()


def written(version: Version) -> str:
    """Write a version as people do."""
    return ".".join(str(part) for part in version)


def windows_npu_version(driver: str) -> Version:
    """Turn Windows' NPU_DRIVER_VERSION into the version that the device manager shows.

    >>> windows_npu_version("1004778")
    (32, 0, 100, 4778)
    """
    number = int(driver) if driver.isascii() and driver.isdigit() else 0
    return (32, 0, *divmod(number, 10000)) if number else ()


def load(path: str) -> ctypes.CDLL | str:
    """Load a library, or say why it cannot be loaded."""
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        return str(error)


def openvino_finding(family: str, seen: Seen, says: Callable[[], str]) -> Finding:
    """Judge what OpenVINO sees where every part beneath it is there.

    says  asks the plugin for its log; only called where OpenVINO finds nothing
    """
    name = f"{family} in OpenVINO"
    if seen.names:
        return Finding(name, "ok", f"{', '.join(seen.names)}: {seen.told}")
    told = seen.problem or says()
    detail = f"all parts are there, but OpenVINO finds no {family}" + (f": {told}" if told else "")
    fix = (
        f"update the {family} driver and restart; then {sys.executable} -m pip install -U openvino"
    )
    return Finding(name, "broken", detail, fix)


def crash_of(code: int) -> str:
    """Tell a crash by a process's exit code: a signal, or a status of Windows; "" where it is none.

    >>> crash_of(-11), crash_of(0xC0000005), crash_of(1)
    ('signal 11', '0xC0000005', '')
    """
    if code < 0:
        return f"signal {-code}"
    return f"0x{code:08X}" if code >= 0xC0000000 else ""


def plugin_log(family: str) -> str:
    """Give what OpenVINO's plugin logs while it looks for devices; "" where it says nothing.

    The log goes to the process's standard output, so it is read from a child.
    """
    import os
    import subprocess

    code = f"import openvino; openvino.Core().get_property({family!r}, 'AVAILABLE_DEVICES')"
    command = [sys.executable, "-P", "-c", code]
    logging = {**os.environ, "OPENVINO_LOG_LEVEL": "3", "OV_NPU_LOG_LEVEL": "LOG_WARNING"}
    try:
        done = subprocess.run(command, env=logging, capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    if crash := crash_of(done.returncode):
        return f"its plugin crashed ({crash})"
    text = re.sub(r"\x1b\[[\d;]*m", "", done.stdout.decode("utf-8", "replace"))
    # Each line begins with its level, time and place in brackets; what is told comes after.
    lines = [re.sub(r"^(\[[^\]]*\]|[\d:.]+|\s)*", "", line).strip() for line in text.splitlines()]
    telling = [line for line in lines if re.search(r"error|cannot|fail|undefined", line, re.I)]
    return telling[0] if telling else ""
