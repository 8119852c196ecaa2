"""What an author may declare, and that every mistake is refused when the pack is loaded."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal, NamedTuple, assert_type

import pytest

from vinode import (
    Blocked,
    Choices,
    Context,
    Folders,
    Image,
    Kind,
    Lazy,
    Mask,
    Range,
    Seed,
    Text,
    node,
)
from vinode.graph.errors import DeclarationError
from vinode.graph.node import call_hook, collect
from vinode.graph.ports import REQUIRED

Pose = Annotated[object, Kind("POSE", "joints", "#112233")]


class Split(NamedTuple):
    """Two outputs.

    image  the upper half
    """

    image: Image
    masks: list[Mask]


@node("demo.everything", category="demo")
def everything(
    image: Image,
    pose: Pose,
    other: Lazy[Image] | None,
    batch: list[Image],
    context: Context,
    size: Annotated[int, Range(1, 9, "pixels")] = 3,
    ratio: float = 1,
    mode: Literal["a", "b"] = "a",
    name: Annotated[str, Choices(lambda folders: ["x"])] = "x",
    note: Annotated[str, Text(multiline=True)] = "",
    seed: Annotated[int, Seed()] = 0,
    flag: bool = False,
    anything: object = 5,
    limit: int | None = None,
) -> Split | Blocked:
    """Show everything that can be declared.

    A second sentence that  has a gap.

    B  pictures of a batch

    image, other  what to look at,
                  both of one size
    size    edge, in pixels
    masks   a mask for each picture
    """
    return Blocked("never")


def test_the_signature_says_everything() -> None:
    """Names, kinds, defaults, limits, options, help, outputs: nothing is declared twice."""
    ports = {port.name: port for port in everything.inputs}
    names = "image pose other batch size ratio mode name note seed flag anything limit"
    assert " ".join(ports) == names
    kinds = [port.kind.name for port in everything.inputs]
    expected = "IMAGE POSE IMAGE IMAGE INT FLOAT COMBO COMBO STRING INT BOOLEAN * INT"
    assert " ".join(kinds) == expected
    assert ports["image"].default is REQUIRED
    assert (ports["other"].lazy, ports["other"].nullable, ports["other"].default) == (
        (True, True, None)
    )
    assert ports["batch"].many
    assert ports["size"].range == Range(1, 9, "pixels")
    assert ports["mode"].options == ("a", "b")
    assert ports["seed"].range == Range(0, 2**64 - 1)
    assert ports["limit"].default is None
    assert ports["image"].help == ports["other"].help == "what to look at, both of one size"
    assert everything.signature.context == "context"
    assert [(port.name, port.kind.name, port.many, port.help) for port in everything.outputs] == [
        ("image", "IMAGE", False, "the upper half"),
        ("masks", "MASK", True, "a mask for each picture"),
    ]
    # An axis letter and a gap in a sentence are text, not rows of the table.
    assert "B  pictures of a batch" in everything.signature.help
    assert "has a gap" in everything.signature.help


def test_a_node_is_still_the_function() -> None:
    """Type checkers see the function's own parameters and result; so does a call."""

    @node("demo.double", category="demo")
    def double(number: int, times: int = 2) -> int:
        return number * times

    assert_type(double(4), int)
    assert_type(double(number=4, times=3), int)
    assert double(4) == 8
    with pytest.raises(TypeError):
        double(4, colour="red")  # type: ignore[call-arg]  # an unused ignore is an error: it is seen
    assert double.title == "double"
    assert double.is_output is False


def test_one_unnamed_output_takes_the_name_of_its_kind() -> None:
    """As in ComfyUI; its help is the row `returns`."""

    @node("BlurMore", category="demo")
    def blur(image: Image) -> Image:
        """Blur.

        returns  the picture, softer
        """
        return image

    assert [(port.name, port.help) for port in blur.outputs] == [("IMAGE", "the picture, softer")]
    assert blur.title == "Blur More"


def test_a_node_without_outputs_ends_a_workflow_unless_it_says_no() -> None:
    """A saver is what a run is for; a note is not."""

    @node("demo.save", category="demo")
    def save(text: str) -> None: ...

    @node("demo.note", category="demo", output=False)
    def note(text: str) -> None: ...

    assert (save.is_output, note.is_output) == (True, False)


def test_hooks_get_the_inputs_they_ask_for() -> None:
    """A fingerprint may ask for folders and constants; a linked input is None."""
    folders = Folders(Path("in"), Path("out"), Path("tmp"), ())

    def stamp(folders: Folders, name: str, size: int | None) -> str:
        return f"{folders.input} {name} {size}"

    assert call_hook(stamp, {"name": "a.png", "other": 1}, folders) == "in a.png None"


def _nothing(text: str) -> None: ...


def _module(name: str, **values: object) -> ModuleType:
    module = ModuleType(name)
    vars(module).update(values)
    return module


def test_a_second_node_with_the_same_id_is_refused() -> None:
    """No silent replacement; the message names both places."""
    first = node("demo.same", category="demo")(_nothing)

    @node("demo.same", category="demo")
    def second(text: str) -> None: ...

    with pytest.raises(DeclarationError, match=r"'demo.same' is declared twice: .*, line \d+ and"):
        collect([_module("one", first=first), _module("two", second=second)])


def test_a_node_seen_twice_is_one_node() -> None:
    """A module may import a node of another to call it."""
    first = node("demo.same", category="demo")(_nothing)
    assert collect([_module("one", a=first), _module("two", b=first, c=5)]) == {"demo.same": first}


def test_async_functions_are_known_as_such() -> None:
    """The engine awaits them."""

    async def fetch(text: str) -> str:
        return text

    declare: Callable[..., Any] = node("demo.fetch", category="demo")
    assert declare(fetch).is_async
    assert not node("demo.nothing", category="demo")(_nothing).is_async
