"""A fix of a node -> the workflow changed by it, in words and as a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import cast

from vinode.graph.devices import parse_hint
from vinode.graph.node import NodeTypes
from vinode.graph.placement import Fix
from vinode.graph.static_size import fix_sizes
from vinode.graph.workflow import Json, Link, NodeId, NodeSpec, Workflow, place_of

_SIZES = ("width", "height")
_COUNTS = ("batch_size", "amount")
_STEP = 64  # pixels: 8 x 8 of a latent's, and what accelerators pad to


@dataclass(frozen=True, slots=True)
class Change:
    """A workflow after a fix.

    done  what was changed, a line a place
    """

    done: tuple[str, ...]
    workflow: Workflow


def change(workflow: Workflow, node: NodeId, fix: Fix, types: NodeTypes) -> Change | None:
    """Apply a fix to a node; None where it changes nothing, as advice does."""
    meta = workflow.nodes[node].meta
    match fix.kind:
        case "device":
            hint = _hint(fix.value, meta.get("device"))
            return _meta(workflow, node, {**meta, "device": hint}, f"device {hint}")
        case "rewrite":
            names = [*_rewrites(meta), fix.value]
            kept = {**meta, "rewrites": list(dict.fromkeys(names))}
            return _meta(workflow, node, kept, f"rewrite {fix.value}")
        case "option":
            return _option(workflow, node, fix.value)
        case "input":
            return _inputs(workflow, node, fix.value, types)
        case "advice":
            return None


def _hint(value: str, before: Json) -> str:
    """Keep the `!` of a node that must not fall back, where the fix is no device of its own."""
    strict = isinstance(before, str) and before.rstrip().endswith("!")
    return f"{value}!" if strict and parse_hint(value, "").hetero else value


def _rewrites(meta: Mapping[str, Json]) -> list[Json]:
    given = meta.get("rewrites")
    return list(cast(list[object], given)) if isinstance(given, list) else []


def _meta(workflow: Workflow, node: NodeId, meta: Mapping[str, Json], said: str) -> Change | None:
    spec = workflow.nodes[node]
    if meta == spec.meta:
        return None
    nodes = {**workflow.nodes, node: replace(spec, meta=meta)}
    done = f"{place_of(node, spec.class_type)}: {said}"
    return Change((done,), replace(workflow, nodes=nodes))


def _option(workflow: Workflow, node: NodeId, value: str) -> Change | None:
    meta = workflow.nodes[node].meta
    key, equals, wanted = value.partition("=")
    if equals:
        return _meta(workflow, node, {**meta, key: wanted}, f"{key} {wanted}")
    rest = {name: given for name, given in meta.items() if name != key}
    list_key, dot, name = key.partition(".")
    if dot:
        rest = {other: given for other, given in meta.items() if other != list_key}
        left = [each for each in _rewrites(meta) if each != name]
        rest = {**rest, list_key: left} if left else rest
    return _meta(workflow, node, rest, f"without {key.replace('.', ' ')}")


def _inputs(workflow: Workflow, node: NodeId, rule: str, types: NodeTypes) -> Change | None:
    """Change sizes or counts that the node's pictures come from, wherever they are written."""
    if rule == "static-size":
        said, fixed = fix_sizes(workflow, node, types)
        return Change(tuple(said), fixed) if said else None
    names = _COUNTS if rule == "batch-1" else _SIZES
    nodes = dict(workflow.nodes)
    done: list[str] = []
    for id, name, value in _upstream(workflow, node, names, types):
        wanted = _wanted(rule, value)
        if wanted != value:
            spec = nodes[id]
            nodes[id] = replace(spec, inputs={**spec.inputs, name: wanted})
            done.append(f"{place_of(id, spec.class_type, name)}: {wanted} instead of {value}")
    return Change(tuple(done), replace(workflow, nodes=nodes)) if done else None


def _wanted(rule: str, value: int) -> int:
    """Give the value that a rule asks for.

    >>> _wanted("multiple-64", 500), _wanted("half-size", 1000), _wanted("batch-1", 4)
    (512, 512, 1)
    """
    if rule == "batch-1":
        return 1
    goal = value / 2 if rule == "half-size" else value
    return min(-int(-goal // _STEP) * _STEP, value if rule == "half-size" else 2**31)


def _upstream(
    workflow: Workflow, node: NodeId, names: tuple[str, ...], types: NodeTypes
) -> Iterator[tuple[NodeId, str, int]]:
    """Walk up the links of a node to whole numbers, above 0, that are called so."""
    waiting, seen = [node], {node}
    found: set[tuple[NodeId, str]] = set()
    while waiting:
        id = waiting.pop(0)
        spec = workflow.nodes[id]
        for name, value in _values(spec, names, types):
            place, given = (id, name), value
            if isinstance(value, Link) and value.node in workflow.nodes:
                # A primitive that feeds the input: its one number is what to change.
                place, given = (value.node, "value"), workflow.nodes[value.node].inputs.get("value")
            if type(given) is int and given > 0 and place not in found:
                found.add(place)
                yield (*place, given)
        for link in spec.inputs.values():
            if isinstance(link, Link) and link.node in workflow.nodes and link.node not in seen:
                seen.add(link.node)
                waiting.append(link.node)


def _values(
    spec: NodeSpec, names: tuple[str, ...], types: NodeTypes
) -> Iterator[tuple[str, Link | Json]]:
    type = types.get(spec.class_type)
    defaults = {port.name: port.default for port in type.inputs} if type else {}
    for name in names:
        if name in spec.inputs:
            yield name, spec.inputs[name]
        elif name in defaults:
            yield name, defaults[name]
