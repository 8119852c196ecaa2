"""A saved report -> the reasons in it, checked: what it says may be written into a workflow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast, get_args

from vinode.graph.devices import OPTIONS, parse_hint, parse_options
from vinode.graph.errors import Fault, VinodeError, WorkflowError, short
from vinode.graph.fixes import INPUT_RULES
from vinode.graph.placement import Code, Fix, Reason
from vinode.graph.rewrites import REWRITES
from vinode.graph.saved_report import read_report
from vinode.graph.workflow import Json, NodeId, load_json

_FIX = "write one with `vinode run FILE --report REPORT.json`"


@dataclass(frozen=True, slots=True)
class Told:
    """A reason, and the node it was told of."""

    node: NodeId
    type: str
    reason: Reason


def read_reasons(text: str | bytes, name: str) -> list[Told]:
    """Give the reasons of a saved report; WorkflowError where it is none, or was tampered with."""
    read_report(text, name)  # which refuses what is no report at all
    document = cast(dict[str, Json], load_json(text, name))
    told: list[Told] = []
    for number, given in enumerate(cast(list[dict[str, Json]], document["nodes"])):
        place = f"{name}, nodes[{number}].placement.reasons"
        where = cast(Mapping[str, Json], given.get("placement") or {})
        told += [
            Told(NodeId(given["id"]), given["type"], _reason(each, place))
            for each in _list(where.get("reasons", []), place)
        ]
    return told


def _reason(given: Json, place: str) -> Reason:
    known = _object(given, place)
    code = _text(known.get("code"), f"{place}.code")
    if code not in get_args(Code):
        raise _refused(f"{place}.code", "no such code", code)
    fixes = tuple(_fix(each, f"{place}.fixes") for each in _list(known.get("fixes", []), place))
    return Reason(
        cast(Code, code),
        _text(known.get("sentence"), f"{place}.sentence"),
        _text(known.get("fix", ""), f"{place}.fix"),
        fixes=fixes,
    )


def _fix(given: Json, place: str) -> Fix:
    known = _object(given, place)
    kind, value, sentence = (
        _text(known.get(key), f"{place}.{key}") for key in ("kind", "value", "sentence")
    )
    match kind:
        case "device":
            good = _parses(value)
        case "rewrite":
            good = value in REWRITES
        case "option":
            good = _is_option(value)
        case "input":
            good = value in INPUT_RULES
        case "advice":
            good = True
        case _:
            raise _refused(f"{place}.kind", "no such kind of fix", kind)
    if not good:
        raise _refused(f"{place}.value", f"no such {kind}", value)
    return Fix(kind, value, sentence)


def _parses(value: str) -> bool:
    try:
        parse_hint(value, "")
    except VinodeError:
        return False
    return True


def _is_option(value: str) -> bool:
    key, equals, wanted = value.partition("=")
    if not equals:
        return key in OPTIONS or key.removeprefix("rewrites.") in REWRITES
    try:
        return bool(parse_options({key: wanted}, ""))
    except VinodeError:
        return False


def _list(value: Json, place: str) -> list[Json]:
    if not isinstance(value, list):
        raise _refused(place, "expected a list", value)
    return list(cast(list[object], value))


def _object(value: Json, place: str) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise _refused(place, "expected an object", value)
    return cast(dict[str, Json], value)


def _text(value: Json, place: str) -> str:
    if not isinstance(value, str):
        raise _refused(place, "expected a text", value)
    return value


def _refused(place: str, problem: str, got: Json) -> WorkflowError:
    return WorkflowError(Fault(place, problem, short(got), _FIX, "bad-report"))
