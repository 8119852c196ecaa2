"""Saving pictures: names, numbers, text inside, and disks that refuse."""

from __future__ import annotations

import errno
import os
import threading
from datetime import datetime
from pathlib import Path
from typing import cast

import numpy as np
import PIL.Image
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.nodes.context import CallContext, folders_below
from vinode.graph.errors import Cancelled, NodeError
from vinode.graph.values import Image
from vinode.nodes.algorithms.output_names import expand, plan_target
from vinode.nodes.files import load_image, preview_image, save_image


@pytest.fixture
def context(tmp_path: Path) -> CallContext:
    """Give a context with empty folders."""
    return CallContext(folders_below(tmp_path / "run"))


def noise(batch: int = 1, channels: int = 3, seed: int = 0) -> Image:
    """Make 8-bit noise."""
    shape = (batch, 4, 5, channels)
    return Image(np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8))


def names(folder: Path) -> list[str]:
    """List all files below a folder, hidden ones too."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.*"))


def shown(context: CallContext) -> list[dict[str, str]]:
    """Give all pictures that were shown."""
    return [cast(dict[str, str], item) for _, items in context.shown for item in items]


@pytest.mark.parametrize("channels", [3, 4])
def test_a_saved_picture_is_loaded_as_it_was(context: CallContext, channels: int) -> None:
    """Colours exactly, transparency as the mask."""
    image = noise(channels=channels)
    save_image(context, image)
    loaded = load_image(context, "vinode_00001_.png [output]")
    np.testing.assert_array_equal(loaded.image.pixels, image.pixels[..., :3])
    if channels == 4:
        np.testing.assert_allclose(loaded.mask, 1 - image.as_float()[..., 3], atol=1e-6)


def test_floats_are_rounded(context: CallContext) -> None:
    """To the nearest of 255, out of range and no number included."""
    values = np.array([0.0, 0.999, 1.5, np.nan], np.float32)
    save_image(context, Image(values.repeat(3).reshape(1, 1, 4, 3)))
    with PIL.Image.open(context.folders.output / "vinode_00001_.png") as saved:
        assert np.asarray(saved)[0, :, 0].tolist() == [0, 255, 255, 0]


def test_a_batch_is_numbered_on_and_shown(context: CallContext) -> None:
    """After the largest number of that name, whatever else is there."""
    output = context.folders.output
    for name in ("fox_00007_.png", "fox_00003_.png", "foxes_00050_.png", "fox_x_.png"):
        (output / name).write_bytes(b"")
    save_image(context, noise(2), "fox")
    assert context.shown == [
        (
            "images",
            [
                {"filename": "fox_00008_.png", "subfolder": "", "type": "output"},
                {"filename": "fox_00009_.png", "subfolder": "", "type": "output"},
            ],
        )
    ]
    assert names(output)[2:5] == ["fox_00008_.png", "fox_00009_.png", "fox_x_.png"]
    assert context.told == [(0, 2), (1, 2)]


def test_subfolders_are_made_and_shown(context: CallContext) -> None:
    """With slashes, whichever were given."""
    save_image(context, noise(), "a\\b/fox")
    assert names(context.folders.output) == ["a/b/fox_00001_.png"]
    assert context.shown[0][1] == [
        {"filename": "fox_00001_.png", "subfolder": "a/b", "type": "output"}
    ]


def test_the_place_in_the_batch_can_stand_in_the_name(context: CallContext) -> None:
    """And numbers go on over all places."""
    save_image(context, noise(2), "%width%x%height%_%batch_num%")
    save_image(context, noise(1), "%width%x%height%_%batch_num%")
    assert names(context.folders.output) == [
        "5x4_0_00001_.png", "5x4_0_00003_.png", "5x4_1_00002_.png"
    ]  # fmt: skip


def test_pictures_carry_their_workflow(tmp_path: Path) -> None:
    """As plain text, or as UTF-8 where it needs that; half a character is no reason to fail."""
    text = {"prompt": '{"1": {}}', "workflow": '{"é": "狐"}', "odd": "\ud83d"}
    context = CallContext(folders_below(tmp_path), text)
    save_image(context, noise())
    with PIL.Image.open(context.folders.output / "vinode_00001_.png") as saved:
        saved.load()
        kept = dict(saved.info)
    assert kept["prompt"] == text["prompt"]
    assert kept["workflow"] == text["workflow"]


def test_previews_go_to_the_temp_folder(context: CallContext) -> None:
    """Under a name that no other node has."""
    preview_image(context, noise(2))
    preview_image(context, noise())
    assert len(names(context.folders.temp)) == 3
    assert names(context.folders.output) == []
    assert [item["type"] for item in shown(context)] == ["temp"] * 3


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("%date:yyyy-MM-dd%/fox", "2026-03-09/fox"),
        ("%date:yy.M.d_hh:mm:ss%", "26.3.9_08-05-07"),
        ("%year%%month%%day%_%hour%%minute%%second%", "20260309_080507"),
        ("%width%x%height%", "640x480"),
        ("100% %unknown% %date%", "100% %unknown% %date%"),
    ],
)
def test_patterns(prefix: str, expected: str) -> None:
    """What is no pattern stays."""
    assert expand(prefix, datetime(2026, 3, 9, 8, 5, 7), 640, 480) == expected


@pytest.mark.parametrize(
    "prefix",
    [
        "../fox", "a/../../fox", "..", "..\\fox", "/tmp/fox", "\\\\server\\share\\fox", "C:\\fox",
        "c:fox", "CON", "nul.txt/fox", "a/COM1", "lpt¹", "fox.", "a /fox", "fox\0", "fox\n", "a:b",
        "fox?", "f" * 300, "a/" * 300 + "/" + "狐" * 100, "%date:../../../%",
    ],
)  # fmt: skip
def test_names_that_are_refused(context: CallContext, prefix: str) -> None:
    """Whatever would leave the folder, or would not survive a copy to Windows."""
    with pytest.raises(NodeError, match=r"filename_prefix|device"):
        save_image(context, noise(), prefix)
    assert names(context.folders.output.parent) == []
    assert list(context.folders.output.iterdir()) == []


@given(st.text(max_size=12), st.lists(st.sampled_from(["..", "a", "/", "\\", "C:", ".", ""])))
def test_no_prefix_leaves_the_folder(
    tmp_path_factory: pytest.TempPathFactory, text: str, parts: list[str]
) -> None:
    """Either it is refused, or its folder is inside."""
    root = tmp_path_factory.getbasetemp() / "law"
    try:
        target = plan_target("/".join([text, *parts]), root)
    except NodeError:
        return
    assert target.folder.resolve().is_relative_to(root.resolve())
    assert not {"/", "\\", ":", "\0"} & set(target.stem)


def test_a_link_does_not_lead_out(context: CallContext, tmp_path: Path) -> None:
    """Nothing is written behind it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    try:
        (context.folders.output / "link").symlink_to(outside)
    except OSError:
        pytest.skip("this system lets nobody make links")
    with pytest.raises(NodeError, match="through a link"):
        save_image(context, noise(), "link/deep/fox")
    assert list(outside.iterdir()) == []


