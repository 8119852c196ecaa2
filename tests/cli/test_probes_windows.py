"""What is missing of an accelerator on Windows; judged on any system, read only there."""

import sys
from pathlib import Path

import pytest

from tests.cli.fake_systems import NOTHING, cause, library, on_linux, write
from vinode.cli import probes_windows as windows
from vinode.cli.probes import NEWEST_SYMBOL, Seen

NPU_DRIVER = windows.Driver("Intel(R) AI Boost", "32.0.100.4778", r"PCI\VEN_8086&DEV_643E")
GPU_DRIVER = windows.Driver("Intel(R) Arc(TM)", "32.0.101.6129", r"PCI\VEN_8086&DEV_64A0")
OTHER = windows.Driver("GeForce", "32.0.16.1088", r"PCI\VEN_10DE&DEV_2B87")
PCI = [r"VEN_8086&DEV_643E&SUBSYS_CA07144D&REV_04"]


def some_windows(
    folder: Path, npu: list[windows.Driver], gpu: list[windows.Driver], pci_names: list[str]
) -> windows.Windows:
    """Make a Windows whose System32 and wheel are empty folders."""
    return windows.Windows(folder / "System32", npu, gpu, pci_names, folder / "libs")


def test_windows_without_an_npu_and_without_its_driver(tmp_path: Path) -> None:
    """PCI devices are listed without a driver too."""
    found = windows.npu(some_windows(tmp_path, [], [], []), NOTHING)
    assert cause(found).name == "NPU hardware"
    assert [finding.state for finding in found[1:]] == ["not reached"] * 5
    found = windows.npu(some_windows(tmp_path, [OTHER], [], PCI), NOTHING)
    assert "Lunar Lake" in found[0].detail
    assert cause(found).name == "NPU driver"
    assert "Windows Update" in cause(found).fix


def test_windows_loader_must_be_there_and_load(tmp_path: Path) -> None:
    """A file that is no library does not load on any system."""
    here = some_windows(tmp_path, [NPU_DRIVER], [], PCI)
    assert (cause(windows.npu(here, NOTHING)).name) == "NPU loader"
    write(here.system / "ze_loader.dll", "no library")
    assert cause(windows.npu(here, NOTHING)).state == "broken"


@on_linux
def test_windows_loader_too_old_compiler_and_openvino(tmp_path: Path) -> None:
    """A library of this system stands in for the file: what is asked of it is the same."""
    here = some_windows(tmp_path, [NPU_DRIVER], [], PCI)
    loader = here.system / "ze_loader.dll"
    library(loader)
    loader.with_name("ze_loader.dll.so.1").unlink(missing_ok=True)
    assert "too old" in cause(windows.npu(here, NOTHING)).detail
    other = some_windows(tmp_path / "new", [NPU_DRIVER], [], PCI)
    library(other.system / "ze_loader.dll", NEWEST_SYMBOL)
    assert cause(windows.npu(other, NOTHING)).name == "NPU compiler"
    store = other.system / "DriverStore" / "FileRepository" / "npu.inf_amd64_1"
    write(store / "npu_driver_compiler.dll")
    found = windows.npu(other, Seen((), problem="No available backend"))
    assert cause(found).name == "NPU in OpenVINO"


@pytest.mark.parametrize(
    ("told", "noted", "state"),
    [
        ("1004778", "", "ok"),
        ("1002714", "", "old"),
        ("", "32.0.100.2540", "old"),
        ("", "32.0.100.3104", "ok"),
        ("not a number", "", "ok"),
    ],
)
def test_windows_driver_version(tmp_path: Path, told: str, noted: str, state: str) -> None:
    """OpenVINO's number is believed first; an old driver works, so it breaks nothing."""
    known = [windows.Driver("NPU", noted, NPU_DRIVER.device)]
    here = some_windows(tmp_path, known, [], PCI)
    write(here.wheel / "openvino_intel_npu_compiler.dll")
    found = windows.npu(here, Seen(("NPU",), "AI Boost", told))
    assert [finding.name for finding in found] == ["NPU", "NPU compiler", "NPU driver version"]
    assert found[-1].state == state


def test_windows_gpu(tmp_path: Path) -> None:
    """Driver, loader, OpenVINO."""
    here = some_windows(tmp_path, [], [OTHER], [])
    assert "only GeForce" in cause(windows.gpu(here, NOTHING)).detail
    here = some_windows(tmp_path, [], [OTHER, GPU_DRIVER], [])
    assert cause(windows.gpu(here, NOTHING)).name == "GPU loader"
    write(here.system / "OpenCL.dll")
    assert cause(windows.gpu(here, Seen((), problem="x"))).name == "GPU in OpenVINO"


@pytest.mark.skipif(sys.platform != "win32", reason="reads the registry of Windows")
def test_this_windows_has_a_display() -> None:
    """The registry answers."""
    assert windows.this_windows().gpu_drivers


@pytest.mark.skipif(sys.platform == "win32", reason="there is a registry")
def test_without_a_registry_there_are_no_drivers() -> None:
    """The module can be imported and asked anywhere."""
    assert windows.drivers(windows.NPU_CLASS) == []
