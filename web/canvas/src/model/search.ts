/** Node types by what somebody types: letters in order, in name, id, category or help. */
import type { NodeType } from "./nodeType";

/** Give a score of how well a text answers; null where it does not. Larger is better. */
export function score(query: string, text: string): number | null {
  const [wanted, given] = [query.toLowerCase(), text.toLowerCase()];
  const whole = given.indexOf(wanted);
  if (whole >= 0 && isStart(text, whole)) return 160 - whole - given.length / 10;
  const initials = [...text].filter((_, index) => isStart(text, index)).join("").toLowerCase();
  if (wanted.length > 1 && initials.startsWith(wanted)) return 110 - given.length / 10;
  if (whole >= 0) return 100 - whole - given.length / 10;
  let [at, total, run] = [-1, 0, 0];
  for (const letter of wanted) {
    if (letter === " ") continue;
    const next = given.indexOf(letter, at + 1);
    if (next < 0) return null;
    run = next === at + 1 ? run + 1 : 0;
    total += run * 3 + (isStart(text, next) ? 8 : 0) - Math.min(next - at, 5);
    at = next;
  }
  // Letters strewn over a long text answer nothing.
  return total > wanted.length ? total - given.length / 10 : null;
}

function isStart(text: string, at: number): boolean {
  const [before, letter] = [text[at - 1], text[at] ?? ""];
  if (before === undefined || /[\s_\-./]/.test(before)) return true;
  return /[A-Z]/.test(letter) && /[a-z]/.test(before);
}

/** Give the node types that answer a query, the best first; all of them by name where it is empty. */
export function search(types: Iterable<NodeType>, query: string): NodeType[] {
  const wanted = query.trim();
  const all = [...types];
  if (!wanted) return all.sort((a, b) => a.title.localeCompare(b.title));
  const scored = all.map((type) => ({ type, value: rate(type, wanted) }));
  return scored
    .filter((each) => each.value > 0)
    .sort((a, b) => b.value - a.value || a.type.title.localeCompare(b.type.title))
    .map((each) => each.type);
}

function rate(type: NodeType, query: string): number {
  const name = Math.max(score(query, type.title) ?? 0, score(query, type.id) ?? 0);
  // What is only mentioned comes behind what is so called.
  const words = query.toLowerCase().split(/\s+/);
  const said = `${type.category} ${type.summary}`.toLowerCase();
  if (name > 0) return name + 30;
  if (words.every((word) => said.includes(word))) return 20;
  const help = [type.help, ...type.inputs.map((input) => input.help)].join(" ").toLowerCase();
  return words.every((word) => help.includes(word)) ? 10 : 0;
}
