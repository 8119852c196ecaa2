/** Two prompts -> the edits that make one the other. */
import { type Document, type Given, isLink, sameLink } from "../model/document";
import type { Event } from "../model/events";
import { type JsonObject, object, sameJson } from "../model/json";
import { fromJson } from "./ourFile";

/** Give what makes one prompt the other: added nodes, inputs, `_meta`. What both say is left as it is drawn. */
export function changes(from: JsonObject, to: JsonObject): Event[] {
  const [before, after] = [from, to].map((prompt) => fromJson(object({ vinode: 1, prompt })).nodes) as [Document["nodes"], Document["nodes"]];
  const added = [...after.values()].filter((node) => !before.has(node.id));
  const events: Event[] = added.length > 0 ? [{ type: "add", nodes: added }] : [];
  for (const node of after.values()) {
    const known = before.get(node.id);
    if (!known) continue;
    for (const [input, value] of node.inputs) {
      if (!sameGiven(known.inputs.get(input), value)) events.push({ type: "set-input", to: { node: node.id, input }, value });
    }
    for (const key of new Set([...known.meta.keys(), ...node.meta.keys()])) {
      if (!sameJson(known.meta.get(key), node.meta.get(key))) events.push({ type: "set-meta", nodes: [node.id], key, value: node.meta.get(key) });
    }
  }
  return events;
}

function sameGiven(a: Given | undefined, b: Given): boolean {
  if (isLink(a) || isLink(b)) return isLink(a) && isLink(b) && sameLink(a, b);
  return sameJson(a, b);
}
