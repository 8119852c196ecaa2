/** Copies of parts of a workflow: for the clipboard, for duplicates, and for opening into another. */
import { type Document, type Given, type Group, isLink, type Link, type Node, type NodeId, type Point, freeIds } from "./document";
import type { Event } from "./events";

/** Nodes and groups as they were copied; links may lead out of it. */
export interface Fragment {
  readonly nodes: readonly Node[];
  readonly groups: readonly Group[];
}

/** Copy nodes and groups of a workflow, in its order. */
export function copy(document: Document, nodes: Iterable<NodeId>, groups: Iterable<string> = []): Fragment {
  const [ids, frames] = [new Set(nodes), new Set(groups)];
  return {
    nodes: [...document.nodes.values()].filter((node) => ids.has(node.id)),
    groups: document.groups.filter((group) => frames.has(group.id)),
  };
}

/** Where the upper left corner of a fragment is. */
export function corner(fragment: Fragment): Point {
  const points: Point[] = [...fragment.nodes.map((node) => node.pos), ...fragment.groups];
  return points.reduce((found, p) => ({ x: Math.min(found.x, p.x), y: Math.min(found.y, p.y) }), { x: Infinity, y: Infinity });
}

/**
 * Make the event that puts a fragment into a workflow, under new ids.
 *
 * shift    how far from where it was copied
 * outside  keep links to nodes that were not copied along, where the workflow has them
 */
export function paste(document: Document, fragment: Fragment, shift: Point, outside: boolean): Event & { type: "add" } {
  const ids = freeIds(document, fragment.nodes.length);
  const renamed = new Map(fragment.nodes.map((node, index) => [node.id, ids[index] as NodeId]));
  const nodes = fragment.nodes.map((node) => ({
    ...node,
    id: renamed.get(node.id) as NodeId,
    pos: { x: node.pos.x + shift.x, y: node.pos.y + shift.y },
    inputs: relinked(node, renamed, (link) => outside && document.nodes.has(link.node)),
  }));
  const taken = new Set(document.groups.map((group) => group.id));
  const groups = fragment.groups.map((group) => {
    const id = freeGroupId(taken);
    taken.add(id);
    return { ...group, id, x: group.x + shift.x, y: group.y + shift.y };
  });
  return { type: "add", nodes, groups };
}

function relinked(
  node: Node,
  renamed: ReadonlyMap<NodeId, NodeId>,
  keep: (link: Link) => boolean,
): ReadonlyMap<string, Given> {
  const inputs = new Map<string, Given>();
  for (const [name, given] of node.inputs) {
    if (!isLink(given)) inputs.set(name, given);
    else if (renamed.has(given.node)) inputs.set(name, { ...given, node: renamed.get(given.node) as NodeId });
    else if (keep(given)) inputs.set(name, given);
  }
  return inputs;
}

/** Give a name that no group has: g1, g2, ... */
export function freeGroupId(taken: ReadonlySet<string>): string {
  let number = taken.size + 1;
  while (taken.has(`g${number}`)) number += 1;
  return `g${number}`;
}
