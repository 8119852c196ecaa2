"""Stable Diffusion 1.5 beside its peers: speed, memory, start. True sizes, random weights.

python -m bench.sd15 FOLDER [PYTHON [ROUNDS]]    PYTHON has the peers (default: this one)

FOLDER/sd15 is a folder of diffusers' (`python -m bench.sd_convert FOLDER` writes and converts it),
FOLDER/optimum optimum-intel's export of it, with openvino_tokenizer.xml for openvino-genai. Each
picture is drawn by a process of its own, the programs by turns.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from bench.table import Figure, lines

LIMIT = 400  # seconds of one process
OURS = "vinode"
PEERS = ("optimum-intel", "openvino-genai", "diffusers, torch bf16")
MEMORY, START = 0.9, 0.5  # times the best peer's, at most

Told: TypeAlias = Mapping[str, Any]

Value: TypeAlias = Callable[[Told], float]
ROWS: tuple[tuple[str, Value, float | None], ...] = (
    ("UNet step, s", lambda told: statistics.median(told["steps"]), 1.0),
    ("UNet step, CPU s", lambda told: statistics.median(told["steps_cpu"]), 1.0),
    ("start to the end of the first step, s", lambda told: float(told["start"]), START),
    ("start to the end of the first step, CPU s", lambda told: float(told["start_cpu"]), START),
    ("memory at most, GB", lambda told: told["peak"] / 1e9, MEMORY),
    ("outside the three models, s", lambda told: float(told["outside"]), None),
)


def run(python: str, program: str, folder: Path) -> Told | str:
    """Draw with one program; what it measured, or the last line of what it said."""
    command = [python, "-m", "bench.sd15_run", program, str(folder), str(time.monotonic())]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return f"took more than {LIMIT} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["no word"])[-1][:160]
    told: Told = json.loads(done.stdout.strip().splitlines()[-1])
    return told


def measure(folder: Path, python: str, times: int) -> Iterator[Figure]:
    """Let all programs draw by turns, and compare."""
    rounds: dict[str, list[Told]] = {name: [] for name in (OURS, *PEERS)}
    absent: dict[str, str] = {}
    for number in range(times):
        order = list(rounds) if number % 2 == 0 else list(reversed(rounds))
        for name in order:
            told = absent.get(name) or run(sys.executable if name == OURS else python, name, folder)
            if isinstance(told, str):
                absent[name] = told
            else:
                rounds[name].append(told)
                print(json.dumps({"program": name, **told}), file=sys.stderr, flush=True)
    for name, why in absent.items():
        yield Figure(name, f"not measured: {why}")
    for label, value, bar in ROWS:
        yield from compared(label, rounds, value, bar)


def compared(
    name: str, rounds: Mapping[str, Sequence[Told]], value: Value, bar: float | None
) -> Iterator[Figure]:
    """Give each program's median, and ours as a share of the best peer's."""
    medians = {
        program: statistics.median(value(told) for told in found)
        for program, found in rounds.items()
        if found
    }
    for program, median in medians.items():
        yield Figure(f"{name}: {program}", f"{median:.3f}")
    peers = [median for program, median in medians.items() if program != OURS]
    if OURS in medians and peers and bar is not None:
        share = medians[OURS] / min(peers)
        yield Figure(f"{name}: ours / best", f"{share:.2f}", f"<= {bar:g}", share <= bar)


def main() -> None:
    """Print the table."""
    folder = Path(sys.argv[1])
    python = sys.argv[2] if len(sys.argv) > 2 else sys.executable
    times = int(sys.argv[3]) if len(sys.argv) > 3 else 2
    print("\n".join(lines(measure(folder, python, times))))


if __name__ == "__main__":
    main()
