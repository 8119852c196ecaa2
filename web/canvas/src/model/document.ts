/** A workflow as it is edited. Everything is immutable; events (events.ts) give the next one. */
import { type Json, type JsonObject, listOf, NO_KEYS, numberOf, textOf } from "./json";

export type NodeId = string;

/** What an input is linked to: output number `slot` of another node. */
export interface Link {
  readonly node: NodeId;
  readonly slot: number;
}

/** An input's name at a node. */
export interface InputPlace {
  readonly node: NodeId;
  readonly input: string;
}

/** What an input was given. JSON objects are maps, so a plain object is a link. */
export type Given = Link | Json;

/** on: runs. mute: neither it nor what hangs on it runs. bypass: its inputs pass through it. */
export type Mode = "on" | "mute" | "bypass";

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * A node.
 *
 * inputs  in the file's order
 * meta    `_meta` of the file: title, device, size, collapsed, pinned, colour, and what others
 *         wrote; its `pos` may be old, `pos` beside it counts
 * other   keys of the file that we do not know
 */
export interface Node {
  readonly id: NodeId;
  readonly type: string;
  readonly pos: Point;
  readonly mode: Mode;
  readonly inputs: ReadonlyMap<string, Given>;
  readonly meta: JsonObject;
  readonly other: JsonObject;
}

/** A frame around nodes; what lies in it moves with it. */
export interface Group extends Point, Size {
  readonly id: string;
  readonly title: string;
  readonly colour: string;
}

/**
 * A workflow.
 *
 * nodes   in the file's order
 * extra   `extra_data` of the file, without what stands in `groups` and modes
 * other   keys beside `prompt` that we do not know
 */
export interface Document {
  readonly nodes: ReadonlyMap<NodeId, Node>;
  readonly groups: readonly Group[];
  readonly extra: JsonObject;
  readonly other: JsonObject;
}

/** A dot on a wire. It is a node of the canvas only: files and runs know where its wire comes from. */
export const REROUTE = "Reroute";
export const REROUTE_INPUT = "";

export const EMPTY: Document = { nodes: new Map(), groups: [], extra: NO_KEYS, other: NO_KEYS };

export function isLink(given: Given | undefined): given is Link {
  return typeof given === "object" && given !== null && "slot" in given;
}

export function sameLink(a: Link, b: Link): boolean {
  return a.node === b.node && a.slot === b.slot;
}

/** Make a node with nothing else to it. */
export function newNode(id: NodeId, type: string, pos: Point, inputs: ReadonlyMap<string, Given>): Node {
  return { id, type, pos, mode: "on", inputs, meta: NO_KEYS, other: NO_KEYS };
}

/** Give a node's own title, or "". */
export function titleOf(node: Node): string {
  return textOf(node.meta.get("title"));
}

/** Give the device a node asks for, or "". */
export function deviceOf(node: Node): string {
  return textOf(node.meta.get("device"));
}

export function isCollapsed(node: Node): boolean {
  return node.meta.get("collapsed") === true;
}

export function isPinned(node: Node): boolean {
  return node.meta.get("pinned") === true;
}

/** Give the size that somebody gave a node, or null. */
export function sizeOf(node: Node): Size | null {
  const [width, height] = listOf(node.meta.get("size")).map(numberOf);
  return width !== undefined && height !== undefined ? { width, height } : null;
}

/** Give all links of a workflow with the inputs that they end in. */
export function* linksOf(document: Document): Generator<{ from: Link; to: InputPlace }> {
  for (const node of document.nodes.values()) {
    for (const [input, given] of node.inputs) {
      if (isLink(given)) yield { from: given, to: { node: node.id, input } };
    }
  }
}

/** Give ids that no node of a workflow has: numbers, as ComfyUI's are. */
export function freeIds(document: Document, count: number): NodeId[] {
  let last = 0;
  for (const id of document.nodes.keys()) {
    if (/^\d{1,15}$/.test(id)) last = Math.max(last, Number(id));
  }
  return Array.from({ length: count }, (_, index) => String(last + index + 1));
}
