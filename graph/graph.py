"""Workflow + node types -> Graph: kinds checked, cycles named, every fault in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from vinode.graph.context import Folders
from vinode.graph.devices import OPTIONS, Hint, parse_hint, parse_options
from vinode.graph.errors import Fault, VinodeError, WorkflowError, nearest, short
from vinode.graph.inputs import Near, constant, constant_faults, link_faults
from vinode.graph.node import AnyNodeType, NodeTypes, call_hook
from vinode.graph.order import sort
from vinode.graph.ports import choice_problem
from vinode.graph.rewrites import parse_rewrites
from vinode.graph.workflow import Link, NodeId, NodeSpec, Workflow, place_of

AUTO = Hint("AUTO", ())
_HINTING = frozenset(("device", "rewrites", *OPTIONS))  # of a node's `_meta`
_HELPED = 100  # faults that come with the nearest name

NOTHING_TO_RUN = Fault(
    "workflow",
    "nothing to run",
    fix="add a node that ends the workflow, such as SaveImage or PreviewImage",
    code="no-outputs",
)


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
    order     nodes of the file, sources first, without those on a cycle or behind one
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
            faults = [*self.faults, NOTHING_TO_RUN]
        # Only so many cycles are spelled out; what stands on or behind another has no order.
        looped = needed - set(self.order) if not faults else set[NodeId]()
        if looped:
            id = min(looped)
            problem = "it stands on a cycle of links, or behind one"
            fault = Fault(f"node {id}", problem, fix="mend the cycles that are named first")
            faults.append(replace(fault, code="cycle", node=id))
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
        type = types.get(spec.class_type)
        near = nearest if len(faults) < _HELPED else _no_name
        hint, own = _hint(id, spec, default_hint)
        if type is None:
            own.append(_unknown_node(id, spec, types, near))
        else:
            wrong, odd = _node_faults(id, type, workflow, types, near)
            own += wrong
            warnings += odd
        if type and not own:
            nodes[id] = _node(id, spec, type, hint)
            own = _hook_faults(nodes[id], folders) or _choice_faults(nodes[id], folders)
        faults += own
    faults += _unasked(workflow, folders)
    sources = {id: _linked(spec, workflow, types) for id, spec in workflow.nodes.items()}
    order, cycles = sort(sources)
    faults += [_cycle_fault(cycle, workflow) for cycle in cycles]
    bad = {fault.node for fault in faults}
    return Graph(
        {id: node for id, node in nodes.items() if id not in bad},
        order,
        sources,
        tuple(id for id, spec in workflow.nodes.items() if _is_output(spec, types)),
        tuple(faults),
        tuple(warnings),
        types,
    )


def _no_name(name: str, known: Iterable[str]) -> str:
    """Offer no name: nobody reads a thousand offers, and each takes a while."""
    return ""


def _unasked(workflow: Workflow, folders: Folders) -> Iterator[Fault]:
    """Tell of names given on the command line that stand in no input: mistyped, they are missed."""
    texts: set[str] = set()
    for spec in workflow.nodes.values() if folders.named else ():
        texts |= {value for value in spec.inputs.values() if isinstance(value, str)}
    for name in folders.named or ():
        if name not in texts:
            close = nearest(name, texts)
            fix = f"did you mean {close}?" if close else "see `vinode check` for what is asked for"
            yield Fault(f"--input {name}", "no node asks for it", fix=fix, code="unknown-input")


def _is_output(spec: NodeSpec, types: NodeTypes) -> bool:
    type = types.get(spec.class_type)
    return type is not None and type.is_output


def _linked(spec: NodeSpec, workflow: Workflow, types: NodeTypes) -> tuple[NodeId, ...]:
    """Give the nodes that a node is linked to; links of inputs it does not have are ignored."""
    type = types.get(spec.class_type)
    names = spec.inputs if type is None else [port.name for port in type.inputs]
    links = [value.node for name in names if isinstance(value := spec.inputs.get(name), Link)]
    return tuple(node for node in links if node in workflow.nodes)


def _unknown_node(id: NodeId, spec: NodeSpec, types: NodeTypes, near: Near) -> Fault:
    close = near(spec.class_type, types)
    fix = f"did you mean {close}?" if close else "install the pack that has it; see `vinode nodes`"
    place = place_of(id, spec.class_type)
    return Fault(place, "no such node", short(spec.class_type), fix, "unknown-node", id)


# Widgets of ComfyUI's editor that its API exports carry though no node takes them.
_EDITOR_ONLY = frozenset({"upload", "choose file to upload"})


def _node_faults(
    id: NodeId, type: AnyNodeType, workflow: Workflow, types: NodeTypes, near: Near
) -> tuple[list[Fault], list[Fault]]:
    """Check the inputs of one node of the file: (faults, warnings)."""
    inputs = workflow.nodes[id].inputs
    faults: list[Fault] = []
    warnings: list[Fault] = []
    known = {port.name for port in type.inputs}
    free = [port.name for port in type.inputs if port.name not in inputs]
    odd = [name for name in inputs if name not in known and name not in _EDITOR_ONLY]
    for number, name in enumerate(odd):
        close = near(name, free) if number < _HELPED else ""
        fix = f"did you mean {close}?" if close else "it is ignored"
        problem = Fault(place_of(id, type.id, name), "no such input", "", fix)
        found = replace(problem, code="unknown-input", node=id)
        (faults if close else warnings).append(found)
    for port in type.inputs:
        if isinstance(inputs.get(port.name), Link):
            faults += link_faults(port, id, workflow, types, near)
        elif port.name in inputs:
            faults += constant_faults(port, inputs[port.name], type.id, id)
        elif port.required:
            fix = f"link it to an output of kind {port.kind.name}"
            fix = f"give a {port.kind.name}" if port.is_widget else fix
            at = place_of(id, type.id, port.name)
            faults.append(Fault(at, "must be given", "nothing", fix, "missing-input", id))
    return faults, warnings


def _hint(id: NodeId, spec: NodeSpec, default: Hint) -> tuple[Hint, list[Fault]]:
    """Read where a node should run, and how: (hint, faults)."""
    if _HINTING.isdisjoint(spec.meta):
        return default, []
    place = place_of(id, spec.class_type)
    hint, options, rewrites = default, default.options, default.rewrites
    faults: list[Fault] = []
    try:
        if spec.meta.get("device") is not None:
            hint = parse_hint(spec.meta["device"], f"{place}, device")
    except VinodeError as error:
        faults += error.faults
    try:
        options = parse_options(spec.meta, place) or hint.options
    except VinodeError as error:
        faults += error.faults
    try:
        rewrites = parse_rewrites(spec.meta, place) or hint.rewrites
    except VinodeError as error:
        faults += error.faults
    hint = replace(hint, options=options, rewrites=rewrites)
    return hint, [replace(fault, node=id) for fault in faults]


def _node(id: NodeId, spec: NodeSpec, type: AnyNodeType, hint: Hint) -> GraphNode:
    constants: dict[str, object] = {}
    links: dict[str, Link] = {}
    for port in type.inputs:
        value = spec.inputs.get(port.name, port.default)
        if isinstance(value, Link):
            links[port.name] = value
        else:
            constants[port.name] = constant(port, value)
    title = spec.meta.get("title")
    return GraphNode(id, type, constants, links, title if isinstance(title, str) else "", hint)


def _hook_faults(node: GraphNode, folders: Folders) -> list[Fault]:
    """Ask the node's own check: files and models that it names."""
    if node.type.check is None:
        return []
    try:
        fault: object = call_hook(node.type.check, node.constants, folders)
        if fault is not None and not isinstance(fault, Fault):
            raise TypeError(f"it gave {short(fault)} instead of a Fault or None")
    except Exception as error:  # a pack's check is somebody else's code: any error is its own
        problem = f"its check failed: {type(error).__name__}: {short(str(error))}"
        fix = f"tell the author of {node.type.origin}"
        return [Fault(node.place, problem, fix=fix, code="check-failed", node=node.id)]
    if fault is None:
        return []
    place = f"{node.place}, {fault.place}" if fault.place else node.place
    return [replace(fault, place=place, node=node.id)]


