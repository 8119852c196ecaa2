"""`vinode run --set, --only, --input`: what they change, and how they say what is wrong."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from tests.cli.program import SMALL, save, save_noise
from vinode.cli import call
from vinode.graph.workflow import Json

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in an empty folder that has only the workflow."""
    monkeypatch.chdir(tmp_path)
    save(Path("small.json"))


def run_json(capsys: Capture, *words: str) -> dict[str, Any]:
    """Run with --timing json; standard output is JSON and nothing else."""
    assert call(["run", *words, "--timing", "json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    report: dict[str, Any] = json.loads(out)
    return report


def refused(capsys: Capture, *words: str) -> str:
    """Run what is refused: exit code 2, nothing on standard output; gives what is said."""
    assert call(["run", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    assert not Path("output").exists()
    return err.strip()


def saved() -> list[str]:
    """Name what is in the output folder."""
    return sorted(entry.name for entry in Path("output").iterdir())


@pytest.mark.parametrize(
    ("words", "node", "carried"),
    [
        (["1.width=4"], "1", "IMAGE (1, 8, 4, 3) uint8"),
        (["1.width=4", "1.width=5"], "1", "IMAGE (1, 8, 5, 3) uint8"),
        (["Canvas.batch_size=2"], "2", "IMAGE (2, 8, 16, 3) uint8"),
        (["EmptyImage.height=3"], "2", "IMAGE (1, 3, 16, 3) uint8"),
        (["t.text=2"], "t", "'2 and 3'"),
        (["t.text=[1, 2]"], "t", "'list and 3'"),
        (["t.text={}"], "t", "'dict and 3'"),
        (["s.value=true"], "s", "'true'"),
        (["s.value=a=b"], "s", "'a=b'"),
        (["s.value="], "s", "''"),
        (['s.value="quoted"'], "s", "'\"quoted\"'"),
        (['s.value=["t", 0]'], "s", "'1 and 3'"),
        (['s.value=["u", 0]'], "s", "'[\"u\", 0]'"),
    ],
)
def test_an_input_is_set(words: list[str], node: str, carried: str, capsys: Capture) -> None:
    """JSON where a value is asked for, the text as it stands where a text is; links are links."""
    nodes: dict[str, Json] = {
        **SMALL,
        "t": {"class_type": "StringFormat", "inputs": {"template": "{a} and {b}", "a": 1, "b": 3}},
        "s": {"class_type": "PrimitiveString", "inputs": {"value": "x"}},
    }
    words = [word.replace("t.text", "t.a") for word in words]
    sets = [part for word in words for part in ("--set", word)]
    only = ["--only", node]
    report = run_json(capsys, save(Path("w.json"), nodes), *sets, *only)
    told = next(entry for entry in report["nodes"] if entry["id"] == node)
    assert told["outputs"][0].startswith(carried)


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("1.widht=4", "--set 1.widht: node 1 (EmptyImage) has no such input; got widht; did you"
         " mean width?"),
        ("4.width=4", "--set 4.width: no such node; got 4; the workflow has 1, 2, 3, Canvas"),
        ("Canvs.width=4", "--set Canvs.width: no such node; got Canvs; did you mean Canvas?"),
        ("width=4", "--set width=4: expected NODE.INPUT=VALUE; write --set 6.text=\"a red fox\""),
        ("1.width", "--set 1.width: expected NODE.INPUT=VALUE"),
        ("1.=4", "--set 1.=4: expected NODE.INPUT=VALUE"),
        ("=4", "--set =4: expected NODE.INPUT=VALUE"),
        ("1.width=NaN", "node 1 (EmptyImage), input width: expected INT; got 'NaN'"),
        ("1.width=1e999", "input width: expected INT; got '1e999'"),
        ("1.width={", "input width: expected INT; got '{'"),
        ("1.width=" + "[" * 5000, "input width: expected INT; got '[[[["),
        ("1.width=" + "9" * 5000, "input width: expected INT; got '9999"),
        ('1.width=["2", 0]', "input width: takes INT; got IMAGE from node 2 (ImageInvert)"),
        ('1.width=["2", -1]', "input width: expected INT; got ['2', -1]"),
        ('1.width=["2", true]', "input width: expected INT; got ['2', True]"),
    ],
)  # fmt: skip
def test_a_set_that_cannot_be_is_refused(word: str, sentence: str, capsys: Capture) -> None:
    """With what was written, and the nearest name."""
    assert sentence in refused(capsys, "small.json", "--set", word)


def test_a_title_of_two_nodes_is_no_name(capsys: Capture) -> None:
    """The ids are told."""
    twice: dict[str, Json] = {**SMALL, "2": {**SMALL["2"], "_meta": {"title": "Canvas"}}}
    said = refused(capsys, save(Path("w.json"), twice), "--set", "Canvas.width=4")
    assert said.endswith("2 nodes have this name; got Canvas; name one by its id: 1, 2")


def test_all_wrong_options_of_a_kind_are_told_at_once(capsys: Capture) -> None:
    """Not the first of them only."""
    said = refused(capsys, "small.json", "--set", "1.widht=4", "--set", "7.x=1", "--set", "y")
    assert len(said.splitlines()) == 3
    said = refused(capsys, "small.json", "--only", "7", "--only", "Canvs")
    assert said.splitlines() == [
        "--only 7: no such node; got 7; the workflow has 1, 2, 3, Canvas, EmptyImage, ImageInvert, "
        "SaveImage",
        "--only Canvs: no such node; got Canvs; did you mean Canvas?",
    ]
    said = refused(capsys, "small.json", "--device", "NPPU", "--device", "1=CPPU")
    assert said.splitlines() == [
        "--device: no such device hint; got 'NPPU'; did you mean NPU?",
        "--device 1=CPPU: no such device hint; got 'CPPU'; did you mean CPU?",
    ]


def test_only_some_nodes_run(capsys: Capture) -> None:
    """Those named and what they need; a faulty node elsewhere does not matter."""
    nodes: dict[str, Json] = {**SMALL, "4": {"class_type": "PreviewImage", "inputs": {}}}
    report = run_json(capsys, save(Path("w.json"), nodes), "--only", "ImageInvert", "--quiet")
    assert {node["id"] for node in report["nodes"]} == {"1", "2"}
    assert list(Path("output").iterdir()) == []


PHOTO = {
    "1": {"class_type": "LoadImage", "inputs": {"image": "photo.png"}},
    "2": {"class_type": "SaveImage", "inputs": {"images": ["1", 0]}},
}


def test_a_picture_is_named_on_the_command_line(capsys: Capture) -> None:
    """The name in the workflow stands for the file."""
    save_noise(Path("mine.png"), 8)
    file = save(Path("photo.json"), PHOTO)
    assert "there is no such file; got 'photo.png'" in refused(capsys, file)
    assert call(["run", file, "--input", "photo.png=mine.png"]) == 0
    assert saved() == ["vinode_00001_.png"]


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("photo.png", "--input: expected NAME=PATH; got 'photo.png'; write --input photo.png="),
        ("=mine.png", "--input: expected NAME=PATH; got '=mine.png'"),
        ("photo.png=", "--input: expected NAME=PATH; got 'photo.png='"),
        ("photo.png=mien.png", "no such file; got mien.png; did you mean mine.png?"),
        ("photo.png=none/x.png", "--input photo.png: no such file; got none/x.png; check the path"),
        ("photo.png=.", "this is a folder, not a file; got .; name a file in it"),
    ],
)  # fmt: skip
def test_an_input_that_cannot_be_is_refused(word: str, sentence: str, capsys: Capture) -> None:
    """With the nearest name beside it."""
    save_noise(Path("mine.png"), 8)
    assert sentence in refused(capsys, save(Path("photo.json"), PHOTO), "--input", word)


