"""A node that fails takes its dependents with it and nothing else, and says what was wrong."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from typing import Annotated

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.graph.engine import Engine, Nodes, Ran, engine
from vinode import Image, node
from vinode.graph.context import Context
from vinode.graph.errors import Cancelled, Fault, NodeError, VinodeError
from vinode.graph.events import NodeFailed, NodeSkipped
from vinode.graph.node import AnyNodeType
from vinode.graph.ports import Range
from vinode.graph.values import Mask


@node("Add", category="test")
def add(x: int = 0, y: int = 1) -> int:
    """Add."""
    return x + y


@node("Refuse", category="test")
def refuse(x: int = 0) -> int:
    """Refuse its input."""
    raise NodeError("x is too small", got=str(x), fix="use at least 10")


def alone(function: Callable[..., object]) -> Ran:
    """Run one node of this function beside one that is well."""
    type = node("Bad", category="test")(function)
    nodes: Nodes = {"1": ("Bad", {}), "2": ("Add", {})}
    return engine(type, add).run(nodes, ["1", "2"])


def fault_of(function: Callable[..., object]) -> Fault:
    """Run one node of this function, which fails; the other one does not."""
    ran = alone(function)
    assert (ran.outcome.status, ran.value("2")) == ("failed", 1)
    (fault,) = ran.outcome.faults
    assert ran.failed("1").faults == (fault,)
    assert fault.node == "1"
    return fault


def test_only_dependents_are_skipped() -> None:
    """The rest finishes; each that is skipped names the node at fault."""
    nodes: Nodes = {
        "bad": ("Refuse", {"x": 3}),
        "a": ("Add", {"x": ["bad", 0]}),
        "b": ("Add", {"x": ["a", 0], "y": ["good", 0]}),
        "good": ("Add", {}),
        "c": ("Add", {"x": ["good", 0]}),
    }
    ran = engine(add, refuse).run(nodes, ["b", "c"])
    assert ran.outcome.status == "failed"
    assert list(ran.outcome.outputs) == ["c"]
    assert ran.outcome.skipped == {"a": "bad", "b": "bad"}
    assert [(e.node, e.because) for e in ran.of(NodeSkipped)] == [("a", "bad"), ("b", "bad")]
    (fault,) = ran.outcome.faults
    assert str(fault) == "node bad (Refuse): x is too small; got 3; use at least 10"
    assert ran.failed("bad").traceback == ""


def test_two_failures_are_both_told() -> None:
    """One does not hide the other; what needs both is skipped once."""
    nodes: Nodes = {
        "1": ("Refuse", {}),
        "2": ("Refuse", {}),
        "3": ("Add", {"x": ["1", 0], "y": ["2", 0]}),
    }
    ran = engine(add, refuse).run(nodes, ["3"])
    assert sorted(fault.node for fault in ran.outcome.faults) == ["1", "2"]
    assert len(ran.of(NodeSkipped)) == 1


def test_a_failure_is_not_remembered() -> None:
    """The next run tries again: the disk may be free then."""
    attempts: list[int] = []

    @node("Once", category="test")
    def once() -> int:
        """Fail the first time."""
        attempts.append(1)
        if len(attempts) == 1:
            raise OSError("disk full")
        return 5

    few = engine(once)
    assert few.run({"1": ("Once", {})}, ["1"]).outcome.status == "failed"
    assert few.run({"1": ("Once", {})}, ["1"]).value("1") == 5


def test_a_bug_in_a_node_is_told_with_its_traceback() -> None:
    """The sentence has the exception; the traceback is for its author."""

    def bug() -> int:
        """Divide by zero."""
        return 1 // 0

    ran = alone(bug)
    (fault,) = ran.outcome.faults
    assert str(fault).startswith("node 1 (Bad): ZeroDivisionError: ")
    assert (fault.code, "in bug" in ran.failed("1").traceback) == ("node-crashed", True)


def test_a_node_that_changes_its_input_is_told_to_copy() -> None:
    """Others have the same array."""

    @node("Grey", category="test")
    def grey() -> Image:
        """Make a picture."""
        return Image(np.zeros((1, 2, 2, 3), np.float32))

    @node("Darken", category="test")
    def darken(image: Image) -> Image:
        """Change what it got."""
        image.pixels[:] = 0
        return image

    ran = engine(grey, darken).run({"1": ("Grey", {}), "2": ("Darken", {"image": ["1", 0]})}, ["2"])
    assert ran.failed("2").faults[0].fix == "inputs are read-only: work on `pixels.copy()`"


def test_an_array_given_away_cannot_be_changed_afterwards() -> None:
    """Not by the node that made it either, which may have kept it."""
    kept: list[NDArray[np.float32]] = []

    @node("Keep", category="test")
    def keep() -> Mask:
        """Give a mask away and keep it."""
        kept.append(np.zeros((1, 2, 2), np.float32))
        return kept[-1]

    assert engine(keep).run({"1": ("Keep", {})}, ["1"]).outcome.status == "done"
    with pytest.raises(ValueError, match="read-only"):
        kept[0][0] = 1


class Unsayable(Exception):
    """An error that cannot be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