def _choice_faults(node: GraphNode, folders: Folders) -> list[Fault]:
    """Refuse names that a closed list does not offer; the node's own check may say more of them."""
    faults: list[Fault] = []
    for port in node.type.inputs:
        if port.choices is None or port.name not in node.constants:
            continue
        place, value = place_of(node.id, node.type.id, port.name), node.constants[port.name]
        try:
            problem = choice_problem(port, value, folders)
        except Exception as error:  # a pack lists the names: any error is its own
            said = f"its names cannot be listed: {type(error).__name__}: {short(str(error))}"
            fix = f"tell the author of {node.type.origin}"
            faults.append(Fault(place, said, fix=fix, code="check-failed", node=node.id))
            continue
        if problem:
            wording, _, fix = problem.partition("; ")
            faults.append(Fault(place, wording, short(value), fix, "bad-value", node.id))
    return faults


def _cycle_fault(cycle: list[NodeId], workflow: Workflow) -> Fault:
    names = [f"{id} ({workflow.nodes[id].class_type})" for id in (*cycle, cycle[0])]
    if len(names) > 12:
        names = [*names[:6], f"... {len(names) - 12} more ...", *names[-6:]]
    place = place_of(cycle[0], workflow.nodes[cycle[0]].class_type)
    problem = f"its inputs depend on its own output: {' -> '.join(names)}"
    return Fault(place, problem, fix="remove one of these links", code="cycle", node=cycle[0])
