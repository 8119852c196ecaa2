/** ComfyUI's editor format -> workflow. Subgraphs are opened out, each into a group of its own. */
import {
  type Document,
  type Given,
  type Group,
  isLink,
  type Link,
  type Mode,
  newNode,
  type Node,
  type NodeId,
  REROUTE,
  REROUTE_INPUT,
} from "../model/document";
import { type Json, type JsonObject, NO_KEYS, object } from "../model/json";
import type { Catalogue } from "../model/nodeType";
import { type UiDot, type UiGraph, type UiLink, type UiNode, readUi } from "./uiGraph";
import { type Level, levels, trace } from "./uiSources";
import { promotedOf, widgetsOf } from "./uiWidgets";

const MODES: Readonly<Record<number, Mode>> = { 2: "mute", 4: "bypass" };
const PRIMITIVE = "PrimitiveNode";
const MARGIN = 60;

/** Read a parsed file of that format. */
export function fromUi(file: JsonObject, catalogue: Catalogue): Document {
  const all = levels(readUi(file));
  const nodes = new Map<NodeId, Node>();
  const groups: Group[] = [];
  let bottom = 0;
  for (const level of all) {
    const isInner = level.outer && level.graph.nodes.length > 0;
    const [dx, dy] = isInner ? [-leftOf(level.graph), bottom + 2 * MARGIN - topOf(level.graph)] : [0, 0];
    for (const node of [...nodesOf(level, catalogue), ...dotsOf(level)]) {
      nodes.set(node.id, { ...node, pos: { x: node.pos.x + dx, y: node.pos.y + dy } });
    }
    groups.push(...framesOf(level, groups.length, dx, dy));
    bottom = Math.max(bottom, bottomOf(level.graph) + dy);
  }
  return { nodes, groups, extra: NO_KEYS, other: NO_KEYS };
}

function leftOf(graph: UiGraph): number {
  return graph.nodes.reduce((least, node) => Math.min(least, node.x), Infinity);
}

function topOf(graph: UiGraph): number {
  return graph.nodes.reduce((least, node) => Math.min(least, node.y), Infinity);
}

function bottomOf(graph: UiGraph): number {
  return graph.nodes.reduce((most, node) => Math.max(most, node.y + Math.max(node.height, 120)), 0);
}

function framesOf(level: Level, count: number, dx: number, dy: number): Group[] {
  const own = level.graph.groups.map((group, index) => {
    const [x, y, width, height] = group.bounds;
    const id = `g${count + index + 1}`;
    return { id, title: group.title, colour: hex(group.colour), x: x + dx, y: y + dy, width, height };
  });
  if (!level.outer || level.graph.nodes.length === 0) return own;
  const right = level.graph.nodes.reduce((most, node) => Math.max(most, node.x + Math.max(node.width, 240)), -Infinity);
  const frame = {
    id: `g${count + own.length + 1}`,
    title: level.outer.instance.title || level.graph.name,
    colour: "",
    x: leftOf(level.graph) + dx - MARGIN / 2,
    y: topOf(level.graph) + dy - MARGIN,
    width: right - leftOf(level.graph) + MARGIN,
    height: bottomOf(level.graph) - topOf(level.graph) + 1.5 * MARGIN,
  };
  return [frame, ...own];
}

/** Colours as #rrggbb, which is all that a colour field takes. */
function hex(colour: string): string {
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(colour);
  if (short) return `#${short.slice(1).map((digit) => digit + digit).join("")}`;
  return /^#[0-9a-f]{6}$/i.test(colour) ? colour : "";
}

function nodesOf(level: Level, catalogue: Catalogue): Node[] {
  const own = level.graph.nodes.filter((node) => !level.definitions.has(node.type) && node.type !== PRIMITIVE);
  return own.map((node) => makeNode(level, node, catalogue));
}

