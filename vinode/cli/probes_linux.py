"""An accelerator's stack on Linux, part by part; the libraries above the kernel."""

from __future__ import annotations

import ctypes
from pathlib import Path

from vinode.cli import probes
from vinode.cli.probes import Finding, Probe, Seen
from vinode.cli.probes_kernel import GPU, NPU, NPU_PAGE, Linux, kernel_side, on_pci, text

LOADER = "libze_loader.so.1"
LOADER_PAGE = "https://github.com/oneapi-src/level-zero/releases"
GPU_PAGE = "https://github.com/intel/compute-runtime/releases"
# Loaders before this one look for the driver's old name only, unless the variable names it.
FIRST_LOADER = (1, 17, 17)
ALT_DRIVERS = "ZE_ENABLE_ALT_DRIVERS"


def npu(system: Linux, seen: Seen) -> list[Finding]:
    """Look at the NPU's parts; where OpenVINO runs it, only at what may still be wrong."""
    compiler: Probe = ("NPU compiler", lambda: _compiler(system))
    if seen.names:
        works: Probe = ("NPU", lambda: Finding("NPU", "ok", seen.told))
        return probes.first_cause([works, compiler])
    return probes.first_cause(
        [
            *kernel_side(system, NPU),
            ("NPU loader", lambda: _level_zero(system)),
            ("NPU driver", lambda: _npu_driver(system)),
            compiler,
            ("NPU in OpenVINO", lambda: _in_openvino("NPU", seen)),
        ]
    )


def gpu(system: Linux, seen: Seen) -> list[Finding]:
    """Look at the GPU's parts; where OpenVINO runs it, there is nothing more to ask."""
    if seen.names:
        return [Finding("GPU", "ok", seen.told)]
    return probes.first_cause(
        [
            *kernel_side(system, GPU),
            ("GPU loader", lambda: _opencl(system)),
            ("GPU driver", lambda: _gpu_driver(system)),
            ("GPU in OpenVINO", lambda: _in_openvino("GPU", seen)),
        ]
    )


def _in_openvino(family: str, seen: Seen) -> Finding:
    return probes.openvino_finding(family, seen, lambda: probes.plugin_log(family))


def _loaded(system: Linux, name: str) -> tuple[ctypes.CDLL | None, Path | None, str]:
    """Load a library: itself, its file where that is known, and why it does not load."""
    problem = ""
    for path in system.libraries(name):
        found = probes.load(str(path))
        if isinstance(found, ctypes.CDLL):
            return found, path, ""
        problem = problem or found
    if system.root == Path("/"):  # the loader knows more folders than we do
        found = probes.load(name)
        if isinstance(found, ctypes.CDLL):
            return found, None, ""
    return None, None, problem


def _level_zero(system: Linux) -> Finding:
    name = "NPU loader"
    library, path, problem = _loaded(system, LOADER)
    fix = system.install("libze1", LOADER_PAGE)
    if library is None and problem:
        return Finding(name, "broken", f"{LOADER} is there but does not load: {problem}", fix)
    if library is None:
        return Finding(name, "missing", f"there is no {LOADER}", fix)
    version = probes.written(probes.version_in(path.resolve().name)) if path else ""
    if not hasattr(library, probes.NEWEST_SYMBOL):
        detail = f"{LOADER} {version} is too old: it lacks {probes.NEWEST_SYMBOL}"
        return Finding(name, "broken", detail, f"take a newer one from {LOADER_PAGE}")
    return Finding(name, "ok", f"{path or LOADER} {version}".rstrip())


def _npu_driver(system: Linux) -> Finding:
    name = "NPU driver"
    new = system.libraries("libze_intel_npu.so*")
    old = system.libraries("libze_intel_vpu.so*")
    fix = f"install the packages intel-level-zero-npu and intel-driver-compiler-npu from {NPU_PAGE}"
    if not new and old:
        detail = f"{old[0]} is of a release before 1.17, too old for this OpenVINO"
        return Finding(name, "broken", detail, f"remove it and {fix}")
    if not new:
        return Finding(name, "missing", "there is no libze_intel_npu.so.1", fix)
    version = max(probes.version_in(path.resolve().name) for path in new)
    least = max(_least(system), (1, 17))
    if version and version < least:
        detail = f"{new[0]} {probes.written(version)} is older than {probes.written(least)}"
        return Finding(name, "broken", f"{detail}, the first for this NPU", fix)
    return _reachable(system, new[0], version) or Finding(
        name,
        "ok",
        f"{new[0]} {probes.written(version)}".rstrip(),
        f"remove {old[0]}, which an earlier release left: it may be loaded instead" if old else "",
    )


def _least(system: Linux) -> probes.Version:
    """Give the first driver release for the NPU that is here."""
    ids = [int(text(device / "device") or "0", 16) for device in on_pci(system, NPU)]
    return max(
        (probes.NPU_IDS[number][1] for number in ids if number in probes.NPU_IDS), default=()
    )


def _reachable(system: Linux, driver: Path, version: probes.Version) -> Finding | None:
    """Say where a loader is too old to look for a driver of this name."""
    files = system.libraries(LOADER)
    loader = probes.version_in(files[0].resolve().name) if files else ()
    if not loader or loader >= FIRST_LOADER or system.environ.get(ALT_DRIVERS):
        return None
    detail = f"{driver} is there, but the loader {probes.written(loader)} does not look for it"
    fix = f"export {ALT_DRIVERS}={driver}, or take a newer loader from {LOADER_PAGE}"
    return Finding("NPU driver", "broken", detail, fix)


def _compiler(system: Linux) -> Finding:
    name = "NPU compiler"
    found = [
        path
        for pattern in ("libopenvino_intel_npu_compiler*.so*", "libnpu_driver_compiler.so*")
        for path in system.libraries(pattern)
        # The plugin's loader of the compiler is not the compiler.
        if "compiler_loader" not in path.name
    ]
    if found:
        return Finding(name, "ok", str(found[0]))
    detail = "neither OpenVINO's wheel nor the driver brings the NPU's compiler"
    fix = f"install the package intel-driver-compiler-npu of the driver's release from {NPU_PAGE}"
    return Finding(name, "missing", detail, fix)


def _opencl(system: Linux) -> Finding:
    library, path, problem = _loaded(system, "libOpenCL.so.1")
    fix = system.install("ocl-icd-libopencl1", GPU_PAGE)
    if library is not None:
        return Finding("GPU loader", "ok", str(path or "libOpenCL.so.1"))
    if problem:
        return Finding("GPU loader", "broken", f"libOpenCL.so.1 does not load: {problem}", fix)
    return Finding("GPU loader", "missing", "there is no libOpenCL.so.1", fix)


def _gpu_driver(system: Linux) -> Finding:
    """Look for the file by which Intel's driver is known to the OpenCL loader."""
    name = "GPU driver"
    folder = Path(system.environ.get("OCL_ICD_VENDORS") or system.root / "etc/OpenCL/vendors")
    known = {path: text(path) for path in sorted(folder.glob("*.icd"))}
    fix = system.install("intel-opencl-icd", GPU_PAGE)
    for path, library in known.items():
        if "igdrcl" not in library:
            continue
        file = system.root / library.lstrip("/")
        if library.startswith("/") and not file.is_file():
            return Finding(name, "broken", f"{path} names {library}, which is not there", fix)
        return Finding(name, "ok", f"{path}: {library}")
    others = ", ".join(path.name for path in known)
    detail = f"no .icd file of Intel's in {folder}" + (f", only {others}" if others else "")
    return Finding(name, "missing", detail, fix)
