"""What is said of a node's device under the table: split, rightness, layouts, operations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median

from vinode.graph.account import HIGH_LAYOUT, HIGH_LAYOUT_NS
from vinode.graph.devices import shown
from vinode.graph.placement import Placement
from vinode.graph.profile import LAYOUT_TYPES, OpTime, module_path
from vinode.graph.split import Split
from vinode.graph.timing import NodeReport

_UNITS = ("B", "kB", "MB", "GB")


def device_lines(node: NodeReport, ops: bool = False) -> list[str]:
    """Give a line for each thing worth saying.

    ops  with the node's busiest operations
    """
    where = node.placement
    if where is None or not where.actual:
        return []
    told = [*_steps(node), *_splits(where), *_rightness(where), *_layout(where)]
    told += _busiest(where.busiest) if ops else []
    mark = " [simulated]" if where.simulated else ""
    return [f"node {node.id} ({node.type}){mark} {line}" for line in told]


def _steps(node: NodeReport) -> list[str]:
    """Tell what a step took; the first is left out of it, since the model is compiled there."""
    steps = node.timing.steps if node.timing else ()
    if len(steps) < 3:
        return []
    middle = median(end - start for start, end in steps[1:])
    return [f"took {middle / 1e6:.3g} ms a step, the middle of {len(steps)}"]


def bytes_in_words(count: int) -> str:
    """Show bytes with three figures that count.

    >>> bytes_in_words(64), bytes_in_words(262_144), bytes_in_words(1_718_000_000)
    ('64 B', '262 kB', '1.72 GB')
    """
    value, unit = float(count), 0
    while value >= 999.5 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.3g} {_UNITS[unit]}"


def _splits(where: Placement) -> list[str]:
    lines = [_split(split) for split in where.splits]
    if where.between:
        lines.append(f"spends {where.between / 1e6:.3g} ms between the submodels of a split")
    return lines


def _split(split: Split) -> str:
    """Give the submodels in run order, what crosses, and which operations force it."""
    parts = ", ".join(
        f"{shown(device)} {count}{' ops' if number == 0 else ''}"
        for number, (device, count) in enumerate(split.submodels)
    )
    several = "" if len(split.submodels) == 1 else "s"
    line = f"runs as {len(split.submodels)} submodel{several}: {parts}"
    unknown = any(crossing.bytes is None for crossing in split.crossings)
    least = "at least " if unknown else ""
    crosses = "1 crossing" if len(split.crossings) == 1 else f"{len(split.crossings)} crossings"
    line += f"; {crosses}, {least}{bytes_in_words(split.bytes)}"
    if split.refused:
        first, more = split.refused[0], len(split.refused) - 1
        line += f"; {shown(first.device)} does not take {first.place}"
        line += f" and {more} more" if more else ""
    return line


def _rightness(where: Placement) -> list[str]:
    if where.snr_db is None:
        return []
    if where.snr_db == float("inf"):
        return ["gives exactly the CPU's answer"]
    return [f"gives the CPU's answer within {where.snr_db:.0f} dB"]


# The CPU names the types between which an operation of its own changes: x_f32_bf16_y.
_TYPES = re.compile(r"_(f32|f16|bf16|i8|u8)_(f32|f16|bf16|i8|u8)(?:_|$)")
_ADVICE = {
    "Convert": "convert the model to the precision in which the device computes",
    "Transpose": "convert the model with its input in the order in which pictures come",
    "Reorder": "give the node another size, or convert the model with its channels in order",
}


def _layout(where: Placement) -> list[str]:
    if where.layout < HIGH_LAYOUT or where.layout_ns < HIGH_LAYOUT_NS:
        return []
    kinds = [_kind(op) for op in where.busiest if op.type in LAYOUT_TYPES]
    advice = f"; {_ADVICE[kinds[0]]}" if kinds else ""
    return [f"spends {where.layout:.0%} of its time in {', '.join(LAYOUT_TYPES)}{advice}"]


def _kind(op: OpTime) -> str:
    """Tell a Reorder that changes the precision from one that changes the layout."""
    types = _TYPES.search(op.name)
    return "Convert" if types and types[1] != types[2] else op.type


def _busiest(ops: Sequence[OpTime]) -> list[str]:
    return [f"{op.ns / 1e6:8.3f} ms  {op.type} {module_path(op.name)}  [{op.kernel}]" for op in ops]
