"""One compile by the NPU compiler, in a child process: a limit, a crash, and what it said."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import psutil

from vinode.converters.files import UNWATCHED, Watch
from vinode.converters.npu_compiler.find import Compiler, wheel_folder
from vinode.graph.errors import Fault, ModelError, short

Ending: TypeAlias = Literal["compiled", "failed", "crashed", "late"]

WINE_DRIVE = "V:"  # the folder of the libraries, so that their paths have plain letters only

_POLL = 0.05  # seconds between two looks at the child
_ANSWER = re.compile(r"^@(compiled|failed|crashed)((?: \w+=\S+)*)$", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# Printed when the compiler is up: a crash before it says nothing of the model.
_STARTED = re.compile(r"VCL Compiler Properties: ID: (\S+), Version: ([\d.]+)")


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a compile.

    seconds     of the compile alone
    blob_bytes  0 where there is none
    peak_bytes  most memory of the process; None where it was too short to be looked at
    message     what plugin and compiler raised, or how it crashed
    log         all that they wrote, without colours
    compiler    the compiler's own name and version; "" where it did not start
    """

    ending: Ending
    seconds: float
    blob_bytes: int
    peak_bytes: int | None
    message: str
    log: str
    compiler: str


def ask(
    compiler: Compiler,
    xml: Path,
    options: Mapping[str, str],
    limit: float,
    watch: Watch = UNWATCHED,
) -> Answer:
    """Compile an IR; ModelError where the compiler itself does not start.

    options  OpenVINO properties, NPU_PLATFORM among them
    limit    seconds, after which the process is ended
    """
    given = {"LOG_LEVEL": "LOG_INFO", **options}
    with tempfile.TemporaryDirectory(prefix="vinode-npu-") as name, tempfile.TemporaryFile() as log:
        folder = Path(name)
        words, environment = _command(compiler, xml, folder)
        words += [f"{key}={value}" for key, value in given.items()]
        start = time.monotonic()
        child = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            # A file, not a pipe: a large model's log must not fill a pipe and stop.
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=folder,
            start_new_session=sys.platform != "win32",
        )
        try:
            late, seen = _wait(child, limit, watch)
        finally:
            _end(child)
        spent = time.monotonic() - start
        log.seek(0)
        text = _COLOUR.sub("", log.read().decode("utf-8", "replace")).replace("\r\n", "\n")
    return _answer(text, child.returncode, spent, late, seen, compiler)


def _command(compiler: Compiler, xml: Path, folder: Path) -> tuple[list[str], dict[str, str]]:
    environment = dict(os.environ)
    if compiler.wine:
        environment |= wine_environment(compiler.wine)
        # Beside the process, under plain names: letters of other alphabets do not reach OpenVINO.
        for suffix in (".xml", ".bin"):
            (folder / f"model{suffix}").symlink_to(xml.with_suffix(suffix).absolute())
        return ["wine", f"{WINE_DRIVE}\\host.exe", "model.xml", "model.blob"], environment
    if compiler.folder != wheel_folder():
        environment["PYTHONPATH"] = str(_with_libraries(compiler.folder, folder / "package"))
    command = [sys.executable, "-P", "-m", "vinode.converters.npu_compiler.native"]
    return [*command, str(xml.absolute()), str(folder / "model.blob")], environment


def wine_environment(prefix: Path) -> dict[str, str]:
    """Give what Wine needs: its prefix and no display.

    It offers no .NET and no browser, and puts nothing into the user's menus.
    """
    return {
        "WINEPREFIX": str(prefix),
        "WINEDEBUG": "-all",
        "DISPLAY": "",
        "LC_ALL": "C.UTF-8",  # in the C locale Wine finds no file in a folder named Müller
        "WINEDLLOVERRIDES": "mscoree,mshtml=;winemenubuilder.exe=d",
    }


def _with_libraries(libraries: Path, target: Path) -> Path:
    """Make a package `openvino` of links that has these libraries too: plugins look beside them."""
    package = wheel_folder().parent
    (target / "openvino" / "libs").mkdir(parents=True)
    for entry in package.iterdir():
        if entry.name != "libs":
            (target / "openvino" / entry.name).symlink_to(entry)
    for entry in (*wheel_folder().iterdir(), *libraries.glob("*openvino_intel_npu_compiler*")):
        link = target / "openvino" / "libs" / entry.name
        link.unlink(missing_ok=True)
        link.symlink_to(entry.absolute())
    return target


def _wait(child: subprocess.Popen[bytes], limit: float, watch: Watch) -> tuple[bool, int]:
    """Wait for the child: (the limit passed first, most memory seen in bytes)."""
    start, seen = time.monotonic(), 0
    while True:
        try:
            child.wait(_POLL)
            return False, seen
        except subprocess.TimeoutExpired:
            with contextlib.suppress(psutil.Error):  # it ended meanwhile
                seen = max(seen, psutil.Process(child.pid).memory_info().rss)
            spent = time.monotonic() - start
            watch.tell("compile", int(spent), int(limit))
            if spent > limit:
                return True, seen


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the child and what it started: `wine` may be a script before the program itself."""
    if child.poll() is not None:
        return
    if sys.platform == "win32":
        child.kill()
    else:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _answer(log: str, code: int, spent: float, late: bool, seen: int, compiler: Compiler) -> Answer:
    started = _STARTED.search(log)
    name = f"{started[2]} ({started[1]})" if started else ""
    if late:
        return Answer("late", spent, 0, seen or None, "", log, name)
    found = list(_ANSWER.finditer(log))
    if not found and started:
        how = f"signal {-code}" if code < 0 else f"code {code & 0xFFFFFFFF:#x}"
        return Answer("crashed", spent, 0, seen or None, how, log, name)
    if not found or not started:
        raise _broken(log, compiler)
    answer = found[-1]
    told = dict(word.split("=", 1) for word in answer[2].split())
    peak = int(told.get("peak", 0)) or seen or None
    seconds = float(told.get("seconds", spent))
    if answer[1] == "crashed":
        return Answer("crashed", seconds, 0, peak, f"code {told['code']}", log, name)
    if answer[1] == "compiled":
        return Answer("compiled", seconds, int(told["bytes"]), peak, "", log, name)
    message = log[answer.end() :].partition("\n@end")[0].strip()
    return Answer("failed", seconds, 0, peak, message, log, name)


def _broken(log: str, compiler: Compiler) -> ModelError:
    lines = [line for line in log.splitlines() if line.strip() and not line.startswith("@")]
    fix = "`vinode npu-compiler install` sets it up again" if compiler.wine else ""
    problem = "the NPU compiler does not start"
    got = short(lines[-1]) if lines else "no message"
    return ModelError(Fault(compiler.where, problem, got, fix, code="compiler-missing"))
