/** What somebody sees who comes here first, or asks for an example: a workflow that runs, with its pictures. */
import { uploadImage } from "../api/client";
import { openText } from "../formats/open";
import { apply } from "../model/apply";
import type { Document, InputPlace } from "../model/document";
import { say } from "../words/words";
import { EXAMPLES, type Example, PHOTOS } from "./examples";
import { newTab, showDocument, tellProblem } from "./files";
import { app } from "./store";

/** Open an example; an empty workflow where this server lacks its nodes. */
export async function openExample(example: Example): Promise<void> {
  const { catalogue } = app();
  const document = openText(EXAMPLES[example], catalogue);
  if ([...document.nodes.values()].some((node) => !catalogue.types.has(node.type))) newTab();
  else await showDocument(say(`example.${example}`), await withPhotos(document));
}

/** Photos that the input folder does not have where the workflow looks are put there. */
async function withPhotos(document: Document): Promise<Document> {
  let whole = document;
  for (const { to, file, options } of photosOf(document)) {
    const value = options.includes(file) ? file : await uploaded(file);
    whole = apply(whole, { type: "set-input", to, value });
  }
  return whole;
}

/** Give the inputs that name a photo of ours which is not where they say. */
function* photosOf(document: Document): Generator<{ to: InputPlace; file: string; options: readonly string[] }> {
  for (const node of document.nodes.values()) {
    const type = app().catalogue.types.get(node.type);
    for (const { name, options } of type?.inputs ?? []) {
      if (!options) continue;
      const given = node.inputs.get(name);
      const file = typeof given === "string" ? (given.split("/").at(-1) ?? "") : "";
      if (PHOTOS.has(file) && !options.includes(given as string)) yield { to: { node: node.id, input: name }, file, options };
    }
  }
}

async function uploaded(file: string): Promise<string> {
  try {
    const picture = await (await fetch(PHOTOS.get(file) ?? "")).blob();
    return await uploadImage(new File([picture], file, { type: picture.type }));
  } catch (error) {
    tellProblem(error);
    return file; // the node then says what it lacks
  }
}
