/** Frames of the socket: JSON, and previews of pictures. */
import { readJson } from "../formats/readJson";
import { type Json, objectOf, textOf } from "../model/json";

export type Frame =
  | { readonly type: "told"; readonly told: Json }
  | { readonly type: "preview"; readonly run: string; readonly node: string; readonly picture: Blob };

const [PREVIEW, PREVIEW_WITH_DATA] = [1, 4];

/** Read a frame; null for one that nobody here needs. */
export function readFrame(frame: string | ArrayBuffer): Frame | null {
  if (typeof frame === "string") {
    return { type: "told", told: readJson(frame) };
  }
  const view = new DataView(frame);
  if (frame.byteLength < 8) return null;
  const [event, second] = [view.getUint32(0), view.getUint32(4)];
  if (event === PREVIEW) {
    const type = second === 2 ? "image/png" : "image/jpeg";
    return { type: "preview", run: "", node: "", picture: new Blob([frame.slice(8)], { type }) };
  }
  if (event !== PREVIEW_WITH_DATA || 8 + second > frame.byteLength) return null;
  const about = objectOf(readJson(new TextDecoder().decode(new Uint8Array(frame, 8, second))));
  const picture = new Blob([frame.slice(8 + second)], { type: textOf(about.get("image_type")) || "image/jpeg" });
  const node = textOf(about.get("display_node_id")) || textOf(about.get("node_id"));
  return { type: "preview", run: textOf(about.get("prompt_id")), node, picture };
}
