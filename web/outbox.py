"""What the worker tells the server: gathered by a thread, so that nodes never wait for the pipe."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

import PIL.Image

from vinode.graph.strict_json import Json
from vinode.graph.values import Image
from vinode.web.frames import pack

_PAUSE = 0.005  # seconds in which messages gather: a run of many quick nodes fills few frames
# What is never the last word: a node's start or the run's end comes right behind.
_CAN_WAIT = ("run-started", "node-reused")
_SIDE, _QUALITY = 512, 90  # of a preview


@dataclass(frozen=True, slots=True)
class _Note:
    message: dict[str, Json]
    preview: Image | None = None


class Outbox:
    """Sends messages in the order in which they were posted, many in one frame."""

    def __init__(self, pipe: BinaryIO, on_gone: Callable[[], None]) -> None:
        self._pipe, self._on_gone = pipe, on_gone
        self._notes: list[_Note] = []
        self._wake = threading.Condition()
        self._idle, self._due, self._urgent = True, False, False
        self._thread = threading.Thread(target=self._send_all, name="outbox", daemon=True)
        self._thread.start()

    def post(self, message: dict[str, Json], preview: Image | None = None) -> None:
        """Send a message soon; a run's end at once, for the next run waits for it."""
        kind = message["kind"]
        with self._wake:
            self._notes.append(_Note(message, preview))
            is_end = kind == "run-ended"
            self._urgent = self._urgent or is_end
            # A wake costs this thread a turn, so of many messages only the first one wakes.
            if is_end or not (self._due or kind in _CAN_WAIT):
                self._due = True
                self._wake.notify_all()

    def flush(self, seconds: float = 5.0) -> None:
        """Wait until all that was posted has been sent."""
        with self._wake:
            self._due = self._urgent = True
            self._wake.notify_all()
            self._wake.wait_for(lambda: not self._notes and self._idle, seconds)

    def _send_all(self) -> None:
        while True:
            with self._wake:
                self._idle = True
                self._wake.notify_all()
                self._wake.wait_for(lambda: self._due)
                self._idle = False
                self._wake.wait_for(lambda: self._urgent, _PAUSE)
                notes, self._notes = self._notes, []
                self._due = self._urgent = False
            try:
                if notes:
                    self._pipe.write(_frame(notes))
                    self._pipe.flush()
            except OSError:  # the server has gone
                self._on_gone()


def _frame(notes: list[_Note]) -> bytes:
    messages: list[dict[str, Json]] = []
    blobs: list[bytes] = []
    for note in notes:
        message = note.message
        if note.preview is not None:
            try:
                blobs.append(_jpeg(note.preview))
            except Exception:  # Pillow's errors are many; what it cannot draw is not worth a run
                blobs.append(b"")
            message = {**message, "preview": len(blobs[-1])}
        messages.append(message)
    return pack(messages, b"".join(blobs))


def _jpeg(image: Image) -> bytes:
    """Give the first picture of a batch as a JPEG, small enough to be looked at in passing."""
    step = max(1, max(image.shape[1:3]) // (2 * _SIDE))  # never convert more than is shown
    few = Image(image.pixels[:1, ::step, ::step, :3])
    picture = PIL.Image.fromarray(few.as_uint8()[0])
    picture.thumbnail((_SIDE, _SIDE))
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=_QUALITY)
    return file.getvalue()
