"""Workflow + node types -> Graph: kinds checked, cycles named, every fault in one pass."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from vinode.graph.context import Folders
from vinode.graph.devices import Hint, parse_hint, parse_options
from vinode.graph.errors import Fault, VinodeError, WorkflowError, nearest, short
from vinode.graph.inputs import constant, constant_faults, link_faults
from vinode.graph.node import AnyNodeType, NodeTypes, call_hook
from vinode.graph.workflow import Link, NodeId, NodeSpec, Workflow, place_of

AUTO = Hint("AUTO", ())


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node whose inputs have been checked.

    constants  name -> value of the input's kind; inputs left out have their default
    links      name -> where the value comes from
    """

    id: NodeId
    type: AnyNodeType
    constants: Mapping[str, object]
    links: Mapping[str, Link]
    title: str = ""
    hint: Hint = AUTO

    @property
    def place(self) -> str:
        """Name the node as messages do."""
        return place_of(self.id, self.type.id)


@dataclass(frozen=True, slots=True)
class Graph:
    """A workflow with its node types.

    nodes     those without a fault of their own
    order     every node of the file, sources first; empty where there is a cycle
    sources   node -> nodes it is linked to, faulty ones included
    outputs   ends of the workflow, in the file's order
    faults    all that is wrong, of every node
    warnings  what is odd but harmless: inputs that no node knows
    """

    nodes: Mapping[NodeId, GraphNode]
    order: tuple[NodeId, ...]
    sources: Mapping[NodeId, tuple[NodeId, ...]]
    outputs: tuple[NodeId, ...]
    faults: tuple[Fault, ...] = ()
    warnings: tuple[Fault, ...] = ()
    types: NodeTypes = field(default_factory=dict[str, AnyNodeType])

    def needed(self, targets: Iterable[NodeId]) -> set[NodeId]:
        """Give the targets and all that they may need, lazy inputs included."""
        found: set[NodeId] = set(targets)
        waiting = list(found)
        while waiting:
            for source in self.sources.get(waiting.pop(), ()):
                if source not in found:
                    found.add(source)
                    waiting.append(source)
        return found

    def require(self, targets: Sequence[NodeId]) -> set[NodeId]:
        """Give what the targets need; WorkflowError with all faults that stand in the way.

        Faults of nodes that no target needs do not: a half-linked node may lie about.
        """
        needed = self.needed(targets)
        faults = [fault for fault in self.faults if not fault.node or fault.node in needed]
        if not targets:
            fix = "add a node that ends the workflow, such as SaveImage or PreviewImage"
            faults.append(Fault("workflow", "nothing to run", fix=fix, code="no-outputs"))
        if faults:
            raise WorkflowError(*faults)
        return needed


def build(
    workflow: Workflow, types: NodeTypes, folders: Folders, default_hint: Hint = AUTO
) -> Graph:
    """Check a workflow against the node types. Never raises: faults are in the graph."""
    faults: list[Fault] = []
    warnings: list[Fault] = []
    nodes: dict[NodeId, GraphNode] = {}
    for id, spec in workflow.nodes.items():
        own, odd = _node_faults(id, spec, workflow, types)
        warnings += odd
        if not own:
            node, own = _node(id, spec, types[spec.class_type], default_hint)
            own += _hook_faults(node, folders)
            nodes[id] = node
        faults += own
    sources = {id: _linked(spec, workflow) for id, spec in workflow.nodes.items()}
    order, cycles = _order(sources)
    faults += [_cycle_fault(cycle, workflow) for cycle in cycles]
    bad = {fault.node for fault in faults}
    return Graph(
        {id: node for id, node in nodes.items() if id not in bad},
        () if cycles else order,
        sources,
        tuple(id for id, spec in workflow.nodes.items() if _is_output(spec, types)),
        tuple(faults),
        tuple(warnings),
        types,
    )


def _is_output(spec: NodeSpec, types: NodeTypes) -> bool:
    type = types.get(spec.class_type)
    return type is not None and type.is_output


def _linked(spec: NodeSpec, workflow: Workflow) -> tuple[NodeId, ...]:
    links = [value.node for value in spec.inputs.values() if isinstance(value, Link)]
    return tuple(node for node in links if node in workflow.nodes)


