"""The process that converts or checks one part, started by `ask`.

Its own process gives all memory back at its end, and is ended at once by a cancel. It reads a
JSON object, one line, and ends when its input does: then whoever asked is gone. It writes lines
{"vinode": kind, ...}: "step", "done", "fault".
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from vinode.converters.stable_diffusion.found import PartSource
from vinode.graph.errors import VinodeError

MARK = '{"vinode": '


def main() -> None:
    """Do what is asked for, and tell how it went."""
    asked = cast(dict[str, Any], json.loads(sys.stdin.readline()))
    threading.Thread(target=_end_with_asker, daemon=True).start()
    try:
        _do(asked)
    except VinodeError as error:
        _say("fault", faults=[asdict(fault) for fault in error.faults])
    except MemoryError:
        row = {"place": asked["name"], "problem": "the memory was not enough to convert it"}
        _say("fault", faults=[{**row, "fix": "close other programs", "code": "out-of-memory"}])


def _end_with_asker() -> None:
    sys.stdin.read()
    os._exit(1)


def _do(asked: dict[str, Any]) -> None:
    folder = Path(asked["folder"])
    if asked["stage"] == "compare":
        from vinode.converters.stable_diffusion.compare import compare

        _say("step", step="compare")
        checked, told = compare(folder, asked["name"])
        _say("done", checked=asdict(checked), **told)
        return
    row = cast(dict[str, Any], asked["source"])
    files = tuple(Path(file) for file in row.pop("files"))
    source = PartSource(files=files, **row)
    if source.layout == "openvino":
        from vinode.converters.stable_diffusion.from_openvino import convert
    else:
        from vinode.converters.stable_diffusion.from_torch import convert
    steps: list[tuple[str, int]] = []

    def tell(step: str) -> None:
        steps.append((step, time.perf_counter_ns()))
        _say("step", step=step)

    convert(source, folder, tell)
    ends = [start for _, start in steps[1:]] + [time.perf_counter_ns()]
    timed = [[name, (end - at) / 1e9] for (name, at), end in zip(steps, ends, strict=True)]
    _say("done", steps=timed)


def _say(kind: str, **rest: object) -> None:
    print(json.dumps({"vinode": kind, **rest}), flush=True)


if __name__ == "__main__":
    main()
