"""The samplers of k-diffusion as published, which ours are proven against.

Its package imports torchvision and more for training; only `sampling.py` is loaded here, from where
`pip install --no-deps k-diffusion` has put it, with the one function it takes from the rest.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def imported(name: str) -> Any:
    """Import what only the proofs need; the test is skipped where it is not installed."""
    return pytest.importorskip(name)


def sampling() -> Any:
    """Give the module `k_diffusion.sampling`; the test is skipped where it is not installed."""
    for name in ("scipy", "torch", "torchdiffeq", "torchsde"):
        pytest.importorskip(name)
    package = importlib.util.find_spec("k_diffusion")
    if package is None or not package.submodule_search_locations:
        pytest.skip("k-diffusion is not installed: pip install --no-deps k-diffusion")
    path = Path(package.submodule_search_locations[0]) / "sampling.py"
    bare = ModuleType("k_diffusion_bare")
    bare.__path__ = [str(path.parent)]
    utils = ModuleType("k_diffusion_bare.utils")
    utils.__dict__["append_dims"] = _append_dims
    sys.modules |= {bare.__name__: bare, utils.__name__: utils}
    bare.__dict__["utils"] = utils
    spec = importlib.util.spec_from_file_location("k_diffusion_bare.sampling", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _append_dims(x: Any, dimensions: int) -> Any:
    return x[(..., *[None] * (dimensions - x.ndim))]
