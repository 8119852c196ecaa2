/** Workflow -> what @xyflow/react draws. A node that did not change gives the same object again. */
import type { Edge, Node as FlowNode } from "@xyflow/react";
import { Position } from "@xyflow/react";
import { type Document, type Group, type InputPlace, isLink, isPinned, type Node, REROUTE } from "../model/document";
import { kindOf } from "../model/flow";
import type { Catalogue, NodeType } from "../model/nodeType";
import { type Shape, shapeOf } from "../model/shape";

export interface NodeData extends Record<string, unknown> {
  readonly node: Node;
  readonly type: NodeType | undefined;
  readonly shape: Shape;
}

export interface FrameData extends Record<string, unknown> {
  readonly group: Group;
}

export type CardNode = FlowNode<NodeData, "card" | "dot">;
export type FrameNode = FlowNode<FrameData, "frame">;
export type AnyNode = CardNode | FrameNode;

const FRAME = "frame:";
const WIRE = "wire:";
const PORT = 12; // pixels, as in canvas.css

/** Name a frame among nodes. */
export function frameId(group: string): string {
  return FRAME + group;
}

/** Give the group that an id names, or null. */
export function groupOf(id: string): string | null {
  return id.startsWith(FRAME) ? id.slice(FRAME.length) : null;
}

/** Name the wire that ends in an input. */
export function wireId(to: InputPlace): string {
  return `${WIRE}${to.node}\n${to.input}`;
}

/** Give the input in which the wire of an id ends, or null. */
export function placeOf(id: string): InputPlace | null {
  if (!id.startsWith(WIRE)) return null;
  const [node = "", input = ""] = id.slice(WIRE.length).split("\n");
  return { node, input };
}

const drawn = new WeakMap<Node, CardNode>();

function card(node: Node, type: NodeType | undefined, selected: boolean): CardNode {
  const known = drawn.get(node);
  if (known && known.data.type === type && known.selected === selected) return known;
  const shape = known && known.data.type === type ? known.data.shape : shapeOf(node, type);
  const { width, height } = shape;
  const made: CardNode = {
    id: node.id,
    type: node.type === REROUTE ? "dot" : "card",
    position: Number.isNaN(node.pos.x) ? { x: 0, y: 0 } : { ...node.pos },
    data: { node, type, shape },
    selected,
    draggable: !isPinned(node),
    width,
    height,
    measured: { width, height },
    handles: shape.ports.map((port) => ({
      id: port.id,
      type: port.side === "in" ? "target" : "source",
      position: port.side === "in" ? Position.Left : Position.Right,
      x: (port.side === "in" ? 0 : width) - PORT / 2,
      y: port.y - PORT / 2,
      width: PORT,
      height: PORT,
    })),
    ariaLabel: type?.title ?? node.type,
  };
  drawn.set(node, made);
  return made;
}

function frame(group: Group, selected: boolean): FrameNode {
  const { width, height } = group;
  return {
    id: frameId(group.id), type: "frame", position: { x: group.x, y: group.y }, data: { group }, selected, width, height,
    measured: { width, height }, zIndex: -1000, connectable: false,
  };
}

/** Give all nodes, frames first so that they lie below. */
export function flowNodes(document: Document, catalogue: Catalogue, selected: ReadonlySet<string>): AnyNode[] {
  const frames = document.groups.map((group) => frame(group, selected.has(frameId(group.id))));
  const cards = [...document.nodes.values()].map((node) => card(node, catalogue.types.get(node.type), selected.has(node.id)));
  return [...frames, ...cards];
}

/** Give all wires; those whose output is not there are left out. */
export function flowEdges(document: Document, catalogue: Catalogue, selected: ReadonlySet<string>): Edge[] {
  const edges: Edge[] = [];
  for (const node of document.nodes.values()) {
    for (const [input, given] of node.inputs) {
      if (!isLink(given) || !document.nodes.has(given.node)) continue;
      const id = wireId({ node: node.id, input });
      const colour = kindColour(catalogue, kindOf(document, catalogue, given));
      edges.push({
        id, source: given.node, sourceHandle: String(given.slot), target: node.id, targetHandle: input,
        selected: selected.has(id), style: { stroke: colour },
      });
    }
  }
  return edges;
}

/** Give the wires with those of before where they are the same: whoever types a value moves no wire. */
export function sameEdges(before: readonly Edge[], now: Edge[]): Edge[] {
  const known = new Map(before.map((edge) => [edge.id, edge]));
  const merged = now.map((edge) => {
    const old = known.get(edge.id);
    const isSame = old && old.source === edge.source && old.sourceHandle === edge.sourceHandle && old.selected === edge.selected && old.style?.stroke === edge.style?.stroke;
    return isSame ? old : edge;
  });
  return merged.length === before.length && merged.every((edge, index) => edge === before[index]) ? (before as Edge[]) : merged;
}

export function kindColour(catalogue: Catalogue, kind: string): string {
  return catalogue.kinds.get(kind)?.colour || "#9aa0a6";
}
