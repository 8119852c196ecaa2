/** ComfyUI's editor format as read, before anything is made of it: versions 0.4 and 1. */
import { type Json, type JsonObject, listOf, numberOf, objectOf, textOf } from "../model/json";

export interface UiSlot {
  readonly name: string;
  readonly kind: string;
  readonly widget: string;
}

export interface UiNode {
  readonly id: string;
  readonly type: string;
  readonly title: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly mode: number;
  readonly collapsed: boolean;
  readonly pinned: boolean;
  readonly colour: string;
  readonly inputs: readonly UiSlot[];
  readonly values: Json | undefined;
  readonly named: JsonObject;
  readonly properties: JsonObject;
}

/** dot: id of the last reroute that the link goes through, or "". */
export interface UiLink {
  readonly id: string;
  readonly from: string;
  readonly slot: number;
  readonly to: string;
  readonly input: number;
  readonly dot: string;
}

export interface UiDot {
  readonly id: string;
  readonly parent: string;
  readonly x: number;
  readonly y: number;
}

export interface UiGroup {
  readonly title: string;
  readonly colour: string;
  readonly bounds: readonly [number, number, number, number];
}

export interface UiGraph {
  readonly id: string;
  readonly name: string;
  readonly nodes: readonly UiNode[];
  readonly links: readonly UiLink[];
  readonly dots: readonly UiDot[];
  readonly groups: readonly UiGroup[];
  /** a subgraph's inputs, in order */
  readonly inputs: readonly UiSlot[];
  readonly subgraphs: ReadonlyMap<string, UiGraph>;
}

/** Say whether a parsed file is in this format. */
export function isUi(found: Json): boolean {
  return Array.isArray(objectOf(found).get("nodes"));
}

/** Read a graph or the body of a subgraph; what is damaged in it is left out. */
export function readUi(graph: JsonObject): UiGraph {
  const extra = objectOf(graph.get("extra"));
  const parents = new Map(
    listOf(extra.get("linkExtensions")).map((each) => [idOf(objectOf(each).get("id")), idOf(objectOf(each).get("parentId"))]),
  );
  const subgraphs = listOf(objectOf(graph.get("definitions")).get("subgraphs")).map((each) => readUi(objectOf(each)));
  return {
    id: textOf(graph.get("id")),
    name: textOf(graph.get("name")),
    nodes: listOf(graph.get("nodes")).map((each) => readNode(objectOf(each))).filter((node) => node.type !== ""),
    links: listOf(graph.get("links")).map((each) => readLink(each, parents)).filter((link) => link !== null),
    dots: [...listOf(graph.get("reroutes")), ...listOf(extra.get("reroutes"))].map((each) => readDot(objectOf(each))),
    groups: listOf(graph.get("groups")).map((each) => readGroup(objectOf(each))),
    inputs: listOf(graph.get("inputs")).map((each) => readSlot(objectOf(each))),
    subgraphs: new Map(subgraphs.map((each) => [each.id, each])),
  };
}

function idOf(value: Json | undefined): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

const FARTHEST = 1e8; // pixels; beyond it nobody finds a node again

/** Places come as [x, y] and, from older editors, as {"0": x, "1": y}. */
function numbers(value: Json | undefined): number[] {
  const items = value instanceof Map ? [...value.values()] : listOf(value);
  return items.map((item) => Math.max(-FARTHEST, Math.min(FARTHEST, numberOf(item) ?? 0)));
}

function readNode(node: JsonObject): UiNode {
  const [x = 0, y = 0] = numbers(node.get("pos"));
  const [width = 0, height = 0] = numbers(node.get("size"));
  const flags = objectOf(node.get("flags"));
  return {
    id: idOf(node.get("id")),
    type: textOf(node.get("type")),
    title: textOf(node.get("title")),
    x, y, width, height,
    mode: numberOf(node.get("mode")) ?? 0,
    collapsed: flags.get("collapsed") === true,
    pinned: flags.get("pinned") === true,
    colour: textOf(node.get("color")),
    inputs: listOf(node.get("inputs")).map((each) => readSlot(objectOf(each))),
    values: node.get("widgets_values"),
    named: objectOf(node.get("widgets_values_named")),
    properties: objectOf(node.get("properties")),
  };
}

function readSlot(slot: JsonObject): UiSlot {
  const kind = slot.get("type");
  const widget = textOf(objectOf(slot.get("widget")).get("name"));
  return { name: textOf(slot.get("name")), kind: typeof kind === "string" ? kind : "*", widget };
}

function readLink(told: Json, parents: ReadonlyMap<string, string>): UiLink | null {
  const link = objectOf(told);
  const names = ["id", "origin_id", "origin_slot", "target_id", "target_slot"];
  const parts = told instanceof Map ? names.map((name) => link.get(name)) : listOf(told);
  const [id, from, to] = [idOf(parts[0]), idOf(parts[1]), idOf(parts[3])];
  const [slot, input] = [numberOf(parts[2]), numberOf(parts[4])];
  if (!from || !to || !isSlot(slot) || !isSlot(input)) return null;
  return { id, from, slot, to, input, dot: idOf(link.get("parentId")) || (parents.get(id) ?? "") };
}

function isSlot(value: number | undefined): value is number {
  return value !== undefined && Number.isInteger(value) && value >= 0;
}

function readDot(dot: JsonObject): UiDot {
  const [x = 0, y = 0] = numbers(dot.get("pos"));
  return { id: idOf(dot.get("id")), parent: idOf(dot.get("parentId")), x, y };
}

function readGroup(group: JsonObject): UiGroup {
  const [x = 0, y = 0, width = 400, height = 300] = numbers(group.get("bounding"));
  return { title: textOf(group.get("title")), colour: textOf(group.get("color")), bounds: [x, y, width, height] };
}
