"""The server's life: alone on its state folder, on its port, from the first socket to the last."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
import socket
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import filelock
from aiohttp import web

from vinode.graph.errors import Fault, VinodeError
from vinode.web.queue import Queue
from vinode.web.settings import Settings
from vinode.web.supervisor import Supervisor

MakeApp: TypeAlias = Callable[[Supervisor], Awaitable[web.Application]]
_GOODBYE = 2.0  # seconds that requests under way are given at the end
_BACKLOG = 128


class ServeError(VinodeError):
    """The server cannot start here: the port or the folder is another's."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What the server has before it does anything: its folder and its socket.

    url  where it answers, without a token
    """

    socket: socket.socket
    url: str


@contextmanager
def stand(settings: Settings) -> Generator[Standing]:
    """Take the state folder and the port, or raise ServeError; both are let go at the end."""
    state = settings.state
    lock = filelock.FileLock(state / "lock")
    try:
        state.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except filelock.Timeout:
        address = _read(state / "address")
        fix = "stop it, or choose another folder: --state DIR"
        fault = Fault(str(state), "another server uses this folder", address, fix, "in-use")
        raise ServeError(fault) from None
    except OSError as error:
        problem = f"the folder cannot be written to: {error.strerror or error}"
        fault = Fault(str(state), problem, fix="choose another: --state DIR", code="not-writable")
        raise ServeError(fault) from None
    try:
        with _listen(settings.host, settings.port) as opened:
            host = f"[{settings.host}]" if ":" in settings.host else settings.host
            url = f"http://{host}:{opened.getsockname()[1]}"
            (state / "address").write_text(url, encoding="utf-8")
            yield Standing(opened, url)
    finally:
        lock.release()


def _read(path: Path) -> str:
    with contextlib.suppress(OSError, ValueError):
        return path.read_text(encoding="utf-8")[:200]
    return ""


def _listen(host: str, port: int) -> socket.socket:
    """Listen before anything slow is done: whoever connects meanwhile waits and is served."""
    place = f"--listen {host} --port {port}"
    try:
        family, kind, proto, _, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError, OverflowError):
        fix = "write 127.0.0.1, or an address of this computer"
        raise ServeError(Fault(place, "no such address", host, fix, "bad-option")) from None
    opened = socket.socket(family, kind, proto)
    try:
        if os.name == "posix":  # Windows would let two programs have one port
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
        opened.listen(_BACKLOG)
    except OSError as error:
        opened.close()
        problem, fix = f"cannot listen there: {error.strerror or error}", "choose another address"
        if error.errno == errno.EADDRINUSE:
            problem, fix = "another program has this port", f"choose another: --port {port + 1}"
        elif error.errno in (errno.EACCES, errno.EPERM):
            fix = "choose a port of 1024 or more"
        raise ServeError(Fault(place, problem, fix=fix, code="port")) from None
    return opened


async def serve(
    settings: Settings, standing: Standing, make_app: MakeApp, on_ready: Callable[[str], None]
) -> None:
    """Serve until Ctrl-C or a request to end.

    on_ready  told what the user must know of the queue, once requests are answered
    """
    stop = asyncio.Event()
    _stop_on_signals(stop)
    with Queue(settings.state / "queue.sqlite") as queue:
        supervisor = Supervisor(queue, settings.worker, settings.limits)
        await supervisor.start()
        runner = None
        try:
            await asyncio.sleep(0)  # the worker starts now, and imports while we do
            runner = web.AppRunner(
                await make_app(supervisor), access_log=None, shutdown_timeout=_GOODBYE
            )
            await runner.setup()
            await web.SockSite(runner, standing.socket).start()
            on_ready(queue.note)
            await stop.wait()
        finally:
            if runner:
                await runner.cleanup()
            await supervisor.stop()


def _stop_on_signals(stop: asyncio.Event) -> None:
    """Turn Ctrl-C and a request to end into an end in good order; a second one ends at once."""
    loop = asyncio.get_running_loop()

    def end(number: int, frame: object) -> None:
        if stop.is_set():
            os._exit(130)
        loop.call_soon_threadsafe(stop.set)

    # Not the loop's own handlers, which Windows does not have.
    for name in ("SIGINT", "SIGTERM", "SIGBREAK"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), end)
