"""The server's end of the worker: started, spoken to, listened to, ended."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import psutil

from vinode.graph.placement import last_line
from vinode.graph.strict_json import Json
from vinode.web import trail
from vinode.web.frames import BrokenFrame, pack, read_async
from vinode.web.settings import WorkerSettings, to_json

OnFrame: TypeAlias = Callable[[Sequence[dict[str, Json]], bytes], None]
# -P: modules are not looked for in the current folder, where anybody's json.py may lie.
COMMAND = (sys.executable, "-P", "-m", "vinode.web.worker")
SILENT = "it gave no sign of life for too long"
_LINES = 400  # of its standard error that are kept
_LIMIT = 2**20  # bytes of the pipe's buffer
_LINE = 4096  # bytes of one line of its standard error that are looked at
_PATIENCE = 2.0  # seconds that it is given to stop by itself


class WorkerProcess:
    """One worker, from its start to its end.

    heard   monotonic time of its last sign of life
    reason  why the server ended it; "" where it ended by itself
    """

    def __init__(self, process: asyncio.subprocess.Process, trail_path: Path) -> None:
        self._process, self._trail = process, trail_path
        self._said: deque[str] = deque(maxlen=_LINES)
        self.heard = time.monotonic()
        self.reason = ""

    @property
    def pid(self) -> int:
        """Give its process id."""
        return self._process.pid

    @property
    def said(self) -> list[str]:
        """Give the last lines that it wrote to standard error."""
        return list(self._said)

    @property
    def nodes(self) -> list[str]:
        """Name the nodes that run in it, or ran when it died; the newest last."""
        return trail.read(self._trail)

    def send(self, message: dict[str, Json]) -> None:
        """Send a command; nothing happens where it has died."""
        stream = self._process.stdin
        if stream is not None and not stream.is_closing():
            stream.write(pack(message))

    async def listen(self, on_frame: OnFrame) -> str:
        """Pass on what it says until it ends; gives how it ended, in words."""
        stream, errors = self._process.stdout, self._process.stderr
        assert stream is not None
        assert errors is not None
        copying = asyncio.create_task(self._copy(errors))
        try:
            while (frame := await read_async(stream)) is not None:
                self.heard = time.monotonic()
                on_frame(*frame)
        except BrokenFrame as error:
            self.end(f"it sent what is no message: {error}")
        finally:
            # It may have closed its pipe and live on.
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._process.wait(), _PATIENCE)
            self.kill()
            code = await self._process.wait()
            with contextlib.suppress(asyncio.TimeoutError):  # a child of its may hold the pipe
                await asyncio.wait_for(copying, _PATIENCE)
        return self._how(code)

    def end(self, reason: str) -> None:
        """Kill it, and remember why."""
        self.reason = self.reason or reason
        self.kill()

    def kill(self) -> None:
        """Kill it and what it has started."""
        if self._process.returncode is not None:
            return
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            children = psutil.Process(self.pid).children(recursive=True)
            self._process.kill()
            for child in children:
                with contextlib.suppress(psutil.Error):
                    child.kill()

    async def stop(self) -> None:
        """Let it end by itself, or kill it where that takes long."""
        self.send({"do": "stop"})
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._process.wait(), _PATIENCE)
        self.kill()

    async def _copy(self, errors: asyncio.StreamReader) -> None:
        """Show what it writes to standard error as our own, and keep the last lines."""
        rest = b""
        while chunk := await errors.read(65536):
            _show(chunk.decode("utf-8", "replace"))
            *lines, rest = (rest + chunk).split(b"\n")
            rest = rest[-_LINE:]
            self._said += [line[:_LINE].decode("utf-8", "replace").rstrip() for line in lines]
        if rest:
            self._said.append(rest.decode("utf-8", "replace"))

    def _how(self, code: int) -> str:
        if self.reason:
            return self.reason
        how = f"exit code {code & 0xFFFFFFFF:#x}" if code > 255 else f"exit code {code}"
        if code < 0:
            names = {member.value: member.name for member in signal.Signals}
            how = names.get(-code, f"signal {-code}")
            if how == "SIGKILL":
                how = "SIGKILL, as the system does where memory runs out"
        if any(line.startswith("Timeout (") for line in self._said):
            return f"{SILENT}; the log shows where it stood"
        # A crash in native code is followed by pages about threads; its first line tells most.
        fatal = [line for line in self._said if line.startswith(("Fatal Python", "terminate"))]
        words = fatal[-1] if fatal else last_line("\n".join(self._said))
        return f"{how}; its last words: {words[:300]}" if words else how


def _show(text: str) -> None:
    """Write to our standard error; where nobody reads it, or there is none, the worker goes on."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(text)
        sys.stderr.flush()


async def start(
    settings: WorkerSettings,
    trail_path: Path,
    silence: float,
    command: Sequence[str] = COMMAND,
) -> WorkerProcess:
    """Start a worker; it says when it is ready. OSError where no process can be started.

    silence  seconds after which it ends itself where none of its threads gets a turn
    """
    trail.create(trail_path)
    apart: dict[str, Any] = {"start_new_session": True}  # Ctrl-C in the terminal is not for it
    if sys.platform == "win32":
        apart = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=_LIMIT,
        **apart,
    )
    worker = WorkerProcess(process, trail_path)
    worker.send(to_json(settings, trail_path, silence))
    return worker