def _node_faults(
    id: NodeId, spec: NodeSpec, workflow: Workflow, types: NodeTypes
) -> tuple[list[Fault], list[Fault]]:
    """Check one node of the file: (faults, warnings)."""
    type = types.get(spec.class_type)
    if type is None:
        place = place_of(id, spec.class_type)
        close = nearest(spec.class_type, types)
        fix = (
            f"did you mean {close}?"
            if close
            else "install the pack that has it; see `vinode nodes`"
        )
        return [Fault(place, "no such node", short(spec.class_type), fix, "unknown-node", id)], []
    faults: list[Fault] = []
    warnings: list[Fault] = []
    missing = {port.name for port in type.inputs if port.name not in spec.inputs}
    for name in spec.inputs.keys() - {port.name for port in type.inputs}:
        close = nearest(name, missing)
        fix = f"did you mean {close}?" if close else "it is ignored"
        problem = Fault(place_of(id, spec.class_type, name), "no such input", "", fix)
        found = replace(problem, code="unknown-input", node=id)
        (faults if close else warnings).append(found)
    for port in type.inputs:
        value = spec.inputs.get(port.name)
        if isinstance(value, Link):
            faults += link_faults(port, value, workflow, types, spec.class_type, id)
        elif port.name in spec.inputs:
            faults += constant_faults(port, value, spec.class_type, id)
        elif port.required:
            fix = f"link it to an output of kind {port.kind.name}"
            fix = f"give a {port.kind.name}" if port.is_widget else fix
            at = place_of(id, spec.class_type, port.name)
            faults.append(Fault(at, "must be given", "nothing", fix, "missing-input", id))
    return faults, warnings


def _node(
    id: NodeId, spec: NodeSpec, type: AnyNodeType, default_hint: Hint
) -> tuple[GraphNode, list[Fault]]:
    constants: dict[str, object] = {}
    links: dict[str, Link] = {}
    for port in type.inputs:
        value = spec.inputs.get(port.name, port.default)
        if isinstance(value, Link):
            links[port.name] = value
        else:
            constants[port.name] = constant(port, value)
    faults: list[Fault] = []
    hint = default_hint
    place = place_of(id, spec.class_type)
    try:
        if "device" in spec.meta:
            hint = parse_hint(spec.meta["device"], f"{place}, device")
        hint = replace(hint, options=parse_options(spec.meta, place) or hint.options)
    except VinodeError as error:
        faults = [replace(fault, node=id) for fault in error.faults]
    title = spec.meta.get("title")
    return GraphNode(
        id, type, constants, links, title if isinstance(title, str) else "", hint
    ), faults


def _hook_faults(node: GraphNode, folders: Folders) -> list[Fault]:
    """Ask the node's own check: files and models that it names."""
    if node.type.check is None:
        return []
    try:
        fault: Fault | None = call_hook(node.type.check, node.constants, folders)
    except Exception as error:  # a pack's check is somebody else's code: any error is its own
        problem = f"its check failed: {type(error).__name__}: {error}"
        return [Fault(node.place, problem, code="check-failed", node=node.id)]
    if fault is None:
        return []
    place = f"{node.place}, {fault.place}" if fault.place else node.place
    return [replace(fault, place=place, node=node.id)]


def _order(
    sources: Mapping[NodeId, tuple[NodeId, ...]],
) -> tuple[tuple[NodeId, ...], list[list[NodeId]]]:
    """Sort sources first (Kahn 1962); what cannot be sorted has cycles: each is spelled out."""
    dependents: dict[NodeId, list[NodeId]] = {id: [] for id in sources}
    missing = {id: len(linked) for id, linked in sources.items()}
    for id, linked in sources.items():
        for source in linked:
            dependents[source].append(id)
    ready = deque(id for id, count in missing.items() if count == 0)
    order: list[NodeId] = []
    while ready:
        id = ready.popleft()
        order.append(id)
        for dependent in dependents[id]:
            missing[dependent] -= 1
            if missing[dependent] == 0:
                ready.append(dependent)
    left = {id for id, count in missing.items() if count > 0}
    return tuple(order), _cycles(sources, left)


def _cycles(sources: Mapping[NodeId, tuple[NodeId, ...]], left: set[NodeId]) -> list[list[NodeId]]:
    """Walk upstream from each unsorted node; a node met again on the same walk closes a cycle."""
    cycles: list[list[NodeId]] = []
    walk_of: dict[NodeId, int] = {}
    for number, start in enumerate(sorted(left)):
        path: list[NodeId] = []
        id = start
        while id not in walk_of:
            walk_of[id] = number
            path.append(id)
            # Every unsorted node waits for at least one other unsorted node.
            id = next(source for source in sources[id] if source in left)
        if walk_of[id] == number:
            cycles.append(path[path.index(id) :][::-1])
    return cycles


def _cycle_fault(cycle: list[NodeId], workflow: Workflow) -> Fault:
    names = [f"{id} ({workflow.nodes[id].class_type})" for id in (*cycle, cycle[0])]
    if len(names) > 12:
        names = [*names[:6], f"... {len(names) - 12} more ...", *names[-6:]]
    place = place_of(cycle[0], workflow.nodes[cycle[0]].class_type)
    problem = f"its inputs depend on its own output: {' -> '.join(names)}"
    return Fault(place, problem, fix="remove one of these links", code="cycle", node=cycle[0])
