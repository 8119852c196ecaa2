/** Values -> JSON text, letter for letter as the server's writer gives it. */
import { Float, type Json } from "../model/json";

/** Write on one line: `{"a": [1, 2.0]}`. */
export function compact(value: Json): string {
  if (Array.isArray(value)) return `[${value.map((item: Json) => compact(item)).join(", ")}]`;
  if (value instanceof Map) {
    return `{${[...value].map(([key, item]) => `${quoted(key)}: ${compact(item)}`).join(", ")}}`;
  }
  return single(value as Exclude<Json, readonly Json[] | ReadonlyMap<string, Json>>);
}

/** Write an item a line, each level one space deeper. */
export function pretty(value: Json, indent = ""): string {
  const inner = `${indent} `;
  if (Array.isArray(value) && value.length > 0) {
    const items = value.map((item: Json) => inner + pretty(item, inner));
    return `[\n${items.join(",\n")}\n${indent}]`;
  }
  if (value instanceof Map && value.size > 0) {
    const items = [...value].map(([key, item]) => `${inner}${quoted(key)}: ${pretty(item, inner)}`);
    return `{\n${items.join(",\n")}\n${indent}}`;
  }
  return compact(value);
}

/** Write a text; a lone surrogate becomes an escape, which UTF-8 can carry. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}

function single(value: null | boolean | number | bigint | string | Float): string {
  if (typeof value === "string") return quoted(value);
  if (value instanceof Float) return fraction(value.value);
  if (typeof value === "number" && !Number.isInteger(value)) return fraction(value);
  return typeof value === "number" ? BigInt(value).toString() : String(value);
}

/** Write a double as Python does: the shortest digits, with an exponent below 1e-4 and from 1e16. */
function fraction(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError(`JSON has no ${value}`);
  if (Object.is(value, -0)) return "-0.0";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) {
    const [digits, power] = value.toExponential().split("e") as [string, string];
    const exponent = power.slice(1).padStart(2, "0");
    return `${digits}e${power[0]}${exponent}`;
  }
  const text = value.toString();
  return text.includes(".") ? text : `${text}.0`;
}
