/** The user's saved workflows under other names, or no longer; and settings that the server keeps. */
import type { Json, JsonObject } from "../model/json";
import { objectOf } from "../model/json";
import { call, send } from "./client";

const place = (path: string): string => encodeURIComponent(`workflows/${path}`);

export async function deleteWorkflow(path: string): Promise<void> {
  await call(`/userdata/${place(path)}`, { method: "DELETE" });
}

/** Give a saved workflow another name; refused where that is taken. */
export async function renameWorkflow(path: string, to: string): Promise<void> {
  await call(`/userdata/${place(path)}/move/${place(to)}`, { method: "POST" });
}

export async function getSettings(): Promise<JsonObject> {
  return objectOf(await call("/settings"));
}

export async function changeSettings(changes: Readonly<Record<string, Json>>): Promise<void> {
  await call("/settings", send(new Map(Object.entries(changes))));
}
