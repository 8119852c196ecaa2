"""Node types as our own canvas reads them: kinds with colours, units, limits and help."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from vinode.graph.kinds import Kind
from vinode.graph.node import AnyNodeType
from vinode.graph.plugins import Pack, Packs
from vinode.graph.ports import Input, Output
from vinode.graph.strict_json import Json
from vinode.web.object_info import Names


def kinds_json(types: Iterable[AnyNodeType]) -> dict[str, Json]:
    """Give every kind that a port has: name -> about and colour."""
    kinds: dict[str, Kind] = {}
    for declared in types:
        kinds |= {port.kind.name: port.kind for port in declared.inputs}
        kinds |= {port.kind.name: port.kind for port in declared.outputs}
    return {
        name: {"about": kind.about, "colour": kind.colour, "is_model": kind.is_model}
        for name, kind in sorted(kinds.items())
    }


def node_json(declared: AnyNodeType, pack: Pack | None, names: Names) -> dict[str, Json]:
    """Give everything about a node; `summary` is the first paragraph of its help."""
    help = declared.signature.help
    return {
        "id": declared.id,
        "title": declared.title,
        "category": declared.category,
        "summary": " ".join(help.partition("\n\n")[0].split()),
        "help": help,
        "is_output": declared.is_output,
        "uses_device": declared.uses_device,
        "version": declared.version,
        "pack": pack.name if pack else "",
        "inputs": [_input_json(port, names) for port in declared.inputs],
        "outputs": [_output_json(port) for port in declared.outputs],
    }


def _output_json(port: Output) -> dict[str, Json]:
    return {"name": port.name, "kind": port.kind.name, "list": port.many, "help": port.help}


def _input_json(port: Input, names: Names) -> dict[str, Json]:
    told: dict[str, Json] = {
        "name": port.name,
        "kind": port.kind.name,
        "widget": port.is_widget,
        "required": port.required,
        "nullable": port.nullable,
        "lazy": port.lazy,
        "list": port.many,
        "help": port.help,
    }
    if not port.required:
        told["default"] = port.default
    if port.range:
        told["range"] = {
            "minimum": port.range.minimum,
            "maximum": port.range.maximum,
            "unit": port.range.unit,
            "step": port.range.step,
        }
    if port.options is not None:
        told["options"] = list(port.options)
    if port.choices:
        told["options"] = list(names.get(port.choices, ()))
        told["closed"] = port.choices.closed
        told["upload"] = port.choices.upload
    if port.text:
        told["multiline"] = port.text.multiline
        told["placeholder"] = port.text.placeholder
    if port.seed:
        told["seed"] = True
    return told


def packs_json(packs: Packs) -> list[Mapping[str, Json]]:
    """Give every pack, the broken ones with why."""
    return [
        {
            "name": pack.name,
            "origin": pack.origin,
            "version": pack.version,
            "nodes": list(pack.nodes),
            "problem": str(pack.problem) if pack.problem else None,
        }
        for pack in packs.packs
    ]
