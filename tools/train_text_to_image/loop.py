"""The loop all stages share: resumable steps, averaged over workers, with progress in the log."""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class Workers:
    """Which worker this is, and of how many; each draws its own share of every batch."""

    rank: int = 0
    count: int = 1

    def average(self, tensors: list[Tensor]) -> None:
        """Replace tensors by their mean over the workers, in one exchange."""
        if self.count == 1:
            return
        flat = torch.cat([tensor.flatten() for tensor in tensors])
        dist.all_reduce(flat)
        flat /= self.count
        for tensor, part in zip(tensors, flat.split([t.numel() for t in tensors]), strict=True):
            tensor.copy_(part.view_as(tensor))

    def wait(self) -> None:
        """Wait until every worker is here."""
        if self.count > 1:
            dist.barrier()


@dataclass(frozen=True, slots=True)
class Course:
    """How one stage runs. `batch` counts all workers' samples of one step."""

    name: str
    steps: int
    batch: int
    rate: float
    seed: tuple[int, int]  # the run's and the stage's
    decay_from: float = 0.7  # part of the steps after which the rate falls to nearly nothing
    warm_up: int = 100
    ema: float = (
        0.0  # decay of the averaged weights, which are what a stage gives; 0: the last ones
    )
    save_seconds: float = 60.0
    log_steps: int = 50

    def rate_at(self, step: int) -> float:
        """Give the learning rate: constant, then linear to 2 %, so steps may be added late."""
        done = step / self.steps
        falling = (1 - done) / (1 - self.decay_from)
        return self.rate * min(1.0, (step + 1) / self.warm_up) * min(1.0, max(0.02, falling))


@dataclass(frozen=True, slots=True)
class Draw:
    """The randomness of one step on one worker: the same again when the step is run again."""

    step: int
    numbers: np.random.Generator
    noise: torch.Generator

    @classmethod
    def of(cls, course: Course, step: int, rank: int) -> Draw:
        """Seed from what names the step."""
        numbers = np.random.default_rng([*course.seed, step, rank])
        noise = torch.Generator().manual_seed(int(numbers.integers(2**62)))
        return cls(step, numbers, noise)


Loss = Callable[[Draw], Tensor]


def save_atomically(value: object, path: Path) -> None:
    """Write a torch file so that a kill leaves the old one or the new one, never half of one."""
    part = path.with_suffix(".part")
    torch.save(value, part)
    os.replace(part, path)


class _Progress:
    """Says in the log how far a stage is, how fast, and when it ends."""

    def __init__(self, course: Course, first: int) -> None:
        self._course, self._first, self._start = course, first, time.monotonic()
        self._loss = 0.0

    def tell(self, step: int, loss: float) -> None:
        fresh = step == self._first + 1
        self._loss = loss if fresh else 0.98 * self._loss + 0.02 * loss
        if step % self._course.log_steps and step != self._course.steps:
            return
        seconds = time.monotonic() - self._start
        each = seconds / (step - self._first)
        left = each * (self._course.steps - step) / 60
        print(
            f"{self._course.name} {step}/{self._course.steps}  {self._course.batch / each:.0f}"
            f" samples/s  loss {self._loss:.4f}  {left:.1f} min left",
            flush=True,
        )


def train(
    course: Course,
    net: nn.ModuleDict,
    groups: list[dict[str, Any]],
    loss_of: Loss,
    folder: Path,
    workers: Workers,
) -> nn.ModuleDict:
    """Run a stage from its start or from where it was stopped; give the weights it made.

    groups  AdamW's groups of parameters; "scale" multiplies the rate
    """
    optimizer = torch.optim.AdamW(
        groups, lr=course.rate, betas=(0.9, 0.99), weight_decay=1e-3, fused=True
    )
    average = copy.deepcopy(net).requires_grad_(False)
    step, state_file = 0, folder / f"{course.name}-state.pt"
    if state_file.exists():
        state = torch.load(state_file, weights_only=True)
        step = int(state["step"])
        net.load_state_dict(state["net"])
        average.load_state_dict(state["average"])
        optimizer.load_state_dict(state["optimizer"])
    progress, saved = _Progress(course, step), time.monotonic()
    while step < course.steps:
        loss = _update(
            course, net, optimizer, loss_of(Draw.of(course, step, workers.rank)), step, workers
        )
        step += 1
        _follow(average, net, course.ema and min(course.ema, step / (step + 20)))
        if workers.rank == 0:
            progress.tell(step, loss)
            if time.monotonic() - saved > course.save_seconds or step == course.steps:
                state = {"net": net, "average": average, "optimizer": optimizer}
                whole = {name: part.state_dict() for name, part in state.items()} | {"step": step}
                save_atomically(whole, state_file)
                saved = time.monotonic()
    workers.wait()
    return average


def _update(
    course: Course,
    net: nn.ModuleDict,
    optimizer: torch.optim.Optimizer,
    loss: Tensor,
    step: int,
    workers: Workers,
) -> float:
    optimizer.zero_grad()
    loss.backward()
    trained = [p for p in net.parameters() if p.grad is not None]
    workers.average([p.grad for p in trained if p.grad is not None])
    torch.nn.utils.clip_grad_norm_(trained, 1.0)
    for group in optimizer.param_groups:
        group["lr"] = course.rate_at(step) * group.get("scale", 1.0)
    optimizer.step()
    return float(loss.detach())


@torch.no_grad()
def _follow(average: nn.Module, net: nn.Module, decay: float) -> None:
    torch._foreach_lerp_(list(average.parameters()), list(net.parameters()), 1 - decay)
