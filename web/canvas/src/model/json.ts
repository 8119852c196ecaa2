/**
 * JSON as the canvas holds it: nothing that a file says is lost.
 *
 * Objects are maps, since a JavaScript object sorts keys that look like numbers, and ids of nodes do.
 * Whole numbers beyond 2^53 are bigint: seeds reach 2^64-1.
 */
export type Json = null | boolean | number | bigint | string | Float | readonly Json[] | JsonObject;

export type JsonObject = ReadonlyMap<string, Json>;

/** A whole number that was written as a fraction, as in 8.0: written again it stays one. */
export class Float {
  constructor(readonly value: number) {}
}

export const NO_KEYS: JsonObject = new Map();

/** Give the object that a value is, or an empty one. */
export function objectOf(value: Json | undefined): JsonObject {
  return value instanceof Map ? value : NO_KEYS;
}

/** Give the list that a value is, or an empty one. */
export function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** Give the text that a value is, or "". */
export function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** Give the number that a value is, where a double is exact enough; undefined for anything else. */
export function numberOf(value: Json | undefined): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number.isFinite(Number(value)) ? Number(value) : undefined;
  return value instanceof Float ? value.value : undefined;
}

/** Say whether two values are written alike. */
export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  }
  if (a instanceof Map && b instanceof Map) {
    return a.size === b.size && [...a].every(([key, value]) => sameJson(value, b.get(key)));
  }
  return a instanceof Float && b instanceof Float && Object.is(a.value, b.value);
}

/** Make an object of pairs, leaving out what is undefined. */
export function object(pairs: Record<string, Json | undefined>): JsonObject {
  const found = Object.entries(pairs).filter((pair): pair is [string, Json] => pair[1] !== undefined);
  return new Map(found);
}

/** Give a copy with one key changed in place, added at the end, or taken away. */
export function withKey(from: JsonObject, key: string, value: Json | undefined): JsonObject {
  const changed = new Map(from);
  if (value === undefined) changed.delete(key);
  else changed.set(key, value);
  return changed;
}
