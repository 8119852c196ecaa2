/** Where wires really come from: through reroutes and bypassed nodes, and never from muted ones. */
import { type Document, isLink, type Link, type Node, REROUTE, REROUTE_INPUT } from "./document";
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

/** Follow a link to the output that runs and feeds it, or null where nothing does. */
export function source(document: Document, catalogue: Catalogue, link: Link): Link | null {
  const seen = new Set<string>();
  let at: Link | undefined = link;
  while (at) {
    const node = document.nodes.get(at.node);
    const key = `${at.slot} ${at.node}`;
    if (!node) return at; // kept as it is, and marked
    if (runs(node)) return at;
    if (node.mode === "mute" || seen.has(key)) return null;
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
