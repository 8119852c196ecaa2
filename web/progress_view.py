"""How far the runs are that run now, folded from what is told of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vinode.graph.strict_json import Json
from vinode.web.told import Told


@dataclass(slots=True)
class RunView:
    """A run that runs.

    steps    nodes to run, as far as is known
    ended    nodes that are done, failed or skipped
    running  node -> how far it is, 0..1, in the order in which they began
    shares   node -> (done, total) of those that tell of it
    roots    node of an expansion -> the one in the workflow that it stands for
    """

    run: str
    client_id: str
    steps: int = 0
    ended: int = 0
    running: dict[str, float] = field(default_factory=dict[str, float])
    shares: dict[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    roots: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def percent(self) -> float:
        """Say how much of the run is done, counting each node alike."""
        if not self.steps:
            return 0.0
        done = self.ended + sum(self.running.values())
        return round(100 * min(1.0, done / self.steps), 1)

    def root(self, node: str) -> str:
        """Give the node of the workflow that a node stands for: itself, but for expansions."""
        return self.roots.get(node, node)

    def update(self, told: Told) -> None:
        """Take in one thing that was told of this run."""
        data = told.data
        node = str(data.get("node", ""))
        match told.kind:
            case "run-started":
                self.steps = int(data["steps"])
            case "node-started":
                self.running[node] = 0.0
            case "node-progress":
                self._progress(node, data)
            case "node-expanded":
                children = [str(child) for child in data["children"]]
                self.roots.update(dict.fromkeys(children, self.root(node)))
                self.steps += len(children)
            case "node-ended":
                self.running.pop(node, None)
                self.shares.pop(node, None)
                self.ended += 1
            case _:
                pass

    def _progress(self, node: str, data: Mapping[str, Json]) -> None:
        done, total = float(data["done"]), float(data["total"])
        self.shares[node] = (done, total)
        if node in self.running and total > 0:
            self.running[node] = max(0.0, min(1.0, done / total))
