/** Where wires of ComfyUI's editor format come from, through subgraphs that lie in each other. */
import { FormatError } from "./formatError";
import { MOST_NODES } from "./ourFile";
import type { UiGraph, UiLink, UiNode } from "./uiGraph";

/** A graph as it stands in its surroundings: the whole, or one use of a subgraph. */
export interface Level {
  readonly graph: UiGraph;
  readonly prefix: string;
  readonly outer: { readonly level: Level; readonly instance: UiNode } | null;
  readonly definitions: ReadonlyMap<string, UiGraph>;
  readonly nodes: ReadonlyMap<string, UiNode>;
  readonly links: ReadonlyMap<string, UiLink>;
}

/** An output of a node in a level; or the widget of a subgraph's use. */
export type Source =
  | { readonly kind: "output"; readonly level: Level; readonly node: UiNode; readonly slot: number }
  | { readonly kind: "widget"; readonly instance: UiNode; readonly body: UiGraph; readonly name: string }
  | null;

const [FROM_OUTSIDE, TO_OUTSIDE] = ["-10", "-20"];
const DEEPEST = 20;
const MOST_LEVELS = 5000;

interface Index {
  readonly nodes: ReadonlyMap<string, UiNode>;
  readonly links: ReadonlyMap<string, UiLink>;
}

/** A body that is used often is looked through once. */
const INDEXES = new WeakMap<UiGraph, Index>();

function indexOf(graph: UiGraph): Index {
  const known = INDEXES.get(graph);
  if (known) return known;
  const made = {
    nodes: new Map(graph.nodes.map((node) => [node.id, node])),
    links: new Map(graph.links.map((link) => [`${link.to} ${link.input}`, link])),
  };
  INDEXES.set(graph, made);
  return made;
}

export function enter(graph: UiGraph, outer: Level["outer"], definitions: Level["definitions"]): Level {
  return {
    graph,
    outer,
    prefix: outer ? `${outer.level.prefix}${outer.instance.id}:` : "",
    definitions: graph.subgraphs.size > 0 ? new Map([...definitions, ...graph.subgraphs]) : definitions,
    ...indexOf(graph),
  };
}

/** Give a graph and all uses of subgraphs in it, the outer ones first. FormatError: they grow beyond all measure. */
export function levels(graph: UiGraph): Level[] {
  const found: Level[] = [];
  const waiting = [enter(graph, null, new Map())];
  let nodes = 0;
  for (let at = 0, level = waiting[at]; level; at += 1, level = waiting[at]) {
    found.push(level);
    nodes += level.graph.nodes.length;
    if (nodes > MOST_NODES || waiting.length > MOST_LEVELS) throw new FormatError("too-many-nodes", { most: String(MOST_NODES) });
    for (const node of level.graph.nodes) {
      const body = level.definitions.get(node.type);
      if (body && level.prefix.split(":").length <= DEEPEST) {
        waiting.push(enter(body, { level, instance: node }, level.definitions));
      }
    }
  }
  return found;
}

/** Follow an output, of a level's node or of its border, to the node that makes it. */
export function trace(level: Level, from: string, slot: number, depth = 0): Source {
  if (depth > 4 * DEEPEST) return null;
  if (from === FROM_OUTSIDE) {
    if (!level.outer) return null;
    const { level: around, instance } = level.outer;
    const name = level.graph.inputs[slot]?.name ?? "";
    // A use need not list all inputs of the subgraph, so its places are not the subgraph's.
    const link = around.links.get(`${instance.id} ${instance.inputs.findIndex((input) => input.name === name)}`);
    if (link) return trace(around, link.from, link.slot, depth + 1);
    return { kind: "widget", instance, body: level.graph, name };
  }
  const node = level.nodes.get(from);
  if (!node) return null;
  const body = level.definitions.get(node.type);
  if (!body) return { kind: "output", level, node, slot };
  const inner = enter(body, { level, instance: node }, level.definitions);
  const link = inner.links.get(`${TO_OUTSIDE} ${slot}`);
  return link ? trace(inner, link.from, link.slot, depth + 1) : null;
}