class Odd(BaseException):
    """An error that `except Exception` does not see."""


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (SystemExit(3), "SystemExit: 3"),
        (SystemExit(), "SystemExit"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (Odd("odd"), "Odd: odd"),
        (GeneratorExit(), "GeneratorExit: no message"),
        (Unsayable(), "Unsayable: its message cannot be shown"),
        (MemoryError(), "memory ran out"),
        (RecursionError("too deep"), "RecursionError: too deep"),
        (VinodeError(), "VinodeError: no message"),
        (Cancelled(), "RuntimeError: the node raised Cancelled, but nobody cancelled the run"),
        (asyncio.CancelledError(), "CancelledError: no message"),
        (ValueError("x" * 9000), "ValueError: " + "x" * 2000),
    ],
)
def test_whatever_a_node_raises_is_its_own_failure(error: BaseException, sentence: str) -> None:
    """Nothing that a node does ends the run of the others."""

    def bad() -> int:
        """Raise."""
        raise error

    assert fault_of(bad).problem == sentence


def test_sys_exit_is_answered_with_what_to_do_instead() -> None:
    """In a node that is async as well."""

    def leave() -> int:
        """Try to end the program."""
        sys.exit("bye")

    async def leave_async() -> int:
        """Try to end the program."""
        sys.exit("bye")

    for function in (leave, leave_async):
        fault = fault_of(function)
        assert fault.problem == "SystemExit: bye"
        assert fault.fix == "raise NodeError to refuse inputs, return to end"


def test_faults_of_a_library_get_the_nodes_place() -> None:
    """A model that is missing is told with the node that asked for it."""

    def missing() -> int:
        """Ask for a model."""
        raise VinodeError(Fault("model face", "not there", fix="pull it", code="model-missing"))

    assert str(fault_of(missing)) == "node 1 (Bad), model face: not there; pull it"


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("five", "node 1 (Bad), output INT: expected INT, got str; got 'five'"),
        (None, "node 1 (Bad), output INT: expected INT, got NoneType; got None"),
        (True, "node 1 (Bad), output INT: expected INT, got bool; got True"),
        (np.int64(3), "node 1 (Bad), output INT: expected INT, got int64; got np.int64(3)"),
    ],
)
def test_an_output_of_the_wrong_kind_is_the_fault_of_its_node(value: object, sentence: str) -> None:
    """Not of the one that would have got it."""

    def wrong() -> int:
        """Give something else."""
        return value  # type: ignore[return-value]

    assert str(fault_of(wrong)) == sentence


def test_a_list_output_must_be_a_list() -> None:
    """A tuple or an array is not one."""

    def wrong() -> list[int]:
        """Give a tuple."""
        return (1, 2)  # type: ignore[return-value]

    assert str(fault_of(wrong)) == "node 1 (Bad): output INT must be a list; got (1, 2)"


def test_a_value_out_of_range_is_refused_where_it_arrives() -> None:
    """A wire may carry what a widget would not accept."""

    def small(x: int) -> int:
        """Take a small number."""
        return x

    small.__annotations__["x"] = Annotated[int, Range(0, 10, "pixels")]
    type: AnyNodeType = node("Small", category="test")(small)
    nodes: Nodes = {"1": ("Add", {"x": 10}), "2": ("Small", {"x": ["1", 0]})}
    (fault,) = engine(add, type).run(nodes, ["2"]).outcome.faults
    place = "node 2 (Small), input x: expected 0 to 10 pixels; got 11"
    assert str(fault) == f"{place}; see what node 1 gives"


def test_a_huge_number_is_carried_and_described() -> None:
    """Python refuses to write it in tens."""

    def huge() -> int:
        """Give a number of 16,610 bits."""
        return 10**5000

    ran = alone(huge)
    assert ran.finished("1").carried == ("a whole number of 16610 bits",)


def test_what_is_shown_must_be_json() -> None:
    """It is refused where it is shown, not when a finished run is written to a report."""

    def show(context: Context) -> int:
        """Show what is no JSON."""
        context.show("image", [np.zeros(2)])
        return 0

    fault = fault_of(show)
    assert fault.problem.startswith("show('image') takes JSON values: ")
    assert fault.fix == "hand over numbers, texts, lists and dicts"


def test_no_thread_is_left_behind() -> None:
    """Neither after success nor after failure."""
    before = threading.active_count()
    few: Engine = engine(add, refuse)
    for _ in range(3):
        ran = few.run({"1": ("Refuse", {}), "2": ("Add", {})}, ["1", "2"])
        assert len(ran.of(NodeFailed)) == 1
    assert threading.active_count() == before
