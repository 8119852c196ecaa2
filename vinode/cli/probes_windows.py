"""An accelerator's stack on Windows, part by part."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vinode.cli import probes
from vinode.cli.probes import Finding, Probe, Seen

NPU_CLASS = "{f01a9d53-3ff6-48d2-9f97-c8a7004be10c}"  # "Neural processors"
GPU_CLASS = "{4d36e968-e325-11ce-bfc1-08002be10318}"  # "Display adapters"
_CLASSES = r"SYSTEM\CurrentControlSet\Control\Class"
_PCI = r"SYSTEM\CurrentControlSet\Enum\PCI"
NPU_PAGE = "https://www.intel.com/content/www/us/en/download/794734"
GPU_PAGE = "https://www.intel.com/content/www/us/en/download/785597"


@dataclass(frozen=True, slots=True)
class Driver:
    """A device driver as the registry notes it; `device` is like PCI\\VEN_8086&DEV_7D1D."""

    title: str
    version: str
    device: str

    @property
    def intel(self) -> bool:
        """Say whether it drives a device of Intel's."""
        return "ven_8086" in self.device.lower()


@dataclass(frozen=True, slots=True)
class Windows:
    """The system that is looked at.

    system   the folder System32
    wheel    folder of OpenVINO's own libraries
    npu_drivers, gpu_drivers  as the registry notes them
    pci      names of the PCI devices that Windows knows, with a driver or without
    """

    system: Path
    npu_drivers: Sequence[Driver]
    gpu_drivers: Sequence[Driver]
    pci: Sequence[str]
    wheel: Path = field(default_factory=probes.wheel_libraries)


def this_windows() -> Windows:
    """Read this system's registry."""
    system = Path(os.environ.get("SYSTEMROOT", r"C:\Windows")) / "System32"
    return Windows(system, drivers(NPU_CLASS), drivers(GPU_CLASS), registry_keys(_PCI))


def registry_keys(path: str) -> list[str]:
    """List the keys below one of HKEY_LOCAL_MACHINE; none where it is not there."""
    names: list[str] = []
    if sys.platform == "win32":
        import winreg

        try:
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, path) as key:
                names = [winreg.EnumKey(key, index) for index in range(winreg.QueryInfoKey(key)[0])]
        except OSError:  # no device of this kind was ever here
            return []
    return names


def drivers(device_class: str) -> list[Driver]:
    """List the drivers of a class of devices."""
    found: list[Driver] = []
    for number in registry_keys(f"{_CLASSES}\\{device_class}"):
        if re.fullmatch(r"\d{4}", number):
            path = f"{_CLASSES}\\{device_class}\\{number}"
            names = ("DriverDesc", "DriverVersion", "MatchingDeviceId")
            found.append(Driver(*(_value(path, name) for name in names)))
    return found


def _value(path: str, name: str) -> str:
    if sys.platform == "win32":
        import winreg

        try:
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, path) as key:
                return str(winreg.QueryValueEx(key, name)[0])
        except OSError:  # a driver need not note everything
            return ""
    return ""


def npu(windows: Windows, seen: Seen) -> list[Finding]:
    """Look at the NPU's parts; where OpenVINO runs it, only at what may still be wrong."""
    rest: list[Probe] = [
        ("NPU compiler", lambda: _compiler(windows)),
        ("NPU driver version", lambda: _npu_version(windows, seen)),
    ]
    if seen.names:
        works: Probe = ("NPU", lambda: Finding("NPU", "ok", seen.told))
        return probes.first_cause([works, *rest])
    return probes.first_cause(
        [
            ("NPU hardware", lambda: _npu_hardware(windows)),
            ("NPU driver", lambda: _driver("NPU", windows.npu_drivers, NPU_PAGE)),
            ("NPU loader", lambda: _level_zero(windows)),
            *rest,
            ("NPU in OpenVINO", lambda: _in_openvino("NPU", seen)),
        ]
    )


