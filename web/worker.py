"""The process that owns OpenVINO: `python -m vinode.web.worker`, started by the supervisor.

It reads frames from standard input, the settings first, and answers on standard output. When the
server goes, however it goes, it goes too.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import queue
import signal
import threading
from typing import BinaryIO

import psutil

from vinode.graph.errors import VinodeError
from vinode.graph.strict_json import Json
from vinode.web import frames
from vinode.web.engine import Engine
from vinode.web.outbox import Outbox
from vinode.web.previews import sweep
from vinode.web.settings import from_json
from vinode.web.trail import Trail

BEAT = 1.0  # seconds between two signs of life


class Cancels:
    """Cancels by run: one may come before its run has begun."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: dict[str, threading.Event] = {}

    def of(self, run: str) -> threading.Event:
        """Give the event of a run."""
        with self._lock:
            return self._events.setdefault(run, threading.Event())

    def forget(self, run: str) -> None:
        """Drop the event of a run that is over."""
        with self._lock:
            self._events.pop(run, None)


def main() -> None:
    """Serve until the server goes or says stop."""
    faulthandler.enable()  # a crash in native code says where on standard error
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which tells us
    _offer_to_the_system()
    asked, answers = _own_pipes()
    first = frames.read(asked)
    if first is None:
        return
    settings, trail_path, silence = from_json(first[0])
    outbox = Outbox(answers, leave)
    threading.Thread(target=_beat, args=(outbox, silence), name="beat", daemon=True).start()
    try:
        engine = Engine(settings, outbox.post, Trail(trail_path))
    except VinodeError as error:
        outbox.post({"kind": "refused", "problem": str(error)})
        outbox.flush()
        return
    nodes = len(engine.packs.types)
    broken = [f"{pack.name}: {pack.problem}" for pack in engine.packs.broken]
    outbox.post({"kind": "ready", "nodes": nodes, "broken": broken})
    threading.Thread(target=sweep, args=(settings.folders.temp,), daemon=True).start()
    threading.Thread(target=_warm, args=(engine, outbox), name="devices", daemon=True).start()
    cancels = Cancels()
    commands: queue.SimpleQueue[dict[str, Json]] = queue.SimpleQueue()
    reader = threading.Thread(target=_listen, args=(asked, commands, cancels), daemon=True)
    reader.start()
    while (command := commands.get())["do"] != "stop":
        _obey(command, engine, outbox, cancels)
    outbox.flush()
    leave()


def _obey(command: dict[str, Json], engine: Engine, outbox: Outbox, cancels: Cancels) -> None:
    if command["do"] == "run":
        engine.run(command, cancels.of(command["run"]))
        cancels.forget(command["run"])
    elif command["do"] == "free":
        engine.free(command["models"], command["results"])
        outbox.post({"kind": "freed", "rss": _rss()})
    elif command["do"] == "devices":
        _warm(engine, outbox)


def _offer_to_the_system() -> None:
    """Where memory runs out on Linux, let the system end us and not the server."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("500")


def _own_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Take the pipes for ourselves: what nodes and libraries print goes to standard error."""
    asked = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return asked, answers


def _listen(
    asked: BinaryIO, commands: queue.SimpleQueue[dict[str, Json]], cancels: Cancels
) -> None:
    """Take commands; a cancel is obeyed at once, the rest in turn."""
    try:
        while (frame := frames.read(asked)) is not None:
            if frame[0]["do"] == "cancel":
                cancels.of(frame[0]["run"]).set()
            else:
                commands.put(frame[0])
    finally:
        leave()


def leave() -> None:
    """End now, and the compilers that we started: nobody is there to be told."""
    for child in psutil.Process().children(recursive=True):
        try:
            child.kill()
        except psutil.Error:  # it has ended by itself
            continue
    os._exit(0)


def _beat(outbox: Outbox, silence: float) -> None:
    """Give signs of life. Where this thread gets no turn, we end: its clock needs none of Python's.

    So a node that holds Python's lock is named in the log, and does not outlive the server.
    """
    pause = threading.Event()
    while True:
        faulthandler.dump_traceback_later(silence, exit=True)
        outbox.post({"kind": "beat", "rss": _rss()})
        pause.wait(BEAT)


def _warm(engine: Engine, outbox: Outbox) -> None:
    try:
        outbox.post({"kind": "devices", **engine.devices()})
    except Exception as error:  # a broken driver or install: nodes without a model still run
        outbox.post({"kind": "devices", "devices": [], "problem": f"OpenVINO: {error}"})


def _rss() -> int:
    return int(psutil.Process().memory_info().rss)


if __name__ == "__main__":
    main()
