"""Compiling in a child process: a time limit, progress, cancel; a crash is a reason."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vinode.graph.errors import short
from vinode.graph.placement import Reason, classify, last_line

_POLL = 0.1  # seconds between two looks at the child
# -P: modules are not looked for in the current folder, where anybody's json.py may lie.
COMMAND = (sys.executable, "-P", "-m", "vinode.graph.compile_child")


@dataclass(frozen=True, slots=True)
class Job:
    """What a child compiles.

    shapes     input -> shape to give the model; empty to keep its own
    options    OpenVINO properties of the compile, as JSON values
    simulated  name of a stand-in device to register, or ""
    where      operation -> device of a model that is split: an IR file does not keep it
    """

    xml: Path
    device: str
    shapes: Mapping[str, Sequence[int]]
    options: Mapping[str, str | bool]
    simulated: str = ""
    where: Mapping[str, str] = field(default_factory=dict[str, str])


def compile_in_child(
    job: Job,
    blob: Path,
    limit: float,
    check: Callable[[], None],
    tell: Callable[[float, float], None],
    command: Sequence[str] = COMMAND,
) -> Reason | None:
    """Compile into `blob`; None where it worked, else the reason. Raises what `check` raises.

    limit  seconds after which the child is ended: reason compile-timeout
    tell   told the seconds so far and the limit
    """
    request = {
        "xml": str(job.xml),
        "device": job.device,
        "shapes": {name: list(shape) for name, shape in job.shapes.items()},
        "options": dict(job.options),
        "simulated": job.simulated,
        "where": dict(job.where),
        "blob": str(blob),
    }
    # Files, not pipes: a compiler that writes megabytes of logs must not fill a pipe and stop.
    with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as said:
        asked.write(json.dumps(request).encode())
        asked.seek(0)
        child = subprocess.Popen(command, stdin=asked, stdout=said, stderr=subprocess.STDOUT)
        try:
            late = _wait(child, limit, check, tell)
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
        said.seek(0)
        if late:
            sentence = f"compiling for {job.device} took longer than {limit:g} s and was ended"
            fix = "use a smaller size, or allow more time: VINODE_COMPILE_SECONDS"
            return Reason("compile-timeout", sentence, fix)
        return _answer(said.read(), child.returncode, job)


def _wait(
    child: subprocess.Popen[bytes],
    limit: float,
    check: Callable[[], None],
    tell: Callable[[float, float], None],
) -> bool:
    """Wait for the child; True where the limit passed first."""
    start = time.monotonic()
    while True:
        try:
            child.wait(_POLL)
            return False
        except subprocess.TimeoutExpired:
            spent = time.monotonic() - start
            check()
            tell(spent, limit)
            if spent > limit:
                return True


def _answer(said: bytes, code: int, job: Job) -> Reason | None:
    text = said.decode("utf-8", "replace")
    # From the end: a plugin may still write to its log while it is unloaded.
    for line in reversed(text.splitlines()):
        if line == '{"ok": true}':
            return None
        if line.startswith('{"error": '):
            with contextlib.suppress(ValueError):  # a line of a log that looks like it
                return classify(RuntimeError(json.loads(line)["error"]), job.device)
    how = f"signal {-code}" if code < 0 else f"code {code & 0xFFFFFFFF:#x}"
    words = f", its last words: {short(last_line(text))}" if text.strip() else ""
    sentence = f"the compiler for {job.device} crashed ({how}){words}"
    fix = "update the driver; until then put the node on another device"
    return Reason("compile-failed", sentence, fix)
