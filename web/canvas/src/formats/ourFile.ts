/**
 * Our file: `{"vinode": 1, "prompt": {...}, "extra_data": {...}}`; also bodies of POST /prompt and bare
 * API graphs.
 *
 * `prompt` holds exactly what runs, so a file does the same here, headless and in ComfyUI. What is
 * drawn but does not run stands in `extra_data.vinode`:
 *   groups  frames
 *   off     muted and bypassed nodes, what needs a muted one, and reroutes: as in `prompt`, with a `mode`
 *   wires   node -> input -> where the wire is drawn from, where that is not where its value comes from
 */
import {
  type Document,
  type Given,
  type Group,
  isLink,
  type Link,
  type Mode,
  type Node,
  type NodeId,
  REROUTE,
  sameLink,
} from "../model/document";
import { leftOut, runs, source } from "../model/flow";
import { type Json, type JsonObject, listOf, NO_KEYS, numberOf, object, objectOf, sameJson, textOf, withKey } from "../model/json";
import type { Catalogue } from "../model/nodeType";
import { FormatError } from "./formatError";
import { compact, pretty, quoted } from "./writeJson";

const VERSION = 1;
export const MOST_NODES = 200_000; // as the server reads them
const OURS = ["groups", "off", "wires"];

/** Read a parsed file; FormatError says what is wrong. Nodes without a place are at NaN. */
export function fromJson(found: Json): Document {
  if (!(found instanceof Map)) throw new FormatError("no-workflow");
  const file = found as JsonObject;
  if (!isWrapped(file)) return fromParts(file, NO_KEYS, NO_KEYS);
  const version = file.get("vinode") ?? VERSION;
  if (typeof version === "number" && version > VERSION) throw new FormatError("too-new", { got: String(version) });
  if (version !== VERSION) throw new FormatError("no-workflow");
  const other = new Map([...file].filter(([key]) => !["vinode", "prompt", "extra_data"].includes(key)));
  return fromParts(objectOf(file.get("prompt")), objectOf(file.get("extra_data")), other);
}

function isWrapped(file: JsonObject): boolean {
  if (file.has("prompt")) return !objectOf(file.get("prompt")).has("class_type");
  return file.has("vinode") && !(file.get("vinode") instanceof Map);
}

function fromParts(prompt: JsonObject, extra: JsonObject, other: JsonObject): Document {
  const ours = objectOf(extra.get("vinode"));
  const off = objectOf(ours.get("off"));
  const wires = objectOf(ours.get("wires"));
  const nodes = new Map<NodeId, Node>();
  if (prompt.size + off.size > MOST_NODES) throw new FormatError("too-many-nodes", { most: String(MOST_NODES) });
  for (const [id, told] of [...prompt, ...off]) {
    if (!nodes.has(id)) nodes.set(id, drawn(readNode(id, told), objectOf(wires.get(id))));
  }
  const groups = listOf(ours.get("groups")).map(readGroup);
  return { nodes, groups, extra, other };
}

function readNode(id: NodeId, told: Json): Node {
  const spec = objectOf(told);
  const type = textOf(spec.get("class_type"));
  if (!type) throw new FormatError("no-class", { node: id });
  for (const key of ["inputs", "_meta"]) {
    if (spec.has(key) && !(spec.get(key) instanceof Map)) throw new FormatError("no-object", { node: id, key });
  }
  const meta = objectOf(spec.get("_meta"));
  const inputs = new Map([...objectOf(spec.get("inputs"))].map(([name, given]) => [name, readGiven(given)]));
  const known = ["class_type", "inputs", "_meta", "mode"];
  const other = new Map([...spec].filter(([key]) => !known.includes(key)));
  const [x, y] = listOf(meta.get("pos")).map(numberOf);
  const mode = spec.get("mode");
  return { id, type, pos: { x: x ?? NaN, y: y ?? NaN }, mode: isMode(mode) ? mode : "on", inputs, meta, other };
}

function isMode(value: Json | undefined): value is Mode {
  return value === "mute" || value === "bypass";
}

function readGiven(value: Json): Given {
  const [node, slot, ...rest] = listOf(value);
  const isPair = typeof node === "string" && typeof slot === "number" && rest.length === 0;
  return isPair && Number.isInteger(slot) && slot >= 0 ? { node, slot } : value;
}

/** Put wires where they are drawn. A value that somebody wrote there since counts more. */
function drawn(node: Node, wires: JsonObject): Node {
  if (wires.size === 0) return node;
  const inputs = new Map(node.inputs);
  for (const [input, told] of wires) {
    const [given, wire] = [inputs.get(input), readGiven(told)];
    if (isLink(wire) && (given === undefined || isLink(given))) inputs.set(input, wire);
  }
  return { ...node, inputs };
}

function readGroup(told: Json, index: number): Group {
  const group = objectOf(told);
  const [x = 0, y = 0, width = 400, height = 300] = listOf(group.get("bounds")).map((n) => numberOf(n) ?? 0);
  return { id: `g${index + 1}`, title: textOf(group.get("title")), colour: textOf(group.get("colour")), x, y, width, height };
}

