"""A checkpoint's way into the store: in a process of its own, whole or not at all, once."""

# torch, diffusers and transformers are in no environment that is checked.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
import pytest

from tests.converters.diffusion_models import WIDTH, save_checkpoint, save_folder, tiny
from vinode.converters.stable_diffusion.load import (
    Checkpoint,
    converted,
    fault,
    fingerprint,
    is_converted,
    load_checkpoint,
    load_clip,
    load_unet,
    load_vae,
)
from vinode.converters.store import Store
from vinode.graph.errors import Cancelled, ModelError

pytestmark = [pytest.mark.torch, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a checkpoint of one file; tests copy it before they change it."""
    return save_checkpoint(tiny(), tmp_path_factory.mktemp("source") / "tiny.safetensors")


@pytest.fixture(scope="module")
def loaded(source: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Checkpoint]:
    """Convert it once for all tests that only look."""
    store = Store((tmp_path_factory.mktemp("models"),))
    return store, load_checkpoint(store, source)


def leftovers(store: Store) -> list[str]:
    """Name what is in the store beside whole artifacts and locks."""
    return [path.name for path in store.home.rglob("*.part*")]


def test_the_handles_say_what_the_models_are(loaded: tuple[Store, Checkpoint]) -> None:
    """As `vinode.graph.diffusion` describes them."""
    _, got = loaded
    assert got.model is not None
    assert (got.model.family, got.model.prediction, got.model.scale) == ("sd1", "epsilon", 8)
    assert (got.model.in_channels, got.model.context_width) == (4, WIDTH)
    assert got.clip is not None
    assert (got.clip.layers, got.clip.width, got.clip.skip, got.clip.pad) == (3, WIDTH, -1, 49407)
    assert np.load(got.clip.tokens).shape == (120, WIDTH)
    assert got.vae is not None
    assert got.vae.encoder is not None
    assert got.vae.decoder.bytes > 0


def test_the_record_tells_how_well_it_answers(
    loaded: tuple[Store, Checkpoint], source: Path
) -> None:
    """Of each part: error, SNR, cosine, steps and versions."""
    store, _ = loaded
    records = [json.loads(path.read_text()) for path in store.home.glob("store/*/record.json")]
    assert len(records) == 4
    for record in records:
        assert record["verification"]["snr_db"] > 60
        assert record["verification"]["max_error"] < 1e-3
        assert record["weights_dtype"] == "f16"
        assert record["source"]["uri"] == f"file:{source}"
        assert {"torch", "diffusers", "transformers"} <= record["packages"].keys()
        assert "trace" in [step["name"] for step in record["steps"]]
        assert "reference.npz" not in record["files"]


def test_converted_is_known_without_torch(loaded: tuple[Store, Checkpoint], source: Path) -> None:
    """A fresh process gives the same handles and imports no framework."""
    store, got = loaded
    assert converted(store, source) == got
    program = f"""
import sys
from pathlib import Path
from vinode.converters.stable_diffusion.load import converted, fault, load_checkpoint
from vinode.converters.store import Store
store, path = Store((Path({str(store.home)!r}),)), Path({str(source)!r})
assert fault(store, path) is None
assert converted(store, path) == load_checkpoint(store, path) is not None
frameworks = {{"torch", "diffusers", "transformers", "safetensors", "openvino"}}
print(sorted(frameworks & sys.modules.keys()))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8")
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_a_moved_checkpoint_is_not_converted_again(
    loaded: tuple[Store, Checkpoint], source: Path, tmp_path: Path
) -> None:
    """Its content is what counts; only its hash has to be made once more."""
    store, got = loaded
    copy = tmp_path / "tiny.safetensors"
    shutil.copy(source, copy)
    assert not is_converted(store, copy)
    steps: list[str] = []
    again = load_checkpoint(store, copy, lambda step, done, total: steps.append(step))
    assert again == got
    assert set(steps) == {"hash"}
    assert is_converted(store, copy)
    assert fingerprint(store, copy) != fingerprint(store, source)


def test_a_cancel_leaves_finished_parts(source: Path, tmp_path: Path) -> None:
    """What was done before the cancel is there, and is not made again."""
    store, steps = Store((tmp_path / "models",)), list[str]()

    def cancelled() -> bool:  # the third part begins when one of the first two is done
        return any("vae_encoder" in step for step in steps)

    def tell(step: str, done: int, total: int) -> None:
        steps.append(step)

    with pytest.raises(Cancelled):
        load_checkpoint(store, source, tell, cancelled, ("clip", "vae"), (tmp_path,))
    records = [json.loads(path.read_text()) for path in store.home.glob("store/*/record.json")]
    finished = {record["name"] for record in records}
    assert 1 <= len(finished) <= 2
    assert leftovers(store) == []
    assert not is_converted(store, source, ("vae",))
    steps.clear()
    clip = load_checkpoint(store, source, tell, wanted=("clip", "vae"), embeddings=(tmp_path,)).clip
    made = {step.split(":")[0] for step in steps if ":" in step}
    assert len(made | finished) == 3
    assert not made & finished
    assert clip is not None
    assert clip.embeddings == (tmp_path,)
    assert is_converted(store, source, ("clip", "vae"))


@pytest.mark.skipif(os.name == "nt", reason="sends SIGKILL")
def test_a_killed_conversion_takes_its_child_with_it(source: Path, tmp_path: Path) -> None:
    """What it left is removed by the next one, which is not held up."""
    store = Store((tmp_path / "models",))
    program = f"""
from pathlib import Path
from vinode.converters.stable_diffusion.load import load_clip
from vinode.converters.store import Store
def tell(step, done, total): print(step, flush=True)
load_clip(Store((Path({str(store.home)!r}),)), Path({str(source)!r}), tell)
"""
    command = [sys.executable, "-c", program]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8")
    assert parent.stdout is not None
    while "load" not in parent.stdout.readline():
        assert parent.poll() is None
    children = psutil.Process(parent.pid).children()
    assert len(children) == 1
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    assert psutil.wait_procs(children, timeout=30)[1] == []
    load_clip(store, source)
    assert leftovers(store) == []


def test_broken_weights_are_refused(tmp_path: Path) -> None:
    """NaN in one tensor of the UNet: its name is told, and the other parts can be used."""
    models = tiny()
    models.unet.conv_in.weight[0, 0, 0, 0] = float("nan")
    path = save_checkpoint(models, tmp_path / "broken.safetensors")
    store = Store((tmp_path / "models",))
    with pytest.raises(ModelError, match=r"NaN or infinity, in .*input_blocks\.0\.0\.weight"):
        load_unet(store, path)
    assert leftovers(store) == []
    assert list(store.home.glob("store/*")) == []


def test_weights_that_give_nan_are_refused(tmp_path: Path) -> None:
    """Every number is finite, and their products are not."""
    models = tiny()
    models.vae.post_quant_conv.weight.fill_(3e38)
    path = save_checkpoint(models, tmp_path / "wild.safetensors", dtype="float32")
    store = Store((tmp_path / "models",))
    with pytest.raises(ModelError, match="answers NaN or infinity"):
        load_vae(store, path)
    assert list(store.home.glob("store/*")) == []


def test_weights_of_another_model_are_refused(source: Path, tmp_path: Path) -> None:
    """A tensor that the configuration asks for is not there."""
    folder = save_folder(tiny(), tmp_path / "folder")
    config = folder / "unet" / "config.json"
    row = json.loads(config.read_text())
    config.write_text(json.dumps({**row, "layers_per_block": 3}))
    with pytest.raises(ModelError, match="the weights do not fit the unet's configuration"):
        load_unet(Store((tmp_path / "models",)), folder)


@contextmanager
def small_disk(folder: Path, size: str) -> Generator[Path, None, None]:
    """Mount a disk of a few bytes; needs root."""
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if os.name == "nt" or subprocess.run(words, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_told_before_anything_is_done(source: Path, tmp_path: Path) -> None:
    """With how much is needed and how much is free; nothing is left."""
    with small_disk(tmp_path / "disk", "900k") as disk:
        store = Store((disk / "models",))
        with pytest.raises(ModelError, match=r"needs 0\.2 GB; got 0\.0 GB free; free some space"):
            load_unet(store, source)
        assert list(store.home.glob("store/*")) == []


def test_a_part_that_is_not_there_is_said_beforehand(tmp_path: Path) -> None:
    """By `fault` and by loading, in the same words."""
    from safetensors.torch import save_file

    from tests.converters.diffusion_models import original_vae

    models, path = tiny(), tmp_path / "vae.safetensors"
    save_file({n: t.contiguous().clone() for n, t in original_vae(models.vae).items()}, path)
    store = Store((tmp_path / "models",))
    said = fault(store, path, ("model",))
    assert said is not None
    with pytest.raises(ModelError) as raised:
        load_unet(store, path)
    assert raised.value.faults == (said,)
    assert "there is no diffusion model in it" in str(said)
    assert fault(store, path, ("vae",)) is None
