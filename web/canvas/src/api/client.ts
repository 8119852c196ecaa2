/** The server's HTTP routes, typed. Refusals become ApiError with the server's own sentence. */
import { readJson } from "../formats/readJson";
import { compact } from "../formats/writeJson";
import { type Json, type JsonObject, listOf, NO_KEYS, numberOf, object, objectOf, textOf } from "../model/json";
import { type Catalogue, readCatalogue } from "../model/nodeType";
import { type Fault, readFault } from "../run/messages";

/** What the server refused, or "offline". `nodes`: node id -> what is wrong with it. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly nodes: ReadonlyMap<string, readonly Fault[]> = new Map(),
  ) {
    super(message);
    this.name = "ApiError";
  }
}

/** A file that the server keeps, as ComfyUI names it. */
export interface FileName {
  readonly filename: string;
  readonly subfolder: string;
  readonly type: string;
}

export interface Queued {
  readonly id: string;
  readonly nodes: ReadonlyMap<string, readonly Fault[]>;
}

/** Ask the server; ApiError says why it refused. */
export async function call(path: string, init: RequestInit = {}): Promise<Json> {
  let answer: Response;
  try {
    answer = await fetch(`.${path}`, init);
  } catch {
    throw new ApiError("offline");
  }
  const text = await answer.text();
  const told = text.trim() === "" ? null : quietly(text);
  if (!answer.ok) throw refusal(answer.status, objectOf(told));
  return told;
}

function quietly(text: string): Json {
  try {
    return readJson(text);
  } catch {
    return text;
  }
}

function refusal(status: number, told: JsonObject): ApiError {
  const error = told.get("error");
  const said = error instanceof Map ? textOf(error.get("details")) || textOf(error.get("message")) : textOf(error);
  return new ApiError(said || `HTTP ${status}`, nodeErrors(told));
}

/** ComfyUI's errors carry our faults; those of another server only a sentence. */
function nodeErrors(told: JsonObject): ReadonlyMap<string, readonly Fault[]> {
  const nodes = [...objectOf(told.get("node_errors"))].map(([id, node]): [string, Fault[]] => {
    const errors = listOf(objectOf(node).get("errors")).map(objectOf);
    return [id, errors.map(faultOf)];
  });
  return new Map(nodes);
}

function faultOf(error: JsonObject): Fault {
  const fault = objectOf(error.get("extra_info")).get("fault");
  if (fault instanceof Map) return readFault(fault);
  const problem = textOf(error.get("details")) || textOf(error.get("message"));
  return { place: "", problem, got: "", fix: "", code: textOf(error.get("type")) };
}

/** Give what a POST of JSON needs. */
export function send(body: JsonObject): RequestInit {
  return { method: "POST", headers: { "Content-Type": "application/json" }, body: compact(body) };
}

export async function getCatalogue(): Promise<Catalogue> {
  return readCatalogue(await call("/vinode/nodes"));
}

/** What goes with a run besides its graph; `id`: a UUID to give to it. */
export interface RunOptions {
  readonly id?: string;
  readonly client: string;
  readonly front: boolean;
  readonly targets: readonly string[];
}

/** Hand in a run. Pictures it saves carry `extra` too, so that they open as they were drawn. */
export async function queuePrompt(prompt: JsonObject, extra: JsonObject, options: RunOptions): Promise<Queued> {
  const carried = extra.size > 0 ? object({ vinode: object({ extra_data: extra }) }) : NO_KEYS;
  const body = object({
    prompt,
    client_id: options.client,
    prompt_id: options.id,
    extra_data: new Map<string, Json>([...extra, ["extra_pnginfo", carried]]),
    front: options.front || undefined,
    partial_execution_targets: options.targets.length > 0 ? options.targets : undefined,
  });
  const told = objectOf(await call("/prompt", send(body)));
  return { id: textOf(told.get("prompt_id")), nodes: nodeErrors(told) };
}

export async function interrupt(): Promise<void> {
  await call("/interrupt", send(NO_KEYS));
}

export async function clearQueue(): Promise<void> {
  await call("/queue", send(object({ clear: true })));
}

/** Upload a picture to the input folder; gives the name it got there. */
export async function uploadImage(file: File): Promise<string> {
  const form = new FormData();
  form.append("image", file, file.name || "pasted.png");
  const told = objectOf(await call("/upload/image", { method: "POST", body: form }));
  const [name, folder] = [textOf(told.get("name")), textOf(told.get("subfolder"))];
  return folder ? `${folder}/${name}` : name;
}

/** Put a mask, the alpha of a picture, onto one of the input folder; gives the name of what came of it. */
export async function uploadMask(mask: File, original: FileName): Promise<string> {
  const form = new FormData();
  form.append("image", mask, mask.name);
  form.append("original_ref", JSON.stringify({ filename: original.filename, subfolder: original.subfolder, type: original.type }));
  const told = objectOf(await call("/upload/mask", { method: "POST", body: form }));
  const [name, folder] = [textOf(told.get("name")), textOf(told.get("subfolder"))];
  return folder ? `${folder}/${name}` : name;
}

/** The address of a file's picture; preview: smaller than the file. */
export function viewUrl(file: FileName, preview = false): string {
  const query = new URLSearchParams({ ...file, ...(preview ? { preview: "webp;85" } : {}) });
  return `./view?${query}`;
}

export interface SavedWorkflow {
  readonly path: string;
  readonly modified: number;
}

export async function listWorkflows(): Promise<SavedWorkflow[]> {
  let told: Json;
  try {
    told = await call("/userdata?dir=workflows&recurse=true&full_info=true");
  } catch (error) {
    if (error instanceof ApiError && error.message !== "offline") return []; // no folder yet
    throw error;
  }
  const files = listOf(told).map(objectOf).filter((file) => textOf(file.get("path")).endsWith(".json"));
  return files.map((file) => ({ path: textOf(file.get("path")), modified: numberOf(file.get("modified")) ?? 0 }));
}

export async function readWorkflow(path: string): Promise<Uint8Array> {
  const answer = await fetch(`./userdata/${encodeURIComponent(`workflows/${path}`)}`);
  if (!answer.ok) throw new ApiError(`HTTP ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}

export async function saveWorkflow(path: string, text: string): Promise<void> {
  const place = `/userdata/${encodeURIComponent(`workflows/${path}`)}?overwrite=true`;
  await call(place, { method: "POST", headers: { "Content-Type": "application/json" }, body: text });
}
