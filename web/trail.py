"""Which nodes run, in memory that outlives the process: what a dead worker did last.

A message over the pipe may be lost with the process that had it in its buffers. A page of a file
that both have mapped is not, and costs a microsecond.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from pathlib import Path

_BYTES = 4096
_MOST = 20  # nodes
_BETWEEN = "\0"  # two nodes; JSON would cost more than all else that is done here


def create(path: Path) -> None:
    """Make the file anew, with no node in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(_BYTES))


def read(path: Path) -> list[str]:
    """Give the nodes that ran when the trail was last written, the newest last."""
    try:
        content = path.read_bytes()
        size = int.from_bytes(content[:4], "big")
        text = content[4 : 4 + size].decode("utf-8", "surrogatepass")
    except (OSError, ValueError):  # no file, or its writer died between two bytes
        return []
    return text.split(_BETWEEN) if text else []


class Trail:
    """Keeps the nodes that run where a reader finds them after our death."""

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._page = mmap.mmap(file.fileno(), _BYTES)

    def write(self, nodes: Sequence[str]) -> None:
        """Tell which nodes run; of very many only the newest are kept."""
        text = _BETWEEN.join(nodes[-_MOST:]).encode("utf-8", "surrogatepass")
        if len(text) > _BYTES - 4:
            text = b""
        self._page[0 : 4 + len(text)] = len(text).to_bytes(4, "big") + text
