"""Every mistake of an author is refused when the pack is loaded: node, parameter and fix named."""

from collections import namedtuple
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import pytest

from vinode import Blocked, Choices, Context, Expansion, Image, Lazy, Mask, Range, Seed, Text, node
from vinode.graph.errors import DeclarationError

# What the functions of the table below use.
NAMES = (Annotated, Literal, Blocked, Choices, Context, Expansion, Lazy, Mask, Range, Seed, Text)

Untyped = namedtuple("Untyped", "a b")  # pyright: ignore[reportUntypedNamedTuple]


class Empty(NamedTuple):
    """No output at all."""


class Odd(NamedTuple):
    """A field of no kind."""

    image: Image
    data: bytes


class Hidden(NamedTuple):
    """A field whose type is not there when the module is loaded."""

    image: "OnlyForTypeCheckers"  # type: ignore[name-defined]  # noqa: F821


# Each row: the parameters and result of an author's function, what it must be told, and the fix.
MISTAKES = {
    "no hint": ("(size) -> Image", "parameter 'size'", "no type hint", "add one"),
    "unknown type": ("(size: bytes) -> Image", "parameter 'size'", "no kind", "use int"),
    "unknown name": (
        "(size: 'Missing') -> Image",
        "f",
        "'Missing' is not defined",
        "TYPE_CHECKING",
    ),
    "hint that breaks": ("(size: '1 +') -> Image", "f", "cannot be read", "write the hint"),
    "star": ("(*images: Image) -> Image", "'images'", "a name of its own", "without *"),
    "two stars": ("(**images: Image) -> Image", "'images'", "a name of its own", "without *"),
    "positional": ("(image: Image, /) -> Image", "'image'", "a name of its own", "and /"),
    "default outside": (
        "(size: Annotated[int, Range(1, 9)] = 10) -> Image",
        "'size'",
        "expected 1 to 9; got 10",
        "change the default",
    ),
    "range on text": ("(t: Annotated[str, Range(0, 1)]) -> Image", "'t'", "numbers only", "drop"),
    "range on bool": ("(t: Annotated[bool, Range(0, 1)]) -> Image", "'t'", "numbers only", "drop"),
    "empty range": ("(n: Annotated[int, Range(5, 1)]) -> Image", "'n'", "empty", "smaller"),
    "endless range": ("(n: Annotated[float, Range(0, inf)]) -> Image", "'n'", "finite", "give"),
    "range of texts": ("(n: Annotated[int, Range('0', '9')]) -> Image", "'n'", "finite", "give"),
    "no step": ("(n: Annotated[int, Range(0, 9, step=0)]) -> Image", "'n'", "above 0", "drop"),
    "two ranges": (
        "(n: Annotated[int, Range(0, 9), Range(1, 2)]) -> Image",
        "'n'",
        "a second Range",
        "keep one",
    ),
    "class of extra": (
        "(n: Annotated[int, Seed]) -> Image",
        "'n'",
        "is a class",
        "write Seed(...)",
    ),
    "seed on float": ("(n: Annotated[float, Seed()]) -> Image", "'n'", "whole number", "int, Seed"),
    "seed and range": (
        "(n: Annotated[int, Seed(), Range(0, 9)]) -> Image",
        "'n'",
        "its range already",
        "drop the Range",
    ),
    "choices on int": (
        "(n: Annotated[int, Choices(list)]) -> Image",
        "'n'",
        "texts only",
        "Annotated[str, Choices",
    ),
    "text on int": ("(n: Annotated[int, Text()]) -> Image", "'n'", "texts only", "drop"),
    "not an option": (
        "(mode: Literal['fast', 'slow'] = 'fats') -> Image",
        "'mode'",
        "expected one of fast, slow; did you mean 'fast'?",
        "change",
    ),
    "options of numbers": ("(mode: Literal[1, 2]) -> Image", "'mode'", "must be strings", "['a'"),
    "default of another type": ("(n: int = 'five') -> Image", "'n'", "expected INT", "change"),
    "bool for int": ("(n: int = True) -> Image", "'n'", "expected INT; got True", "change"),
    "float for int": ("(n: int = 1.0) -> Image", "'n'", "expected INT; got 1.0", "change"),
    "number for text": ("(n: str = 1) -> Image", "'n'", "expected text; got 1", "change"),
    "None for int": ("(n: int = None) -> Image", "'n'", "not in its type", "| None = None"),
    "infinite default": ("(n: float = inf) -> Image", "'n'", "finite number", "change"),
    "mutable default": ("(items: list[int] = []) -> Image", "'items'", "only a widget", "None"),
    "mutable anything": ("(item: object = []) -> Image", "'item'", "default is refused", "change"),
    "default of an image": ("(image: Image = 5) -> Image", "'image'", "only a widget", "| None"),
    "lazy with default": ("(n: Lazy[int] = 5) -> Image", "'n'", "only a widget", "| None = None"),
    "bare lazy": ("(n: Lazy) -> Image", "'n'", "no kind", "use int"),
    "bare list": ("(n: list) -> Image", "'n'", "no kind", "use int"),
    "list of lists": ("(n: list[list[int]]) -> Image", "'n'", "no kind", "use int"),
    "two types": ("(n: int | str) -> Image", "'n'", "no kind", "use int"),
    "nothing": ("(n: None) -> Image", "'n'", "always None", "drop it"),
    "unhashable": ("(n: [int]) -> Image", "'n'", "no kind", "use int"),
    "two contexts": ("(a: Context, b: Context) -> Image", "'b'", "a second Context", "take one"),
    "optional context": ("(a: Context | None) -> Image", "'a'", "always given", "`context: Con"),
    "engine's own name": ("(folders: str) -> Image", "'folders'", "ask the engine", "another name"),
    "no result hint": ("(n: int)", "f", "no return type", "`-> None`"),
    "tuple": ("(n: int) -> tuple[Image, Mask]", "return type", "no names", "NamedTuple"),
    "bare tuple": ("(n: int) -> tuple", "return type", "without named", "NamedTuple"),
    "untyped tuple": ("(n: int) -> Untyped", "return type", "typed fields", "NamedTuple"),
    "empty tuple": ("(n: int) -> Empty", "return type", "typed fields", "NamedTuple"),
    "field of no kind": ("(n: int) -> Odd", "field 'data'", "no kind", "use int"),
    "field of no type": ("(n: int) -> Hidden", "return type", "not known", "TYPE_CHECKING"),
    "result of no kind": ("(n: int) -> bytes", "return type", "no kind", "use int"),
    "optional result": ("(n: int) -> Image | None", "return type", "cannot be None", "| Blocked"),
    "only blocked": ("(n: int) -> Blocked", "return type", "says no output", "Image | Blocked"),
    "only expansion": ("(n: int) -> Blocked | Expansion", "return type", "no output", "Image |"),
}


