"""Models of the catalogue, fetched once and kept for later runs of the tests."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest

from vinode.converters.library import pull_model
from vinode.converters.store import Store
from vinode.graph.errors import ModelError

# Taken when this file is imported: later each test has a cache folder of its own.
MODELS = Path(platformdirs.user_cache_dir("vinode-tests", appauthor=False)) / "models"


def pulled(name: str) -> Path:
    """Give the model folder that has a model of the catalogue; skip where there is no network."""
    try:
        pull_model(Store((MODELS,)), name)
    except ModelError as error:
        if error.faults[0].code == "model-offline":
            pytest.skip(str(error))
        raise
    return MODELS
