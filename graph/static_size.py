"""A fixed size for what a node is given: set where sizes are written, else scaled before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from vinode.graph.node import NodeTypes
from vinode.graph.values import Image
from vinode.graph.workflow import Json, Link, NodeId, NodeSpec, Workflow, place_of

SIDE = 512  # pixels: what Stable Diffusion 1 was trained on
SCALE = "ImageScale"

_SIDES = ("width", "height")


def fix_sizes(workflow: Workflow, node: NodeId, types: NodeTypes) -> tuple[list[str], Workflow]:
    """Fix the size of what a node is given: (what was changed, a line a place; the workflow).

    Sizes that are computed or follow from pictures become numbers. Where none is written, an
    ImageScale is put before the first picture on the way to the node.
    """
    done: list[str] = []
    nodes = dict(workflow.nodes)
    way = tuple(_upstream(workflow, node, types))
    for id in way:
        inputs, said = _fixed(workflow, id, types)
        if said:
            nodes[id] = replace(nodes[id], inputs=inputs)
            done += said
    if not done:
        put = next(_pictures(workflow, way, types), None)
        if put is not None:
            done.append(_scaled(nodes, *put))
    return done, replace(workflow, nodes=nodes)


def _sizes(workflow: Workflow, id: NodeId, types: NodeTypes) -> Mapping[str, Link | Json]:
    """Give width and height of a node as the file or the type says; {} where it has not both."""
    spec = workflow.nodes[id]
    found = {name: _given(spec, name, types) for name in _SIDES}
    return {} if None in found.values() else found


def _given(spec: NodeSpec, name: str, types: NodeTypes) -> Link | Json:
    type = types.get(spec.class_type)
    ports = {port.name: port.default for port in type.inputs} if type else {}
    return spec.inputs.get(name, ports.get(name))


def _fixed(
    workflow: Workflow, id: NodeId, types: NodeTypes
) -> tuple[dict[str, Link | Json], list[str]]:
    """Give the inputs of a node with both sizes as numbers, and what was changed."""
    spec = workflow.nodes[id]
    inputs = dict(spec.inputs)
    sizes = _sizes(workflow, id, types)
    numbers = {name: _number(workflow, value) for name, value in sizes.items()}
    other = next(filter(None, numbers.values()), SIDE)
    done: list[str] = []
    for name, before in sizes.items():
        if not _is_fixed(workflow, before, types):
            inputs[name] = numbers[name] or other
            was = f"the link to node {before.node}" if isinstance(before, Link) else before
            done.append(f"{place_of(id, spec.class_type, name)}: {inputs[name]} instead of {was}")
    if done and _given(spec, "crop", types) == "disabled":
        inputs["crop"] = "center"  # pictures of other proportions would be stretched
        done.append(f"{place_of(id, spec.class_type, 'crop')}: center instead of disabled")
    return inputs, done


def _is_fixed(workflow: Workflow, value: Link | Json, types: NodeTypes) -> bool:
    """Say whether a size is a number before the run; one from a node that tells it is."""
    if isinstance(value, Link):
        spec = workflow.nodes.get(value.node)
        type = types.get(spec.class_type) if spec else None
        if type is None or type.known is None:
            return False
    return _number(workflow, value) > 0


def _number(workflow: Workflow, value: Link | Json) -> int:
    """Give a size as it is written, through a primitive too; 0 where it is not."""
    if isinstance(value, Link) and value.node in workflow.nodes:
        value = workflow.nodes[value.node].inputs.get("value")
    return value if type(value) is int and value > 0 else 0


def _pictures(
    workflow: Workflow, way: Sequence[NodeId], types: NodeTypes
) -> Iterator[tuple[NodeId, str, Link]]:
    """Give the inputs that a picture of unfixed size comes in by, the nearest to the node first."""
    for id in way:
        spec = workflow.nodes[id]
        if id != way[0] and _sizes(workflow, id, types):
            continue  # what it gives is fixed, whatever it is given
        type = types.get(spec.class_type)
        for port in type.inputs if type else ():
            link = spec.inputs.get(port.name)
            if port.kind is not Image.kind or not isinstance(link, Link):
                continue
            if link.node in workflow.nodes and not _sizes(workflow, link.node, types):
                yield id, port.name, link


def _scaled(nodes: dict[NodeId, NodeSpec], id: NodeId, name: str, link: Link) -> str:
    """Put an ImageScale between a node and its picture."""
    spec = nodes[id]
    number = 1
    while NodeId(str(number)) in nodes:
        number += 1
    new = NodeId(str(number))
    inputs: dict[str, Link | Json] = {
        "image": link,
        "upscale_method": "lanczos",
        "width": SIDE,
        "height": SIDE,
        "crop": "center",
    }
    nodes[new] = NodeSpec(SCALE, inputs, _beside(spec))
    nodes[id] = replace(spec, inputs={**spec.inputs, name: Link(new, 0)})
    at = place_of(id, spec.class_type, name)
    return f"{place_of(new, SCALE)}: new, {SIDE} x {SIDE} pixels, before {at}"


def _beside(spec: NodeSpec) -> dict[str, Json]:
    """Place the new node a little to the left of the old one, where that has a place."""
    place = spec.meta.get("pos")
    if not isinstance(place, list):
        return {}
    numbers = [each for each in cast(list[object], place) if isinstance(each, int | float)]
    return {"pos": [numbers[0] - 40, numbers[1] - 40]} if len(numbers) == 2 else {}


def _upstream(workflow: Workflow, node: NodeId, types: NodeTypes) -> Iterator[NodeId]:
    """Walk up the links from a node, itself first, the nearest first.

    What lies behind a node with fixed sizes is of no account.
    """
    waiting, seen = [node], {node}
    while waiting:
        id = waiting.pop(0)
        yield id
        sizes = _sizes(workflow, id, types).values()
        if id != node and sizes and all(_is_fixed(workflow, each, types) for each in sizes):
            continue
        for link in workflow.nodes[id].inputs.values():
            if isinstance(link, Link) and link.node in workflow.nodes and link.node not in seen:
                seen.add(link.node)
                waiting.append(link.node)
