"""A node type as people and programs read it: what stands in lists, in one node's page, in JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby

from vinode.graph.context import Folders
from vinode.graph.errors import short
from vinode.graph.node import AnyNodeType
from vinode.graph.plugins import Pack
from vinode.graph.ports import Choices, Input, Output, Range


def by_category(types: Iterable[AnyNodeType]) -> list[tuple[str, list[AnyNodeType]]]:
    """Group node types by category, both in order of name."""
    ordered = sorted(types, key=lambda declared: (declared.category, declared.id.lower()))
    return [(name, list(group)) for name, group in groupby(ordered, lambda node: node.category)]


def summary(declared: AnyNodeType) -> str:
    """Give the first paragraph of a node's help, in one line."""
    return " ".join(declared.signature.help.partition("\n\n")[0].split())


def kind_text(port: Input | Output) -> str:
    """Write the kind as people read it: `list of IMAGE`, `INT or nothing`."""
    text = f"list of {port.kind.name}" if port.many else port.kind.name
    if isinstance(port, Input):
        text += " (lazy)" if port.lazy else ""
        text += " or nothing" if port.nullable else ""
    return text


def range_text(limits: Range) -> str:
    """Write limits with unit and step.

    >>> range_text(Range(0, 1.5, "EV", 0.1))
    '0 to 1.5 EV, step 0.1'
    """
    text = str(limits)
    return text if limits.step is None else f"{text}, step {limits.step}"


def default_text(port: Input) -> str:
    """Write the default, or that there is none."""
    if port.required:
        return "required"
    return "none" if port.default is None else short(port.default)


def allowed_text(port: Input, folders: Folders | None) -> str:
    """Write what may stand there: limits, options, and how many choices there are here.

    folders  where the choices are looked up; None to say only that there are some
    """
    if port.seed:
        return "0 to 2^64-1, a seed"
    if port.range:
        return range_text(port.range)
    if port.options is not None:
        return " · ".join(port.options)
    if port.choices:
        other = "" if port.choices.closed else ", or another name"
        count = "what is there" if folders is None else _count_text(port.choices, folders)
        return count + other
    return ""


def _count_text(choices: Choices, folders: Folders) -> str:
    count, problem = choice_count(choices, folders)
    return problem or (f"{count} choice" if count == 1 else f"{count} choices")


def choice_count(choices: Choices, folders: Folders) -> tuple[int, str]:
    """Count the names that are there, or say why they cannot be listed."""
    try:
        return len(choices.names(folders)), ""
    except Exception as error:  # a pack's own function: any error is its own
        return 0, f"choices cannot be listed: {type(error).__name__}: {error}"


def pack_json(pack: Pack) -> dict[str, object]:
    """Give everything about a pack as JSON values."""
    return {
        "name": pack.name,
        "origin": pack.origin,
        "version": pack.version,
        "nodes": list(pack.nodes),
        "problem": str(pack.problem) if pack.problem else None,
    }


def as_json(declared: AnyNodeType, pack: Pack | None, folders: Folders) -> dict[str, object]:
    """Give everything about a node as JSON values."""
    return {
        "id": declared.id,
        "title": declared.title,
        "category": declared.category,
        "help": declared.signature.help,
        "is_output": declared.is_output,
        "uses_device": declared.uses_device,
        "version": declared.version,
        "pack": pack.name if pack else "",
        "origin": declared.origin,
        "inputs": [_input_json(port, folders) for port in declared.inputs],
        "outputs": [
            {"name": port.name, "kind": port.kind.name, "list": port.many, "help": port.help}
            for port in declared.outputs
        ],
    }


def _input_json(port: Input, folders: Folders) -> dict[str, object]:
    told: dict[str, object] = {
        "name": port.name,
        "kind": port.kind.name,
        "required": port.required,
        "nullable": port.nullable,
        "lazy": port.lazy,
        "list": port.many,
        "help": port.help,
    }
    if not port.required:
        told["default"] = port.default
    if port.range:
        told["range"] = _range_json(port.range)
    if port.options is not None:
        told["options"] = list(port.options)
    if port.choices:
        count, problem = choice_count(port.choices, folders)
        told["choices"] = {"count": count, "closed": port.choices.closed, "problem": problem}
    if port.text:
        told["multiline"] = port.text.multiline
    if port.seed:
        told["seed"] = True
    return told


def _range_json(limits: Range) -> Mapping[str, object]:
    return {
        "minimum": limits.minimum,
        "maximum": limits.maximum,
        "unit": limits.unit,
        "step": limits.step,
    }