def test_two_runs_never_take_each_others_number(context: CallContext) -> None:
    """Files of all are there, each once."""
    contexts = [CallContext(context.folders) for _ in range(4)]
    threads = [threading.Thread(target=save_image, args=(one, noise(5), "fox")) for one in contexts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told = [str(item["filename"]) for one in contexts for item in shown(one)]
    assert sorted(told) == names(context.folders.output)
    assert len(set(told)) == 20


def test_a_disk_without_hard_links_will_do(
    context: CallContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As FAT has none: nothing is replaced, and nothing is left over."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    save_image(context, noise(2), "fox")
    (context.folders.output / ".fox_00003_.png.lock").write_bytes(b"")
    save_image(context, noise(1), "fox")
    assert names(context.folders.output) == [
        ".fox_00003_.png.lock", "fox_00001_.png", "fox_00002_.png", "fox_00004_.png"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("number", "problem"),
    [
        (errno.ENOSPC, "disk is full"),
        (errno.EROFS, "may not be written"),
        (errno.EACCES, "may not be written"),
        (errno.EIO, "could not be written"),
    ],
)
def test_a_disk_that_refuses_is_one_sentence(
    context: CallContext, monkeypatch: pytest.MonkeyPatch, number: int, problem: str
) -> None:
    """What was saved before is kept and shown; nothing half-written is left."""
    real = PIL.Image.Image.save
    saved: list[object] = []

    def save(picture: PIL.Image.Image, file: object, *args: object, **options: object) -> None:
        if saved:
            getattr(file, "write")(b"half")  # noqa: B009
            raise OSError(number, os.strerror(number))
        saved.append(picture)
        real(picture, file, *args, **options)  # type: ignore[arg-type]  # pyright: ignore

    monkeypatch.setattr(PIL.Image.Image, "save", save)
    with pytest.raises(NodeError, match=problem):
        save_image(context, noise(2), "fox")
    assert names(context.folders.output) == ["fox_00001_.png"]
    assert len(context.shown[0][1]) == 1


def test_a_file_in_place_of_the_folder_is_said(context: CallContext) -> None:
    """With its path."""
    (context.folders.output / "a").write_bytes(b"")
    with pytest.raises(NodeError, match="a file stands where"):
        save_image(context, noise(), "a/fox")


def test_cancel_keeps_what_is_saved(context: CallContext) -> None:
    """And saves no more."""
    context.cancelled = True
    with pytest.raises(Cancelled):
        save_image(context, noise(3))
    assert names(context.folders.output) == []
