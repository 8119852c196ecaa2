"""Would a part compile for an NPU platform? What the compiler says is a verdict."""

from __future__ import annotations

import functools
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vinode.converters.files import UNWATCHED, Watch
from vinode.converters.npu_compiler import culprit
from vinode.converters.npu_compiler.asking import Answer, ask
from vinode.converters.npu_compiler.find import Compiler
from vinode.converters.npu_compiler.texts import (
    OTHER,
    Said,
    estimate_seconds,
    read_failure,
    resembles,
)
from vinode.converters.npu_compiler.verdict import Question, Verdict, Verdicts
from vinode.graph.fixes import offered
from vinode.graph.part import Shapes, read, reshape, unfixed
from vinode.graph.placement import Code, Reason
from vinode.graph.rewrites import apply
from vinode.graph.values import ModelPart

if TYPE_CHECKING:  # for its types only: importing OpenVINO costs a quarter of a second
    import openvino as ov

# Platform -> processors, as OpenVINO's NPU_PLATFORM names them.
PLATFORMS: Mapping[str, str] = {
    "3720": "Meteor Lake, Arrow Lake",
    "4000": "Lunar Lake",
    "5010": "Panther Lake",
}
SEARCH_SECONDS = 60.0
PATIENCE = 10.0  # seconds, far more than one operation takes that is not at fault
_LONGEST = 400  # letters of the compiler's own text


@dataclass(frozen=True, slots=True)
class Request:
    """A part to be compiled.

    shapes   of its inputs; () where the IR's own are fixed
    options  OpenVINO properties asked for on the node
    limit    seconds of the compile; the search for an operation at fault has SEARCH_SECONDS more
    """

    part: ModelPart
    platform: str
    shapes: Shapes = ()
    options: tuple[tuple[str, str], ...] = ()
    rewrites: tuple[str, ...] = ()
    limit: float = 1800.0


def preflight(
    compiler: Compiler, asked: Request, kept: Verdicts, watch: Watch = UNWATCHED
) -> Verdict:
    """Give the verdict on a part, from the kept ones where it is there.

    ModelError where the part cannot be read, the shapes do not fit, or the compiler does not start.
    """
    question = Question(
        asked.part.digest,
        dict(asked.shapes),
        dict(asked.options),
        asked.rewrites,
        asked.platform,
        compiler.identity,
    )
    verdict = kept.find(question, asked.limit)
    if verdict is None:
        verdict = _ask(compiler, asked, watch)
        kept.keep(question, verdict)
    return verdict


def _ask(compiler: Compiler, asked: Request, watch: Watch) -> Verdict:
    import openvino as ov

    core = ov.Core()
    model = read(core, asked.part)
    if asked.shapes:
        reshape(model, asked.part, asked.shapes)
    apply(model, asked.rewrites)
    ops = len(model.get_ops())
    moving = unfixed(model)
    if moving:
        return Verdict(asked.platform, _moving(moving, asked), ops, 0.0, 0, None, None, False, "")
    options = {**dict(asked.options), "NPU_PLATFORM": asked.platform}
    with tempfile.TemporaryDirectory(prefix="vinode-") as folder:
        trial = _Trial(compiler, options, Path(folder), watch)
        answer = trial.compile(model, asked.limit)
        reason = None if answer.ending == "compiled" else _reason(model, answer, asked, trial)
    estimate, weak = estimate_seconds(answer.log) if reason is None else (None, False)
    return Verdict(
        asked.platform,
        reason,
        ops,
        answer.seconds,
        answer.blob_bytes,
        answer.peak_bytes,
        estimate,
        weak,
        answer.compiler,
    )


@dataclass(frozen=True, slots=True)
class _Trial:
    """Compiles a model that is in memory."""

    compiler: Compiler
    options: Mapping[str, str]
    folder: Path
    watch: Watch

    def compile(self, model: ov.Model, limit: float) -> Answer:
        import openvino as ov

        xml = self.folder / "model.xml"
        ov.save_model(model, xml, compress_to_fp16=False)
        return ask(self.compiler, xml, self.options, limit, self.watch)

    def fails_like(self, first: Answer, model: ov.Model, limit: float) -> bool:
        """Say whether a piece fails as the whole model did."""
        answer = self.compile(model, limit)
        if first.ending != "failed" or answer.ending != "failed":
            return answer.ending == first.ending != "compiled"
        said = (read_failure(each.message, each.log) for each in (first, answer))
        return resembles(*said)


def _reason(model: ov.Model, answer: Answer, asked: Request, trial: _Trial) -> Reason:
    said = read_failure(answer.message, answer.log) if answer.ending == "failed" else None
    late = answer.ending == "late"
    search = culprit.Search(
        functools.partial(trial.fails_like, answer),
        time.monotonic() + min(SEARCH_SECONDS, asked.limit),
        PATIENCE if late else 0.0,
        halving=not late,
    )
    found = None
    # Where nothing is wrong with an operation, none is looked for.
    if said is None or not (said.plugin or said.row.code in ("out-of-memory", "dynamic-shape")):
        found = culprit.find(model, said, search)
    reason = _told(answer, said, found, asked)
    return _with_fixes(reason, asked, lambda name: _mends(model, name, trial, search.left))


def _mends(model: ov.Model, rewrite: str, trial: _Trial, seconds: float) -> bool:
    """Say whether the model compiles with a rewrite; no where there is no time to prove it."""
    if seconds <= 0:
        return False
    copy = model.clone()
    apply(copy, (rewrite,))
    return trial.compile(copy, seconds).ending == "compiled"


def _told(
    answer: Answer, said: Said | None, found: culprit.Culprit | None, asked: Request
) -> Reason:
    who, how = f"NPU {asked.platform}: ", ""
    ops: tuple[str, ...] = ()
    if found:
        more = f" and {len(found.ops) - 1} more like it" if len(found.ops) > 1 else ""
        first = next(iter(found.ops))
        who += f"{first.place}{more}: "
        ops = tuple(f"{op.type} {op.name}" for op in found.ops)
        how = f" ({found.how})"
    code: Code = said.row.code if said else "compile-failed"
    fix = said.row.fix if said else OTHER.fix
    if answer.ending == "late":
        code = "compile-timeout"
        text = f"the compile took longer than {asked.limit:g} s and was ended"
        fix = "use a smaller size, or allow more time: VINODE_COMPILE_SECONDS"
    elif said is None:
        text = f"the compiler crashed, {answer.message}"
    else:
        text = f"the {'plugin' if said.plugin else 'compiler'} says: {said.sentence[:_LONGEST]}"
    return Reason(code, f"{who}{text}{how}", fix, ops)


def _moving(names: tuple[str, ...], asked: Request) -> Reason:
    sentence = f"NPU {asked.platform}: the input {', '.join(names)} has no fixed shape"
    fix = "give the node a fixed size: the device takes static shapes only"
    return _with_fixes(Reason("dynamic-shape", sentence, fix, names), asked, lambda name: False)


def _with_fixes(reason: Reason, asked: Request, mends: Callable[[str], bool]) -> Reason:
    """Add what can be applied: rewrites only where they are proven."""
    options = [name for name, _ in asked.options]
    kept = tuple(
        fix
        for fix in offered(reason, "NPU", asked.rewrites, options)
        if fix.kind != "rewrite" or mends(fix.value)
    )
    return Reason(reason.code, reason.sentence, reason.fix, reason.ops, kept)
