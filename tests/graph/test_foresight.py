"""What a run will ask of devices, told without running it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from vinode.graph.context import Context, Folders
from vinode.graph.errors import DeclarationError, Fault, ModelError
from vinode.graph.foresight import Foreseen, foresee
from vinode.graph.graph import build
from vinode.graph.node import AnyNodeType, node
from vinode.graph.values import Detector, Image, ModelPart, PartUse
from vinode.graph.workflow import Json, from_json

FOLDERS = Folders(Path("i"), Path("o"), Path("t"), ())


def handle(name: str | None) -> Detector | None:
    """Give the handle that `load` gives."""
    if name == "gone":
        raise ModelError(Fault("model store", "it is gone", name))
    return Detector(ModelPart(name, Path("x.xml"), "0", 0), "f", ()) if name else None


class Two(NamedTuple):
    """Two handles.

    first   one
    second  another
    """

    first: Detector
    second: Detector


@node("t.Load", category="t", known=handle)
def load(name: str = "a") -> Detector:
    """Load a model."""
    raise AssertionError


@node("t.LoadTwo", category="t", known=lambda: (handle("one"), handle("two")))
def load_two() -> Two:
    """Load two models."""
    raise AssertionError


def same(detector: Detector | None) -> Detector | None:
    """Give what came."""
    return detector


@node("t.Pass", category="t", known=same)
def hand_on(detector: Detector) -> Detector:
    """Give a model on, as a node that adds a LoRA does."""
    raise AssertionError


@node("t.Mute", category="t")
def mute() -> Detector:
    """Load a model and tell nobody."""
    raise AssertionError


@node("t.Odd", category="t")
def odd() -> int:
    """Give a number that is known only in the run."""
    raise AssertionError


def uses(detector: Detector | None, image: Image | None, size: int | None) -> list[PartUse] | None:
    """Tell what `run` runs; no node here tells which picture it gives."""
    assert image is None
    if detector is None or size is None:
        return None
    return [PartUse(detector.part, {"x": (1, size)}, 2)]


@node("t.Run", category="t", parts=uses, output=True)
def run(detector: Detector, context: Context, image: Image | None = None, size: int = 8) -> Image:
    """Run a model."""
    raise AssertionError


@node("t.Silent", category="t", output=True)
def silent(detector: Detector) -> Image:
    """Run a model and tell nothing of it."""
    raise AssertionError


def failing(detector: Detector | None) -> list[PartUse]:
    """Divide by nothing."""
    raise ZeroDivisionError(detector)


@node("t.Wrong", category="t", parts=failing, output=True)
def wrong(detector: Detector) -> Image:
    """Tell it by a function that fails."""
    raise AssertionError


TYPES: dict[str, AnyNodeType] = {
    each.id: each for each in (load, load_two, mute, odd, hand_on, run, silent, wrong)
}


def foreseen(**nodes: tuple[str, dict[str, Json]]) -> tuple[Foreseen, ...]:
    """Tell of a workflow: id -> (type, inputs)."""
    prompt: dict[str, Json] = {
        id: {"class_type": type, "inputs": inputs} for id, (type, inputs) in nodes.items()
    }
    graph = build(from_json(prompt), TYPES, FOLDERS)
    assert graph.faults == ()
    return foresee(graph, graph.outputs, FOLDERS)


def test_parts_follow_from_handles_and_constants() -> None:
    """Through nodes that hand a model on, which run none themselves; no node runs."""
    (found,) = foreseen(
        a=("t.Load", {"name": "face"}),
        b=("t.Pass", {"detector": ["a", 0]}),
        c=("t.Run", {"detector": ["b", 0], "image": ["e", 0], "size": 4}),
        e=("t.Silent", {"detector": ["a", 0]}),
    )[1:]
    (use,) = found.uses
    assert (found.node.id, found.problem) == ("c", "")
    assert (use.part.name, use.shapes, use.calls) == ("face", {"x": (1, 4)}, 2)


def test_each_output_has_its_own_handle() -> None:
    """A tuple gives them in the order of the outputs."""
    found = foreseen(
        a=("t.LoadTwo", {}),
        b=("t.Run", {"detector": ["a", 0]}),
        c=("t.Run", {"detector": ["a", 1]}),
    )
    assert [each.uses[0].part.name for each in found] == ["one", "two"]


def test_what_is_not_known_has_its_reason() -> None:
    """A node without the hook, one that fails, one whose model is gone."""
    found = foreseen(
        a=("t.Load", {}),
        gone=("t.Load", {"name": "gone"}),
        none=("t.Load", {"name": ""}),
        b=("t.Silent", {"detector": ["a", 0]}),
        c=("t.Wrong", {"detector": ["a", 0]}),
        d=("t.Run", {"detector": ["gone", 0]}),
        e=("t.Run", {"detector": ["none", 0]}),
        f=("t.Mute", {}),
        g=("t.Run", {"detector": ["f", 0]}),
        h=("t.Odd", {}),
        i=("t.Run", {"detector": ["a", 0], "size": ["h", 0]}),
    )
    assert all(each.uses == () for each in found)
    problems = {str(each.node.id): each.problem for each in found}
    assert problems["b"] == "the node does not tell which models it runs"
    assert problems["c"].startswith(
        "what node c (t.Wrong) tells of its models failed: ZeroDivision"
    )
    assert problems["d"].startswith("model store: it is gone")
    assert problems["e"] == (
        "node none (t.Load) has not converted its model yet; `vinode run FILE --only none` does it"
    )
    assert problems["g"] == "node f (t.Mute) does not tell which model it gives"
    assert problems["i"] == "its sizes are known only when it runs"


def test_only_what_an_output_needs_is_told() -> None:
    """A model that no output needs is not compiled."""
    assert [each.node.id for each in foreseen(a=("t.Load", {}))] == []


@node("t.Twice", category="t", known=True)
def twice(number: int) -> int:
    """Double a number.

    number  any
    """
    return 2 * number


def test_a_node_without_work_tells_itself_what_it_gives() -> None:
    """Through several of them; and nothing where an input is known only in a run."""
    assert twice.known is not None
    assert twice.known(number=4) == 8
    assert twice.known(number=None) is None


def test_only_a_node_without_context_can_be_asked() -> None:
    """It would have nobody to tell of its progress."""
    with pytest.raises(DeclarationError, match="cannot be asked"):

        @node("t.Asks", category="t", known=True)
        def asks(number: int, context: Context) -> int:
            """Give it back.

            number  any
            """
            return number
