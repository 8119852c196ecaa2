"""Where nodes run that say nothing themselves: by one hint, or by one for each kind of model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from vinode.graph.devices import PRESETS, Hint, parse_hint, preset_hints
from vinode.graph.errors import VinodeError, nearest
from vinode.graph.node import NodeTypes
from vinode.graph.workflow import NodeSpec, Workflow


def read_hints(text: str, place: str) -> Mapping[str, Hint]:
    """Read a hint or a preset for all nodes: kind of model -> hint, "*" for every other kind."""
    preset = preset_hints(text)
    if preset:
        return preset
    try:
        return {"*": parse_hint(text, place)}
    except VinodeError as error:
        close = nearest(text, PRESETS)
        if not close:
            raise
        fix = f"did you mean {close}?"
        raise VinodeError(*(replace(fault, fix=fix) for fault in error.faults)) from None


def placed(spec: NodeSpec, hints: Mapping[str, Hint], types: NodeTypes) -> NodeSpec:
    """Put a node where its kind of model belongs; what the file says of its device is dropped."""
    meta = {key: value for key, value in spec.meta.items() if key != "device"}
    type = types.get(spec.class_type)
    kinds = [port.kind.name for port in type.inputs if port.kind.is_model] if type else []
    named = [hints[kind] for kind in kinds if kind in hints]
    return replace(spec, meta={**meta, "device": named[0].text} if named else meta)


def fill_in(workflow: Workflow, text: str, types: NodeTypes, place: str) -> tuple[Workflow, Hint]:
    """Give the workflow with a preset's hints where nodes have none, and the hint of the rest."""
    hints = read_hints(text, place)
    if len(hints) > 1:
        nodes = {
            id: spec if spec.meta.get("device") is not None else placed(spec, hints, types)
            for id, spec in workflow.nodes.items()
        }
        workflow = replace(workflow, nodes=nodes)
    return workflow, hints["*"]
