"""Which kinds fit which, and what is wrong with a value that arrives."""

import itertools

import numpy as np
import pytest

from vinode.cli.pack_check import known_kinds
from vinode.graph.kinds import ANY, BOOLEAN, COMBO, FLOAT, INT, STRING, Kind, fits, value_problem
from vinode.graph.values import MASK, Boxes, Image

KINDS = list(known_kinds().values())
WIDER = {("INT", "FLOAT"), ("STRING", "COMBO"), ("COMBO", "STRING")}


def test_kinds_fit_themselves_anything_and_the_wider_ones() -> None:
    """And nothing else: a link of two kinds is a mistake that is told before the run."""
    for given, wanted in itertools.product(KINDS, KINDS):
        same = given.name == wanted.name or "*" in (given.name, wanted.name)
        assert fits(given, wanted) == (same or (given.name, wanted.name) in WIDER)


def test_a_kind_of_a_pack_fits_by_name() -> None:
    """Two packs may speak of one kind without knowing each other."""
    assert fits(Kind("DEPTH", "metres"), Kind("DEPTH", "m"))
    assert not fits(Kind("DEPTH", "metres"), Image.kind)


def test_names_and_colours_are_told_apart() -> None:
    """Two wires of one colour would be taken for one kind."""
    assert len({kind.name for kind in KINDS}) == len(KINDS) >= 10
    assert len({kind.colour for kind in KINDS}) == len(KINDS)


PICTURE = Image(np.zeros((1, 2, 2, 3), np.uint8))
GOOD: list[tuple[Kind, object]] = [
    (ANY, object()),
    (ANY, None),
    (INT, 2**64 - 1),
    (FLOAT, 1),
    (FLOAT, 1.5),
    (STRING, ""),
    (BOOLEAN, True),
    (COMBO, "a"),
    (Image.kind, PICTURE),
    (MASK, np.zeros((1, 2, 2), np.float32)),
]
BAD: list[tuple[Kind, object, str]] = [
    (INT, True, "expected INT, got bool"),
    (INT, 1.0, "expected INT, got float"),
    (FLOAT, False, "expected FLOAT, got bool"),
    (FLOAT, "1", "expected FLOAT, got str"),
    (STRING, 1, "expected STRING, got int"),
    (BOOLEAN, 1, "expected BOOLEAN, got int"),
    (STRING, None, "expected STRING, got NoneType"),
    (Image.kind, np.zeros((1, 2, 2, 3), np.float32), "expected IMAGE, got ndarray"),
    (MASK, PICTURE, "expected MASK, got Image"),
    (MASK, np.zeros((2, 2), np.float32), "a mask is (B, H, W) float32; got (2, 2) float32"),
    (MASK, np.zeros((1, 2, 2)), "a mask is (B, H, W) float32; got (1, 2, 2) float64"),
    (Boxes.kind, [], "expected BOXES, got list"),
]


@pytest.mark.parametrize(("kind", "value"), GOOD)
def test_a_good_value_passes(kind: Kind, value: object) -> None:
    """Every built-in kind takes what it stands for."""
    assert value_problem(value, kind) is None


@pytest.mark.parametrize(("kind", "value", "problem"), BAD)
def test_a_wrong_value_is_named(kind: Kind, value: object, problem: str) -> None:
    """What was expected, what came."""
    assert value_problem(value, kind) == problem
