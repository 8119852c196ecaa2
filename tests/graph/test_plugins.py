"""Packs: good ones load, broken ones come back with the reason, and nothing of them stays."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from vinode.graph import plugins
from vinode.graph.plugins import Pack, Packs, Source, load_packs

NODE = '''
from vinode import node

@node("{id}", category="demo")
def {name}(text: str) -> str:
    """Give the text back."""
    return text
'''


def write(path: Path, id: str = "", name: str = "echo", before: str = "", after: str = "") -> Path:
    """Write a module with one node, and more around it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    node = NODE.format(id=id, name=name) if id else ""
    path.write_text(before + node + after, encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def _clean_modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Leave `sys.modules` and the path as they were."""
    before = dict(sys.modules)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    for name in set(sys.modules) - set(before):
        del sys.modules[name]


def ours(packs: Packs) -> tuple[Pack, ...]:
    """Give the packs beside the built-in one and those installed on this machine."""
    known = {pack.name for pack in load_packs().packs}
    return tuple(pack for pack in packs.packs if pack.name not in known)


def only(packs: Packs) -> Pack:
    """Give the one pack."""
    (pack,) = ours(packs)
    return pack


def test_built_in_nodes_come_first_and_without_openvino() -> None:
    """Listing nodes must be quick: a child process shows what was imported."""
    code = (
        "import sys; from vinode.graph.plugins import load_packs; packs = load_packs();"
        "found = 'openvino' in sys.modules;"
        "print(packs.packs[0].name, [str(p.problem) for p in packs.broken], found)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "builtin [] False\n"


def test_built_in_nodes_are_there_without_an_installation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A checkout has no entry points."""
    with_entry_points = load_packs()

    def none_found(group: str) -> list[object]:
        return []

    monkeypatch.setattr(plugins, "entry_points", none_found)
    assert [pack.name for pack in load_packs().packs] == ["builtin"]
    assert load_packs().packs[0].nodes == with_entry_points.packs[0].nodes


def test_a_file_and_a_package_of_a_folder_are_packs(tmp_path: Path) -> None:
    """By name; a package is walked whole, its relative imports work."""
    write(tmp_path / "zoom.py", "zoom.one", after="__version__ = '1.2'\n")
    write(tmp_path / "my-pack" / "__init__.py", before="from .deep import deeper\n")
    write(tmp_path / "my-pack" / "b.py", "my.b")
    write(tmp_path / "my-pack" / "a.py", "my.a")
    write(tmp_path / "my-pack" / "deep" / "__init__.py")
    write(tmp_path / "my-pack" / "deep" / "deeper.py", "my.deep", before="from ..a import echo\n")
    packs = load_packs([tmp_path])
    first, second = ours(packs)
    assert (first.name, first.nodes) == ("my-pack", ("my.a", "my.b", "my.deep"))
    assert (second.name, second.nodes, second.version) == ("zoom", ("zoom.one",), "1.2")
    assert packs.types["zoom.one"]("hello") == "hello"
    assert packs.pack_of("zoom.one") == second
    assert packs.pack_of("zoom.two") is None


def test_a_path_may_be_the_pack_itself(tmp_path: Path) -> None:
    """`--nodes my_pack` and `--nodes blur.py`; the same path twice is one pack."""
    file = write(tmp_path / "blur.py", "blur.one")
    package = write(tmp_path / "soft" / "__init__.py", "soft.one").parent
    packs = load_packs([file, package, tmp_path])
    assert [pack.nodes for pack in ours(packs)] == [("blur.one",), ("soft.one",)]


def test_what_is_hidden_is_not_loaded(tmp_path: Path) -> None:
    """Tests, private and disabled files, caches and folders of pictures."""
    explode = "raise RuntimeError('loaded')\n"
    for name in (
        "_private.py",
        "test_it.py",
        "conftest.py",
        "setup.py",
        ".hidden.py",
        "off.py.disabled",
        "off.disabled/__init__.py",
        "tests/__init__.py",
        "__pycache__/x.py",
        "pack/tests/__init__.py",
        "pack/test_pack.py",
        "pack/__main__.py",
    ):
        write(tmp_path / name, before=explode)
    (tmp_path / "photos").mkdir()
    (tmp_path / "readme.txt").write_text("text")
    write(tmp_path / "pack" / "__init__.py", "pack.one")
    assert only(load_packs([tmp_path])).nodes == ("pack.one",)


def test_two_folders_may_have_files_of_one_name(tmp_path: Path) -> None:
    """Their modules have names of their own; neither is called `nodes`."""
    write(tmp_path / "one" / "nodes.py", "one.node")
    write(tmp_path / "two" / "nodes.py", "two.node")
    packs = load_packs([tmp_path / "two", tmp_path / "one"])
    assert [pack.nodes for pack in ours(packs)] == [("two.node",), ("one.node",)]
    assert "nodes" not in sys.modules


BROKEN = {
    "import error": ("import no_such_thing\n", "line 1", "is missing", "pip install no_such_thing"),
    "error": ("x = 1\nx / 0\n", "line 2", "ZeroDivisionError", "remove the pack"),
    "exit": ("import sys\nsys.exit('bye')\n", "line 2", "ends the program", "__main__"),
    "syntax": ("def f(:\n", "line 1", "not Python", "mend it"),
    "declaration": (
        "from vinode import node\n\n@node('a.b', category='c')\ndef f(size) -> int: ...\n",
        "function bad.f, parameter 'size'",
        "no type hint",
        "add one",
    ),
    "not utf-8": ("# coding: no-such-coding\n", "bad.py", "not Python", "mend it"),
    "its own file": ("import good\n", "line 1", "is missing", "make a package of both"),
}


@pytest.mark.parametrize(("code", "place", "problem", "fix"), BROKEN.values(), ids=BROKEN)
def test_a_broken_pack_is_reported_and_the_rest_works(
    tmp_path: Path, code: str, place: str, problem: str, fix: str
) -> None:
    """Pack, file and line are named, and what to do; nothing of it stays in memory."""
    write(tmp_path / "bad.py", "bad.one", before=code)
    write(tmp_path / "good.py", "good.one")
    before = set(sys.modules)
    bad, good = ours(load_packs([tmp_path]))
    assert good.nodes == ("good.one",)
    assert bad.nodes == ()
    assert bad.problem is not None
    assert bad.problem.place.startswith("pack 'bad', ")
    assert place in bad.problem.place
    assert problem in bad.problem.problem
    assert fix in bad.problem.fix
    assert not [name for name in set(sys.modules) - before if name.endswith("_bad")]


def test_a_pack_that_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    """Neither its good modules nor its nodes; mended, it loads at once."""
    write(tmp_path / "half" / "__init__.py", "half.first")
    late = write(tmp_path / "half" / "late.py", before="raise OSError('no disk')\n")
    before = set(sys.modules)
    packs = load_packs([tmp_path])
    pack = only(packs)
    assert pack.nodes == ()
    assert "half.first" not in packs.types
    assert "late.py, line 1" in str(pack.problem)
    assert not [name for name in set(sys.modules) - before if "half" in name]
    write(late, "half.late")
    assert only(load_packs([tmp_path])).nodes == ("half.first", "half.late")


def test_an_absolute_import_of_itself_is_explained(tmp_path: Path) -> None:
    """A drop-in package is not on the path; its relative imports are the way."""
    write(tmp_path / "mine" / "__init__.py", before="import mine.other\n")
    assert "from . import" in str(only(load_packs([tmp_path])).problem)


def test_an_id_taken_by_another_pack_breaks_the_later_one(tmp_path: Path) -> None:
    """Both are named; the earlier keeps its node, and the later pack is taken whole or not."""
    write(tmp_path / "a.py", "demo.same")
    write(tmp_path / "b.py", "demo.same", after=NODE.format(id="b.more", name="more"))
    packs = load_packs([tmp_path])
    first, second = ours(packs)
    assert first.nodes == ("demo.same",)
    assert second.nodes == ()
    assert second.problem is not None
    assert second.problem.code == "duplicate-id"
    for part in ("'a'", "'b'", str(tmp_path / "a.py"), str(tmp_path / "b.py")):
        assert part in second.problem.problem
    assert packs.types["demo.same"].function.__module__.endswith("_a")
    assert "b.more" not in packs.types


def test_a_pack_may_import_the_node_of_another() -> None:
    """It stays the other's, and that is no duplicate."""
    module = ModuleType("x")
    exec(NODE.format(id="x.echo", name="echo"), vars(module))
    first = Source("first", "here", lambda: [module])
    second = Source("second", "there", lambda: [module])
    packs = plugins.load([first, second])
    assert [pack.nodes for pack in packs.packs] == [("x.echo",), ()]
    assert packs.broken == ()


SHAPES = {
    "missing folder": ("nowhere", "cannot be read", "a folder of .py files"),
    "code without init": ("loose", "only with a file __init__.py", "add an empty one"),
    "a project": ("project", "a project is installed", "pip install"),
}


@pytest.mark.parametrize(("name", "problem", "fix"), SHAPES.values(), ids=SHAPES)
def test_a_folder_of_the_wrong_shape_is_explained(
    tmp_path: Path, name: str, problem: str, fix: str
) -> None:
    """Silence would leave an artist without a clue."""
    write(tmp_path / "all" / "loose" / "code.py", "x.y")
    write(tmp_path / "all" / "project" / "pyproject.toml")
    folder = tmp_path / "nowhere" if name == "nowhere" else tmp_path / "all"
    told = {pack.name: str(pack.problem) for pack in ours(load_packs([folder]))}
    assert problem in told[name]
    assert fix in told[name]


def install(folder: Path, name: str, entry_point: str) -> None:
    """Lay down what an installer leaves: metadata with an entry point."""
    info = folder / f"{name}-2.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.0\n")
    (info / "entry_points.txt").write_text(f"[vinode.nodes]\n{entry_point}\n")


