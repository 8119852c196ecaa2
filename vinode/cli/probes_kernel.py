"""The kernel's side of an accelerator on Linux: hardware, driver, device file, permission."""

from __future__ import annotations

import errno
import os
import platform
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from vinode.cli import probes
from vinode.cli.probes import Finding, Probe

if sys.platform != "win32":
    import grp

NPU_PAGE = "https://github.com/intel/linux-npu-driver/releases"
FIRST_KERNEL = (6, 6)  # OpenVINO's own floor for the NPU
_FOLDERS = (
    "usr/lib/x86_64-linux-gnu",
    "lib/x86_64-linux-gnu",
    "usr/lib64",
    "usr/lib",
    "usr/local/lib",
    "usr/local/lib64",
    "run/opengl-driver/lib",
)


@dataclass(frozen=True, slots=True)
class Linux:
    """The system that is looked at; another root looks at a copy of one.

    release  the kernel's, as `uname -r` gives it
    wheel    folder of OpenVINO's own libraries
    """

    root: Path = Path("/")
    release: str = field(default_factory=platform.release)
    wheel: Path = field(default_factory=probes.wheel_libraries)
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    @property
    def container(self) -> bool:
        """Say whether this runs in a container."""
        return any((self.root / name).exists() for name in (".dockerenv", "run/.containerenv"))

    @property
    def wsl(self) -> bool:
        """Say whether this is Linux inside Windows."""
        return "microsoft" in self.release.lower()

    def install(self, package: str, elsewhere: str) -> str:
        """Say how to install a package where it has Debian's name, and where to get it else."""
        told = text(self.root / "etc/os-release").lower()
        if "debian" in told or "ubuntu" in told:
            return f"sudo apt install {package}, or take it from {elsewhere}"
        return f"install it from your distribution or {elsewhere} (Debian: {package})"

    def libraries(self, pattern: str) -> list[Path]:
        """Find files of the loader's folders whose name fits."""
        folders = dict.fromkeys(self._folders())
        return [path for folder in folders for path in sorted(folder.glob(pattern))]

    def _folders(self) -> Iterator[Path]:
        yield from (
            Path(part) for part in self.environ.get("LD_LIBRARY_PATH", "").split(":") if part
        )
        yield self.wheel
        for conf in sorted((self.root / "etc/ld.so.conf.d").glob("*.conf")):
            for line in text(conf).splitlines():
                if line.startswith("/"):
                    yield self.root / line.strip().lstrip("/")
        yield from (self.root / name for name in _FOLDERS)


@dataclass(frozen=True, slots=True)
class Family:
    """What tells a family of devices on Linux.

    classes  how the PCI class of such a device begins
    drivers  kernel drivers, the usual one first
    files    the device file's folder and pattern, below the root
    """

    name: str
    classes: tuple[str, ...]
    drivers: tuple[str, ...]
    files: tuple[str, str]

    @property
    def rule(self) -> str:
        """Give the udev rule that lets the group render use the device."""
        subsystem = "accel" if self.name == "NPU" else "drm"
        return f'SUBSYSTEM=="{subsystem}", KERNEL=="{self.files[1]}", GROUP="render", MODE="0660"'


NPU = Family("NPU", ("0x1200",), ("intel_vpu",), ("dev/accel", "accel*"))
GPU = Family("GPU", ("0x03",), ("i915", "xe"), ("dev/dri", "renderD*"))


def kernel_side(system: Linux, family: Family) -> list[Probe]:
    """List what must be there before any library matters."""
    return [
        (f"{family.name} hardware", lambda: _hardware(system, family)),
        (f"{family.name} kernel", lambda: _kernel(system, family)),
        (f"{family.name} file", lambda: _file(system, family)),
        (f"{family.name} access", lambda: _access(system, family)),
    ]


def on_pci(system: Linux, family: Family) -> list[Path]:
    """List the PCI devices of a family that Intel made."""
    return [
        device
        for device in sorted((system.root / "sys/bus/pci/devices").glob("*"))
        if text(device / "vendor") == "0x8086" and text(device / "class").startswith(family.classes)
    ]


def _device_files(system: Linux, family: Family) -> list[Path]:
    """List the device files of Intel's; where the kernel tells no maker, any is taken."""
    folder, pattern = family.files
    drm = system.root / "sys/class/drm"
    return [
        path
        for path in sorted((system.root / folder).glob(pattern))
        if text(drm / path.name / "device/vendor") in ("", "0x8086")
    ]