def test_an_input_that_no_node_asks_for_is_told(capsys: Capture) -> None:
    """A mistyped name would otherwise be missed in silence."""
    save_noise(Path("photo.png"), 8)
    file = save(Path("photo.json"), PHOTO)
    assert call(["run", file, "--input", "foto.png=photo.png"]) == 2
    said = capsys.readouterr().err
    assert said == "--input foto.png: no node asks for it; did you mean photo.png?\n"


def test_old_previews_are_swept_away_and_new_ones_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are for whoever looks now; a folder of them would grow for ever."""
    monkeypatch.chdir(tmp_path)
    temp = platformdirs.user_cache_path("vinode", appauthor=False) / "temp"
    temp.mkdir(parents=True)
    for name, days in (("vinode_temp_old_1_.png", 2), ("vinode_temp_new_1_.png", 0)):
        (temp / name).touch()
        then = time.time() - days * 86_400
        os.utime(temp / name, (then, then))
    (temp / "somebody's.png").touch()
    assert call(["run", save(tmp_path / "w.json"), "--quiet"]) == 0
    assert {path.name for path in temp.iterdir()} == {"vinode_temp_new_1_.png", "somebody's.png"}


def test_a_picture_may_be_named_from_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As every shell writes it."""
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    save_noise(tmp_path / "photo.png", 8)
    nodes: dict[str, Json] = {
        "1": {"class_type": "LoadImage", "inputs": {"image": "~/photo.png"}},
        "2": {"class_type": "SaveImage", "inputs": {"images": ["1", 0]}},
    }
    (tmp_path / "below").mkdir()
    assert call(["run", save(tmp_path / "below" / "w.json", nodes), "--quiet"]) == 0
