"""No test reads or writes the folders of whoever runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real_models import pulled


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put the user's data and cache below a folder of this test, for child processes too."""
    home = tmp_path_factory.mktemp("home")
    # The last is Windows' place for both, by the name that platformdirs gives to it.
    for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "WIN_PD_OVERRIDE_LOCAL_APPDATA"):
        monkeypatch.setenv(name, str(home / name.lower()))
    for name in ("VINODE_MODELS", "VINODE_COMPILE_SECONDS", "FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture
def face_models() -> Path:
    """Give a model folder that has the real face detector; skipped where it cannot be fetched."""
    return pulled("face-short-range")
