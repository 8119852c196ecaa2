"""`vinode nodes`: lists, one node, packs, a new pack."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from vinode.cli import call, pack_template
from vinode.cli.nodes import command
from vinode.graph.context import Folders
from vinode.graph.errors import VinodeError

ROOT = Path(__file__).parents[2]

PACK = '''
from typing import Annotated, Literal
from vinode import Choices, Image, Lazy, Range, Seed, node


def names(folders):
    return ["one.txt", "two.txt"]


@node("demo.Everything", category="demo/all", title="All of it")
def everything(
    image: Image,
    other: Lazy[Image] | None,
    size: Annotated[int, Range(1, 9, "pixels", 2)] = 3,
    mode: Literal["a", "b"] = "a",
    name: Annotated[str, Choices(names, closed=False)] = "one.txt",
    seed: Annotated[int, Seed()] = 2**64 - 1,
) -> list[Image]:
    """Show everything.

    image    what to look at
    size     edge of it
    returns  a few of them
    """
    return [image]
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a folder with one good and one broken pack."""
    (tmp_path / "demo.py").write_text(PACK, encoding="utf-8")
    (tmp_path / "bad.py").write_text("import no_such_thing\n", encoding="utf-8")
    return tmp_path


def run(*words: str | Path, obj: object = None) -> Result:
    """Run `vinode nodes` with these words, in a wide terminal."""
    runner = CliRunner(env={"COLUMNS": "200"})
    return runner.invoke(command, [str(word) for word in words], obj=obj, catch_exceptions=False)


def run_json(*words: str | Path, obj: object = None) -> Any:
    """Give what was written to standard output as JSON."""
    result = run(*words, obj=obj)
    assert result.exit_code == 0
    return json.loads(result.stdout)


def test_nodes_are_listed_by_category(folder: Path) -> None:
    """With a sentence each; that a pack is broken is said beside."""
    result = run("--nodes", folder)
    assert result.exit_code == 0
    lines = [line.strip() for line in result.stdout.splitlines()]
    assert lines.index("demo/all") + 1 == lines.index("demo.Everything  Show everything.")
    assert lines.index("demo/all") < lines.index("image/transform")
    assert "pack 'bad', " in result.stderr
    assert "pip install no_such_thing" in result.stderr


def test_one_node_is_shown_in_full(folder: Path) -> None:
    """Kinds, limits, unit, defaults, options, how many choices, help, outputs, origin."""
    told = " ".join(run("--nodes", folder, "demo.Everything").stdout.split())
    for part in (
        "demo.Everything · All of it · demo/all Show everything.",
        "image IMAGE required what to look at",
        "other IMAGE (lazy) or nothing none",
        "size INT 3 1 to 9 pixels, step 2 edge of it",
        "mode COMBO 'a' a · b",
        "name COMBO 'one.txt' 2 choices, or another name",
        "seed INT 18446744073709551615 0 to 2^64-1, a seed",
        "IMAGE list of IMAGE a few of them",
        f"from pack demo, {folder / 'demo.py'}",
    ):
        assert part in told


def test_json_says_the_same(folder: Path) -> None:
    """For programs; seeds are exact."""
    alone = run_json("--nodes", folder, "demo.Everything", "--json")
    (listed,) = [told for told in run_json("--nodes", folder, "--json") if told["pack"] == "demo"]
    assert alone == listed
    ports = {port["name"]: port for port in alone["inputs"]}
    assert "default" not in ports["image"]
    assert ports["other"]["default"] is None
    assert ports["size"]["range"] == {"minimum": 1, "maximum": 9, "unit": "pixels", "step": 2}
    assert ports["mode"]["options"] == ["a", "b"]
    assert ports["name"]["choices"] == {"count": 2, "closed": False, "problem": ""}
    assert ports["seed"]["default"] == 2**64 - 1
    assert alone["outputs"] == [
        {"name": "IMAGE", "kind": "IMAGE", "list": True, "help": "a few of them"}
    ]


def test_choices_are_counted_in_the_folders_of_the_program(tmp_path: Path) -> None:
    """LoadImage offers the pictures of the input folder."""
    from PIL import Image

    folders = Folders(tmp_path, tmp_path, tmp_path, (tmp_path,))
    Image.new("RGB", (2, 2)).save(tmp_path / "a.png")
    told = run_json("LoadImage", "--json", obj=folders)
    assert [port["choices"]["count"] for port in told["inputs"]] == [1]


