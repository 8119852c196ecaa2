"""`vinode nodes check`: an author is told everything at once."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from vinode.cli.nodes import command
from vinode.cli.pack_check import check

HEAD = """
import random, time
import numpy as np
from typing import Annotated, NamedTuple
from vinode import Context, Image, Kind, Mask, Seed, node
"""

CLEAN = '''
@node("demo.clean", category="demo")
def clean(mask: Mask, seed: Annotated[int, Seed()] = 0) -> Mask:
    """Make noise.

    mask  what is taken for its size
    seed  of the noise
    """
    mask = mask.copy()
    mask[0] = np.random.default_rng(seed).random(mask.shape[1:])
    return mask
'''

# Each row: a node's declaration and body, and what must be said of it.
FINDINGS = {
    "no docstring": (
        '@node("demo.f", category="d")\ndef f() -> int:\n    return 1',
        "no docstring",
    ),
    "no help": (
        '@node("demo.f", category="d")\ndef f(size: int) -> int:\n    """Do."""\n    return size',
        "input 'size': it has no help; add a row",
    ),
    "no category": (
        '@node("demo.f", category=" ")\ndef f() -> int:\n    """Do."""\n    return 1',
        "the category is empty",
    ),
    "no prefix": (
        '@node("f", category="d")\ndef f() -> int:\n    """Do."""\n    return 1',
        "call it 'demo.f'",
    ),
    "field without help": (
        "class Two(NamedTuple):\n    a: int\n    b: int\n\n"
        '@node("demo.f", category="d")\ndef f() -> Two:\n    """Do."""\n    return Two(1, 2)',
        "output 'b': it has no help",
    ),
    "kind of ours": (
        "Own = Annotated[object, Kind('IMAGE', 'mine', '#123456')]\n\n"
        '@node("demo.f", category="d")\ndef f() -> Own:\n    """Do."""\n    return 1',
        "its kind IMAGE is another than vinode's",
    ),
    "kind without colour": (
        "Own = Annotated[object, Kind('OWN', 'mine', 'red')]\n\n"
        '@node("demo.f", category="d")\ndef f() -> Own:\n    """Do."""\n    return 1',
        "kind OWN has no colour; got red",
    ),
    "lost": (
        '@node("demo.e", category="d")\ndef f() -> int:\n    """Do."""\n    return 1\n\n'
        '@node("demo.f", category="d")\ndef f() -> int:\n    """Do."""\n    return 1',
        "a second function 'f': the first is lost",
    ),
    "clock": (
        '@node("demo.f", category="d")\ndef f() -> float:\n    """Do."""\n    return time.time()',
        "time.time() is not the same twice; take `seed",
    ),
    "dice": (
        '@node("demo.f", category="d")\ndef f() -> float:\n    """Do."""\n'
        "    return random.random()",
        "random.random() is not the same twice",
    ),
    "unseeded": (
        '@node("demo.f", category="d")\ndef f() -> float:\n    """Do."""\n'
        "    return float(np.random.default_rng().random())",
        "np.random.default_rng() is not the same twice",
    ),
    "file": (
        '@node("demo.f", category="d")\ndef f() -> str:\n    """Do."""\n'
        '    return open("x").read()',
        "open() reads what may change unnoticed; say fingerprint",
    ),
    "talk": (
        '@node("demo.f", category="d")\ndef f() -> int:\n    """Do."""\n    print(1)\n    return 1',
        "line 4 of it: it calls print(); use context.progress",
    ),
    "global": (
        '@node("demo.f", category="d")\ndef f() -> int:\n    """Do."""\n    global n\n    n = 1\n'
        "    return n",
        "it writes the global n",
    ),
    "writes its input": (
        '@node("demo.f", category="d")\ndef f(mask: Mask) -> Mask:\n    """Do.\n\n    mask  it\n'
        '    """\n    mask[0] *= 2\n    return mask',
        "it writes into its input 'mask'; inputs are read-only",
    ),
    "does not load": ("import no_such_thing", "a module that it imports is missing"),
    "no node": ("x = 1", "it brings no node"),
    "taken": (
        '@node("ImageScale", category="d")\ndef f() -> int:\n    """Do."""\n    return 1',
        "'ImageScale' is declared twice: by pack 'builtin'",
    ),
}


def run(*words: str | Path) -> Result:
    """Run `vinode nodes check`."""
    return CliRunner().invoke(command, ["check", *map(str, words)], catch_exceptions=False)


@pytest.mark.parametrize(("code", "finding"), FINDINGS.values(), ids=FINDINGS)
def test_what_is_wrong_is_told(tmp_path: Path, code: str, finding: str) -> None:
    """Once, with the place and the fix; exit code 1."""
    (tmp_path / "demo.py").write_text(HEAD + code + "\n", encoding="utf-8")
    result = run(tmp_path / "demo.py")
    assert result.exit_code == 1
    told, total = result.stdout.splitlines()[:-1], result.stdout.splitlines()[-1]
    assert sum(finding in line for line in told) == 1
    assert f"{len(told)} to mend" in total
    assert "vinode_drop_in" not in result.stdout


def test_a_clean_pack_has_nothing_to_mend(tmp_path: Path) -> None:
    """A copy may be written to, a seeded generator is pure."""
    (tmp_path / "demo.py").write_text(HEAD + CLEAN, encoding="utf-8")
    result = run(tmp_path / "demo.py")
    assert (result.exit_code, result.stdout) == (0, "1 node, nothing to mend\n")


def test_a_node_with_a_fingerprint_may_read(tmp_path: Path) -> None:
    """And one that ends a workflow may look at the clock."""
    code = '''
@node("demo.read", category="d", fingerprint=lambda: None)
def read() -> str:
    """Read."""
    return open("x").read()

@node("demo.stamp", category="d")
def stamp() -> None:
    """Stamp."""
    time.time()
'''
    (tmp_path / "demo.py").write_text(HEAD + code, encoding="utf-8")
    assert check(str(tmp_path / "demo.py"))[1] == ()


def test_all_faults_of_a_folder_are_told_at_once(tmp_path: Path) -> None:
    """Not the first only."""
    (tmp_path / "demo.py").write_text(HEAD + FINDINGS["dice"][0] + "\n", encoding="utf-8")
    (tmp_path / "more.py").write_text(HEAD + FINDINGS["no docstring"][0] + "\n", encoding="utf-8")
    packs, faults = check(str(tmp_path))
    assert [pack.name for pack in packs] == ["demo", "more"]
    assert [fault.problem for fault in faults] == [
        "random.random() is not the same twice",
        "'demo.f' is declared twice: " + faults[1].problem.partition(": ")[2],
    ]


def test_an_unknown_pack_is_answered_with_the_nearest() -> None:
    """Or with those that there are."""
    result = run("buildin")
    assert result.exit_code == 1
    assert "no such pack and no such file; got 'buildin'; did you mean 'builtin'?" in result.stdout
