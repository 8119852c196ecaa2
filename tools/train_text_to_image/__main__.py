"""The command: every stage from font to folder, each taken up again where it was stopped."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch.multiprocessing as processes

from tools.train_text_to_image.glyphs import DEFAULT_FONT
from tools.train_text_to_image.stages import DIFFUSION, Job, work


def main() -> int:
    """Read the command line, start the workers, wait."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.train_text_to_image", description=__doc__
    )
    parser.add_argument("--out", type=Path, required=True, help="folder of the finished model")
    parser.add_argument("--work", type=Path, required=True, help="folder of states and sheets")
    parser.add_argument("--font", type=Path, default=DEFAULT_FONT, help="NotoColorEmoji.ttf")
    parser.add_argument("--workers", type=int, default=2, help="processes of one thread each")
    parser.add_argument("--steps", type=int, default=DIFFUSION.steps, help="of the last stage")
    parser.add_argument(
        "--until", choices=("vae", "text", "export"), default="export", help="the last stage to run"
    )
    job = Job(**vars(parser.parse_args()))
    if not job.font.is_file():
        problem = "no font here; install fonts-noto-color-emoji, or name its file by --font"
        print(f"{job.font}: {problem}", file=sys.stderr)
        return 2
    job.work.mkdir(parents=True, exist_ok=True)
    meeting = job.work / "workers-meet"
    meeting.unlink(missing_ok=True)  # left by a run that was killed
    # One thread each: on few busy cores, threads of one process mostly wait for one another.
    processes.spawn(work, (job, meeting.resolve().as_uri()), nprocs=job.workers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
