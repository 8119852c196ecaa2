"""Fake systems of real files and real tiny libraries, with some parts of an accelerator."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from vinode.cli.probes import NEWEST_SYMBOL, Finding, Seen
from vinode.cli.probes_kernel import Linux

NOTHING = Seen(())
LIB = "usr/lib/x86_64-linux-gnu"

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at Linux files and libraries")


def write(path: Path, text: str = "") -> Path:
    """Write a file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def library(path: Path, symbol: str = "") -> Path:
    """Build a real library of one function; a second name points to it where it has a version."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler is here to build a library with")
    path.parent.mkdir(parents=True, exist_ok=True)
    code = f"int {symbol or 'nothing'}(void) {{ return 0; }}"
    command = [compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", str(path)]
    subprocess.run(command, input=code.encode(), check=True)
    short = path.name.split(".so")[0] + ".so.1"
    if path.name != short:
        path.with_name(short).symlink_to(path.name)
    return path


@contextmanager
def open_folder() -> Generator[Path]:
    """Make a folder that every user may enter: pytest's own are shut to others."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        folder.chmod(0o755)
        yield folder


def pci(
    root: Path, number: str, device_class: str, driver: str = "", vendor: str = "0x8086"
) -> None:
    """Add a PCI device, driven or not."""
    device = root / "sys/bus/pci/devices/0000:00:0b.0"
    write(device / "vendor", f"{vendor}\n")
    write(device / "device", f"{number}\n")
    write(device / "class", f"{device_class}\n")
    if driver:
        (root / "sys/bus/pci/drivers" / driver).mkdir(parents=True, exist_ok=True)
        (device / "driver").symlink_to(root / "sys/bus/pci/drivers" / driver)


def system(root: Path, release: str = "6.8.0-45-generic", **environ: str) -> Linux:
    """Look at this root; OpenVINO's wheel is empty."""
    return Linux(root, release, root / "wheel", environ)


def npu_up_to(root: Path, parts: int) -> Linux:
    """Make a system whose first parts of an NPU are there."""
    driven = root / "sys/bus/pci/devices/0000:00:0b.0/driver"
    steps: list[Callable[[], object]] = [
        lambda: pci(root, "0x643e", "0x120000"),
        lambda: driven.symlink_to(root / "sys/bus/pci/drivers/intel_vpu"),
        lambda: write(root / "dev/accel/accel0"),
        lambda: None,  # whoever makes a file may open it
        lambda: library(root / LIB / "libze_loader.so.1.27.0", NEWEST_SYMBOL),
        lambda: library(root / LIB / "libze_intel_npu.so.1.33.0"),
        lambda: write(root / LIB / "libopenvino_intel_npu_compiler.so"),
    ]
    (root / "sys/bus/pci/drivers/intel_vpu").mkdir(parents=True)
    (root / "sys/bus/pci/devices").mkdir(parents=True)
    write(root / "lib/firmware/intel/vpu/vpu_40xx_v1.bin.zst")
    for step in steps[:parts]:
        step()
    return system(root)


def cause(found: list[Finding]) -> Finding:
    """Give the one part that is not there."""
    (bad,) = [finding for finding in found if finding.state in ("missing", "broken")]
    return bad
