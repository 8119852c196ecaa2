/** Nodes that load models of a kind: the panel of models puts them into the workflow. */
import type { Catalogue } from "../model/nodeType";
import { addNode } from "./edits";
import { app, change, tab } from "./store";

/** Kind of model -> node that loads it, and the input that takes its name. */
const LOADERS: ReadonlyMap<string, { type: string; input: string }> = new Map([
  ["checkpoint", { type: "CheckpointLoaderSimple", input: "ckpt_name" }],
  ["detector", { type: "DetectorLoader", input: "model_name" }],
]);

export interface Loader {
  readonly type: string;
  readonly input: string;
  readonly options: readonly string[];
}

/** Give the node that loads a kind of model; null where the server has none. */
export function loaderOf(catalogue: Catalogue, kind: string): Loader | null {
  const known = LOADERS.get(kind);
  const input = known && catalogue.types.get(known.type)?.inputs.find((each) => each.name === known.input);
  return known && input ? { ...known, options: input.options ?? [] } : null;
}

/** Put a model into the open workflow: into the one selected loader, else into a new one. */
export function placeLoader(kind: string, name: string): void {
  const loader = loaderOf(app().catalogue, kind);
  const type = loader && app().catalogue.types.get(loader.type);
  if (!loader || !type) return;
  const { history, selected } = tab();
  const chosen = [...history.present.nodes.values()].find((node) => node.type === loader.type && selected.has(node.id));
  const below = Math.max(0, ...[...history.present.nodes.values()].map((node) => node.pos.y)) + 260;
  const node = chosen?.id ?? addNode(type, { x: 0, y: history.present.nodes.size > 0 ? below : 0 }, null);
  change({ type: "set-input", to: { node, input: loader.input }, value: name });
}
