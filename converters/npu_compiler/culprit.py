"""Which operation keeps a model from compiling: from the text, else by compiling pieces of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vinode.converters.npu_compiler import cut
from vinode.converters.npu_compiler.texts import Said
from vinode.graph.split import Refused

if TYPE_CHECKING:  # for its types only: importing OpenVINO costs a quarter of a second
    import openvino as ov

_MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class Culprit:
    """The operations at fault: all of one kind, the first in the model first.

    how  "the text names it", "it fails alone", "the model fails from there on"; for people
    """

    ops: tuple[Refused, ...]
    how: str


@dataclass(frozen=True, slots=True)
class Search:
    """How pieces are tried.

    fails     compile a piece within so many seconds: does it fail as the model does?
    patience  seconds that a piece must have for its failure to prove anything: for running late
    halving   may pieces of many operations be tried? Not where it is their time that is wrong
    deadline  time.monotonic() at which the search ends
    """

    fails: Callable[[ov.Model, float], bool]
    deadline: float
    patience: float = 0.0
    halving: bool = True

    @property
    def left(self) -> float:
        """Give the seconds that are left."""
        return self.deadline - time.monotonic()


def find(model: ov.Model, said: Said | None, search: Search) -> Culprit | None:
    """Find the operation at fault; None where it is not found within the time.

    said  what the compile said; None where it crashed or was ended
    """
    ops: list[Any] = model.get_ordered_ops()
    meant: list[Any] = []
    if said and said.match and said.row.means:
        match, means = said.match, said.row.means
        meant = [op for op in ops if means(match, op)]
        if meant and (said.row.sure or len(meant) == 1):
            return _culprit(meant, "the compiler's text names it")
    named = {op.get_friendly_name() for op in meant}
    work = cut.working(model)
    # Python's sort keeps the model's order among equals.
    ordered = sorted(work, key=lambda op: op.get_friendly_name() not in named)
    found = _one_fails(model, ordered, work, search)
    if found is None and search.halving:
        found = _prefix(model, work, search)
    return found


def _one_fails(
    model: ov.Model, ordered: Sequence[Any], work: Sequence[Any], search: Search
) -> Culprit | None:
    """Try one operation of each kind alone; half of the time is left for the next way."""
    tried: set[str] = set()
    end = search.left / 2
    for op in ordered:
        kind = cut.kind_of(op)
        if kind in tried:
            continue
        if search.left - end <= search.patience:
            return None
        tried.add(kind)
        piece = cut.alone(model, op.get_friendly_name())
        if piece is not None and search.fails(piece, search.left - end):
            same = [other for other in work if cut.kind_of(other) == kind]
            return _culprit(same, "it does not compile alone")
    return None


def _prefix(model: ov.Model, work: Sequence[Any], search: Search) -> Culprit | None:
    """Halve: with the operations up to `good` the model compiles, up to `bad` it does not."""
    good, bad = 0, len(work)
    while bad - good > 1:
        if search.left <= 0:
            return None
        middle = (good + bad) // 2
        piece = cut.up_to(model, middle)
        if piece is None:
            return None
        if search.fails(piece, search.left):
            bad = middle
        else:
            good = middle
    return _culprit(work[bad - 1 : bad], "the model fails from there on") if work else None


def _culprit(ops: Sequence[Any], how: str) -> Culprit:
    named = [Refused(op.get_friendly_name(), op.get_type_name(), "NPU") for op in ops]
    return Culprit(tuple(named[:_MOST_NAMED]), how)
