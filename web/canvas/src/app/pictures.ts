/** Pictures that come from outside: into the node they are dropped on, or into one of their own. */
import { uploadImage } from "../api/client";
import { FormatError } from "../formats/formatError";
import { openBytes } from "../formats/open";
import type { NodeId, Point } from "../model/document";
import { addNode } from "./edits";
import { showDocument, tellProblem } from "./files";
import { app, change, tab } from "./store";

const LOADER = "LoadImage";

/** Give the input of a node that takes a file, or null. */
function uploadInput(node: NodeId): string | null {
  const type = app().catalogue.types.get(tab().history.present.nodes.get(node)?.type ?? "");
  return type?.inputs.find((input) => input.upload)?.name ?? null;
}

/**
 * Take a file. On a node that loads pictures it becomes that node's; else the workflow in it is
 * opened; a picture without one gets a node that loads it.
 */
export async function takeFile(file: File, at: Point, on: NodeId | null): Promise<void> {
  const input = on === null ? null : uploadInput(on);
  try {
    if (on !== null && input !== null && file.type.startsWith("image/")) {
      change({ type: "set-input", to: { node: on, input }, value: await uploadImage(file) });
      return;
    }
    const document = await openBytes(new Uint8Array(await file.arrayBuffer()), app().catalogue);
    await showDocument(file.name.replace(/\.\w+$/, ""), document);
  } catch (error) {
    const isPlain = error instanceof FormatError && (error.code === "no-workflow-in-picture" || file.type.startsWith("image/"));
    if (isPlain) await load(file, at);
    else tellProblem(error);
  }
}

async function load(file: File, at: Point): Promise<void> {
  const type = app().catalogue.types.get(LOADER);
  if (!type) return;
  try {
    const name = await uploadImage(file);
    const node = addNode(type, at, null);
    change({ type: "set-input", to: { node, input: "image" }, value: name });
  } catch (error) {
    tellProblem(error);
  }
}
