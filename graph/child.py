"""Compiling in a child process: a time limit, progress, cancel; a crash is a reason."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vinode.graph.placement import Reason, classify

_POLL = 0.1  # seconds between two looks at the child
COMMAND = (sys.executable, "-m", "vinode.graph.compile_child")


@dataclass(frozen=True, slots=True)
class Job:
    """What a child compiles.

    shapes     input -> shape to give the model; empty to keep its own
    options    OpenVINO properties of the compile
    simulated  name of a stand-in device to register, or ""
    """

    xml: Path
    device: str
    shapes: Mapping[str, Sequence[int]]
    options: Mapping[str, str]
    simulated: str = ""


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
    lines = [line for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
    answer: dict[str, Any] = {}
    # Where the last line is a log's, the child ended before it could answer.
    with contextlib.suppress(ValueError):
        answer = json.loads(lines[-1]) if lines else {}
    if answer.get("ok"):
        return None
    if "error" in answer:
        return classify(RuntimeError(answer["error"]), job.device)
    how = f"signal {-code}" if code < 0 else f"code {code & 0xFFFFFFFF:#x}"
    sentence = f"the compiler for {job.device} crashed ({how})"
    fix = "update the driver; until then put the node on another device"
    return Reason("compile-failed", sentence, fix)
