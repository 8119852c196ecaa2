"""What is missing of an accelerator on Linux, and what to do about it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.fake_systems import (
    LIB,
    NOTHING,
    cause,
    library,
    npu_up_to,
    on_linux,
    open_folder,
    pci,
    system,
    write,
)
from vinode.cli import probes_linux as linux
from vinode.cli.probes import NEWEST_SYMBOL, Finding, Seen, plugin_log
from vinode.cli.probes_kernel import Linux

NPU_PARTS = ["hardware", "kernel", "file", "access", "loader", "driver", "compiler", "in OpenVINO"]


@pytest.fixture
def root() -> Iterator[Path]:
    """Make a root that every user may enter."""
    with open_folder() as folder:
        yield folder


@on_linux
@pytest.mark.parametrize("parts", [0, 1, 2, 4, 5, 6])
def test_the_first_part_that_is_missing_is_the_answer(root: Path, parts: int) -> None:
    """Parts before it are ok, parts after it are not judged; there is a fix."""
    found = linux.npu(npu_up_to(root, parts), NOTHING)
    assert [finding.name.removeprefix("NPU ") for finding in found] == NPU_PARTS
    states = [finding.state for finding in found]
    assert states == ["ok"] * parts + ["missing"] + ["not reached"] * (7 - parts)
    assert found[parts].fix


@on_linux
def test_what_openvino_says_comes_last(root: Path) -> None:
    """All parts are there, yet it finds nothing: its own words are told."""
    found = linux.npu(npu_up_to(root, 7), Seen((), problem="No available backend"))
    assert [finding.state for finding in found] == ["ok"] * 7 + ["broken"]
    assert "No available backend" in found[-1].detail


@on_linux
def test_an_npu_that_runs_is_believed(root: Path) -> None:
    """Then the parts are somewhere; only a missing compiler still matters."""
    found = linux.npu(system(root), Seen(("NPU",), "Intel(R) AI Boost"))
    assert [(finding.name, finding.state) for finding in found] == [
        ("NPU", "ok"),
        ("NPU compiler", "missing"),
    ]
    assert "intel-driver-compiler-npu" in found[1].fix


@on_linux
def test_a_loader_that_lacks_the_newest_function_is_too_old(root: Path) -> None:
    """Debian 12's 1.8.12: OpenVINO's plugin does not load with it."""
    here = npu_up_to(root, 4)
    library(root / LIB / "libze_loader.so.1.8.12")
    found = cause(linux.npu(here, NOTHING))
    assert (found.name, found.state) == ("NPU loader", "broken")
    assert "1.8.12 is too old" in found.detail
    assert NEWEST_SYMBOL in found.detail


@on_linux
def test_a_loader_that_does_not_load_says_why(root: Path) -> None:
    """A cut-off file is not the same as none."""
    here = npu_up_to(root, 4)
    write(root / LIB / "libze_loader.so.1", "not a library")
    found = cause(linux.npu(here, NOTHING))
    assert found.state == "broken"
    assert "does not load" in found.detail


@on_linux
def test_a_loader_that_does_not_look_for_the_driver(root: Path) -> None:
    """Ubuntu 24.04's 1.16.1 knows the driver's old name only, until a variable names it."""
    here = npu_up_to(root, 4)
    library(root / LIB / "libze_loader.so.1.16.1", NEWEST_SYMBOL)
    driver = library(root / LIB / "libze_intel_npu.so.1.33.0").with_name("libze_intel_npu.so.1")
    found = cause(linux.npu(here, NOTHING))
    assert (found.name, found.state) == ("NPU driver", "broken")
    assert f"export ZE_ENABLE_ALT_DRIVERS={driver}" in found.fix
    told = system(root, ZE_ENABLE_ALT_DRIVERS=str(driver))
    assert cause(linux.npu(told, NOTHING)).name == "NPU compiler"


@on_linux
@pytest.mark.parametrize(
    ("number", "file", "fragment"),
    [
        ("0x7d1d", "libze_intel_vpu.so.1.8.0", "before 1.17"),
        ("0xb03e", "libze_intel_npu.so.1.26.0", "1.26.0 is older than 1.28"),
        ("0xfd3e", "libze_intel_npu.so.1.30.0", "1.30.0 is older than 1.32"),
    ],
)
def test_a_driver_that_is_too_old(root: Path, number: str, file: str, fragment: str) -> None:
    """By its name, or by its version for the NPU that is here."""
    here = npu_up_to(root, 5)
    write(root / "sys/bus/pci/devices/0000:00:0b.0/device", number)
    library(root / LIB / file)
    found = cause(linux.npu(here, NOTHING))
    assert (found.name, found.state) == ("NPU driver", "broken")
    assert fragment in found.detail
    assert "intel-level-zero-npu" in found.fix


@on_linux
def test_the_compilers_loader_is_not_the_compiler(root: Path) -> None:
    """Both names begin alike."""
    here = npu_up_to(root, 6)
    write(root / "wheel/libopenvino_intel_npu_compiler_loader.so")
    assert cause(linux.npu(here, NOTHING)).name == "NPU compiler"
    write(root / "wheel/libopenvino_intel_npu_compiler.so")
    assert cause(linux.npu(here, Seen((), problem="x"))).name == "NPU in OpenVINO"


@on_linux
@pytest.mark.parametrize(
    ("release", "firmware", "module", "driver", "fix"),
    [
        ("6.1.0-18-amd64", True, False, "", "update the kernel to 6.6"),
        ("6.8.0", False, False, "", "intel-fw-npu"),
        ("6.8.0", True, False, "", "sudo modprobe intel_vpu"),
        ("6.8.0", True, True, "", "dmesg"),
        ("6.8.0", True, True, "vfio-pci", "give it back"),
    ],
)
def test_why_the_kernel_does_not_drive_it(
    root: Path, release: str, firmware: bool, module: bool, driver: str, fix: str
) -> None:
    """Too old, no firmware, no module, a module that gave up, another driver."""
    pci(root, "0x7d1d", "0x120000", driver)
    if firmware:
        write(root / "lib/firmware/intel/vpu/vpu_37xx_v1.bin")
    if module:
        (root / "sys/module/intel_vpu").mkdir(parents=True)
    found = cause(linux.npu(system(root, release), NOTHING))
    assert found.name == "NPU kernel"
    assert fix in found.fix


@on_linux
def test_in_a_container_the_fix_is_the_containers(root: Path) -> None:
    """The host's kernel drives the device, the container has no file of it."""
    here = npu_up_to(root, 2)
    write(root / ".dockerenv")
    found = cause(linux.npu(here, NOTHING))
    assert (found.name, found.fix) == (
        "NPU file",
        "start the container with --device /dev/accel",
    )