def _hardware(system: Linux, family: Family) -> Finding:
    name = f"{family.name} hardware"
    found = on_pci(system, family)
    if found:
        number = int(text(found[0] / "device") or "0", 16)
        model = probes.NPU_IDS[number][0] if number in probes.NPU_IDS else ""
        return Finding(name, "ok", f"{found[0].name} 8086:{number:04x} {model}".rstrip())
    if _device_files(system, family):
        return Finding(name, "ok", "it has a device file")
    if system.wsl:
        return Finding(
            name, "missing", "WSL passes no such device on", "run vinode in Windows itself"
        )
    if not (system.root / "sys/bus/pci/devices").is_dir():
        detail = "this system lists no PCI devices: a virtual machine or sandbox"
        return Finding(name, "missing", detail, f"run vinode where the {family.name} is")
    detail = f"this machine shows no {family.name} of Intel's on its PCI bus"
    fix = "none needed: the CPU does the work; if it has one, switch it on in the firmware setup"
    return Finding(name, "missing", detail, fix)


def _kernel(system: Linux, family: Family) -> Finding:
    name = f"{family.name} kernel"
    devices = on_pci(system, family)
    bound = [link.resolve().name for link in (d / "driver" for d in devices) if link.exists()]
    if not devices or any(driver in family.drivers for driver in bound):
        return Finding(name, "ok", f"{', '.join(bound) or 'unknown driver'} on {system.release}")
    usual = family.drivers[0]
    if bound:
        fix = f"give it back to {usual}: a virtual machine may hold it"
        return Finding(name, "missing", f"the kernel's {bound[0]} holds the device", fix)
    firmware = system.root / "lib/firmware/intel/vpu"
    if family is NPU and _release(system) < FIRST_KERNEL:
        fix = (
            f"update the kernel to {probes.written(FIRST_KERNEL)} or later (Ubuntu: the HWE kernel)"
        )
        return Finding(name, "missing", f"kernel {system.release} is too old for the NPU", fix)
    if family is NPU and not list(firmware.glob("*.bin*")):
        fix = f"install the firmware: package intel-fw-npu from {NPU_PAGE}, then restart"
        return Finding(name, "missing", "the NPU's firmware is missing in /lib/firmware", fix)
    if any((system.root / "sys/module" / driver).is_dir() for driver in family.drivers):
        fix = f"sudo dmesg | grep {usual} says why; often newer firmware or a restart mends it"
        return Finding(name, "broken", f"the module {usual} is loaded but drives no device", fix)
    return Finding(name, "missing", f"the module {usual} is not loaded", f"sudo modprobe {usual}")


def _release(system: Linux) -> tuple[int, ...]:
    return probes.version_in(system.release.split("-")[0])[:2] or FIRST_KERNEL


def _file(system: Linux, family: Family) -> Finding:
    name = f"{family.name} file"
    files = _device_files(system, family)
    if files:
        return Finding(name, "ok", str(files[0]))
    folder, pattern = family.files
    detail = f"the kernel drives the {family.name}, but there is no /{folder}/{pattern}"
    if system.container:
        fix = f"start the container with --device /{folder}"
        return Finding(name, "missing", f"{detail} in this container", fix)
    return Finding(name, "missing", detail, "sudo udevadm trigger, or restart")


def _access(system: Linux, family: Family) -> Finding:
    name = f"{family.name} access"
    problems: list[Finding] = []
    for path in _device_files(system, family):
        try:
            os.close(os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0)))
        except OSError as error:
            problems.append(_refused(system, family, path, error))
            continue
        return Finding(name, "ok", f"{path} can be opened")
    return problems[0]


def _refused(system: Linux, family: Family, path: Path, error: OSError) -> Finding:
    name = f"{family.name} access"
    if error.errno not in (errno.EACCES, errno.EPERM):
        detail = f"{path} cannot be opened: {os.strerror(error.errno or 0)}"
        fix = "sudo dmesg | tail says why; often a restart mends it"
        return Finding(name, "broken", detail, fix)
    state = path.stat()
    group = _group_name(state.st_gid)
    detail = f"{path} belongs to group {group}, and you may not open it"
    if system.container:
        fix = f"start the container with --group-add {state.st_gid}"
    elif state.st_mode & 0o060 != 0o060 or state.st_gid == 0:
        fix = (
            f"sudo chown root:render {path} && sudo chmod g+rw {path} && sudo usermod -aG render "
            f"$USER, then log in again; to keep it, write {family.rule} "
            "to /etc/udev/rules.d/60-vinode.rules"
        )
    elif state.st_gid in _my_groups():
        fix = "an access list or sandbox forbids it: getfacl shows the list"
    else:
        fix = f"sudo usermod -aG {group} $USER, then log out and in again"
    return Finding(name, "broken", detail, fix)


def _group_name(number: int) -> str:
    if sys.platform != "win32":
        try:
            return grp.getgrgid(number).gr_name
        except KeyError:  # a group that this system has no name for, as in containers
            return str(number)
    return str(number)


def _my_groups() -> list[int]:
    if sys.platform != "win32":
        return os.getgroups()
    return []


def text(path: Path) -> str:
    """Read a small file; "" where it is not there."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:  # files of /sys and /proc come and go; one that is not there says nothing
        return ""
