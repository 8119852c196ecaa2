"""Names of pictures: which file is meant, and that none outside the folders is."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.nodes.context import folders_below
from tests.nodes.pictures import checked, load, picture
from vinode.graph.context import Folders
from vinode.nodes.algorithms.input_names import list_pictures


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """Give empty folders; pictures go into folders.input."""
    return folders_below(tmp_path / "run")


def test_names_lead_to_the_other_folders(folders: Folders) -> None:
    """As ComfyUI writes them, with a space or without."""
    picture(seed=1).save(folders.output / "a.png")
    picture(seed=2).save(folders.temp / "a.png")
    picture(seed=3).save(folders.input / "a.png")
    for name, seed in (
        ("a.png [output]", 1), ("a.png[temp]", 2), ("a.png [input]", 3), ("a.png", 3)
    ):  # fmt: skip
        np.testing.assert_array_equal(
            load(folders, name).image.pixels[0], np.asarray(picture(seed=seed))
        )


def test_backslashes_from_windows_work_everywhere(folders: Folders) -> None:
    """A workflow saved there names sub\\a.png."""
    (folders.input / "sub").mkdir()
    picture().save(folders.input / "sub" / "a.png")
    assert load(folders, "sub\\a.png").image.shape == (1, 2, 3, 3)


@pytest.mark.parametrize("name", ["../secret.png", "..\\secret.png", "sub/../../secret.png"])
def test_names_stay_inside_the_folder(folders: Folders, name: str) -> None:
    """Whether or not there is such a file."""
    (folders.input / "sub").mkdir()
    refusal = checked(folders, name)
    picture().save(folders.input.parent / "secret.png")
    again = checked(folders, name)
    assert refusal
    assert refusal == again
    assert "leaves its folder" in refusal.problem
    absolute = checked(folders, str(folders.input.parent / "secret.png"))
    assert absolute
    assert "leaves its folder" in absolute.problem


@pytest.mark.parametrize(
    "name", [r"\\server\share\a.png", "C:a.png", "//server/a.png", r"\\?\C:\a"]
)
def test_paths_of_windows_are_refused_untouched(folders: Folders, name: str) -> None:
    """Even where such a file could be in the folder, on another system."""
    fault = checked(folders, name)
    assert fault
    assert "leaves its folder" in fault.problem


def test_a_link_does_not_lead_out_of_the_folder(folders: Folders) -> None:
    """Links within are followed."""
    picture().save(folders.input.parent / "secret.png")
    picture().save(folders.input / "a.png")
    try:
        (folders.input / "out.png").symlink_to(folders.input.parent / "secret.png")
        (folders.input / "in.png").symlink_to(folders.input / "a.png")
    except OSError:
        pytest.skip("this system lets nobody make links")
    assert checked(folders, "in.png") is None
    assert "leaves its folder" in str(checked(folders, "out.png"))
    assert checked(replace(folders, anywhere=True), "out.png") is None


def test_the_command_line_may_name_any_path(folders: Folders, tmp_path: Path) -> None:
    """Absolute, from the current folder, from the workflow's folder."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    picture().save(elsewhere / "a.png")
    anywhere = replace(folders, anywhere=True, beside=elsewhere)
    assert checked(anywhere, "a.png") is None
    assert checked(anywhere, str(elsewhere / "a.png")) is None
    assert checked(folders, "a.png")
    assert checked(replace(folders, beside=elsewhere), "a.png")
    relative = os.path.relpath(elsewhere / "a.png")
    assert checked(replace(folders, anywhere=True), relative) is None


def test_a_given_name_wins(folders: Folders, tmp_path: Path) -> None:
    """Over a file of that name, and without `anywhere`."""
    picture(seed=1).save(folders.input / "photo", "PNG")
    picture(seed=2).save(tmp_path / "given.png")
    named = replace(folders, named={"photo": tmp_path / "given.png", "gone": tmp_path / "gone.png"})
    np.testing.assert_array_equal(load(named, "photo").image.pixels[0], np.asarray(picture(seed=2)))
    assert "no such file" in str(checked(named, "gone"))


def test_the_list_has_pictures_only(folders: Folders) -> None:
    """Sorted, with subfolders, without hidden files."""
    (folders.input / "sub").mkdir()
    for name in ("b.png", "A.JPG", "notes.txt", ".hidden.png", "sub/c.webp"):
        (folders.input / name).write_bytes(b"")
    named = replace(folders, named={"photo": Path("x")})
    assert list_pictures(named) == ["photo", "A.JPG", "b.png", "sub/c.webp"]
    assert list_pictures(replace(folders, input=folders.input / "none")) == []
