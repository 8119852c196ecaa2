"""Pulls or converts one model: `python -m vinode.web.model_child JSON`; tells of it in lines.

A process of its own: what converts a model needs gigabytes, which end with it.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

from vinode.converters import library
from vinode.converters.store import Store
from vinode.graph.errors import Fault, VinodeError
from vinode.graph.strict_json import Json

_PAUSE = 0.2  # seconds between two lines of one step


def main(words: list[str]) -> int:
    """Do what the argument says; the last line says how it ended."""
    asked = json.loads(words[0])
    store = Store(tuple(Path(folder) for folder in asked["folders"]))
    last: tuple[str, float] = ("", 0.0)

    def progress(step: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if step != last[0] or now - last[1] >= _PAUSE or done == total:
            last = (step, now)
            _say({"step": step, "done": done, "total": total})

    try:
        if asked["do"] == "pull":
            part = library.pull_model(store, asked["name"], progress)
        else:
            part = library.convert_file(store, Path(asked["name"]), progress)
    except VinodeError as error:
        _say({"faults": [asdict(fault) for fault in error.faults]})
        return 1
    except Exception as error:  # the border of a converter: its mistake is told, not traced
        fault = Fault(asked["name"], f"{type(error).__name__}: {error}", code="internal")
        _say({"faults": [asdict(fault)]})
        return 1
    _say({"bytes": part.bytes})
    return 0


def _say(told: Json) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
