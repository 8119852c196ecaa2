/** Nodes from left to right in the order of their wires, without crossings as far as possible. */
import dagre from "@dagrejs/dagre";
import { type Document, linksOf, type NodeId, type Point, type Size } from "../model/document";

/** Give new places of some nodes; their upper left corner stays where it was. */
export function arranged(document: Document, ids: readonly NodeId[], size: (id: NodeId) => Size): Map<NodeId, Point> {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 36, ranksep: 90, ranker: "network-simplex" });
  graph.setDefaultEdgeLabel(() => ({}));
  const chosen = new Set(ids);
  for (const id of ids) {
    const { width, height } = size(id);
    graph.setNode(id, { width, height });
  }
  for (const { from, to } of linksOf(document)) {
    if (chosen.has(from.node) && chosen.has(to.node)) graph.setEdge(from.node, to.node);
  }
  dagre.layout(graph);
  const places = new Map<NodeId, Point>();
  for (const id of ids) {
    const { x, y, width, height } = graph.node(id) as { x: number; y: number; width: number; height: number };
    places.set(id, { x: x - width / 2, y: y - height / 2 });
  }
  return moved(places, anchor(document, ids));
}

/** Give the upper left corner of where nodes are now; 0, 0 where none has a place. */
function anchor(document: Document, ids: readonly NodeId[]): Point {
  const placed = ids.map((id) => document.nodes.get(id)?.pos).filter((pos) => pos !== undefined && !Number.isNaN(pos.x)) as Point[];
  if (placed.length === 0) return { x: 0, y: 0 };
  return { x: Math.min(...placed.map((pos) => pos.x)), y: Math.min(...placed.map((pos) => pos.y)) };
}

function moved(places: Map<NodeId, Point>, to: Point): Map<NodeId, Point> {
  const [x, y] = [Math.min(...[...places.values()].map((p) => p.x)), Math.min(...[...places.values()].map((p) => p.y))];
  return new Map([...places].map(([id, at]) => [id, { x: Math.round(at.x - x + to.x), y: Math.round(at.y - y + to.y) }]));
}