function makeNode(level: Level, node: UiNode, catalogue: Catalogue): Node {
  const id = level.prefix + node.id;
  const inputs = new Map<string, Given>();
  const type = catalogue.types.get(node.type);
  const isDot = node.type === REROUTE;
  const { values, after } = isDot ? { values: NO_KEYS, after: NO_KEYS } : widgetsOf(node, type);
  for (const [name, value] of values) inputs.set(name, wrapped(value));
  node.inputs.forEach((slot, index) => {
    const link = level.links.get(`${node.id} ${index}`);
    const given = link && sourceOf(level, link);
    if (given !== undefined) inputs.set(isDot ? REROUTE_INPUT : slot.name, isLink(given) ? given : wrapped(given));
  });
  const made = newNode(id, node.type, { x: Math.round(node.x), y: Math.round(node.y) }, inputs);
  const size = node.width > 0 && !isDot ? [Math.round(node.width), Math.round(node.height)] : undefined;
  const meta = object({
    title: node.title && node.title !== type?.title ? node.title : undefined,
    size: isNote(node) ? size : undefined,
    collapsed: node.collapsed || undefined,
    pinned: node.pinned || undefined,
    colour: hex(node.colour) || undefined,
    after: after.size > 0 ? after : undefined,
    // Whose names nobody knows: kept for who knows the type.
    widgets_values: type || isDot || values.size > 0 ? undefined : node.values,
  });
  return { ...made, meta, mode: modeOf(level, node) };
}

/** A list among inputs would be taken for a link. */
function wrapped(value: Json): Json {
  return Array.isArray(value) ? object({ __value__: value }) : value;
}

/** Sizes of ComfyUI's nodes are not ours; those of notes are somebody's choice. */
function isNote(node: UiNode): boolean {
  return node.type.endsWith("Note");
}

/** A subgraph that is muted or bypassed is so with all that is in it. */
function modeOf(level: Level, node: UiNode): Mode {
  for (let at: Level["outer"] = level.outer; at; at = at.level.outer) {
    const mode = MODES[at.instance.mode];
    if (mode) return mode;
  }
  return MODES[node.mode] ?? "on";
}

/** What an input is given by its link: another node's output, a reroute, or a plain value. */
function sourceOf(level: Level, link: UiLink): Given | undefined {
  if (link.dot && level.graph.dots.some((dot) => dot.id === link.dot)) {
    return { node: dotId(level, link.dot), slot: 0 };
  }
  return madeBy(level, link.from, link.slot);
}

function madeBy(level: Level, from: string, slot: number): Given | undefined {
  const source = trace(level, from, slot);
  if (!source) return undefined;
  if (source.kind === "widget") return promotedOf(source.instance, source.body).get(source.name) ?? undefined;
  const { node } = source;
  if (node.type === PRIMITIVE) return widgetsOf({ ...node, inputs: [{ name: "value", kind: "*", widget: "value" }] }, undefined).values.get("value");
  return { node: source.level.prefix + node.id, slot: source.slot } satisfies Link;
}

function dotId(level: Level, id: string): NodeId {
  return `${level.prefix}r${id}`;
}

/** Dots on wires, the newer reroutes: they hang on each other, and know their source by their wires. */
function dotsOf(level: Level): Node[] {
  const dots = new Map(level.graph.dots.map((dot) => [dot.id, dot]));
  const made = new Map<string, Node>();
  for (const link of level.graph.links) {
    const first = madeBy(level, link.from, link.slot);
    for (let dot = dots.get(link.dot); dot && !made.has(dot.id); dot = dots.get(dot.parent)) {
      const before: Given | undefined = dots.has(dot.parent) ? { node: dotId(level, dot.parent), slot: 0 } : first;
      made.set(dot.id, makeDot(level, dot, before));
    }
  }
  return [...made.values()];
}

function makeDot(level: Level, dot: UiDot, given: Given | undefined): Node {
  const inputs = new Map<string, Given>(given === undefined ? [] : [[REROUTE_INPUT, given]]);
  return newNode(dotId(level, dot.id), REROUTE, { x: Math.round(dot.x) - 8, y: Math.round(dot.y) - 8 }, inputs);
}
