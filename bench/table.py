"""A figure beside its bar, and a table of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure.

    value  as text, with its unit
    bar    what it has to clear, as text; "" where there is none
    good   whether it does; None where it was not measured or has no bar
    """

    name: str
    value: str
    bar: str = ""
    good: bool | None = None

    @property
    def verdict(self) -> str:
        """Say whether the bar is cleared."""
        return {None: "", True: "ok", False: "MISSED"}[self.good]


def lines(figures: Iterable[Figure]) -> list[str]:
    """Lay figures out in columns."""
    rows = [("figure", "measured", "bar", "")]
    rows += [(each.name, each.value, each.bar, each.verdict) for each in figures]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
