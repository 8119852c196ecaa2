"""Ask the process that converts: progress on the way, ended by a cancel, its faults raised here."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from typing import IO, Any, cast

from vinode.converters.files import Watch
from vinode.converters.stable_diffusion.child import MARK
from vinode.graph.errors import Fault, ModelError, short

COMMAND = (sys.executable, "-P", "-m", "vinode.converters.stable_diffusion.child")
# Nothing may reach for a hub. torch's threads spin while they wait unless they are told not to,
# which beside other programs makes tracing four times as slow.
SURROUNDINGS = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "DO_NOT_TRACK": "1",
    "OMP_WAIT_POLICY": "PASSIVE",
    "PYTHONWARNINGS": "ignore",
}
_POLL = 0.2  # seconds between two looks at a cancel
_END = "\n"  # what the reader says when the child has closed its output


def ask(request: dict[str, Any], watch: Watch) -> dict[str, Any]:
    """Let a child do what is asked for; gives what it says at its end."""
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(
            COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            encoding="utf-8",
            env={**os.environ, **SURROUNDINGS},
        )
        try:
            _send(child, request)
            answer = _listen(child, request, watch)
        finally:
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                with contextlib.suppress(OSError):  # a broken pipe says so again
                    cast("IO[str]", pipe).close()
        if answer is not None:
            return answer
        errors.seek(0)
        raise _crashed(request["name"], child.returncode, errors.read().decode("utf-8", "replace"))


def _send(child: subprocess.Popen[str], request: dict[str, Any]) -> None:
    asked = cast("IO[str]", child.stdin)
    with contextlib.suppress(BrokenPipeError):  # it died at once: its last words tell why
        asked.write(json.dumps(request) + "\n")
        asked.flush()


def _listen(
    child: subprocess.Popen[str], request: dict[str, Any], watch: Watch
) -> dict[str, Any] | None:
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_read, args=(child.stdout, lines), daemon=True).start()
    step = "start"
    while True:
        watch.tell(f"{request['name']}: {step}")
        try:
            line = lines.get(timeout=_POLL)
        except queue.Empty:
            continue
        if line == _END:
            child.wait()
            return None
        if not line.startswith(MARK):  # a library that prints
            continue
        row = cast(dict[str, Any], json.loads(line))
        if row["vinode"] == "fault":
            raise ModelError(*(Fault(**fault) for fault in row["faults"]))
        if row["vinode"] == "done":
            return row
        step = row["step"]


def _read(said: IO[str], lines: queue.Queue[str]) -> None:
    with contextlib.suppress(ValueError, OSError):  # closed by a cancel
        for line in said:
            lines.put(line)
    lines.put(_END)


def _crashed(name: str, code: int, errors: str) -> ModelError:
    said = [line.strip() for line in errors.splitlines() if line.strip()]
    problem = f"the conversion broke off (exit code {code})"
    fix = "if the memory ran out, close other programs; else report it with the model's name"
    return ModelError(Fault(name, problem, short(said[-1]) if said else "", fix, "model-convert"))
