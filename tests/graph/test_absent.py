"""Devices that are not here: which reason each hint gives, and what asking for it costs."""

from __future__ import annotations

from pathlib import Path

import openvino as ov
import pytest

from tests.graph.chains import chain, saved, used
from vinode.graph.placement import Reason, missing
from vinode.graph.pool import Pool


def test_an_absent_device_is_looked_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its plugin looks for drivers each time, which costs more than a small model."""
    asked: list[str] = []

    def counted(core: ov.Core, device: str, available: tuple[str, ...]) -> Reason:
        asked.append(device)
        return missing(core, device, available)

    monkeypatch.setattr("vinode.graph.pool.missing", counted)
    pool, part = Pool(), saved(chain("conv", "relu"), tmp_path)
    if "GPU.1" in pool.available:
        pytest.skip("there is a second GPU in this machine")
    first, second = (used(pool, part, "GPU.1").reasons for _ in range(2))
    assert asked == ["GPU.1"]
    assert first == second != ()