def gpu(windows: Windows, seen: Seen) -> list[Finding]:
    """Look at the GPU's parts; where OpenVINO runs it, there is nothing more to ask."""
    if seen.names:
        return [Finding("GPU", "ok", seen.told)]
    return probes.first_cause(
        [
            ("GPU driver", lambda: _driver("GPU", windows.gpu_drivers, GPU_PAGE)),
            ("GPU loader", lambda: _opencl(windows)),
            ("GPU in OpenVINO", lambda: _in_openvino("GPU", seen)),
        ]
    )


def _in_openvino(family: str, seen: Seen) -> Finding:
    return probes.openvino_finding(family, seen, lambda: probes.plugin_log(family))


def _npu_hardware(windows: Windows) -> Finding:
    """Look for an NPU among the PCI devices, which Windows lists without a driver too."""
    for number, (model, _) in probes.NPU_IDS.items():
        if any(f"VEN_8086&DEV_{number:04X}" in name.upper() for name in windows.pci):
            return Finding("NPU hardware", "ok", f"8086:{number:04x} {model}")
    if any(driver.intel for driver in windows.npu_drivers):
        return Finding("NPU hardware", "ok", "it has a driver")
    detail = "Windows lists no NPU of Intel's: only Core Ultra processors have one"
    fix = "none needed: the CPU does the work; if it has one, switch it on in the firmware setup"
    return Finding("NPU hardware", "missing", detail, fix)


def _driver(family: str, known: Sequence[Driver], page: str) -> Finding:
    name = f"{family} driver"
    for driver in known:
        if driver.intel:
            return Finding(name, "ok", f"{driver.title} {driver.version}")
    others = ", ".join(driver.title for driver in known)
    detail = f"Windows has no driver for an Intel {family}" + (f", only {others}" if others else "")
    fix = f"install it by Windows Update, from this machine's maker or {page}, then restart"
    return Finding(name, "missing", detail, fix)


def _level_zero(windows: Windows) -> Finding:
    name, path = "NPU loader", windows.system / "ze_loader.dll"
    fix = f"reinstall the NPU driver, which brings it: {NPU_PAGE}"
    if not path.is_file():
        return Finding(name, "missing", f"there is no {path}", fix)
    library = probes.load(str(path))
    if not isinstance(library, ctypes.CDLL):
        return Finding(name, "broken", f"{path} does not load: {library}", fix)
    if not hasattr(library, probes.NEWEST_SYMBOL):
        detail = f"{path} is too old: it lacks {probes.NEWEST_SYMBOL}"
        return Finding(name, "broken", detail, f"update the NPU driver: {NPU_PAGE}")
    return Finding(name, "ok", str(path))


def _compiler(windows: Windows) -> Finding:
    name = "NPU compiler"
    own = windows.wheel / "openvino_intel_npu_compiler.dll"
    if own.is_file():
        return Finding(name, "ok", str(own))
    store = windows.system / "DriverStore" / "FileRepository"
    found = sorted(store.glob("npu*/npu_driver_compiler.dll"))
    if found:
        return Finding(name, "ok", str(found[-1]))
    fix = f"{sys.executable} -m pip install --force-reinstall openvino"
    return Finding(name, "missing", f"there is no {own}, and the driver brings none", fix)


def _npu_version(windows: Windows, seen: Seen) -> Finding:
    name, least = "NPU driver version", probes.MIN_WINDOWS_NPU
    noted = [probes.version_in(driver.version) for driver in windows.npu_drivers if driver.intel]
    version = probes.windows_npu_version(seen.driver) or max(noted, default=())
    if not version:
        return Finding(name, "ok", "neither OpenVINO nor Windows tells it")
    if version < least:
        detail = f"{probes.written(version)} is older than {probes.written(least)}"
        return Finding(name, "old", detail, f"update it: Windows Update or {NPU_PAGE}")
    return Finding(name, "ok", probes.written(version))


def _opencl(windows: Windows) -> Finding:
    path = windows.system / "OpenCL.dll"
    if path.is_file():
        return Finding("GPU loader", "ok", str(path))
    fix = f"reinstall the GPU driver, which brings it: {GPU_PAGE}"
    return Finding("GPU loader", "missing", f"there is no {path}", fix)
