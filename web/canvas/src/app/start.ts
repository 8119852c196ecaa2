/** What somebody sees who comes here first: a workflow that runs, with its picture. */
import example from "../../../../workflows/detect_faces.json?raw";
import photo from "../../../../workflows/photos/astronaut.jpg?url";
import { uploadImage } from "../api/client";
import { openText } from "../formats/open";
import { apply } from "../model/apply";
import type { Document, NodeId } from "../model/document";
import { say } from "../words/words";
import { newTab, showDocument, tellProblem } from "./files";
import { app } from "./store";

const INPUT = "image"; // of LoadImage

/** Open the example; an empty workflow where this server lacks its nodes. */
export async function openExample(): Promise<void> {
  const { catalogue } = app();
  const document = openText(example, catalogue);
  if ([...document.nodes.values()].some((node) => !catalogue.types.has(node.type))) newTab();
  else await showDocument(say("app.example"), await withPhoto(document));
}

/** Where the input folder has no such photo, the one that came with this page is put there. */
async function withPhoto(document: Document): Promise<Document> {
  const loader = [...document.nodes.values()].find((node) => node.type === "LoadImage");
  const options = app().catalogue.types.get("LoadImage")?.inputs.find((input) => input.name === INPUT)?.options ?? [];
  const name = loader?.inputs.get(INPUT);
  if (!loader || (typeof name === "string" && options.includes(name))) return document;
  return named(document, loader.id, options.includes("astronaut.jpg") ? "astronaut.jpg" : await uploaded());
}

async function uploaded(): Promise<string> {
  try {
    const picture = await (await fetch(photo)).blob();
    return await uploadImage(new File([picture], "astronaut.jpg", { type: "image/jpeg" }));
  } catch (error) {
    tellProblem(error);
    return "astronaut.jpg"; // the node then says what it lacks
  }
}

function named(document: Document, node: NodeId, value: string): Document {
  return apply(document, { type: "set-input", to: { node, input: INPUT }, value });
}
