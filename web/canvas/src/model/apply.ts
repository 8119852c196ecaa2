/** (workflow, event) -> workflow. What an event names and the workflow has not is passed over. */
import {
  type Document,
  type Given,
  isCollapsed,
  isLink,
  type InputPlace,
  type Link,
  newNode,
  type Node,
  type NodeId,
  REROUTE,
  REROUTE_INPUT,
} from "./document";
import type { Event } from "./events";
import { type Json, withKey } from "./json";

/** Give the workflow after an event. The same object comes back where nothing changed. */
export function apply(document: Document, event: Event): Document {
  switch (event.type) {
    case "all":
      return event.events.reduce(apply, document);
    case "add":
      return add(document, event.nodes, event.groups ?? []);
    case "move":
      return move(document, event);
    case "link":
      return setInput(document, event.to, event.from);
    case "unlink":
      return setInput(document, event.to, event.value);
    case "set-input":
      return setInput(document, event.to, event.value);
    case "set-meta":
      return change(document, event.nodes, (node) => setMeta(node, event.key, event.value));
    case "set-mode":
      return change(document, event.nodes, (node) => ({ ...node, mode: event.mode }));
    case "delete":
      return remove(document, event.nodes, event.groups);
    case "change-group":
      return {
        ...document,
        groups: document.groups.map((group) => (group.id === event.id ? { ...group, ...event.change } : group)),
      };
    case "reroute":
      return reroute(document, event.id, event.to, event.pos);
    case "insert":
      return insert(document, event.node, event.to, event.slot);
  }
}

function add(document: Document, nodes: readonly Node[], groups: Document["groups"]): Document {
  const all = new Map(document.nodes);
  for (const node of nodes) all.set(node.id, node);
  return { ...document, nodes: all, groups: [...document.groups, ...groups] };
}

/** Change some nodes; order is kept. */
function change(document: Document, ids: Iterable<NodeId>, to: (node: Node) => Node): Document {
  const nodes = new Map(document.nodes);
  let changed = false;
  for (const id of ids) {
    const node = nodes.get(id);
    if (!node) continue;
    nodes.set(id, to(node));
    changed = true;
  }
  return changed ? { ...document, nodes } : document;
}

function setMeta(node: Node, key: string, value: Json | undefined): Node {
  return { ...node, meta: withKey(node.meta, key, value) };
}

function move(document: Document, event: Extract<Event, { type: "move" }>): Document {
  const moved = change(document, event.nodes.keys(), (node) => ({
    ...node,
    pos: event.nodes.get(node.id) ?? node.pos,
  }));
  if (!event.groups?.size) return moved;
  const groups = moved.groups.map((group) => ({ ...group, ...event.groups?.get(group.id) }));
  return { ...moved, groups };
}

function setInput(document: Document, to: InputPlace, value: Given | undefined): Document {
  return change(document, [to.node], (node) => {
    const inputs = new Map(node.inputs);
    if (value === undefined) inputs.delete(to.input);
    else inputs.set(to.input, value);
    return { ...node, inputs };
  });
}

/** Delete nodes and the links that came from them; a wire through a reroute is kept. */
function remove(document: Document, ids: readonly NodeId[], groups: readonly string[]): Document {
  const gone = new Set(ids);
  const nodes = new Map<NodeId, Node>();
  for (const node of document.nodes.values()) {
    if (!gone.has(node.id)) nodes.set(node.id, without(node, document, gone));
  }
  return { ...document, nodes, groups: document.groups.filter((group) => !groups.includes(group.id)) };
}

function without(node: Node, document: Document, gone: ReadonlySet<NodeId>): Node {
  const cut = [...node.inputs].filter(([, given]) => isLink(given) && gone.has(given.node));
  if (cut.length === 0) return node;
  const inputs = new Map(node.inputs);
  for (const [input, given] of cut) {
    const behind = beyond(document, given as Link, gone);
    if (behind) inputs.set(input, behind);
    else inputs.delete(input);
  }
  return { ...node, inputs };
}

function beyond(document: Document, link: Link, gone: ReadonlySet<NodeId>): Link | null {
  const seen = new Set<NodeId>();
  for (let at: Link | null = link; at && !seen.has(at.node); ) {
    if (!gone.has(at.node)) return at;
    seen.add(at.node);
    const node = document.nodes.get(at.node);
    const given: Given | undefined = node?.type === REROUTE ? node.inputs.get(REROUTE_INPUT) : undefined;
    at = isLink(given) ? given : null;
  }
  return null;
}

/** Put a dot on the wire that ends in an input. */
function reroute(document: Document, id: NodeId, to: InputPlace, pos: Document["groups"][number] | Node["pos"]): Document {
  const given = document.nodes.get(to.node)?.inputs.get(to.input);
  if (!isLink(given)) return document;
  const dot = newNode(id, REROUTE, { x: pos.x, y: pos.y }, new Map([[REROUTE_INPUT, given]]));
  return setInput(add(document, [dot], []), to, { node: id, slot: 0 });
}

/** Put a node, whose own input is linked already, into the wire that ends in an input. */
function insert(document: Document, node: Node, to: InputPlace, slot: number): Document {
  return setInput(add(document, [node], []), to, { node: node.id, slot });
}

/** Give the nodes of a group: those whose upper left corner lies in it. */
export function inGroup(document: Document, id: string): NodeId[] {
  const group = document.groups.find((each) => each.id === id);
  if (!group) return [];
  const inside = (node: Node): boolean =>
    node.pos.x >= group.x && node.pos.x < group.x + group.width &&
    node.pos.y >= group.y && node.pos.y < group.y + group.height;
  return [...document.nodes.values()].filter(inside).map((node) => node.id);
}

/** Collapse all of some nodes, or open them where all are collapsed. */
export function toggleCollapsed(document: Document, ids: readonly NodeId[]): Event {
  const all = ids.every((id) => isCollapsed(document.nodes.get(id) as Node));
  return { type: "set-meta", nodes: ids, key: "collapsed", value: all ? undefined : true };
}