@pytest.mark.parametrize(("head", "place", "problem", "fix"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_refused_with_place_and_fix(
    head: str, place: str, problem: str, fix: str
) -> None:
    """Node, function and parameter are named, and what to write instead."""
    scope: dict[str, Any] = {**globals(), "inf": float("inf")}
    exec(f"def f{head}: ...", scope)
    refused(scope["f"], place, problem, fix)


def refused(function: Any, place: str, problem: str, fix: str, **options: Any) -> None:
    """Declare and look at the one fault."""
    with pytest.raises(DeclarationError) as caught:
        node("pack.broken", category="demo", **options)(function)
    (fault,) = caught.value.faults
    assert fault.place.startswith("node 'pack.broken', function ")
    assert place in fault.place
    assert problem in f"{fault.problem}; got {fault.got}"
    assert fix in fault.fix


def test_a_mistyped_row_of_the_docstring_is_refused() -> None:
    """Help that would silently be lost."""

    def f(strength: float) -> Image:
        """Do it.

        strenght  0..1
        """
        raise NotImplementedError

    refused(f, "docstring", "'strenght' is no input or output", "did you mean 'strength'?")


HOOKS = {
    "lambda path: None": "'path' is no input",
    "lambda *args: None": "'*args' is no input",
    "lambda **rest: None": "'**rest' is no input",
    "lambda name, /: None": "'name' is no input",
    "'not a function'": "must be a plain function",
}


@pytest.mark.parametrize("hook", ["fingerprint", "check"])
@pytest.mark.parametrize(("source", "problem"), HOOKS.items())
def test_a_hook_that_cannot_be_called_is_refused(hook: str, source: str, problem: str) -> None:
    """It could only fail later, in somebody's run."""

    def f(name: str) -> None: ...

    function = eval(source)
    fix = "give a def" if isinstance(function, str) else "take only folders, name"
    refused(f, f", {hook}", problem, fix, **{hook: function})


def test_a_generator_is_no_node() -> None:
    """What it yields would be lost."""

    def f(n: int) -> Any:
        yield n

    async def g(n: int) -> Any:
        yield n

    refused(f, "f", "a generator is no node", "return instead of yield")
    refused(g, "g", "a generator is no node", "return instead of yield")


def test_only_a_function_is_a_node() -> None:
    """A class or another callable has no signature of its own to read."""
    things: tuple[Any, ...] = (Odd, 5, "text")
    for thing in things:
        with pytest.raises(DeclarationError, match="only a function is a node"):
            node("pack.broken", category="demo")(thing)


@pytest.mark.parametrize("id", ["", "1st", "a/b", "a\nb", "tail ", "x" * 121, "<b>"])
def test_an_id_that_is_no_name_is_refused(id: str) -> None:
    """Ids stand in files, addresses and messages."""
    with pytest.raises(DeclarationError, match="the id must be a name"):
        node(id, category="demo")(_nothing)


@pytest.mark.parametrize("id", ["ImageScale", "my_pack.blur", "Mask To Region", "x", "x" * 120])
def test_an_id_that_is_a_name_is_taken(id: str) -> None:
    """ComfyUI's ids among them."""
    assert node(id, category="demo")(_nothing).id == id


def _nothing(text: str) -> None: ...


def test_a_fault_reads_as_one_sentence() -> None:
    """The whole message an author sees."""

    def f(size: Annotated[int, Range(1, 9, "pixels")] = 10) -> Image:
        return Image(np.zeros((1, 1, 1, 3), np.uint8))

    with pytest.raises(DeclarationError) as caught:
        node("demo.f", category="demo")(f)
    assert str(caught.value).endswith(
        "f, parameter 'size': its own default is refused: expected 1 to 9 pixels; "
        "got 10; change the default or the type"
    )
