"""What the NPU compiler thinks of a part, kept so that the second question is instant."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from vinode.converters.files import canonical_json, write_whole
from vinode.graph.errors import ModelError
from vinode.graph.placement import Fix, Reason

FORMAT = 1  # raised when the same compile would give another verdict


@dataclass(frozen=True, slots=True)
class Question:
    """All that a verdict depends on.

    digest    of the part
    shapes    input -> dimensions
    options   OpenVINO properties
    rewrites  of the model beforehand
    compiler  identity of the compiler
    """

    digest: str
    shapes: Mapping[str, Sequence[int]]
    options: Mapping[str, str]
    rewrites: Sequence[str]
    platform: str
    compiler: str
    format: int = FORMAT

    @property
    def name(self) -> str:
        """Give the question as a file name."""
        return hashlib.sha256(canonical_json(asdict(self)).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a part compiles for a platform, and what the compiler says of it.

    reason            why not; None: it compiles
    ops               operations of the model
    seconds           of the compile
    blob_bytes        of the compiled model; 0 where there is none
    peak_bytes        most memory of the compile; None where it was not seen
    estimate_seconds  the compiler's own estimate of one inference; never a measurement
    weak              the compiler says that its estimate may be off
    compiler          its version and name, as it tells them
    """

    platform: str
    reason: Reason | None
    ops: int
    seconds: float
    blob_bytes: int
    peak_bytes: int | None
    estimate_seconds: float | None
    weak: bool
    compiler: str

    @property
    def compiles(self) -> bool:
        """Say whether the part compiles."""
        return self.reason is None


@dataclass(frozen=True, slots=True)
class Verdicts:
    """A folder of verdicts, a file a question. None: nothing is kept."""

    folder: Path | None = field(default=None)

    def find(self, question: Question, limit: float) -> Verdict | None:
        """Give the kept verdict; one that ran out of time counts only where it had as much."""
        if self.folder is None:
            return None
        try:
            row = json.loads((self.folder / f"{question.name}.json").read_text(encoding="utf-8"))
            verdict = _verdict(row["verdict"])
        except (OSError, ValueError, KeyError, TypeError):  # absent or damaged: ask again
            return None
        if verdict.reason and verdict.reason.code == "compile-timeout" and verdict.seconds < limit:
            return None
        return verdict

    def keep(self, question: Question, verdict: Verdict) -> None:
        """Keep a verdict; where the disk does not take it, it is asked for again."""
        if self.folder is None:
            return
        row = {"made_for": asdict(question), "verdict": asdict(verdict)}
        try:
            write_whole(self.folder / f"{question.name}.json", json.dumps(row, indent=1) + "\n")
        except ModelError:
            return


def _verdict(row: Mapping[str, Any]) -> Verdict:
    told = cast("dict[str, Any] | None", row["reason"])
    reason = None
    if told:
        fixes = tuple(Fix(**fix) for fix in told["fixes"])
        reason = Reason(told["code"], told["sentence"], told["fix"], tuple(told["ops"]), fixes)
    return Verdict(**cast("dict[str, Any]", {**row, "reason": reason}))
