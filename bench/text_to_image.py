"""How long from the command to a picture, with the model that comes along: whole processes.

python -m bench.text_to_image [ROUNDS]

The first round fills the caches (compiled parts, verified files) and is shown by itself.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.table import Figure, lines

WORKFLOW = Path(__file__).parents[1] / "workflows" / "text_to_image.json"
ROUNDS, BAR = 5, 5.0  # seconds


def drawn(folder: Path) -> tuple[float, float]:
    """Draw once in a process of its own; gives seconds of wall and of CPU."""
    words = [sys.executable, "-m", "vinode", "run", str(WORKFLOW), "--quiet"]
    words += ["--models", str(folder / "models"), "--output", str(folder / "out")]
    before = os.times()
    subprocess.run(words, check=True)
    after = os.times()
    spent = after.children_user + after.children_system
    return after.elapsed - before.elapsed, spent - before.children_user - before.children_system


def main() -> None:
    """Draw again and again, and print the figures."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with tempfile.TemporaryDirectory() as name:
        first, *others = [drawn(Path(name)) for _ in range(rounds + 1)]
    wall = statistics.median(each for each, _ in others)
    cpu = statistics.median(each for _, each in others)
    figures = [
        Figure("the first time", f"{first[0]:.2f} s, {first[1]:.2f} s of CPU"),
        Figure("again, median", f"{wall:.2f} s, {cpu:.2f} s of CPU", f"< {BAR:g} s", wall < BAR),
    ]
    print("\n".join(lines(figures)))


if __name__ == "__main__":
    main()
