"""A function's signature and docstring -> ports: the only declaration a node has."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from vinode.graph import docstring
from vinode.graph.context import Blocked, Context, Expansion, Lazy
from vinode.graph.errors import short
from vinode.graph.hints import evaluate, join, meaning, members, mistake, without_list
from vinode.graph.kinds import ANY
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


_Hints = Mapping[str, Any]
_OUTPUT_NAME = "returns"


def read(function: Callable[..., object], id: str) -> Signature:
    """Read a node function; DeclarationError names the function, the parameter and the fix."""
    place = f"node {id!r}, function {function.__module__}.{function.__qualname__}"
    hints = evaluate(function, place)
    parameters = inspect.signature(function).parameters.values()
    for parameter in parameters:
        _check_parameter(parameter, hints, f"{place}, parameter {parameter.name!r}")
    if "return" not in hints:
        raise mistake(place, "no return type", "add one, `-> Image` or `-> None`")
    fields, several = _fields(hints["return"], f"{place}, return type")
    known = [parameter.name for parameter in parameters] + list(fields)
    help, rows = docstring.read(function, known, place)
    output_rows = {**rows, **_rows_of_fields(hints["return"], fields, place)} if several else rows
    inputs: list[Input] = []
    context = ""
    for parameter in parameters:
        where = f"{place}, parameter {parameter.name!r}"
        hint = hints[parameter.name]
        if hint is Context and context:
            raise mistake(where, "a second Context", "take one Context parameter")
        if hint is Context:
            context = parameter.name
        else:
            inputs.append(_input(parameter, hint, rows.get(parameter.name, ""), where))
    outputs = tuple(
        _output(name if several else "", hint, output_rows.get(name, ""), f"{place}, return type")
        for name, hint in fields.items()
    )
    return Signature(tuple(inputs), outputs, context, several, help)


def _check_parameter(parameter: inspect.Parameter, hints: _Hints, where: str) -> None:
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        fix = "give each input a parameter of its own, without *, ** and /"
        raise mistake(where, "an input needs a name of its own", fix, str(parameter))
    if parameter.name not in hints:
        raise mistake(where, "no type hint", f"add one, `{parameter.name}: Image`")
    if parameter.name == "folders":
        fix = "give it another name"
        raise mistake(where, "`folders` is what fingerprint and check ask the engine for", fix)


def _input(parameter: inspect.Parameter, hint: Any, help: str, where: str) -> Input:
    parts = [part for part in members(hint) if part is not types.NoneType]
    nullable = len(parts) < len(members(hint))
    if not parts:
        raise mistake(where, "an input that is always None", "drop it")
    if Context in parts:
        raise mistake(where, "a Context is always given", "write `context: Context`")
    hint = join(parts)
    lazy = get_origin(hint) is Lazy
    if lazy:
        (hint,) = get_args(hint)
    many, hint = without_list(hint)
    found = meaning(hint, where)
    default = REQUIRED if parameter.default is parameter.empty else parameter.default
    if nullable and default is REQUIRED:
        default = None
    seed = found.only(Seed) is not None
    declared = Input(
        parameter.name,
        found.kind,
        default,
        nullable,
        lazy,
        many,
        found.options,
        found.only(Choices),
        SEED_RANGE if seed else found.only(Range),
        found.only(Text),
        seed,
        help,
    )
    _check_default(declared, where)
    return declared


def _check_default(declared: Input, where: str) -> None:
    default = declared.default
    if default is REQUIRED or (default is None and declared.nullable):
        return
    if default is None:
        fix = f"write `{declared.name}: ... | None = None`"
        raise mistake(where, "None is its default and not in its type", fix)
    if declared.lazy or declared.many or not declared.is_widget:
        raise mistake(where, "only a widget has a default", "use `| None = None`", short(default))
    problem = constant_problem(declared, default)
    if declared.kind is ANY and not isinstance(default, bool | int | float | str):
        problem = "expected a number, a text, true or false"
    if problem:
        fix = "change the default or the type"
        raise mistake(where, f"its own default is refused: {problem}", fix, short(default))


def _fields(hint: Any, where: str) -> tuple[dict[str, Any], bool]:
    """Give name to hint of each output, and whether they are the fields of a NamedTuple."""
    hint = _without_engine_values(hint, where)
    if hint is None or hint is types.NoneType:
        return {}, False
    if types.NoneType in members(hint):
        fix = "write `| Blocked` and return Blocked('why') where there is nothing"
        raise mistake(where, "an output cannot be None", fix, str(hint))
    if _is_tuple(hint):
        return _named_fields(hint, where), True
    if get_origin(hint) is tuple:
        raise mistake(where, "a tuple has no names", "use a NamedTuple, a field an output")
    return {_OUTPUT_NAME: hint}, False


def _is_tuple(hint: object) -> bool:
    return inspect.isclass(hint) and issubclass(hint, tuple)


def _named_fields(made: type[Any], where: str) -> dict[str, Any]:
    names: tuple[str, ...] = getattr(made, "_fields", ())
    fields = evaluate(made, where)
    if not names or not all(name in fields for name in names):
        fix = "use a typing.NamedTuple, a typed field an output"
        raise mistake(where, "a tuple without named and typed fields", fix)
    return {name: fields[name] for name in names}


def _rows_of_fields(hint: Any, fields: _Hints, place: str) -> Mapping[str, str]:
    """Read the NamedTuple's own docstring: an output may have the name of an input."""
    (made,) = [part for part in members(hint) if _is_tuple(part)]
    return docstring.read(made, fields, f"{place}, return type")[1]


def _without_engine_values(hint: Any, where: str) -> Any:
    """Drop `Blocked` and `Expansion` from a union: they stand for outputs, they are none."""
    parts = [part for part in members(hint) if part not in (Blocked, Expansion)]
    if not parts:
        fix = "add what the outputs are, `-> Image | Blocked`"
        raise mistake(where, "it says no output", fix, str(hint))
    return join(parts)


def _output(name: str, hint: Any, help: str, where: str) -> Output:
    where = f"{where}, field {name!r}" if name else where
    hint = _without_engine_values(hint, where)
    many, hint = without_list(hint)
    kind = meaning(hint, where).kind
    return Output(name or kind.name, kind, many, help)
