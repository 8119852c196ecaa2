"""A function's signature and docstring -> ports: the only declaration a node has."""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

from vinode.graph.context import Blocked, Context, Expansion, Lazy
from vinode.graph.errors import DeclarationError, Fault, nearest, short
from vinode.graph.kinds import ANY, BOOLEAN, COMBO, FLOAT, INT, STRING, Kind
from vinode.graph.ports import (
    REQUIRED,
    SEED_RANGE,
    Choices,
    Input,
    Output,
    Range,
    Seed,
    Text,
    constant_problem,
)


@dataclass(frozen=True, slots=True)
class Signature:
    """All that a function's signature and docstring say.

    context  name of the parameter that takes the Context, or ""
    several  the function returns a NamedTuple, a field an output
    """

    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    context: str
    several: bool
    help: str


_PLAIN: Mapping[object, Kind] = {
    int: INT,
    float: FLOAT,
    str: STRING,
    bool: BOOLEAN,
    object: ANY,
    Any: ANY,
}
_DOC_ROW = re.compile(r"^(\w+(?:, ?\w+)*)(?: {2,}|\t)(\S.*)$")


def read(function: Callable[..., object], id: str) -> Signature:
    """Read a node function; DeclarationError names the function, the parameter and the fix."""
    place = f"node {id!r}, function {function.__module__}.{function.__qualname__}"
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except NameError as error:
        fix = "import the type where the module is loaded, not under TYPE_CHECKING"
        raise _mistake(place, f"a type hint is not known: {error}", fix) from error
    summary, rows = _docstring(function)
    inputs: list[Input] = []
    context = ""
    for parameter in inspect.signature(function).parameters.values():
        where = f"{place}, parameter {parameter.name!r}"
        hint = _parameter_hint(parameter, hints, where)
        if hint is Context:
            if context:
                raise _mistake(where, "a second Context", "take one Context parameter")
            context = parameter.name
        else:
            inputs.append(_input(parameter, hint, rows.get(parameter.name, ""), where))
    if "return" not in hints:
        raise _mistake(place, "no return type", "add one, `-> Image` or `-> None`")
    outputs, several = _outputs(hints["return"], rows, f"{place}, return type")
    _check_rows(rows, inputs, outputs, place)
    return Signature(tuple(inputs), outputs, context, several, summary)


def _mistake(place: str, problem: str, fix: str, got: str = "") -> DeclarationError:
    return DeclarationError(Fault(place, problem, got, fix, code="declaration"))


def _parameter_hint(parameter: inspect.Parameter, hints: Mapping[str, Any], where: str) -> Any:
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        fix = "give each input a parameter of its own, without *, ** and /"
        raise _mistake(where, "an input needs a name of its own", fix, str(parameter))
    if parameter.name not in hints:
        raise _mistake(where, "no type hint", f"add one, `{parameter.name}: Image`")
    return hints[parameter.name]


def _input(parameter: inspect.Parameter, hint: Any, help: str, where: str) -> Input:
    nullable, hint = _without_none(hint)
    lazy = get_origin(hint) is Lazy
    if lazy:
        (hint,) = get_args(hint)
    many = get_origin(hint) is list
    if many:
        (hint,) = get_args(hint)
    kind, options, extras = _kind(hint, where)
    default = REQUIRED if parameter.default is parameter.empty else parameter.default
    if nullable and default is REQUIRED:
        default = None
    seed = any(isinstance(extra, Seed) for extra in extras)
    declared = Input(
        parameter.name,
        kind,
        default,
        nullable,
        lazy,
        many,
        options,
        _only(extras, Choices),
        SEED_RANGE if seed else _only(extras, Range),
        _only(extras, Text),
        seed,
        help,
    )
    _check_input(declared, where)
    return declared


def _without_none(hint: Any) -> tuple[bool, Any]:
    if get_origin(hint) not in (typing.Union, types.UnionType):
        return False, hint
    members = [member for member in get_args(hint) if member is not types.NoneType]
    nullable = len(members) < len(get_args(hint))
    return nullable, members[0] if len(members) == 1 else typing.Union[tuple(members)]  # noqa: UP007


