/** May this output be linked to that input? If not, why. */
import { type Document, type InputPlace, isLink, type Link, linksOf, type NodeId, REROUTE } from "./document";
import { kindOf } from "./flow";
import { ANY, fits } from "./kinds";
import type { Catalogue } from "./nodeType";

/** Why a link is refused: `code` names the sentence in i18n (link.CODE), `about` fills it. */
export interface LinkProblem {
  readonly code: "no-node" | "no-output" | "no-input" | "kind" | "cycle";
  readonly about: Readonly<Record<string, string>>;
}

/** Say what stands against a link, or null. Ports of unknown node types take anything. */
export function linkProblem(document: Document, catalogue: Catalogue, from: Link, to: InputPlace): LinkProblem | null {
  const wrong = fitProblem(document, catalogue, from, to);
  if (wrong) return wrong;
  return reaches(document, from.node, to.node) ? { code: "cycle", about: { node: to.node } } : null;
}

/** The same, but for circles: those take a walk through the workflow. */
export function fitProblem(document: Document, catalogue: Catalogue, from: Link, to: InputPlace): LinkProblem | null {
  const [start, end] = [document.nodes.get(from.node), document.nodes.get(to.node)];
  if (!start || !end) return { code: "no-node", about: { node: start ? to.node : from.node } };
  const type = catalogue.types.get(start.type);
  if (type && from.slot >= type.outputs.length) {
    return { code: "no-output", about: { node: start.type, slot: String(from.slot) } };
  }
  const wanted = inputKind(document, catalogue, to);
  if (wanted === null) return { code: "no-input", about: { node: end.type, input: to.input } };
  const given = kindOf(document, catalogue, from);
  return fits(given, wanted) ? null : { code: "kind", about: { given, wanted, input: to.input } };
}

/** Give the nodes that wait for a circle, in it or behind it: what cannot be put in an order. One walk for all. */
export function unordered(document: Document): ReadonlySet<NodeId> {
  const open = new Map<NodeId, number>();
  const after = new Map<NodeId, NodeId[]>();
  for (const { from, to } of linksOf(document)) {
    if (!document.nodes.has(from.node)) continue;
    open.set(to.node, (open.get(to.node) ?? 0) + 1);
    after.set(from.node, [...(after.get(from.node) ?? []), to.node]);
  }
  const ready = [...document.nodes.keys()].filter((id) => !open.has(id));
  for (let id = ready.pop(); id !== undefined; id = ready.pop()) {
    for (const next of after.get(id) ?? []) {
      const left = (open.get(next) ?? 0) - 1;
      open.set(next, left);
      if (left === 0) ready.push(next);
    }
  }
  return new Set([...open].filter(([, left]) => left > 0).map(([id]) => id));
}

/** Name the kind that an input takes; null where the node has no such input. */
export function inputKind(document: Document, catalogue: Catalogue, to: InputPlace): string | null {
  const node = document.nodes.get(to.node);
  if (!node) return null;
  if (node.type === REROUTE) return rerouteKind(document, catalogue, node.id);
  const type = catalogue.types.get(node.type);
  if (!type) return ANY;
  return type.inputs.find((input) => input.name === to.input)?.kind ?? null;
}

/** A reroute takes what the first input behind it takes. */
function rerouteKind(document: Document, catalogue: Catalogue, id: NodeId): string {
  const seen = new Set([id]);
  const waiting = [id];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const node of document.nodes.values()) {
      for (const [input, given] of node.inputs) {
        if (!isLink(given) || given.node !== at || seen.has(node.id)) continue;
        seen.add(node.id);
        if (node.type === REROUTE) waiting.push(node.id);
        else return inputKind(document, catalogue, { node: node.id, input }) ?? ANY;
      }
    }
  }
  return ANY;
}

/** Say whether `from` hangs on `target`, directly or not. */
export function reaches(document: Document, from: NodeId, target: NodeId): boolean {
  const seen = new Set<NodeId>();
  const waiting = [from];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (at === target) return true;
    if (seen.has(at)) continue;
    seen.add(at);
    for (const given of document.nodes.get(at)?.inputs.values() ?? []) {
      if (isLink(given)) waiting.push(given.node);
    }
  }
  return false;
}

/** The first input of a node type that takes a kind: mere ports before widgets. */
export function firstInput(catalogue: Catalogue, type: string, kind: string): string | null {
  const inputs = catalogue.types.get(type)?.inputs ?? [];
  const fitting = inputs.filter((input) => fits(kind, input.kind));
  const best = (wanted: (kind: string) => boolean, widget: boolean) =>
    fitting.find((input) => wanted(input.kind) && input.widget === widget);
  const exact = (other: string): boolean => other === kind;
  const any = (): boolean => true;
  return (best(exact, false) ?? best(any, false) ?? best(exact, true) ?? best(any, true))?.name ?? null;
}

/** The first output of a node type that an input of a kind takes. */
export function firstOutput(catalogue: Catalogue, type: string, kind: string): number | null {
  const outputs = catalogue.types.get(type)?.outputs ?? [];
  const exact = outputs.findIndex((output) => output.kind === kind);
  const found = exact >= 0 ? exact : outputs.findIndex((output) => fits(output.kind, kind));
  return found >= 0 ? found : null;
}
