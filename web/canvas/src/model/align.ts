/** Nodes in line with each other, or with the same space between them. */
import type { NodeId, Point, Size } from "./document";
import type { Event } from "./events";

export type Edge = "left" | "right" | "top" | "bottom" | "middle" | "centre";
export type Axis = "across" | "down";

/** A node as it is drawn. */
export interface Box extends Point, Size {
  readonly id: NodeId;
}

/** Make the event that puts boxes in line; `middle` on one upright line, `centre` on one level line. */
export function align(boxes: readonly Box[], edge: Edge): Event {
  const left = least(boxes, (box) => box.x);
  const top = least(boxes, (box) => box.y);
  const right = most(boxes, (box) => box.x + box.width);
  const bottom = most(boxes, (box) => box.y + box.height);
  const to: Record<Edge, (box: Box) => Point> = {
    left: (box) => ({ x: left, y: box.y }),
    right: (box) => ({ x: right - box.width, y: box.y }),
    middle: (box) => ({ x: Math.round((left + right - box.width) / 2), y: box.y }),
    top: (box) => ({ x: box.x, y: top }),
    bottom: (box) => ({ x: box.x, y: bottom - box.height }),
    centre: (box) => ({ x: box.x, y: Math.round((top + bottom - box.height) / 2) }),
  };
  return { type: "move", nodes: new Map(boxes.map((box) => [box.id, to[edge](box)])) };
}

/** Make the event that leaves the outermost boxes where they are, and equal gaps between all. */
export function distribute(boxes: readonly Box[], axis: Axis): Event {
  const start = (box: Box): number => (axis === "across" ? box.x : box.y);
  const length = (box: Box): number => (axis === "across" ? box.width : box.height);
  const sorted = [...boxes].sort((a, b) => start(a) - start(b) || start(a) + length(a) - start(b) - length(b));
  const end = most(boxes, (box) => start(box) + length(box));
  const used = sorted.reduce((sum, box) => sum + length(box), 0);
  const gap = sorted.length > 1 ? (end - least(boxes, start) - used) / (sorted.length - 1) : 0;
  const nodes = new Map<NodeId, Point>();
  let at = sorted[0] ? start(sorted[0]) : 0;
  for (const box of sorted) {
    const place = Math.round(at);
    nodes.set(box.id, axis === "across" ? { x: place, y: box.y } : { x: box.x, y: place });
    at += length(box) + gap;
  }
  return { type: "move", nodes };
}

function least(boxes: readonly Box[], of: (box: Box) => number): number {
  return boxes.reduce((found, box) => Math.min(found, of(box)), Infinity);
}

function most(boxes: readonly Box[], of: (box: Box) => number): number {
  return boxes.reduce((found, box) => Math.max(found, of(box)), -Infinity);
}
