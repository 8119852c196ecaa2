/** Devices, and where a workflow would run on them. */
import { type Json, type JsonObject, listOf, numberOf, object, objectOf, textOf } from "../model/json";
import { compact } from "../formats/writeJson";
import { type Fault, type Fix, readFault } from "../run/messages";
import { call, send } from "./client";

/** properties: what the driver tells, its version among it. */
export interface Device {
  readonly name: string;
  readonly fullName: string;
  readonly simulated: boolean;
  readonly properties: ReadonlyMap<string, string>;
}

/** What the doctor found of one thing. */
export interface Finding {
  readonly name: string;
  readonly state: string;
  readonly detail: string;
  readonly fix: string;
}

/** known: the worker has looked. rss: bytes that it holds. */
export interface Devices {
  readonly known: boolean;
  readonly devices: readonly Device[];
  readonly openvino: string;
  readonly phase: string;
  readonly problem: string;
  readonly rss: number;
  readonly restarts: number;
}

/** Where a node would run: `lane` first, else the next of `candidates`. */
export interface Placed {
  readonly node: string;
  readonly lane: string;
  readonly requested: string;
  readonly candidates: readonly string[];
  readonly parts: readonly string[];
  readonly problem: string;
}

/** What an NPU's compiler says of a model part that a node uses. */
export interface JudgedPart {
  readonly node: string;
  readonly part: string;
  readonly compiles: boolean;
  readonly calls: number;
  readonly seconds: number | null;
  readonly reason: string;
  readonly fix: string;
}

/** What an NPU's compiler says of a workflow. seconds: its estimate, null where it has none. */
export interface Outlook {
  readonly platform: string;
  readonly processors: string;
  readonly fits: boolean;
  readonly seconds: number | null;
  readonly parts: readonly JudgedPart[];
  readonly unknown: readonly string[];
}

export async function getDevices(): Promise<Devices> {
  const told = objectOf(await call("/vinode/devices"));
  const worker = objectOf(told.get("worker"));
  return {
    known: told.get("known") === true,
    devices: listOf(told.get("devices")).map((each) => readDevice(objectOf(each))),
    openvino: textOf(told.get("openvino")),
    phase: textOf(worker.get("phase")),
    problem: textOf(worker.get("problem")),
    rss: numberOf(worker.get("rss")) ?? 0,
    restarts: numberOf(worker.get("restarts")) ?? 0,
  };
}

function readDevice(told: JsonObject): Device {
  const properties = new Map([...objectOf(told.get("properties"))].map(([key, value]) => [key, typeof value === "string" ? value : compact(value)]));
  return { name: textOf(told.get("name")), fullName: textOf(told.get("full_name")), simulated: told.get("simulated") === true, properties };
}

/** Have the worker look for devices anew; the socket tells what it found. */
export async function lookForDevices(): Promise<void> {
  await call("/vinode/devices", send(new Map()));
}

/** Ask what this computer has and lacks; the probes take some seconds. */
export async function getFindings(): Promise<Finding[]> {
  const told = objectOf(await call("/vinode/doctor"));
  return listOf(told.get("findings")).map((each) => {
    const text = (key: string): string => textOf(objectOf(each).get(key));
    return { name: text("name"), state: text("state"), detail: text("detail"), fix: text("fix") };
  });
}

/** Have a fix applied to a graph; gives the graph and what was changed. */
export async function fixPrompt(prompt: JsonObject, node: string, { kind, value }: Fix): Promise<{ prompt: JsonObject; done: string[] }> {
  const told = objectOf(await call("/vinode/fix", send(object({ prompt, node, kind, value }))));
  return { prompt: objectOf(told.get("prompt")), done: listOf(told.get("done")).map(textOf) };
}

/** Ask where each node would run; nothing is run or compiled. */
export async function getPlacement(prompt: JsonObject, device = ""): Promise<{ nodes: Placed[]; faults: Fault[] }> {
  const told = objectOf(await call("/vinode/placement", send(object({ prompt, device: device || undefined }))));
  return { nodes: listOf(told.get("nodes")).map((each) => readPlaced(objectOf(each))), faults: faults(told) };
}

function readPlaced(told: JsonObject): Placed {
  const text = (key: string): string => textOf(told.get(key));
  const parts = listOf(told.get("parts")).map((each) => textOf(objectOf(each).get("name")));
  const candidates = listOf(told.get("candidates")).map(textOf);
  return { node: text("node"), lane: text("lane"), requested: text("requested"), candidates, parts, problem: text("problem") };
}

/** Ask the NPU's compiler; minutes, where it was never asked. */
export async function getPreflight(prompt: JsonObject, device = "", platforms: readonly string[] = []): Promise<{ outlooks: Outlook[]; faults: Fault[] }> {
  const asked = { prompt, device: device || undefined, platforms: platforms.length > 0 ? platforms : undefined };
  const told = objectOf(await call("/vinode/preflight", send(object(asked))));
  return { outlooks: listOf(told.get("outlooks")).map((each) => readOutlook(objectOf(each))), faults: faults(told) };
}

function readOutlook(told: JsonObject): Outlook {
  const seconds = numberOf(told.get("estimate_seconds")) ?? null;
  const unknown = listOf(told.get("unknown")).map((each) => `${textOf(objectOf(each).get("node"))}: ${textOf(objectOf(each).get("problem"))}`);
  const parts = listOf(told.get("parts")).map((each) => readPart(objectOf(each)));
  return { platform: textOf(told.get("platform")), processors: textOf(told.get("processors")), fits: told.get("fits") === true, seconds, parts, unknown };
}

function readPart(told: JsonObject): JudgedPart {
  const reason = objectOf(told.get("reason"));
  return {
    node: textOf(told.get("node")), part: textOf(told.get("part")), compiles: told.get("compiles") === true, calls: numberOf(told.get("calls")) ?? 1,
    seconds: numberOf(told.get("estimate_seconds")) ?? null, reason: textOf(reason.get("sentence")), fix: textOf(reason.get("fix")),
  };
}

function faults(told: JsonObject): Fault[] {
  return listOf(told.get("faults")).map((each: Json) => readFault(objectOf(each)));
}