def test_installed_packs_load_by_name_and_break_alone(tmp_path: Path) -> None:
    """Entry points, whatever order the path has them in."""
    write(tmp_path / "zz_pack" / "__init__.py")
    write(tmp_path / "zz_pack" / "more.py", "zz.more")
    write(tmp_path / "aa_pack.py", "aa.one")
    write(tmp_path / "bb_pack" / "__init__.py", before="import no_such_thing\n")
    install(tmp_path, "zz-dist", "zz = zz_pack")
    install(tmp_path, "aa-dist", "aa = aa_pack")
    install(tmp_path, "bb-dist", "bb = bb_pack")
    install(tmp_path, "cc-dist", "cc = cc_pack:nodes")
    sys.path.insert(0, str(tmp_path))
    aa, bb, cc, zz = ours_by_origin(load_packs(), "-dist 2.0")
    assert (aa.nodes, aa.origin, aa.version) == (("aa.one",), "aa-dist 2.0", "2.0")
    assert zz.nodes == ("zz.more",)
    assert f"{Path('bb_pack', '__init__.py')}, line 1" in str(bb.problem)
    assert "pip install no_such_thing" in str(bb.problem)
    assert "it names no module; got 'cc_pack:nodes'" in str(cc.problem)


def ours_by_origin(packs: Packs, ending: str) -> tuple[Pack, ...]:
    """Give the packs of this test's distributions."""
    return tuple(pack for pack in packs.packs if pack.origin.endswith(ending))


def test_what_a_pack_prints_stays_out_of_stdout(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A JSON report goes there."""
    write(tmp_path / "loud.py", "loud.one", before="print('hello')\n")
    load_packs([tmp_path])
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "hello\n")


def test_the_users_folder_is_looked_into_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It need not exist; folders that were given come after it."""
    monkeypatch.setattr(plugins, "user_folder", lambda: tmp_path / "data" / "nodes")
    assert plugins.drop_in_folders([tmp_path]) == (tmp_path,)
    (tmp_path / "data" / "nodes").mkdir(parents=True)
    assert plugins.drop_in_folders([tmp_path]) == (tmp_path / "data" / "nodes", tmp_path)


def test_loading_again_runs_the_code_again(tmp_path: Path) -> None:
    """An author edits and looks again, in one process."""
    file = write(tmp_path / "mine.py", "mine.one")
    assert only(load_packs([tmp_path])).nodes == ("mine.one",)
    write(file, "mine.two_more")
    assert only(load_packs([tmp_path])).nodes == ("mine.two_more",)
    assert os.sep in only(load_packs([tmp_path])).origin
