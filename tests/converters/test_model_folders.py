"""Model files are found where ComfyUI keeps them, and nowhere else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vinode.converters.model_folders import checkpoint_names, find, model_names, roots
from vinode.graph.context import Folders
from vinode.graph.errors import ModelError


def folders(*models: Path) -> Folders:
    """Give the folders of a run, of which only those of models matter."""
    return Folders(Path("input"), Path("output"), Path("temp"), models)


def own_checkpoints(given: Folders) -> list[str]:
    """List the checkpoints of these folders, without the one that comes with the program."""
    names = checkpoint_names(given)
    names.remove("text-to-image")
    return names


def put(*paths: Path) -> None:
    """Make files with something in them."""
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def test_names_are_sorted_paths_below_the_folder(tmp_path: Path) -> None:
    """Pickles and hidden files are not offered; upper case endings are."""
    models = tmp_path / "models"
    names = ["b.safetensors", "sd1/a.SAFETENSORS", "old.ckpt", ".part.safetensors", "note.txt"]
    put(*(models / "checkpoints" / name for name in names))
    assert own_checkpoints(folders(models)) == ["b.safetensors", "sd1/a.SAFETENSORS"]


def test_the_first_of_several_folders_wins(tmp_path: Path) -> None:
    """Both are listed, once each."""
    first, second = tmp_path / "first", tmp_path / "second"
    put(first / "vae" / "a.safetensors", second / "vae" / "a.safetensors")
    put(second / "vae" / "b.safetensors")
    both = folders(first, second)
    assert model_names("vae", both) == ["a.safetensors", "b.safetensors"]
    assert find("vae", "a.safetensors", both) == first / "vae" / "a.safetensors"
    assert find("vae", "b.safetensors", both) == second / "vae" / "b.safetensors"


@pytest.mark.parametrize(
    ("asked", "kept"), [("text_encoders", "clip"), ("clip", "text_encoders"), ("unet", "unet")]
)
def test_a_kind_has_its_old_and_its_new_folder(tmp_path: Path, asked: str, kept: str) -> None:
    """ComfyUI renamed some folders, and reads both."""
    put(tmp_path / kept / "a.safetensors")
    assert find(asked, "a.safetensors", folders(tmp_path)) == tmp_path / kept / "a.safetensors"


def test_a_pipeline_folder_is_one_model(tmp_path: Path) -> None:
    """In checkpoints/ or diffusers/; the files inside are not offered by themselves."""
    for root in ("checkpoints", "diffusers"):
        put(tmp_path / root / f"in-{root}" / "model_index.json")
        put(tmp_path / root / f"in-{root}" / "unet" / "diffusion_pytorch_model.safetensors")
    assert own_checkpoints(folders(tmp_path)) == ["in-checkpoints", "in-diffusers"]
    assert find("checkpoints", "in-diffusers", folders(tmp_path)).name == "in-diffusers"


def test_extra_model_paths_are_read(tmp_path: Path) -> None:
    """Several lines, a base path, a folder beside the models; missing folders are passed over."""
    text = """
a1111:
    base_path: ../webui/
    checkpoints: models/Stable-diffusion
    vae: models/VAE
    clip: |
        models/one
        models/two
    is_default: true
other:
    checkpoints: ../nowhere
"""
    put(tmp_path / "models" / "checkpoints" / "own.safetensors")
    (tmp_path / "models" / "extra_model_paths.yaml").write_text(text)
    put(tmp_path / "webui/models/Stable-diffusion/theirs.safetensors")
    put(tmp_path / "webui/models/two/text.safetensors")
    given_folders = folders(tmp_path / "models")
    assert own_checkpoints(given_folders) == ["own.safetensors", "theirs.safetensors"]
    found = find("text_encoders", "text.safetensors", given_folders)
    assert found == tmp_path / "webui/models/two/text.safetensors"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: [1", "the file is no YAML"),
        ("- a\n- b", "the file is not made of sections with folders"),
        ("a: 5", "the file is not made of sections with folders; got 5"),
        ("[" * 5000, "the file is no YAML"),
        ("!!python/object/apply:os.system [echo]", "the file is no YAML"),
        ("# " + "x" * 1_000_001, "the file is too large"),
    ],
)
def test_a_bad_yaml_is_one_sentence(tmp_path: Path, text: str, says: str) -> None:
    """With the file's name."""
    (tmp_path / "extra_model_paths.yaml").write_text(text)
    with pytest.raises(ModelError, match=re.escape(says)) as raised:
        checkpoint_names(folders(tmp_path))
    assert str(tmp_path / "extra_model_paths.yaml") in str(raised.value)


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    """A linked folder is followed, once."""
    put(tmp_path / "disk" / "sd" / "a.safetensors", tmp_path / "m/checkpoints/b.safetensors")
    (tmp_path / "m" / "checkpoints" / "disk").symlink_to(tmp_path / "disk")
    (tmp_path / "disk" / "back").symlink_to(tmp_path / "m" / "checkpoints")
    found = own_checkpoints(folders(tmp_path / "m"))
    assert found == ["b.safetensors", "disk/sd/a.safetensors"]
    assert find("checkpoints", "disk/sd/a.safetensors", folders(tmp_path / "m")).is_file()


def test_the_nearest_name_is_offered(tmp_path: Path) -> None:
    """And where there is none, the folder to put the file into."""
    put(tmp_path / "checkpoints" / "dreamer.safetensors")
    with pytest.raises(ModelError, match=r"did you mean 'dreamer\.safetensors'"):
        find("checkpoints", "dreamr.safetensors", folders(tmp_path))
    with pytest.raises(ModelError, match=re.escape(f"put it into {tmp_path / 'vae'}")):
        find("vae", "x.safetensors", folders(tmp_path))
    with pytest.raises(ModelError, match="did you mean 'checkpoints'"):
        roots("checkpoint", folders(tmp_path))


@given(
    st.lists(
        st.sampled_from(["..", ".", "", "a", "C:", "secret.safetensors", "x" * 300, "\0", "//"]),
        max_size=6,
    ),
    st.sampled_from(["/", "\\"]),
)
def test_no_name_leads_out(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str], mark: str
) -> None:
    """Whatever is asked for, what is found lies in the folder."""
    home = tmp_path_factory.getbasetemp() / "escape"
    put(home / "secret.safetensors", home / "models" / "checkpoints" / "a" / "x.safetensors")
    try:
        found = find("checkpoints", mark.join(parts), folders(home / "models"))
    except ModelError:
        return
    assert found.resolve().is_relative_to(home / "models" / "checkpoints")
