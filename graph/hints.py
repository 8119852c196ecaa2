"""A type hint -> the kind of value it stands for, and what `Annotated` adds to it."""

from __future__ import annotations

import inspect
import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from vinode.graph.errors import DeclarationError, Fault
from vinode.graph.kinds import ANY, BOOLEAN, COMBO, FLOAT, INT, STRING, Kind
from vinode.graph.ports import Choices, Range, Seed, Text

T = TypeVar("T")

_PLAIN: Mapping[object, Kind] = {
    int: INT,
    float: FLOAT,
    str: STRING,
    bool: BOOLEAN,
    object: ANY,
    Any: ANY,
}
_EXTRAS = (Range, Text, Choices, Seed)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a hint says: the kind, a closed list of names, and limits, texts, choices, a seed."""

    kind: Kind
    options: tuple[str, ...] | None
    extras: tuple[object, ...]

    def only(self, wanted: type[T]) -> T | None:
        """Give the extra of this type, or None."""
        return next((extra for extra in self.extras if isinstance(extra, wanted)), None)


def mistake(place: str, problem: str, fix: str, got: str = "") -> DeclarationError:
    """Make the error for an author's mistake."""
    return DeclarationError(Fault(place, problem, got, fix, code="declaration"))


def evaluate(declared: Callable[..., object] | type[Any], place: str) -> Mapping[str, Any]:
    """Give the type hints of a function or class as objects; a hint that is none is refused."""
    try:
        return typing.get_type_hints(declared, include_extras=True)
    except NameError as error:
        fix = "import the type where the module is loaded, not under TYPE_CHECKING"
        raise mistake(place, f"a type hint is not known: {error}", fix) from error
    except Exception as error:  # a hint in quotes is the author's code: any error is its own
        fix = "write the hint as in any typed function"
        raise mistake(place, f"a type hint cannot be read: {error}", fix) from error


def members(hint: Any) -> tuple[Any, ...]:
    """Give the members of a union, or the hint alone."""
    return get_args(hint) if get_origin(hint) in (typing.Union, types.UnionType) else (hint,)


def join(parts: Sequence[Any]) -> Any:
    """Make one hint of these: the union, or the only one."""
    return parts[0] if len(parts) == 1 else typing.Union[tuple(parts)]  # noqa: UP007


def without_list(hint: Any) -> tuple[bool, Any]:
    """Say whether a hint is `list[X]`, and give X."""
    if get_origin(hint) is not list:
        return False, hint
    (item,) = get_args(hint)
    return True, item


def meaning(hint: Any, where: str) -> Meaning:
    """Find what a hint says; one that is no kind of value is refused with the ones that are."""
    extras: tuple[object, ...] = ()
    if get_origin(hint) is Annotated:
        hint, *rest = get_args(hint)
        extras = tuple(rest)
    _refuse_classes(extras, where)
    own = [extra for extra in extras if isinstance(extra, Kind)]
    found = Meaning(own[0], None, extras) if own else _plain(hint, extras, where)
    _check_extras(found, where)
    return found


def _plain(hint: Any, extras: tuple[object, ...], where: str) -> Meaning:
    if get_origin(hint) is Literal:
        options = get_args(hint)
        if not options or not all(isinstance(option, str) for option in options):
            raise mistake(where, "options must be strings", "write Literal['a', 'b']", str(hint))
        return Meaning(COMBO, options, extras)
    own = getattr(hint, "kind", None)
    if isinstance(own, Kind):
        return Meaning(own, None, extras)
    try:
        kind = _PLAIN.get(hint)
    except TypeError:  # an unhashable hint is no type at all
        kind = None
    if kind is None:
        fix = "use int, float, str, bool, Literal, Image, Mask or Annotated[T, Kind('NAME', ...)]"
        got = hint.__qualname__ if inspect.isclass(hint) else str(hint)
        raise mistake(where, "this type is no kind of value", fix, got)
    if kind is STRING and any(isinstance(extra, Choices) for extra in extras):
        kind = COMBO
    return Meaning(kind, None, extras)


def _refuse_classes(extras: Sequence[object], where: str) -> None:
    for extra in extras:
        if inspect.isclass(extra) and issubclass(extra, (*_EXTRAS, Kind)):
            name = extra.__name__
            raise mistake(where, f"{name} is a class, not a value", f"write {name}(...)")
    for wanted in (*_EXTRAS, Kind):
        if sum(isinstance(extra, wanted) for extra in extras) > 1:
            raise mistake(where, f"a second {wanted.__name__}", "keep one of them")


def _check_extras(found: Meaning, where: str) -> None:
    kind = found.kind
    if (limits := found.only(Range)) is not None:
        if kind not in (INT, FLOAT):
            raise mistake(where, "a Range fits numbers only", "drop it", kind.name)
        _check_range(limits, where)
    if found.only(Seed) is not None:
        if kind is not INT:
            raise mistake(where, "a Seed is a whole number", "write Annotated[int, Seed()]")
        if limits is not None:
            raise mistake(where, "a Seed has its range already, 0 to 2^64-1", "drop the Range")
    if found.only(Text) is not None and kind is not STRING:
        raise mistake(where, "a Text fits texts only", "drop it", kind.name)
    if found.only(Choices) is not None and (kind is not COMBO or found.options is not None):
        raise mistake(where, "Choices fit texts only", "write Annotated[str, Choices(...)]")


def _check_range(limits: Range, where: str) -> None:
    if not (_is_finite(limits.minimum) and _is_finite(limits.maximum)):
        raise mistake(where, "a limit is a finite number", "give one", str(limits))
    if limits.minimum > limits.maximum:
        raise mistake(where, "the Range is empty", "give the smaller number first", str(limits))
    if limits.step is not None and not limits.step > 0:
        raise mistake(where, "the step must be above 0", "drop it or give another", str(limits))


def _is_finite(number: object) -> bool:
    if isinstance(number, float):
        return math.isfinite(number)
    return isinstance(number, int) and not isinstance(number, bool)