def test_choices_that_fail_are_told_and_harm_nothing(tmp_path: Path) -> None:
    """They are somebody else's function."""
    text = PACK.replace('return ["one.txt", "two.txt"]', "raise OSError('no disk')")
    (tmp_path / "demo.py").write_text(text, encoding="utf-8")
    told = run("--nodes", tmp_path, "demo.Everything").stdout
    assert "choices cannot be listed: OSError: no disk" in told


def test_an_unknown_node_is_answered_with_the_nearest() -> None:
    """Exit code 2, one sentence."""
    result = run("imagescal")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "node 'imagescal': there is no such node; did you mean 'ImageScale'?\n"
    )
    assert run("qqqqqq").stderr.endswith("there is no such node; `vinode nodes` lists them\n")


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    """It was named on the command line, so it is no matter for a list of packs."""
    with pytest.raises(VinodeError, match="no such folder"):
        run("--nodes", tmp_path / "nowhere")


def test_the_whole_program_gives_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    """`vinode nodes` through the door of the command line."""
    assert call(["nodes", "imagescal"]) == 2
    assert call(["nodes", "check", "qqqqqq"]) == 1
    assert call(["nodes", "LoadImage"]) == 0
    assert "did you mean 'ImageScale'?" in capsys.readouterr().err


def test_packs_are_listed_with_reasons(folder: Path) -> None:
    """The broken one names file, line and fix."""
    told = run("--nodes", folder, "--packs").stdout
    assert "builtin" in told
    assert f"pack 'bad', {folder / 'bad.py'}, line 1: a module that it imports is missing" in told
    packs = {pack["name"]: pack for pack in run_json("--nodes", folder, "--packs", "--json")}
    assert packs["demo"]["nodes"] == ["demo.Everything"]
    assert packs["demo"]["problem"] is None
    assert "pip install no_such_thing" in packs["bad"]["problem"]


def test_the_docs_are_printed_as_bytes_that_do_not_change() -> None:
    """The same on every system: line feeds, UTF-8."""
    result = run("docs")
    assert result.stdout_bytes.startswith(b"# Nodes\n")
    assert b"\r" not in result.stdout_bytes


def test_a_new_pack_passes_everything(tmp_path: Path) -> None:
    """Its own tests, mypy strict and `vinode nodes check`, as it was written."""
    assert run("new", "my-pack", "--to", tmp_path).exit_code == 0
    project = tmp_path / "my-pack"
    checked = run("check", project)
    assert (checked.exit_code, checked.stdout) == (0, "1 node, nothing to mend\n")
    test = (project / "tests" / "test_light.py").read_text(encoding="utf-8")
    assert len(test.partition("def ")[2].splitlines()) < 10
    here = {**os.environ, "MYPYPATH": str(ROOT), "PYTHONPATH": str(ROOT)}
    for words in (["pytest", "-q"], ["mypy", "--cache-dir", str(ROOT / ".mypy_cache" / "packs")]):
        made = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=project,
            env=here,
            capture_output=True,
            text=True,
            check=False,
        )
        assert made.returncode == 0, made.stdout + made.stderr


def test_a_new_pack_never_overwrites(tmp_path: Path) -> None:
    """Whatever is there stays as it was."""
    (tmp_path / "my-pack").mkdir()
    result = run("new", "my-pack", "--to", tmp_path)
    assert result.exit_code == 2
    assert "it is there already" in result.stderr
    assert list((tmp_path / "my-pack").iterdir()) == []


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """One sentence, and nothing half there."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    result = run("new", "my-pack", "--to", tmp_path / "file" / "deeper")
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


NAMES = {
    "My Pack": "my-pack",
    "my_pack": "my-pack",
    "3d-tools": "d-tools",
    "json": "json-nodes",
    "vinode": "vinode-nodes",
    "class": "class-nodes",
    "../up": "up",
    "-": "my-nodes",
    "": "my-nodes",
    "a" * 61: "a" * 50,
}


@pytest.mark.parametrize(("name", "better"), NAMES.items())
def test_a_name_that_is_none_is_refused_with_a_better_one(name: str, better: str) -> None:
    """And the better one is taken."""
    with pytest.raises(VinodeError) as caught:
        pack_template.module_name(name)
    assert caught.value.faults[0].fix.endswith(f" {better}")
    assert pack_template.module_name(better)
