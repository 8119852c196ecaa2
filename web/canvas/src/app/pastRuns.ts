/** What can be done with runs that are over: open their workflow, read their settings, use their pictures. */
import { uploadImage, viewUrl } from "../api/client";
import { getRun } from "../api/runs";
import { readJson } from "../formats/readJson";
import { fromJson } from "../formats/ourFile";
import { isLink, type NodeId, titleOf } from "../model/document";
import { object, objectOf } from "../model/json";
import { readShown, type Shown } from "../run/messages";
import type { WholeRun } from "../run/report";
import { addNode } from "./edits";
import { showDocument, tellProblem } from "./files";
import { app, change, tab } from "./store";

/** Open the workflow of a run in a tab of its own. */
export async function openRun(id: string, name: string): Promise<void> {
  try {
    const { prompt, extra } = await getRun(id);
    const drawn = new Map([...extra].filter(([key]) => key !== "extra_pnginfo"));
    await showDocument(name, fromJson(object({ vinode: 1, prompt, extra_data: drawn })));
  } catch (error) {
    tellProblem(error);
  }
}

/** A setting of a run: of which node, and what it was. */
export interface Setting {
  readonly node: string;
  readonly name: string;
  readonly value: string;
}

/** Give what a run was told: all values that are no wires, node by node. */
export function settingsOf(run: WholeRun): Setting[] {
  const document = fromJson(object({ vinode: 1, prompt: run.prompt }));
  return [...document.nodes.values()].flatMap((node) => {
    const title = titleOf(node) || app().catalogue.types.get(node.type)?.title || node.type;
    return [...node.inputs].flatMap(([name, given]): Setting[] =>
      isLink(given) || (typeof given === "object" && given !== null) || given === "" ? [] : [{ node: title, name, value: String(given) }],
    );
  });
}

/** An input of the open workflow that takes a picture file. */
export interface PictureInput {
  readonly node: NodeId;
  readonly input: string;
  readonly title: string;
}

/** Give the inputs of the open workflow that a picture can be sent to. */
export function pictureInputs(): PictureInput[] {
  return [...tab().history.present.nodes.values()].flatMap((node) => {
    const type = app().catalogue.types.get(node.type);
    const input = type?.inputs.find((each) => each.upload)?.name;
    return input === undefined ? [] : [{ node: node.id, input, title: `${titleOf(node) || type?.title} (${node.id})` }];
  });
}

/** Put a picture of a run into an input, or into a new node that loads it. */
export async function sendPicture(picture: Shown, to: PictureInput | null): Promise<void> {
  try {
    const blob = await (await fetch(viewUrl(picture))).blob();
    const value = await uploadImage(new File([blob], picture.filename, { type: blob.type }));
    const loader = app().catalogue.types.get("LoadImage");
    if (to) change({ type: "set-input", to: { node: to.node, input: to.input }, value });
    else if (loader) change({ type: "set-input", to: { node: addNode(loader, beside(), null), input: "image" }, value });
  } catch (error) {
    if (error instanceof TypeError) return; // the server is away, which the page says already
    tellProblem(error);
  }
}

const DRAGGED = "application/x-vinode-picture";

/** Let a picture of a run be dragged onto the canvas. */
export function dragPicture(picture: Shown, to: DataTransfer): void {
  const { filename, subfolder, type } = picture;
  to.setData(DRAGGED, JSON.stringify({ filename, subfolder, type }));
}

/** Give the picture of a run that is dropped, or null. */
export function draggedPicture(from: DataTransfer): Shown | null {
  const text = from.getData(DRAGGED);
  return text ? readShown(objectOf(readJson(text))) : null;
}

/** Give a free place left of all nodes. */
function beside(): { x: number; y: number } {
  const places = [...tab().history.present.nodes.values()].map((node) => node.pos);
  if (places.length === 0) return { x: 0, y: 0 };
  return { x: Math.min(...places.map((pos) => pos.x)) - 340, y: Math.min(...places.map((pos) => pos.y)) };
}
