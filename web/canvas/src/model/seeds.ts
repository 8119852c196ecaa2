/** What becomes of seeds after a run: `_meta.after` of a node, input -> fixed, increment, ... */
import type { Document, Node } from "./document";
import type { Event } from "./events";
import { type Json, objectOf, textOf } from "./json";
import type { Catalogue } from "./nodeType";

export const AFTERWARDS = ["fixed", "increment", "decrement", "randomize"] as const;
export type Afterwards = (typeof AFTERWARDS)[number];
const LARGEST = 2n ** 64n - 1n;

export function afterOf(node: Node, input: string): Afterwards {
  const told = textOf(objectOf(node.meta.get("after")).get(input));
  return AFTERWARDS.find((each) => each === told) ?? "fixed";
}

/** Give a whole number as JSON has it here: a number while that is exact. */
export function whole(value: bigint): number | bigint {
  const small = Number(value);
  return Number.isSafeInteger(small) ? small : value;
}

/** Draw a seed of 64 bits. */
export function randomSeed(maximum: bigint = LARGEST): number | bigint {
  const [drawn = 0n] = crypto.getRandomValues(new BigUint64Array(1));
  return whole(drawn % (maximum + 1n));
}

/** Give the seed that comes after another. */
export function nextSeed(value: Json | undefined, after: Afterwards, maximum: bigint = LARGEST): number | bigint {
  const now = typeof value === "number" ? BigInt(Math.trunc(value)) : typeof value === "bigint" ? value : 0n;
  if (after === "randomize") return randomSeed(maximum);
  if (after === "increment") return whole(now >= maximum ? 0n : now + 1n);
  if (after === "decrement") return whole(now <= 0n ? maximum : now - 1n);
  return whole(now);
}

/** Make the event that moves all seeds on which are not fixed; null where there are none. */
export function moveSeeds(document: Document, catalogue: Catalogue): Event | null {
  const events: Event[] = [];
  for (const node of document.nodes.values()) {
    for (const input of catalogue.types.get(node.type)?.inputs ?? []) {
      const after = afterOf(node, input.name);
      const given = node.inputs.get(input.name);
      if (!input.seed || after === "fixed" || (typeof given === "object" && given !== null)) continue;
      const value = nextSeed(given, after, BigInt(input.range?.maximum ?? LARGEST));
      events.push({ type: "set-input", to: { node: node.id, input: input.name }, value });
    }
  }
  return events.length > 0 ? { type: "all", events } : null;
}
