/** A node dropped onto a wire goes into it, where one of its inputs and one of its outputs fit. */
import { type Document, type InputPlace, isLink, type NodeId, REROUTE, REROUTE_INPUT } from "./document";
import type { Event } from "./events";
import { kindOf } from "./flow";
import { fits } from "./kinds";
import { inputKind, linkProblem } from "./links";
import type { Catalogue } from "./nodeType";

/** Make the event that puts a node of the workflow into the wire that ends in `to`; null where it does not fit. */
export function insertion(document: Document, catalogue: Catalogue, id: NodeId, to: InputPlace): Event | null {
  const [node, given] = [document.nodes.get(id), document.nodes.get(to.node)?.inputs.get(to.input)];
  if (!node || !isLink(given) || id === to.node || id === given.node) return null;
  const input = freeInput(document, catalogue, id, kindOf(document, catalogue, given));
  const slot = fittingOutput(catalogue, node.type, inputKind(document, catalogue, to) ?? "*");
  if (input === null || slot === null) return null;
  const inward = { node: id, input };
  const outward = { node: id, slot };
  if (linkProblem(document, catalogue, given, inward) || linkProblem(document, catalogue, outward, to)) return null;
  return { type: "all", events: [{ type: "link", from: given, to: inward }, { type: "link", from: outward, to }] };
}

/** The first input of that kind that nothing is linked to: mere ports before widgets. */
function freeInput(document: Document, catalogue: Catalogue, id: NodeId, kind: string): string | null {
  const node = document.nodes.get(id);
  if (!node) return null;
  if (node.type === REROUTE) return isLink(node.inputs.get(REROUTE_INPUT)) ? null : REROUTE_INPUT;
  const inputs = catalogue.types.get(node.type)?.inputs ?? [];
  const free = inputs.filter((input) => fits(kind, input.kind) && !isLink(node.inputs.get(input.name)));
  return (free.find((input) => !input.widget) ?? free[0])?.name ?? null;
}

function fittingOutput(catalogue: Catalogue, type: string, wanted: string): number | null {
  if (type === REROUTE) return 0;
  const found = (catalogue.types.get(type)?.outputs ?? []).findIndex((output) => fits(output.kind, wanted));
  return found < 0 ? null : found;
}
