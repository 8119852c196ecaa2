/** Weights in prompts: `(a cat:1.2)`, changed by keys as in ComfyUI. */

export interface Marked {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const STEP = 0.05;
const [LEAST, MOST] = [0, 10];
const WHOLE = /^\(([^()]*):([\d.]+)\)$/;

/** Give the text with the weight of what is marked, or of the word at the caret, a step higher or lower; at 1 the brackets go. */
export function weighted({ text, start, end }: Marked, up: boolean): Marked | null {
  const [from, to] = widened(text, ...(start === end ? wordAt(text, start) : ([start, end] as const)));
  const part = text.slice(from, to);
  if (!part.trim()) return null;
  const known = WHOLE.exec(part);
  const inner = known?.[1] ?? part;
  const before = Number(known?.[2] ?? 1);
  const weight = Math.min(MOST, Math.max(LEAST, Math.round((before + (up ? STEP : -STEP)) * 100) / 100));
  const next = weight === 1 ? inner : `(${inner}:${weight})`;
  return { text: text.slice(0, from) + next + text.slice(to), start: from, end: from + next.length };
}

function wordAt(text: string, caret: number): readonly [number, number] {
  const before = /[^\s,()]*$/.exec(text.slice(0, caret))?.[0].length ?? 0;
  const after = /^[^\s,():]*/.exec(text.slice(caret))?.[0].length ?? 0;
  return [caret - before, caret + after];
}

/** What lies right inside of brackets with a weight is meant with them. */
function widened(text: string, from: number, to: number): readonly [number, number] {
  const tail = /^:[\d.]+\)/.exec(text.slice(to))?.[0] ?? "";
  return text[from - 1] === "(" && tail ? [from - 1, to + tail.length] : [from, to];
}
