/** ComfyUI's editor keeps the values of widgets as a list without names; this finds the names. */
import { type Json, listOf, objectOf, textOf, withKey } from "../model/json";
import type { Input, NodeType } from "../model/nodeType";
import type { UiGraph, UiNode, UiSlot } from "./uiGraph";

/** What becomes of a seed after a run, as ComfyUI's editor writes it. */
const AFTER = ["fixed", "increment", "decrement", "randomize"];
const SEEDS = ["seed", "noise_seed"];

/** values: by name. after: name of a seed -> what becomes of it after a run. */
export interface Widgets {
  readonly values: ReadonlyMap<string, Json>;
  readonly after: ReadonlyMap<string, Json>;
}

/** Give the values of a node's widgets by name. */
export function widgetsOf(node: UiNode, type: NodeType | undefined): Widgets {
  if (node.named.size > 0) return byName(node.named);
  if (node.values instanceof Map) return byName(objectOf(node.values));
  const values = listOf(node.values);
  const own = node.inputs.filter((slot) => slot.widget).map((slot) => slot.widget);
  const fromFile = walk(own.map((name) => ({ name, upload: name === "image" || name === "audio" })), values);
  // Newer editors list every widget among the inputs; then the file itself is the best witness.
  if (!type || fromFile.used === values.length) return fromFile;
  return walk(widgetInputs(type), values);
}

/** A use that many wires ask is looked through once. */
const PROMOTED = new WeakMap<UiNode, ReadonlyMap<string, Json>>();
const WIDGET_KINDS = ["INT", "FLOAT", "STRING", "BOOLEAN", "COMBO"];

/**
 * Give the values that a use of a subgraph gives to widgets inside, by the names of the subgraph's inputs.
 *
 * Editors list them in the order of `proxyWidgets`, of the subgraph's inputs, or of the use's own; the
 * list whose length is right is the one. What stands for no input keeps the value it has inside.
 */
export function promotedOf(use: UiNode, body: UiGraph): ReadonlyMap<string, Json> {
  const known = PROMOTED.get(use) ?? promoted(use, body);
  PROMOTED.set(use, known);
  return known;
}

function promoted(use: UiNode, body: UiGraph): ReadonlyMap<string, Json> {
  if (use.named.size > 0 || use.values instanceof Map) return widgetsOf(use, undefined).values;
  const values = listOf(use.values);
  const proxies = listOf(use.properties.get("proxyWidgets")).map((each) => listOf(each).map(textOf));
  const lists = [
    proxies.map(([node, name]) => (node === "-1" ? (name ?? "") : "")),
    body.inputs.filter((input) => feedsWidget(body, input)).map((input) => input.name),
    body.inputs.filter((input) => WIDGET_KINDS.includes(input.kind)).map((input) => input.name),
  ];
  const names = lists.find((list) => list.length === values.length);
  if (!names) return proxies.length > 0 ? new Map() : widgetsOf(use, undefined).values;
  return new Map(names.map((name, index) => [name, values[index] as Json] as const).filter(([name]) => name !== ""));
}

function feedsWidget(body: UiGraph, input: UiSlot): boolean {
  const slot = body.inputs.indexOf(input);
  const link = body.links.find((each) => each.from === "-10" && each.slot === slot);
  const node = body.nodes.find((each) => each.id === link?.to);
  return (node?.inputs[link?.input ?? -1]?.widget ?? "") !== "";
}

/** The widgets of a node type in ComfyUI's order: what must be given before what may be left out. */
function widgetInputs(type: NodeType): Input[] {
  const isOptional = (input: Input): boolean => input.nullable || (!input.required && !input.widget);
  const widgets = type.inputs.filter((input) => input.widget);
  return [...widgets.filter((input) => !isOptional(input)), ...widgets.filter(isOptional)];
}

function walk(inputs: readonly { name: string; upload: boolean }[], values: readonly Json[]): Widgets & { used: number } {
  const found = new Map<string, Json>();
  let after: Widgets["after"] = new Map();
  let at = 0;
  for (const input of inputs) {
    if (at >= values.length) break;
    found.set(input.name, values[at] as Json);
    at += 1;
    const next = values[at];
    if (typeof next === "string" && AFTER.includes(next) && isNumber(found.get(input.name))) {
      after = withKey(after, input.name, next);
      at += 1;
    } else if (input.upload && next === "image") {
      at += 1; // the upload button is a widget too
    }
  }
  return { values: found, after, used: at };
}

function isNumber(value: Json | undefined): boolean {
  return typeof value === "number" || typeof value === "bigint";
}

function byName(named: ReadonlyMap<string, Json>): Widgets {
  const control = named.get("control_after_generate");
  const values = new Map([...named].filter(([name]) => name !== "control_after_generate"));
  const seed = SEEDS.find((name) => values.has(name));
  const known = seed && typeof control === "string" && AFTER.includes(control);
  return { values, after: known ? new Map([[seed, control]]) : new Map() };
}