/** What the server runs: `prompt`, and the extra data of a file. */
export interface Saved {
  readonly prompt: JsonObject;
  readonly extra: JsonObject;
}

/** Part a workflow into what runs and what is only drawn. */
export function toParts(document: Document, catalogue: Catalogue): Saved {
  const prompt = new Map<string, Json>();
  const off = new Map<string, Json>();
  const wires = new Map<string, Json>();
  const out = leftOut(document, catalogue);
  for (const node of document.nodes.values()) {
    if (!runs(node) || out.has(node.id)) {
      const mode = node.mode === "on" ? {} : { mode: node.mode };
      off.set(node.id, nodeJson(node, node.inputs, mode));
      continue;
    }
    const { inputs, redrawn } = lowered(document, catalogue, node, out);
    prompt.set(node.id, nodeJson(node, inputs));
    if (redrawn.size > 0) wires.set(node.id, redrawn);
  }
  return { prompt, extra: extraData(document, off, wires) };
}

interface Lowered {
  readonly inputs: ReadonlyMap<string, Given>;
  readonly redrawn: JsonObject;
}

function lowered(document: Document, catalogue: Catalogue, node: Node, out: ReadonlySet<NodeId>): Lowered {
  const inputs = new Map<string, Given>();
  const redrawn = new Map<string, Json>();
  for (const [name, given] of node.inputs) {
    const found = isLink(given) ? source(document, catalogue, given) : null;
    const from = found && out.has(found.node) ? null : found;
    if (!isLink(given)) inputs.set(name, given);
    else if (from) inputs.set(name, from);
    if (isLink(given) && !(from && sameLink(from, given))) redrawn.set(name, linkJson(given));
  }
  return { inputs, redrawn };
}

function extraData(document: Document, off: JsonObject, wires: JsonObject): JsonObject {
  const before = objectOf(document.extra.get("vinode"));
  let ours = before;
  const parts: [string, Json, boolean][] = [
    ["groups", document.groups.map(groupJson), document.groups.length > 0 || before.has("groups")],
    ["off", off, off.size > 0],
    ["wires", wires, wires.size > 0],
  ];
  for (const [key, value, present] of parts) {
    if (!sameJson(ours.get(key), present ? value : undefined)) ours = withKey(ours, key, present ? value : undefined);
  }
  if (ours === before) return document.extra;
  const empty = ours.size === 0 && [...before.keys()].every((key) => OURS.includes(key));
  return withKey(document.extra, "vinode", empty ? undefined : ours);
}

function groupJson(group: Group): Json {
  const bounds = [group.x, group.y, group.width, group.height];
  return object({ title: group.title, bounds, colour: group.colour || undefined });
}

function linkJson(link: Link): Json {
  return [link.node, link.slot];
}

function nodeJson(node: Node, inputs: ReadonlyMap<string, Given>, mode: Record<string, Json> = {}): JsonObject {
  const given = new Map([...inputs].map(([name, value]) => [name, isLink(value) ? linkJson(value) : value]));
  const meta = metaJson(node);
  const found = object({ class_type: node.type, ...mode, inputs: given, _meta: meta.size > 0 ? meta : undefined });
  return new Map([...found, ...node.other]);
}

/** `_meta` with the node's place; as it was read where the node did not move. */
function metaJson(node: Node): JsonObject {
  const [x, y] = listOf(node.meta.get("pos")).map(numberOf);
  if (Number.isNaN(node.pos.x) || (x === node.pos.x && y === node.pos.y)) return node.meta;
  return withKey(node.meta, "pos", [Math.round(node.pos.x), Math.round(node.pos.y)]);
}

/** Write our file, letter for letter as the server's writer does. */
export function write(document: Document, catalogue: Catalogue): string {
  const { prompt, extra } = toParts(document, catalogue);
  const nodes = [...prompt].map(([id, spec]) => writeNode(id, objectOf(spec)));
  const tail: [string, Json][] = [...(extra.size > 0 ? [["extra_data", extra] as [string, Json]] : []), ...document.other];
  const lines = ["{", `"vinode": ${VERSION},`, '"prompt": {', nodes.join(",\n"), tail.length > 0 ? "}," : "}"];
  lines.push(tail.map(([key, value]) => `${quoted(key)}: ${pretty(value)}`).join(",\n"), "}");
  return `${lines.filter((line) => line !== "").join("\n")}\n`;
}

function writeNode(id: string, spec: JsonObject): string {
  const lines = [...spec].map(([key, value]) => {
    const inputs = key === "inputs" ? [...objectOf(value)] : [];
    const each = inputs.map(([name, given]) => `  ${quoted(name)}: ${compact(given)}`);
    return `${quoted(key)}: ${each.length > 0 ? `{\n${each.join(",\n")}}` : compact(value)}`;
  });
  return `${quoted(id)}: {\n ${lines.join(",\n ")}}`;
}

/** Name the node types of a workflow that the server does not have. */
export function unknownTypes(document: Document, catalogue: Catalogue): string[] {
  const unknown = [...document.nodes.values()].filter((node) => node.type !== REROUTE && !catalogue.types.has(node.type));
  return [...new Set(unknown.map((node) => node.type))];
}