@on_linux
def test_wsl_and_sandboxes_have_no_hardware(root: Path) -> None:
    """Their fix is to go where the hardware is."""
    assert (
        "Windows itself"
        in cause(linux.npu(system(root, "5.15.153.1-microsoft-standard-WSL2"), NOTHING)).fix
    )
    assert "lists no PCI devices" in cause(linux.npu(system(root), NOTHING)).detail


@pytest.fixture
def as_somebody() -> Iterator[None]:
    """Be a user without rights: root may open everything."""
    if os.geteuid() != 0:
        yield
        return
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(65534)
    os.seteuid(65534)
    yield
    os.seteuid(0)
    os.setegid(0)
    os.setgroups(groups)


def shut(root: Path, mode: int, group: int) -> Linux:
    """Make an NPU whose device file is not everybody's."""
    here = npu_up_to(root, 3)
    file = root / "dev/accel/accel0"
    file.chmod(mode)
    if os.geteuid() == 0:
        os.chown(file, 0, group)
    return here


@on_linux
@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can make others' files"
)
@pytest.mark.parametrize(
    ("mode", "group", "container", "fragment"),
    [
        (0o660, 44, False, "sudo usermod -aG video $USER, then log out and in again"),
        (0o660, 44, True, "--group-add 44"),
        (0o660, 54321, False, "usermod -aG 54321"),
        (0o600, 44, False, "chmod g+rw"),
        (0o660, 0, False, 'KERNEL=="accel*"'),
    ],
)
def test_a_device_that_you_may_not_open(
    root: Path,
    request: pytest.FixtureRequest,
    mode: int,
    group: int,
    container: bool,
    fragment: str,
) -> None:
    """The group it belongs to decides the fix."""
    here = shut(root, mode, group)
    if container:
        write(root / "run/.containerenv")
    request.getfixturevalue("as_somebody")
    found = cause(linux.npu(here, NOTHING))
    assert (found.name, found.state) == ("NPU access", "broken")
    assert fragment in found.fix


@on_linux
def test_a_device_that_fails_to_open(root: Path) -> None:
    """A folder in its place: not a matter of rights."""
    here = npu_up_to(root, 2)
    (root / "dev/accel/accel0").mkdir(parents=True)
    found = cause(linux.npu(here, NOTHING))
    assert (found.name, found.state) == ("NPU access", "broken")
    assert "dmesg" in found.fix


@on_linux
def test_gpu_parts(root: Path) -> None:
    """Loader, then driver, by the files of the OpenCL loader."""
    write(root / "etc/os-release", "ID=ubuntu\nID_LIKE=debian\n")
    pci(root, "0x7d55", "0x030000", "i915")
    write(root / "dev/dri/renderD128")
    here = system(root)
    found = cause(linux.gpu(here, NOTHING))
    assert (found.name, found.state) == ("GPU loader", "missing")
    assert "sudo apt install ocl-icd-libopencl1" in found.fix
    library(root / LIB / "libOpenCL.so.1.0.0")
    write(root / "etc/OpenCL/vendors/pocl.icd", "libpocl.so.2")
    found = cause(linux.gpu(here, NOTHING))
    assert (found.name, found.state) == ("GPU driver", "missing")
    assert "only pocl.icd" in found.detail
    write(root / "etc/OpenCL/vendors/intel.icd", "/usr/lib/intel-opencl/libigdrcl.so\n")
    assert cause(linux.gpu(here, NOTHING)).state == "broken"
    write(root / "usr/lib/intel-opencl/libigdrcl.so")
    assert cause(linux.gpu(here, Seen((), problem="x"))).name == "GPU in OpenVINO"
    assert linux.gpu(here, Seen(("GPU",), "Arc")) == [Finding("GPU", "ok", "Arc")]


@on_linux
def test_another_makers_gpu_is_none(root: Path) -> None:
    """Its device file is not taken for Intel's."""
    pci(root, "0x2684", "0x030000", "nvidia", vendor="0x10de")
    write(root / "dev/dri/renderD128")
    write(root / "sys/class/drm/renderD128/device/vendor", "0x10de")
    assert cause(linux.gpu(system(root), NOTHING)).name == "GPU hardware"


def test_plugin_log_is_a_line_or_nothing() -> None:
    """Of a device that OpenVINO does not know it says nothing; it never fails."""
    assert plugin_log("NO_SUCH") == ""


@on_linux
def test_plugin_log_tells_what_openvino_misses(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real plugin, given a real loader that lacks all it needs, names the function."""
    loader = library(root / "libze_loader.so.1.8.12")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(loader.parent))
    said = plugin_log("NPU")
    assert "undefined symbol: ze" in said
    assert said[0].isalpha()
    assert "\x1b" not in said
