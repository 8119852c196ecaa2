"""The order in which nodes can run, and the cycles that let them have none."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from vinode.graph.workflow import NodeId

Sources = Mapping[NodeId, Sequence[NodeId]]

MAX_CYCLES = 100  # spelled out; a hostile file has millions


def sort(sources: Sources) -> tuple[tuple[NodeId, ...], list[list[NodeId]]]:
    """Sort nodes, sources first (Kahn 1962), and find the cycles among those left.

    sources  node -> the nodes it is linked to, all of which are keys
    returns  nodes that are neither on a cycle nor behind one; and the cycles, each in the direction
             in which values would flow. Without one link of each cycle there is none left
    """
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
    left = {
        id: [source for source in dict.fromkeys(sources[id]) if missing[source]]
        for id, count in missing.items()
        if count
    }
    return tuple(order), _cycles(left)


def _cycles(sources: Sources) -> list[list[NodeId]]:
    """Walk upstream, depth first; a link back to a node of the walk closes a cycle."""
    cycles: list[list[NodeId]] = []
    seen: set[NodeId] = set()
    for start in sources:
        walk = {start: iter(sources[start])} if start not in seen else {}
        while walk and len(cycles) < MAX_CYCLES:
            id = next(reversed(walk))
            seen.add(id)
            source = next(walk[id], None)
            if source is None:
                walk.pop(id)
            elif source in walk:
                path = list(walk)
                cycles.append(path[path.index(source) :][::-1])
            elif source not in seen:
                walk[source] = iter(sources[source])
    return cycles
