"""A machine without NPU and GPU: the reason of each hint, with loaders of drivers and without."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from vinode.graph.pool import Pool

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="LD_LIBRARY_PATH is Linux's"),
    pytest.mark.skipif(set(Pool().available) > {"CPU"}, reason="there is an NPU or a GPU here"),
]
LOADERS = ("libze1", "ocl-icd-libopencl1")  # Debian's packages
HINTS = ("CPU", "AUTO", "GPU", "GPU.0", "GPU.1", "NPU", "HETERO:NPU,CPU", "HETERO:GPU,CPU")
# Runs a model with each hint and tells the reasons; in a process of its own, since a library that
# has been loaded stays.
CODE = """
import json, sys
from pathlib import Path
from tests.graph.chains import chain, saved, used
from vinode.graph.pool import Pool

part, pool, told = saved(chain("relu"), Path(sys.argv[1])), Pool(), {}
for hint in sys.argv[2:]:
    done = used(pool, part, hint)
    assert done.compiled.claimed == ("CPU",)
    told[hint] = [(reason.code, reason.sentence, reason.fix) for reason in done.reasons]
print("told", json.dumps(told))
"""


def reasons(folder: Path, libraries: Path | None) -> Mapping[str, list[list[str]]]:
    """Give code, sentence and fix of each hint, where the loaders are those of a folder."""
    environ = {**os.environ, **({"LD_LIBRARY_PATH": str(libraries)} if libraries else {})}
    command = [sys.executable, "-c", CODE, str(folder), *HINTS]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("told ")]
    told: Mapping[str, list[list[str]]] = json.loads(line.removeprefix("told "))
    return told


def check(told: Mapping[str, list[list[str]]], gpu: str) -> None:
    """Hold the reasons of all hints against what is right here; `gpu`: the code of a GPU's."""
    assert told["CPU"] == told["AUTO"] == []
    for hint in HINTS[2:]:
        ((code, sentence, fix),) = told[hint]
        name = hint.removeprefix("HETERO:").split(",")[0]
        wanted = "device-absent" if name == "NPU" else gpu
        assert (hint, code) == (hint, wanted)
        assert name in sentence
        assert "VCL" not in sentence  # a compiler that is not there says nothing of the device
        assert "vinode doctor" in fix or "install the GPU's driver" in fix


def loads(name: str) -> bool:
    """Say whether a library can be loaded here."""
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def test_each_hint_has_its_reason_with_the_loaders_of_this_machine(tmp_path: Path) -> None:
    """With OpenCL's loader there is no device behind it; without it there is no driver."""
    gpu = "device-absent" if loads("libOpenCL.so.1") else "driver-missing"
    check(reasons(tmp_path, None), gpu)


def test_without_a_loader_the_driver_is_missing(tmp_path: Path) -> None:
    """What the plugin says of a GPU then is a library; of an NPU it says the same as ever."""
    libraries = tmp_path / "lib"
    libraries.mkdir()
    for name in ("libOpenCL.so.1", "libze_loader.so.1"):  # found first, and no library
        (libraries / name).touch()
    told = reasons(tmp_path, libraries)
    check(told, "driver-missing")
    assert "libOpenCL.so.1" in told["GPU"][0][1]


@pytest.mark.install
def test_with_debians_loaders_the_devices_are_absent(tmp_path: Path) -> None:
    """Loaders alone make no device; Debian 12's is too old for the NPU's plugin besides."""
    if not shutil.which("apt-get") or not shutil.which("dpkg"):
        pytest.skip("no Debian: its packages cannot be had")
    got = subprocess.run(["apt-get", "download", *LOADERS], cwd=tmp_path, capture_output=True)
    packages = list(tmp_path.glob("*.deb"))
    if got.returncode or len(packages) < len(LOADERS):
        pytest.skip("Debian's packages cannot be downloaded here")
    for package in packages:
        subprocess.run(["dpkg", "-x", str(package), str(tmp_path / "root")], check=True)
    (loader,) = (tmp_path / "root").rglob("libOpenCL.so.1")
    assert loader.with_name("libze_loader.so.1").exists()
    check(reasons(tmp_path, loader.parent), "device-absent")
