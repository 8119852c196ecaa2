"""Values of finished nodes, kept while a node that may still run could need them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from vinode.graph.arguments import Values
from vinode.graph.graph import GraphNode
from vinode.graph.workflow import NodeId


class Held:
    """Counts for each node those that may still need it, lazy branches included.

    A branch that nobody has asked for yet may be asked for later: until it is sure that it will
    not, what it would need stays here.

    values  node -> for each output its values
    """

    def __init__(
        self,
        nodes: Mapping[NodeId, GraphNode],
        known: Container[NodeId],
        targets: Iterable[NodeId],
    ) -> None:
        self.values: dict[NodeId, tuple[Values, ...]] = {}
        self._nodes, self._known = nodes, known
        self._users: dict[NodeId, int] = dict.fromkeys(targets, 1)
        self._expected: set[NodeId] = set()
        self._settled: set[NodeId] = set()

    def expect(self, ids: Iterable[NodeId]) -> None:
        """Nodes may run, and so may whatever they link to that is not settled."""
        users = self._users
        waiting = list(ids)
        while waiting:
            id = waiting.pop()
            if id in self._expected or id in self._settled:
                continue
            self._expected.add(id)
            for link in self._nodes[id].links.values():
                users[link.node] = users.get(link.node, 0) + 1
                waiting.append(link.node)

    def settle(self, id: NodeId) -> None:
        """A node will not run, or not again: let go of what only it could need."""
        self._settled.add(id)
        if id not in self._expected:
            return
        self._expected.discard(id)
        self.release([link.node for link in self._nodes[id].links.values()])

    def put(self, id: NodeId, outputs: tuple[Values, ...]) -> None:
        """Keep the outputs of a node, if any other may need them."""
        if self._users.get(id):
            self.values[id] = outputs

    def use(self, ids: Iterable[NodeId]) -> None:
        """Ask for nodes to be kept until they are released."""
        for id in ids:
            self._users[id] = self._users.get(id, 0) + 1

    def release(self, ids: list[NodeId]) -> None:
        """Need nodes no more; one that nobody needs and that has not begun will never run."""
        waiting = ids
        while waiting:
            id = waiting.pop()
            self._users[id] -= 1
            if self._users[id]:
                continue
            self.values.pop(id, None)
            if id not in self._known and id in self._expected:
                self._expected.discard(id)
                self._settled.add(id)
                waiting += [link.node for link in self._nodes[id].links.values()]
