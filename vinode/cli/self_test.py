"""`vinode doctor --self-test`: a small real model through five steps on every device."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from vinode.cli.self_test_child import FILE, STEPS, Step
from vinode.graph.devices import FAMILIES, SIMULATED
from vinode.graph.errors import DeviceError, Fault

LIMIT = 300.0  # seconds for a device's five steps; the model compiles in a second where all is well
COMMAND = (sys.executable, "-P", "-m", "vinode.cli.self_test_child")


@dataclass(frozen=True, slots=True)
class DeviceResult:
    """What the self-test found on a device: always five steps."""

    device: str
    full_name: str
    steps: tuple[Step, ...]

    @property
    def ok(self) -> bool:
        """Say whether all five steps went well."""
        return all(step.state == "ok" for step in self.steps)


def self_test(as_json: bool, simulate: bool) -> int:
    """Test every device and print the five results of each; 1 where any is not ok."""
    devices = devices_here(simulate)

    def test(device: str) -> DeviceResult:
        click.echo(f"testing {device} ...", err=True)
        return try_device(device, devices[device])

    tested = [test(device) for device in devices]
    if as_json:
        told = [{**asdict(one), "simulated": one.device == SIMULATED} for one in tested]
        click.echo(json.dumps(told, indent=1))
    else:
        _print(tested)
    return 0 if all(one.ok for one in tested) else 1


def devices_here(simulate: bool) -> dict[str, str]:
    """Give the devices to test, name -> the maker's name; accelerators first."""
    try:
        import openvino as ov

        from vinode.graph.devices import present

        core = ov.Core()
        if simulate:
            core.register_plugin("openvino_intel_cpu_plugin", SIMULATED)
        return {device.name: device.full_name for device in present(core)}
    except (ImportError, RuntimeError) as error:
        fix = f"{sys.executable} -m pip install --force-reinstall openvino"
        fault = Fault("OpenVINO", "it does not start", str(error).strip(), fix, "openvino-broken")
        raise DeviceError(fault) from error


def try_device(
    device: str, full_name: str, limit: float = LIMIT, command: Sequence[str] = COMMAND
) -> DeviceResult:
    """Do the five steps on a device in a child process; nothing is kept.

    limit  seconds after which the child is ended
    """
    # A driver may hold a file for a moment after its process has ended: Windows then keeps it.
    with tempfile.TemporaryDirectory(prefix="vinode-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with tempfile.TemporaryFile() as log:
            child = subprocess.Popen([*command, device, name], stdout=log, stderr=log)
            problem = _wait(child, device, limit)
            log.seek(0)
            said = log.read().decode("utf-8", "replace").strip().splitlines()
        done = _noted(folder / FILE)
    failed = any(step.state == "failed" for step in done)
    if len(done) < len(STEPS) and not failed:
        last = f": {said[-1]}" if said and not problem else ""
        detail = problem or f"the process ended with {_how(child.returncode)}{last}"
        fix = f"update the driver of {device}; until then run models on another device"
        done = [*done, Step(STEPS[len(done)], "failed", detail, fix)]
    after = f"after {done[-1].name}"
    rest = [Step(step, "not reached", after) for step in STEPS[len(done) :]]
    return DeviceResult(device, full_name, (*done, *rest))


def _wait(child: subprocess.Popen[bytes], device: str, limit: float) -> str:
    """Wait for the child's end; a problem where it took too long."""
    try:
        child.wait(limit)
    except subprocess.TimeoutExpired:
        return f"{device} took longer than {limit:.0f} s and was stopped"
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
    return ""


def _noted(path: Path) -> list[Step]:
    """Read the steps that the child has noted; a line without its end was cut off by a crash."""
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return [Step(**json.loads(line)) for line in lines if line.endswith("\n")]


def _how(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"code {code & 0xFFFFFFFF:#x}"


def _print(tested: Sequence[DeviceResult]) -> None:
    for one in tested:
        simulated = " (simulated: the CPU under another name)" if one.device == SIMULATED else ""
        click.echo(f"{one.device}{simulated}: {one.full_name}")
        for step in one.steps:
            spent = f" ({step.seconds * 1e3:.0f} ms)" if step.state != "not reached" else ""
            click.echo(f"  {step.state:12}{step.name:9}{step.detail}{spent}")
            if step.fix:
                click.echo(f"{'':23}-> {step.fix}")
    families = [one.device.split(".")[0] for one in tested]
    for family in FAMILIES:
        if family not in families:
            click.echo(f"{family}: not tested, OpenVINO finds none; `vinode doctor` says why")
    bad = [one.device for one in tested if not one.ok]
    many = f"{len(tested)} devices" if len(tested) > 1 else tested[0].device
    click.echo(f"failed on {', '.join(bad)}" if bad else f"all five steps ok on {many}")
