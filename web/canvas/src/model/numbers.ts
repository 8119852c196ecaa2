/** Numbers of widgets: read from what is typed, held within limits, changed by steps. Exact to 2^64-1. */
import { Float, type Json, numberOf } from "./json";
import type { Input } from "./nodeType";
import { whole } from "./seeds";

/** Write a number as a field shows it. */
export function shown(value: Json | undefined): string {
  if (value instanceof Float) return String(value.value);
  return typeof value === "number" || typeof value === "bigint" ? String(value) : "";
}

/** Read what somebody typed; null where it is no such number. Fractions may have a comma. */
export function typed(text: string, input: Input): Json | null {
  const plain = text.trim().replace(",", ".");
  if (input.kind === "INT") return /^[+-]?\d{1,30}$/.test(plain) ? within(whole(BigInt(plain.replace("+", ""))), input) : null;
  const value = Number(plain);
  return plain === "" || !Number.isFinite(value) ? null : within(value, input);
}

/** Hold a number within an input's limits. */
export function within(value: number | bigint, input: Input): number | bigint {
  const { minimum, maximum } = input.range ?? { minimum: null, maximum: null };
  if (minimum !== null && value < minimum) return minimum;
  return maximum !== null && value > maximum ? maximum : value;
}

export function stepOf(input: Input): number {
  return input.range?.step ?? (input.kind === "INT" ? 1 : 0.01);
}

/** Give the number that is so many steps away. */
export function stepped(value: Json | undefined, steps: number, input: Input): number | bigint {
  const step = stepOf(input);
  if (input.kind === "INT") {
    const now = typeof value === "bigint" ? value : BigInt(Math.trunc(numberOf(value) ?? 0));
    return within(whole(now + BigInt(Math.round(steps * Math.max(1, step)))), input);
  }
  // 0.1 + 0.2 is shown as 0.3: steps have few digits.
  const next = (numberOf(value) ?? 0) + steps * step;
  return within(Number(next.toFixed(Math.min(10, digits(step) + 2))), input);
}

function digits(step: number): number {
  return (String(step).split(".")[1] ?? "").length;
}
