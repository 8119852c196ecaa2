/** Opening and saving workflows: of the server, of this computer, and what is dropped. */
import * as client from "../api/client";
import { FormatError } from "../formats/formatError";
import { openBytes } from "../formats/open";
import { unknownTypes, write } from "../formats/ourFile";
import { type Document, EMPTY } from "../model/document";
import { say } from "../words/words";
import { freshId } from "./ids";
import { arrange } from "./edits";
import { app, notify, send, tab } from "./store";

export function newTab(): void {
  send({ type: "open", id: freshId(), name: "", document: EMPTY });
}

/** Show a workflow in a tab of its own, laid out where the file says no places. */
export async function showDocument(name: string, document: Document): Promise<void> {
  const now = tab();
  const untouched = now.history.present === EMPTY && now.history.past.length + now.history.future.length === 0;
  send({ type: "open", id: freshId(), name, document });
  if (untouched && now.id) send({ type: "close", id: now.id });
  await arrange("missing");
  const unknown = unknownTypes(document, app().catalogue);
  if (unknown.length > 0) notify(say("note.unknown", { names: unknown.join(", ") }));
}

export async function openFile(name: string, bytes: Uint8Array): Promise<void> {
  try {
    await showDocument(name.replace(/\.\w+$/, ""), await openBytes(bytes, app().catalogue));
  } catch (error) {
    tellProblem(error);
  }
}

export async function openFromServer(path: string): Promise<void> {
  try {
    await openFile(path, await client.readWorkflow(path));
  } catch (error) {
    tellProblem(error);
  }
}

/** Say what went wrong, in the language of the page. */
export function tellProblem(error: unknown): void {
  if (error instanceof FormatError) notify(say(`fault.${error.code}`, error.about), "error");
  else if (error instanceof client.ApiError) notify(error.message === "offline" ? say("note.offline") : error.message, "error");
  else throw error;
}

export async function saveAs(name: string): Promise<void> {
  const { id, history } = tab();
  try {
    await client.saveWorkflow(`${name}.json`, write(history.present, app().catalogue));
    send({ type: "saved", id, name });
    notify(say("note.saved", { name }));
  } catch (error) {
    tellProblem(error);
  }
}

export function download(): void {
  const { history, name } = tab();
  const text = write(history.present, app().catalogue);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = `${name || say("app.untitled")}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Let somebody choose a file of this computer. */
export function chooseFile(): void {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = ".json,.png,.webp,.txt";
  input.onchange = () => {
    for (const file of input.files ?? []) void file.arrayBuffer().then((bytes) => openFile(file.name, new Uint8Array(bytes)));
  };
  input.click();
}
