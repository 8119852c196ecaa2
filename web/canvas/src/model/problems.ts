/** What is wrong with a workflow before it runs, as far as that is seen without the server. */
import { type Document, isLink, type Node, type NodeId } from "./document";
import { leftOut, runs, source } from "./flow";
import { Float, type Json, type JsonObject, numberOf } from "./json";
import { fitProblem, type LinkProblem, reaches, unordered } from "./links";
import type { Catalogue, Input, NodeType } from "./nodeType";

export const PROBLEMS = [
  "unknown-type", "missing-input", "not-fed", "needs-link", "not-whole", "not-a-number", "not-true-or-false", "not-a-text",
  "too-small", "too-large", "not-in-list", "no-output-node",
] as const;

/**
 * One fault: `code` names the sentence in i18n (problem.CODE; link.CODE where it is a LinkProblem's), `about` fills it.
 *
 * input  "" where it is the node as a whole; node "" where it is the workflow
 */
export interface Problem {
  readonly node: NodeId;
  readonly input: string;
  readonly code: (typeof PROBLEMS)[number] | LinkProblem["code"];
  readonly about: Readonly<Record<string, string>>;
}

/** Give the key of a fault's sentence in i18n. */
export function sentenceOf(problem: Problem): string {
  return `${PROBLEMS.some((code) => code === problem.code) ? "problem" : "link"}.${problem.code}`;
}

/** Give all faults in the workflow's order. What does not run has none. */
export function problemsOf(document: Document, catalogue: Catalogue): Problem[] {
  const out = leftOut(document, catalogue);
  const nodes = [...document.nodes.values()].filter((node) => runs(node) && !out.has(node.id));
  const circled = unordered(document);
  const found = nodes.flatMap((node) => problemsAt(document, catalogue, node, circled));
  const types = nodes.map((node) => catalogue.types.get(node.type));
  const ends = types.some((type) => type === undefined || type.isOutput);
  return ends || nodes.length === 0 ? found : [...found, { node: "", input: "", code: "no-output-node", about: {} }];
}

/** Give the faults of a node that runs. */
export function problemsAt(document: Document, catalogue: Catalogue, node: Node, circled = unordered(document)): Problem[] {
  const type = catalogue.types.get(node.type);
  if (!type) return [{ node: node.id, input: "", code: "unknown-type", about: { type: node.type } }];
  return [...missing(node, type), ...wires(document, catalogue, node, circled), ...values(node, type)];
}

function missing(node: Node, type: NodeType): Problem[] {
  const absent = type.inputs.filter((input) => {
    const given = node.inputs.get(input.name);
    return (given === undefined && input.required) || (given === null && !input.nullable);
  });
  return absent.map((input) => ({ node: node.id, input: input.name, code: "missing-input", about: { input: input.name, kind: input.kind } }));
}

function wires(document: Document, catalogue: Catalogue, node: Node, circled: ReadonlySet<NodeId>): Problem[] {
  const found: Problem[] = [];
  for (const [input, given] of node.inputs) {
    if (!isLink(given)) continue;
    const at = { node: node.id, input };
    const from = source(document, catalogue, given);
    const required = catalogue.types.get(node.type)?.inputs.find((each) => each.name === input)?.required;
    const inCircle = from && circled.has(node.id) && circled.has(from.node) && reaches(document, from.node, node.id);
    const circle = inCircle ? { code: "cycle", about: { node: node.id } } as const : null;
    const wrong = from && (fitProblem(document, catalogue, from, at) ?? circle);
    if (wrong) found.push({ ...at, ...wrong });
    if (!from && required) found.push({ ...at, code: "not-fed", about: { input } });
  }
  return found;
}

function values(node: Node, type: NodeType): Problem[] {
  const found: Problem[] = [];
  for (const input of type.inputs) {
    const given = node.inputs.get(input.name);
    if (given === undefined || given === null || isLink(given)) continue;
    const wrong = valueProblem(input, plain(given));
    if (wrong) found.push({ node: node.id, input: input.name, ...wrong });
  }
  return found;
}

/** A value may be wrapped, so that a list is not taken for a link. */
function plain(given: Json): Json {
  return given instanceof Map && given.has("__value__") ? ((given as JsonObject).get("__value__") as Json) : given;
}

/** Say what is wrong with a widget's value, or null; 512.0 and "512" are 512, as on the server. */
export function valueProblem(input: Input, value: Json): Pick<Problem, "code" | "about"> | null {
  const about = { input: input.name, got: shown(value) };
  if (!input.widget) return { code: "needs-link", about: { ...about, kind: input.kind } };
  if (input.list) return null; // the server looks at each
  switch (input.kind) {
    case "INT":
    case "FLOAT":
      return numberProblem(input, value, about);
    case "BOOLEAN":
      return typeof value === "boolean" ? null : { code: "not-true-or-false", about };
    case "COMBO":
      return input.closed && input.options && !input.options.includes(String(value)) ? { code: "not-in-list", about } : null;
    case "STRING":
      return typeof value === "object" || typeof value === "boolean" ? textProblem(value, about) : null;
    default:
      return null;
  }
}

function textProblem(value: Json, about: Problem["about"]): Pick<Problem, "code" | "about"> | null {
  return value instanceof Float ? null : { code: "not-a-text", about };
}

function numberProblem(input: Input, value: Json, about: Problem["about"]): Pick<Problem, "code" | "about"> | null {
  const number = numeric(value);
  if (number === null) return { code: "not-a-number", about };
  if (input.kind === "INT" && typeof number === "number" && !Number.isInteger(number)) return { code: "not-whole", about };
  const { minimum = null, maximum = null, unit = "" } = input.range ?? {};
  const limits = { ...about, minimum: String(minimum), maximum: String(maximum), unit };
  if (minimum !== null && number < minimum) return { code: "too-small", about: limits };
  return maximum !== null && number > maximum ? { code: "too-large", about: limits } : null;
}

function numeric(value: Json): number | bigint | null {
  if (typeof value === "bigint") return value;
  if (typeof value !== "string") return numberOf(value) ?? null;
  const text = value.trim();
  if (/^[+-]?\d{1,40}$/.test(text)) return BigInt(text.replace("+", ""));
  return text !== "" && Number.isFinite(Number(text)) ? Number(text) : null;
}

function shown(value: Json): string {
  const text = value instanceof Float ? String(value.value) : typeof value === "object" ? "{…}" : String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
