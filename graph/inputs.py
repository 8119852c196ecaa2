"""What a workflow gives to an input: constants coerced without loss, links checked at both ends."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import cast

from vinode.graph.errors import Fault, short
from vinode.graph.kinds import BOOLEAN, FLOAT, INT, STRING, fits
from vinode.graph.node import NodeTypes
from vinode.graph.ports import Input, constant_problem
from vinode.graph.strict_json import Json
from vinode.graph.workflow import Link, NodeId, Workflow, place_of

Near = Callable[[str, Iterable[str]], str]

_WHOLE = re.compile(r"[+-]?[0-9]{1,40}")


def constant(port: Input, value: Json) -> object:
    """Turn a JSON value into the input's kind where nothing is lost; else give it as it is.

    512.0 and "512" are 512 for an INT, as in ComfyUI; 20.7 is not 20.
    """
    if isinstance(value, dict) and "__value__" in value:
        value = cast(dict[str, Json], value)["__value__"]
    if isinstance(value, bool) or value is None:
        return value
    if port.kind is INT:
        return _whole(value)
    if port.kind is FLOAT:
        return _number(value)
    if port.kind is STRING and isinstance(value, int | float):
        return str(value)
    return cast(object, value)


def _whole(value: Json) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(value)
    return value


def _number(value: Json) -> object:
    try:
        return float(value) if isinstance(value, int | str) else value
    except OverflowError:
        return math.inf
    except ValueError:
        return value


def constant_faults(port: Input, value: Json, class_type: str, id: NodeId) -> Iterator[Fault]:
    """Say what is wrong with a constant."""
    given = constant(port, value)
    if given is not None and port.is_widget and constant_problem(port, given) is None:
        return
    place = place_of(id, class_type, port.name)
    if given is None:
        if not port.nullable:
            fix = f"give a {port.kind.name}" + ("" if port.required else ", or leave it out")
            yield Fault(place, "must be given", "null", fix, "missing-input", id)
        return
    if not port.is_widget:
        fix = f"link it to an output of kind {port.kind.name}"
        yield Fault(
            place, f"takes a {port.kind.name} from a link", short(given), fix, "bad-value", id
        )
        return
    problem = constant_problem(port, given)
    if problem:
        wording, _, close = problem.partition("; ")
        fix = close or _example(port)
        yield Fault(place, wording, short(given), fix, "bad-value", id)


def _example(port: Input) -> str:
    if port.kind is BOOLEAN:
        return "write true or false, without quotes"
    return f"its default is {short(port.default)}" if not port.required else ""


def link_faults(
    port: Input, id: NodeId, workflow: Workflow, types: NodeTypes, near: Near
) -> Iterator[Fault]:
    """Say what is wrong with the link of an input: its node, its slot, or kinds that do not fit.

    near  gives the known name nearest to a mistyped one, or ""
    """
    class_type, link = workflow.nodes[id].class_type, workflow.nodes[id].inputs[port.name]
    assert isinstance(link, Link)
    source = workflow.nodes.get(link.node)
    type = types.get(source.class_type) if source else None
    if type and link.slot < len(type.outputs) and fits(type.outputs[link.slot].kind, port.kind):
        return
    place = place_of(id, class_type, port.name)
    if source is None:
        close = near(link.node, workflow.nodes)
        fix = f"did you mean {close}?" if close else "link it to a node of this workflow"
        problem = "linked to a node that is not there"
        yield Fault(place, problem, short(link.node), fix, "bad-link", id)
        return
    if type is None:
        return  # the source's own fault says what is wrong
    origin = place_of(link.node, source.class_type)
    if link.slot >= len(type.outputs):
        names = ", ".join(f"{i} {output.name}" for i, output in enumerate(type.outputs))
        problem = f"linked to an output that {origin} does not have"
        fix = f"it has {names}" if names else "it has no outputs"
        yield Fault(place, problem, short(link.slot), fix, "bad-link", id)
        return
    output = type.outputs[link.slot]
    got = f"{output.kind.name} from {origin}, output {link.slot} {output.name}"
    fitting = [str(i) for i, other in enumerate(type.outputs) if fits(other.kind, port.kind)]
    fix = f"link output {fitting[0]} of it" if fitting else ""
    fix = fix or f"link it to an output of kind {port.kind.name}"
    yield Fault(place, f"takes {port.kind.name}", got, fix, "kind-mismatch", id)
