/** Whatever somebody drops or pastes -> workflow. */
import type { Document } from "../model/document";
import { type Json, objectOf } from "../model/json";
import type { Catalogue } from "../model/nodeType";
import { FormatError } from "./formatError";
import { fromJson } from "./ourFile";
import { fromParameters, isParameters } from "./parameters";
import { isPng, isWebp, pngText, webpText } from "./pictureText";
import { readJson, readPythonJson } from "./readJson";
import { fromUi } from "./uiFile";
import { isUi } from "./uiGraph";

const MOST = 64 * 2 ** 20;

/** Open a file's bytes; FormatError says why not. Nodes without a place are at NaN: lay them out. */
export async function openBytes(bytes: Uint8Array, catalogue: Catalogue): Promise<Document> {
  if (isPng(bytes)) return fromText(await pngText(bytes), catalogue);
  if (isWebp(bytes)) return fromText(webpText(bytes), catalogue);
  if (bytes[0] === 0xff && bytes[1] === 0xd8) throw new FormatError("no-workflow-in-picture");
  if (bytes.length > MOST) throw new FormatError("too-large");
  return openText(new TextDecoder().decode(bytes), catalogue);
}

/** Open a text: JSON in any of the formats, or A1111's parameters. */
export function openText(text: string, catalogue: Catalogue): Document {
  if (isParameters(text) && !text.trimStart().startsWith("{")) return fromParameters(text, catalogue);
  return fromAnyJson(readJson(text), catalogue);
}

function fromAnyJson(found: Json, catalogue: Catalogue): Document {
  if (isUi(found)) return fromUi(objectOf(found), catalogue);
  const inside = objectOf(found).get("prompt");
  if (inside !== undefined && isUi(inside)) return fromUi(objectOf(inside), catalogue);
  const document = fromJson(found);
  if (document.nodes.size === 0 && !objectOf(found).has("vinode")) throw new FormatError("no-workflow");
  return document;
}

function fromText(text: ReadonlyMap<string, string>, catalogue: Catalogue): Document {
  const [prompt, ours, drawn] = [text.get("prompt"), text.get("vinode"), text.get("workflow")];
  if (prompt !== undefined && ours !== undefined) {
    const extra = objectOf(readJson(ours)).get("extra_data") ?? new Map();
    return fromJson(new Map<string, Json>([["prompt", readPythonJson(prompt)], ["extra_data", extra]]));
  }
  // The editor's own format has places and frames; the other only what ran.
  if (drawn !== undefined) return fromAnyJson(readPythonJson(drawn), catalogue);
  if (prompt !== undefined) return fromAnyJson(new Map([["prompt", readPythonJson(prompt)]]), catalogue);
  const parameters = text.get("parameters");
  if (parameters !== undefined && isParameters(parameters)) return fromParameters(parameters, catalogue);
  throw new FormatError("no-workflow-in-picture");
}
