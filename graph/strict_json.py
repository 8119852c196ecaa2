"""JSON read strictly: what cannot be written again, or would exhaust us, is refused."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, NoReturn, TypeAlias, cast

from vinode.graph.errors import Fault, WorkflowError, short

Json: TypeAlias = Any  # JSON as Python has it; a recursive type would have to be cast at each use

_NESTING = (dict, list)
MAX_DEPTH = 200  # brackets inside each other; those of ComfyUI's editor are about 20


def _refuse(place: str, problem: str, got: str = "", fix: str = "") -> NoReturn:
    raise WorkflowError(Fault(place, problem, got, fix, "bad-json"))


def load_json(text: str | bytes, name: str) -> Json:
    """Read JSON strictly: no NaN, no key twice, no endless numbers, no endless nesting."""

    def constant(word: str) -> NoReturn:
        _refuse(name, "JSON has no such number", word, "use a finite number")

    def number(digits: str) -> float:
        value = float(digits)
        return value if value - value == 0 else constant(digits[:40])

    def pairs(items: list[tuple[str, Json]]) -> dict[str, Json]:
        found = dict(items)
        if len(found) < len(items):
            count = Counter(key for key, _ in items)
            twice = next(key for key, times in count.items() if times > 1)
            _refuse(name, "the same key stands twice in one object", short(twice), "keep one")
        return found

    if not text.strip():
        _refuse(name, "nothing is in it", fix="open another file, or save the workflow again")
    try:
        value: Json = json.loads(
            text, parse_constant=constant, parse_float=number, object_pairs_hook=pairs
        )
    except RecursionError:
        _refuse_deep(name)
    except json.JSONDecodeError as error:
        where = f"{name}, line {error.lineno}, column {error.colno}"
        _refuse(where, f"not JSON: {error.msg}", fix="open the file in an editor that shows JSON")
    except UnicodeDecodeError:
        _refuse(name, "not text in UTF-8", fix="is this a workflow file? save it as UTF-8")
    except ValueError:  # Python refuses whole numbers of more than 4,300 digits
        _refuse(name, "a number has thousands of digits", fix="no input takes such a number")
    check_depth(value, name)
    return value


def check_depth(value: Json, name: str, limit: int = MAX_DEPTH) -> None:
    """Refuse brackets that go deeper than all that reads or writes this again can follow."""
    level: list[Json] = [value] if isinstance(value, _NESTING) else []
    for _ in range(limit):
        level = [
            inner
            for outer in level
            for inner in (
                cast(dict[str, Json], outer).values() if isinstance(outer, dict) else outer
            )
            if isinstance(inner, _NESTING)
        ]
        if not level:
            return
    _refuse_deep(name)


def _refuse_deep(name: str) -> NoReturn:
    problem = f"brackets are nested deeper than {MAX_DEPTH} levels"
    _refuse(name, problem, fix="a workflow is some four levels deep")
