"""Node types as ComfyUI's clients read them: the entries of /object_info."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vinode.graph.kinds import COMBO, FLOAT, INT
from vinode.graph.node import AnyNodeType
from vinode.graph.plugins import BUILTIN, Pack
from vinode.graph.ports import Choices, Input
from vinode.graph.strict_json import Json

Names = Mapping[Choices, Sequence[str]]
_STEPS = {"INT": 1, "FLOAT": 0.01}
_LARGEST = 2**63 - 1  # limits of a number that has none of its own: what widgets can hold


def entry(declared: AnyNodeType, pack: Pack | None, names: Names) -> dict[str, Json]:
    """Give a node's entry.

    names  what each `Choices` offers at this moment
    """
    required, optional = _sections(declared.inputs, names)
    foreign = pack.name if pack and pack.name != BUILTIN.name else ""
    outputs = declared.outputs
    return {
        "input": {"required": required, "optional": optional},
        "input_order": {"required": list(required), "optional": list(optional)},
        "is_input_list": any(port.many for port in declared.inputs),
        "output": [port.kind.name for port in outputs],
        "output_is_list": [port.many for port in outputs],
        "output_name": [port.name for port in outputs],
        "output_tooltips": [port.help for port in outputs],
        "name": declared.id,
        "display_name": declared.title,
        "description": declared.signature.help,
        "python_module": f"custom_nodes.{foreign}" if foreign else "nodes",
        "category": declared.category,
        "output_node": declared.is_output,
        "has_intermediate_output": False,
    }


def _sections(
    inputs: Sequence[Input], names: Names
) -> tuple[dict[str, list[Json]], dict[str, list[Json]]]:
    """Part the inputs: what a client must send or show as a widget, and what may be left out."""
    required: dict[str, list[Json]] = {}
    optional: dict[str, list[Json]] = {}
    for port in inputs:
        left_out = port.nullable or (not port.required and not port.is_widget)
        (optional if left_out else required)[port.name] = input_entry(port, names)
    return required, optional


def input_entry(port: Input, names: Names) -> list[Json]:
    """Give an input: `["INT", {options}]`, or `[["a", "b"], {options}]` for a list of names."""
    options: dict[str, Json] = {}
    if not port.required and port.default is not None:
        options["default"] = port.default
    if port.help:
        options["tooltip"] = port.help
    if port.lazy:
        options["lazy"] = True
    if port.kind in (INT, FLOAT):
        options |= _number(port)
    if port.text:
        options["multiline"] = port.text.multiline
        options |= {"placeholder": port.text.placeholder} if port.text.placeholder else {}
    if port.kind is not COMBO:
        return [port.kind.name, options]
    if port.choices and port.choices.upload:
        options["image_upload"] = True
    listed = port.options if port.options is not None else names.get(_choices(port), ())
    return [list(listed), options]


def _choices(port: Input) -> Choices:
    assert port.choices is not None  # a COMBO has options or choices: the signature sees to it
    return port.choices


def _number(port: Input) -> dict[str, Json]:
    limits = port.range
    options: dict[str, Json] = {
        "min": limits.minimum if limits else -_LARGEST,
        "max": limits.maximum if limits else _LARGEST,
        "step": (limits.step if limits else None) or _STEPS[port.kind.name],
    }
    if limits and limits.unit:
        options["unit"] = limits.unit
    if port.seed:
        options["control_after_generate"] = True
    return options
