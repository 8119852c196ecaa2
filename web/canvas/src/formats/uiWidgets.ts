/** ComfyUI's editor keeps the values of widgets as a list without names; this finds the names. */
import { type Json, listOf, objectOf, withKey } from "../model/json";
import type { Input, NodeType } from "../model/nodeType";
import type { UiNode } from "./uiGraph";

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
