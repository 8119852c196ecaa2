"""An outlook on an NPU as lines for people."""

from __future__ import annotations

from collections.abc import Iterator

from vinode.cli.preflight import Judged, Outlook
from vinode.converters.npu_compiler.preflight import PLATFORMS
from vinode.graph.foresight import UNKNOWN


def lines(outlook: Outlook) -> Iterator[str]:
    """Tell of each part, then of the workflow."""
    compilers = (part.verdict.compiler for part in outlook.judged)
    version = next((name.split()[0] for name in compilers if name), "")
    by = f", by Intel's NPU compiler {version}" if version else ""
    yield f"NPU {outlook.platform} ({PLATFORMS[outlook.platform]}){by}; nothing was run on an NPU"
    for part in outlook.judged:
        yield f"  {_who(part)}: {_verdict(part)}"
        if part.verdict.reason:
            code, fix = part.verdict.reason.code, part.verdict.reason.fix
            yield f"    [{code}] {part.verdict.reason.sentence}{f'; {fix}' if fix else ''}"
            for way in part.verdict.reason.fixes:
                if way.kind == "rewrite":
                    yield f"    with the rewrite {way.value} it compiles: {way.sentence}"
    for each in outlook.unknown:
        yield f"  {each.node.place}: not known before it runs: {each.problem}"
    yield f"  {_whole(outlook)}"
    if _can_be_mended(outlook):
        yield f"  `vinode fix FILE --platform {outlook.platform}` can change the workflow for it"
    if outlook.rest:
        names = ", ".join(f"{node.id} {node.type.id}" for node in outlook.rest[:20])
        more = f" and {len(outlook.rest) - 20} more" if len(outlook.rest) > 20 else ""
        yield f"  not on the NPU: {names}{more}"


def _can_be_mended(outlook: Outlook) -> bool:
    reasons = [part.verdict.reason for part in outlook.judged if part.verdict.reason]
    offered = {fix.kind for reason in reasons for fix in reason.fixes}
    return bool(offered - {"advice"}) or any(each.problem == UNKNOWN for each in outlook.unknown)


def _who(part: Judged) -> str:
    shapes = " ".join(
        f"{name} {'x'.join('?' if size < 0 else str(size) for size in shape)}"
        for name, shape in part.use.shapes.items()
    )
    return f"{part.node.place}, {part.use.part.name}{f', {shapes}' if shapes else ''}"


def _verdict(part: Judged) -> str:
    verdict = part.verdict
    memory = f", {_bytes(verdict.peak_bytes)} of memory to compile" if verdict.peak_bytes else ""
    if not verdict.compiles:
        return f"does not compile ({verdict.seconds:.2f} s{memory})"
    said = f"compiles in {verdict.seconds:.2f} s, blob {_bytes(verdict.blob_bytes)}{memory}"
    if verdict.estimate_seconds is None:
        return f"{said}; the compiler gives no estimate"
    weak = ", which it calls rough" if verdict.weak else ""
    calls = f"{part.use.calls} x " if part.use.calls > 1 else ""
    return f"{said}; estimate {calls}{duration(verdict.estimate_seconds)}{weak}"


def _whole(outlook: Outlook) -> str:
    if not outlook.fits:
        count = sum(not part.verdict.compiles for part in outlook.judged)
        unknown = f", {len(outlook.unknown)} not known" if outlook.unknown else ""
        return f"the workflow would not run on this NPU as asked: {count} fail{unknown}"
    seconds = outlook.seconds
    if seconds is None:
        return "all that is asked for would run on this NPU; its time is not known"
    return (
        f"all that is asked for would run on this NPU, by the compiler's estimate in "
        f"{duration(seconds)} (its own cost model, not a measurement)"
    )


def duration(seconds: float) -> str:
    """Show a time with three figures that count.

    >>> duration(0.00015862), duration(0.2671), duration(12.34)
    ('0.159 ms', '267 ms', '12.3 s')
    """
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


def _bytes(size: int) -> str:
    for unit, power in (("GB", 9), ("MB", 6), ("kB", 3)):
        if size >= 10**power:
            return f"{size / 10**power:.3g} {unit}"
    return f"{size} bytes"