def _kind(hint: Any, where: str) -> tuple[Kind, tuple[str, ...] | None, tuple[object, ...]]:
    """Find the kind of a type hint, its closed list of options, and what Annotated adds."""
    extras: tuple[object, ...] = ()
    if get_origin(hint) is Annotated:
        hint, *rest = get_args(hint)
        extras = tuple(rest)
        for extra in extras:
            if isinstance(extra, Kind):
                return extra, None, extras
    if get_origin(hint) is Literal:
        options = get_args(hint)
        if not all(isinstance(option, str) for option in options):
            raise _mistake(where, "options must be strings", "write Literal['a', 'b']", str(hint))
        return COMBO, options, extras
    own = getattr(hint, "kind", None)
    if isinstance(own, Kind):
        return own, None, extras
    try:
        kind = _PLAIN.get(hint)
    except TypeError:  # an unhashable hint is no type at all
        kind = None
    if kind is None:
        fix = "use int, float, str, bool, Literal, Image, Mask or Annotated[T, Kind('NAME', ...)]"
        raise _mistake(where, "this type is no kind of value", fix, str(hint))
    if kind is STRING and any(isinstance(extra, Choices) for extra in extras):
        kind = COMBO
    return kind, None, extras


def _only(extras: Sequence[object], wanted: type[Any]) -> Any:
    return next((extra for extra in extras if isinstance(extra, wanted)), None)


def _check_input(declared: Input, where: str) -> None:
    number = declared.kind in (INT, FLOAT)
    limits, default = declared.range, declared.default
    if limits and not number:
        raise _mistake(where, "a Range fits numbers only", "drop it", declared.kind.name)
    if limits and not limits.minimum <= limits.maximum:
        raise _mistake(where, "the Range is empty", "give the smaller number first", str(limits))
    if default is REQUIRED or (default is None and declared.nullable):
        return
    if declared.lazy or declared.many or not declared.is_widget:
        raise _mistake(where, "only a widget has a default", "use `| None = None`", short(default))
    problem = constant_problem(declared, default)
    if problem:
        raise _mistake(where, f"its own default is refused: {problem}", "change one of them")


def _outputs(hint: Any, rows: Mapping[str, str], where: str) -> tuple[tuple[Output, ...], bool]:
    hint = _without_engine_values(hint)
    if hint is None or hint is types.NoneType:
        return (), False
    if inspect.isclass(hint) and hasattr(hint, "_fields"):
        fields = typing.get_type_hints(hint, include_extras=True)
        outputs = tuple(_output(name, field, rows, where) for name, field in fields.items())
        return outputs, True
    if get_origin(hint) is tuple:
        raise _mistake(where, "a tuple has no names", "use a NamedTuple, a field an output")
    return (_output("", hint, rows, where),), False


def _without_engine_values(hint: Any) -> Any:
    """Drop `Blocked` and `Expansion` from a union: they stand for outputs, they are none."""
    if get_origin(hint) not in (typing.Union, types.UnionType):
        return hint
    members = [member for member in get_args(hint) if member not in (Blocked, Expansion)]
    return members[0] if len(members) == 1 else typing.Union[tuple(members)]  # noqa: UP007


def _output(name: str, hint: Any, rows: Mapping[str, str], where: str) -> Output:
    hint = _without_engine_values(hint)
    many = get_origin(hint) is list
    if many:
        (hint,) = get_args(hint)
    kind, _, _ = _kind(hint, f"{where} {name!r}" if name else where)
    return Output(name or kind.name, kind, many, rows.get(name or "returns", ""))


def _docstring(function: Callable[..., object]) -> tuple[str, dict[str, str]]:
    """Split a docstring into its first paragraphs and its table: name, two spaces, text."""
    summary: list[str] = []
    rows: dict[str, str] = {}
    names: list[str] = []
    for line in _lines(function):
        row = _DOC_ROW.match(line)
        if row:
            names = [name.strip() for name in row[1].split(",")]
            rows.update(dict.fromkeys(names, row[2]))
        elif names and line.startswith(" "):
            rows.update({name: f"{rows[name]} {line.strip()}" for name in names})
        else:
            names = []
            summary.append(line)
    return "\n".join(summary).strip(), rows


def _lines(function: Callable[..., object]) -> Iterator[str]:
    yield from (inspect.getdoc(function) or "").splitlines()


def _check_rows(
    rows: Mapping[str, str], inputs: Sequence[Input], outputs: Sequence[Output], place: str
) -> None:
    known = {"returns", *(port.name for port in inputs), *(port.name for port in outputs)}
    for name in rows:
        close = nearest(name, known)
        if name not in known and close:
            fix = f"did you mean {close!r}?"
            raise _mistake(f"{place}, docstring", f"{name!r} is no input or output", fix)
