/** Where wires really come from: through reroutes and bypassed nodes, and never from muted ones. */
import { type Document, isLink, type Link, type Node, type NodeId, REROUTE, REROUTE_INPUT } from "./document";
import { ANY, fits } from "./kinds";
import type { Catalogue, NodeType } from "./nodeType";

/** Say whether the node is one for the canvas only. */
export function isVirtual(node: Node): boolean {
  return node.type === REROUTE;
}

/** Say whether the node itself runs, and so stands in the file's `prompt`. */
export function runs(node: Node): boolean {
  return node.mode === "on" && !isVirtual(node);
}

/**
 * Name the nodes that would run, but need a muted one: they are left out of runs, as it is.
 *
 * An input that may be left out merely loses its wire.
 */
export function leftOut(document: Document, catalogue: Catalogue): ReadonlySet<NodeId> {
  const out = new Set<NodeId>();
  const muted = [...document.nodes.values()].filter((node) => node.mode === "mute").map((node) => node.id);
  if (muted.length === 0) return out;
  const needy = new Map<NodeId, NodeId[]>();
  for (const node of document.nodes.values()) {
    for (const id of runs(node) ? needed(document, catalogue, node) : []) append(needy, id, node.id);
  }
  const waiting = [...muted];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const id of needy.get(at) ?? []) {
      if (!out.has(id)) waiting.push(id);
      out.add(id);
    }
  }
  return out;
}

function append(to: Map<NodeId, NodeId[]>, key: NodeId, id: NodeId): void {
  const known = to.get(key);
  if (known) known.push(id);
  else to.set(key, [id]);
}

/** Name the nodes without which a node cannot run. */
function needed(document: Document, catalogue: Catalogue, node: Node): Set<NodeId> {
  const optional = new Set(catalogue.types.get(node.type)?.inputs.filter((input) => !input.required).map((input) => input.name));
  const found = new Set<NodeId>();
  for (const [name, value] of node.inputs) {
    const end = isLink(value) && !optional.has(name) ? follow(document, catalogue, value) : null;
    if (end) found.add(end.node);
  }
  return found;
}

/** Follow a link to the output that runs and feeds it, or null where nothing does. */
export function source(document: Document, catalogue: Catalogue, link: Link): Link | null {
  const end = follow(document, catalogue, link);
  return end && document.nodes.get(end.node)?.mode === "mute" ? null : end;
}

/** Follow a link to the output that feeds it, be it a muted node's; null where nothing does. */
function follow(document: Document, catalogue: Catalogue, link: Link): Link | null {
  const seen = new Set<string>();
  let at: Link | undefined = link;
  while (at) {
    const node = document.nodes.get(at.node);
    const key = `${at.slot} ${at.node}`;
    if (!node) return at; // kept as it is, and marked
    if (runs(node) || node.mode === "mute") return at;
    if (seen.has(key)) return null;
    seen.add(key);
    at = isVirtual(node) ? given(node, REROUTE_INPUT) : passed(node, catalogue.types.get(node.type), at.slot);
  }
  return null;
}

/** Name the kind of an output; "*" where it is not known. */
export function kindOf(document: Document, catalogue: Catalogue, link: Link): string {
  const seen = new Set<string>();
  let at: Link | undefined = link;
  while (at) {
    const node = document.nodes.get(at.node);
    if (!node || seen.has(node.id)) return ANY;
    seen.add(node.id);
    if (!isVirtual(node)) return catalogue.types.get(node.type)?.outputs[at.slot]?.kind ?? ANY;
    at = given(node, REROUTE_INPUT);
  }
  return ANY;
}

function given(node: Node, input: string): Link | undefined {
  const value = node.inputs.get(input);
  return isLink(value) ? value : undefined;
}

/** Which input of a bypassed node takes the place of an output: same place, same kind, or one that fits. */
function passed(node: Node, type: NodeType | undefined, slot: number): Link | undefined {
  const output = type?.outputs[slot];
  if (!type || !output) return undefined;
  const linked = type.inputs.filter((input) => given(node, input.name));
  const ports = type.inputs.filter((input) => !input.widget);
  const same = ports[slot];
  const candidates = [
    ...(same && fits(same.kind, output.kind) ? [same] : []),
    ...linked.filter((input) => input.kind === output.kind),
    ...linked.filter((input) => fits(input.kind, output.kind)),
  ];
  const found = candidates.find((input) => given(node, input.name));
  return found && given(node, found.name);
}
