"""Plain values, the switch, text and notes."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
import pytest

from vinode.graph.context import Lazy
from vinode.graph.errors import NodeError
from vinode.graph.ports import constant_problem
from vinode.graph.values import Image
from vinode.nodes.primitive import (
    comfy_switch_node,
    markdown_note,
    note,
    primitive_boolean,
    primitive_float,
    primitive_int,
    primitive_string,
    primitive_string_multiline,
    string_concatenate,
    string_format,
)


def test_primitives_give_what_they_hold() -> None:
    """Large seeds are exact, and a whole number becomes a float where a float is meant."""
    assert primitive_int(2**64 - 1) == 2**64 - 1
    assert isinstance(primitive_float(3), float)
    assert primitive_string("é") == "é"
    assert primitive_string_multiline("a\nb") == "a\nb"
    assert primitive_boolean(True) is True


@pytest.mark.parametrize(
    ("value", "allowed"),
    [(2**64 - 1, True), (-(2**63), True), (2**64, False), (-(2**63) - 1, False)],
)
def test_int_limits_are_exact(value: int, allowed: bool) -> None:
    """The limits are not rounded to floats."""
    assert (constant_problem(primitive_int.inputs[0], value) is None) == allowed


def never() -> NoReturn:
    """Stand for a branch that must not be computed."""
    raise AssertionError("the other branch was computed")


def test_a_switch_computes_the_taken_branch_only() -> None:
    """The other is not asked for."""
    assert comfy_switch_node(True, Lazy[object](never), Lazy[object].of("yes")).output == "yes"
    assert comfy_switch_node(False, Lazy[object].of("no"), Lazy[object](never)).output == "no"
    assert comfy_switch_node(True, None, Lazy[object].of("yes")).output == "yes"
    assert all(port.lazy for port in comfy_switch_node.inputs[1:])


def test_a_switch_names_the_missing_branch() -> None:
    """And not the other one."""
    with pytest.raises(NodeError, match="connect on_false"):
        comfy_switch_node(False, None, Lazy[object](never))


def test_concatenate_puts_the_delimiter_between() -> None:
    """Also between empty texts."""
    assert string_concatenate("a", "b", ", ") == "a, b"
    assert string_concatenate("", "", "-") == "-"


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{a}", "7"),
        ("{a:03}/{b:.2f}", "007/0.50"),
        ("{{{c}}}", "{fox}"),
        ("{c:>5}|{c:*^7}", "  fox|**fox**"),
        ("{a:,}{b:%}", "750.000000%"),
        ("no names", "no names"),
        ("", ""),
        ("{d}", "IMAGE (1, 2, 3, 3) uint8, 18 bytes"),
    ],
)
def test_templates(template: str, expected: str) -> None:
    """Numbers, texts and what has no text of its own."""
    image = Image(np.zeros((1, 2, 3, 3), np.uint8))
    assert string_format(template, 7, 0.5, "fox", image) == expected


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("{a.__class__}", "may name"),
        ("{a[0]}", "may name"),
        ("{a!r}", "may name"),
        ("{}", "may name"),
        ("{0}", "may name"),
        ("{e}", "may name"),
        ("{a:{b}}", "format of {a}"),
        ("{a:9999999999}", "format of {a}"),
        ("{a:.9999999999f}", "format of {a}"),
        ("{a", "no partner"),
        ("a}", "no partner"),
        ("{c:d}", "cannot be shown"),
        ("{d}", "no value"),
        ("{a:999}" * 1200, "longer than"),
    ],
)
def test_templates_that_are_refused(template: str, problem: str) -> None:
    """Nothing inside of objects can be reached, and nothing grows without bound."""
    with pytest.raises(NodeError, match=problem):
        string_format(template, 7, 0.5, "fox")


def test_a_number_too_long_to_write_is_refused() -> None:
    """Python itself refuses to write it, in a sentence."""
    with pytest.raises(NodeError, match="cannot be shown"):
        string_format("{a}", 10**5000)


def test_notes_are_no_end_of_a_workflow() -> None:
    """They have no outputs, and yet a run is not for them."""
    for kind in (note, markdown_note):
        assert not kind.outputs
        assert not kind.is_output
        kind("anything")
