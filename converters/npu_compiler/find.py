"""Where Intel's NPU compiler is on this computer: OpenVINO's own library, or its Windows one."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from vinode.graph.errors import Fault, ModelError

VARIABLE = "VINODE_NPU_COMPILER"
# What OpenVINO's NPU plugin loads; it lies beside the plugin.
LOADER = {
    "win32": "openvino_intel_npu_compiler_loader.dll",
    "linux": "libopenvino_intel_npu_compiler_loader.so",
}
LIBRARIES = {
    "win32": "openvino_intel_npu_compiler*.dll",
    "linux": "libopenvino_intel_npu_compiler*.so*",
}
# Where Intel's archives and packages put the libraries on Linux.
USUAL = (
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
    "/opt/intel/openvino/runtime/lib/intel64",
)


@dataclass(frozen=True, slots=True)
class Compiler:
    """An NPU compiler that can be asked.

    folder    where its libraries lie; of the one under Wine also host.exe
    wine      Wine's prefix, and so the Windows libraries are meant; None: this system's own
    identity  OpenVINO's version and the size of the library: another one is another compiler
    """

    folder: Path
    wine: Path | None
    identity: str

    @property
    def where(self) -> str:
        """Tell people which one it is."""
        return f"{self.folder} under Wine" if self.wine else str(self.folder)


def find(home: Path) -> Compiler:
    """Find the compiler; ModelError tells what is missing and how to get it.

    home  the user's data folder, below which `vinode npu-compiler install` puts one
    """
    named = os.environ.get(VARIABLE, "").strip()
    if named:
        return _named(Path(named))
    for folder in (wheel_folder(), *(Path(place) for place in USUAL)):
        found = _native(folder)
        if found:
            return found
    return under_wine(home) or _none(home)


def wheel_folder() -> Path:
    """Give the folder of OpenVINO's libraries, without importing it."""
    spec = find_spec("openvino")
    places = spec.submodule_search_locations if spec else None
    return Path(places[0]) / "libs" if places else Path("openvino")


def wine_folder(home: Path) -> Path:
    """Give the folder of the compiler that runs under Wine, whether it is there or not."""
    return home / "npu-compiler"


def under_wine(home: Path) -> Compiler | None:
    """Find the compiler that `vinode npu-compiler install` made; None where it is not whole."""
    folder = wine_folder(home)
    library = folder / "libs" / "openvino_intel_npu_compiler.dll"
    whole = (folder / "whole").is_file() and library.is_file() and shutil.which("wine")
    if not whole:
        return None
    known = (folder / "whole").read_text(encoding="utf-8").strip()
    return Compiler(folder / "libs", folder / "prefix", _identity(known, library))


def _native(folder: Path) -> Compiler | None:
    loader = folder / LOADER.get(sys.platform, LOADER["linux"])
    if not loader.is_file():
        return None
    libraries = sorted(folder.glob(LIBRARIES.get(sys.platform, LIBRARIES["linux"])))
    largest = max(libraries, key=lambda path: path.stat().st_size)
    return Compiler(folder, None, _identity(openvino_version(), largest))


def _named(path: Path) -> Compiler:
    folder = path if path.is_dir() else path.parent
    found = _native(folder)
    if found is None:
        wanted = LOADER.get(sys.platform, LOADER["linux"])
        fix = f"name the folder that has {wanted}, or unset {VARIABLE}"
        problem = "no NPU compiler is there"
        raise ModelError(Fault(VARIABLE, problem, str(path), fix, "compiler-missing"))
    return found


def openvino_version() -> str:
    """Give the version of the OpenVINO that is installed, without importing it."""
    try:
        return version("openvino")
    except PackageNotFoundError:  # a build of one's own has no metadata
        return "unknown"


def _identity(known: str, library: Path) -> str:
    state = library.stat()
    return f"openvino {known}, {library.name} {state.st_size} bytes"


def _none(home: Path) -> Compiler:
    wanted = LOADER.get(sys.platform, LOADER["linux"])
    places = f"{wheel_folder()} and Intel's usual folders"
    problem = f"Intel's NPU compiler is not on this computer: no {wanted} in {places}"
    problem += f", and none under Wine in {wine_folder(home)}"
    fix = "`vinode npu-compiler install` sets up the one of OpenVINO's Windows wheel under Wine"
    if sys.platform == "win32":
        fix = "install OpenVINO again: `pip install --force-reinstall openvino`"
    fix += f"; or name the folder of Intel's libraries: {VARIABLE}=FOLDER"
    raise ModelError(Fault("NPU preflight", problem, fix=fix, code="compiler-missing"))
