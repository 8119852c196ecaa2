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

_PAUSE = 0.005  # seconds between two frames: a run of many quick nodes fills few
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
        self._idle, self._urgent = True, False
        self._thread = threading.Thread(target=self._send_all, name="outbox", daemon=True)
        self._thread.start()

    def post(self, message: dict[str, Json], preview: Image | None = None) -> None:
        """Send a message soon; a run's end at once, for the next run waits for it."""
        with self._wake:
            self._notes.append(_Note(message, preview))
            self._urgent = self._urgent or message["kind"] == "run-ended"
            if self._idle or self._urgent:  # else it looks by itself, and a wake would cost a turn
                self._wake.notify_all()

    def flush(self, seconds: float = 5.0) -> None:
        """Wait until all that was posted has been sent."""
        with self._wake:
            self._wake.wait_for(lambda: not self._notes and self._idle, seconds)

    def _send_all(self) -> None:
        while True:
            with self._wake:
                self._idle = True
                self._wake.notify_all()
                self._wake.wait_for(lambda: bool(self._notes))
                notes, self._notes = self._notes, []
                self._idle = self._urgent = False
            try:
                self._pipe.write(_frame(notes))
                self._pipe.flush()
            except OSError:  # the server has gone
                self._on_gone()
            with self._wake:
                self._wake.wait_for(lambda: self._urgent, _PAUSE)


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
