/** What the server tells of runs over its socket, as the canvas uses it. */
import { type Json, type JsonObject, listOf, numberOf, objectOf, textOf } from "../model/json";

export const PHASES = ["wait", "convert", "load", "compile", "upload", "compute", "download", "host"] as const;
export type Phase = (typeof PHASES)[number];

/** A picture or file that a node shows; GET /view gives it. */
export interface Shown {
  readonly filename: string;
  readonly subfolder: string;
  readonly type: string;
}

export interface Fault {
  readonly place: string;
  readonly problem: string;
  readonly got: string;
  readonly fix: string;
  readonly code: string;
}

/** What can be done about a reason; kind and value are the server's, advice is for a person. */
export interface Fix {
  readonly kind: string;
  readonly value: string;
  readonly sentence: string;
}

/** Why a node ran elsewhere than asked; `ops`: the operations concerned, where they are known. */
export interface Reason {
  readonly code: string;
  readonly sentence: string;
  readonly fix: string;
  readonly ops: readonly string[];
  /** Those that can be applied. */
  readonly fixes: readonly Fix[];
}

/** Where a node ran; `actual` and `requested` are names of devices, `shares` of the measured time, 0..1. */
export interface Placement {
  readonly requested: string;
  readonly actual: string;
  readonly shares: ReadonlyMap<string, number>;
  readonly reasons: readonly Reason[];
}

export type NodeState = "waiting" | "running" | "done" | "reused" | "failed" | "skipped" | "blocked";
export type RunEnd = "done" | "failed" | "cancelled";

export type Step = readonly [start: number, end: number];

/** What a node's entry of a report says. */
export interface Entry {
  readonly state: NodeState;
  readonly lane: string;
  readonly seconds: number | null;
  readonly start: number | null;
  readonly phases: ReadonlyMap<Phase, number>;
  /** Begin and end of a sampler's steps, seconds from the start of the run. */
  readonly steps: readonly Step[];
  readonly placement: Placement | null;
  readonly pictures: readonly Shown[];
  readonly texts: readonly string[];
  readonly outputs: readonly string[];
  readonly faults: readonly Fault[];
  readonly message: string;
}

export type Message =
  | { readonly type: "run"; readonly run: string; readonly state: "running" | RunEnd; readonly percent: number; readonly seconds: number | null }
  | { readonly type: "node"; readonly run: string; readonly node: string; readonly inner: boolean; readonly entry: Entry; readonly percent: number }
  | { readonly type: "progress"; readonly run: string; readonly node: string; readonly done: number; readonly total: number; readonly note: string; readonly percent: number }
  | { readonly type: "queue"; readonly remaining: number; readonly paused: boolean }
  | { readonly type: "worker"; readonly phase: string; readonly problem: string; readonly devices: readonly string[] };

/** Read a message; null where it is none of those that are drawn. */
export function readMessage(told: Json): Message | null {
  const frame = objectOf(told);
  const data = objectOf(frame.get("data"));
  const text = (key: string): string => textOf(data.get(key));
  const number = (key: string): number => numberOf(data.get(key)) ?? 0;
  const run = text("prompt_id");
  switch (frame.get("type")) {
    case "vinode_run":
      return { type: "run", run, state: runState(text("state")), percent: number("percent"), seconds: numberOf(data.get("seconds")) ?? null };
    case "vinode_node":
      return readNode(run, data);
    case "vinode_progress":
      return { type: "progress", run, node: text("node"), done: number("done"), total: number("total"), note: text("note"), percent: number("percent") };
    case "vinode_queue":
      return { type: "queue", remaining: number("remaining"), paused: data.get("paused") === true };
    case "vinode_worker":
      return { type: "worker", phase: text("phase"), problem: text("problem"), devices: deviceNames(data) };
    default:
      return null;
  }
}

function runState(state: string): "running" | RunEnd {
  return state === "done" || state === "failed" || state === "cancelled" ? state : "running";
}

function deviceNames(data: JsonObject): string[] {
  return listOf(data.get("devices")).map((device) => textOf(objectOf(device).get("name")));
}

function readNode(run: string, data: JsonObject): Message | null {
  const state = textOf(data.get("state"));
  if (state === "expanded") return null;
  const root = textOf(data.get("display_node"));
  const node = root || textOf(data.get("node"));
  return { type: "node", run, node, inner: root !== "", entry: readEntry(data), percent: numberOf(data.get("percent")) ?? 0 };
}

const STATES: readonly NodeState[] = ["waiting", "running", "done", "reused", "failed", "skipped", "blocked"];

/** Read a node's entry of a report. */
export function readEntry(data: JsonObject): Entry {
  const state = STATES.find((each) => each === data.get("state")) ?? "done";
  const shown = objectOf(data.get("shown"));
  const placement = data.get("placement");
  return {
    state,
    lane: textOf(data.get("lane")),
    seconds: numberOf(data.get("seconds")) ?? null,
    start: numberOf(data.get("start")) ?? null,
    phases: readPhases(objectOf(data.get("phases"))),
    steps: listOf(data.get("steps")).map(readStep),
    placement: placement instanceof Map ? readPlacement(placement) : null,
    pictures: listOf(shown.get("images")).map((each) => readShown(objectOf(each))),
    texts: listOf(shown.get("text")).map(textOf),
    outputs: listOf(data.get("outputs")).map(textOf),
    faults: listOf(data.get("faults")).map((each) => readFault(objectOf(each))),
    message: textOf(data.get("message")),
  };
}

function readPhases(told: JsonObject): ReadonlyMap<Phase, number> {
  return new Map(PHASES.map((phase) => [phase, numberOf(told.get(phase)) ?? 0] as const).filter(([, seconds]) => seconds > 0));
}

function readStep(told: Json): Step {
  const [start, end] = listOf(told).map((each) => numberOf(each) ?? 0);
  return [start ?? 0, end ?? 0];
}

/** Read the name of a picture or file. */
export function readShown(told: JsonObject): Shown {
  return { filename: textOf(told.get("filename")), subfolder: textOf(told.get("subfolder")), type: textOf(told.get("type")) };
}

/** Read a fault as the server writes it. */
export function readFault(told: JsonObject): Fault {
  const text = (key: string): string => textOf(told.get(key));
  return { place: text("place"), problem: text("problem"), got: text("got"), fix: text("fix"), code: text("code") };
}

export function readPlacement(told: JsonObject): Placement {
  const reasons = listOf(told.get("reasons")).map((each) => readReason(objectOf(each)));
  const shares = new Map([...objectOf(told.get("actual"))].map(([device, share]) => [device, numberOf(share) ?? 0]));
  return { requested: textOf(told.get("requested")), actual: textOf(told.get("where")), shares, reasons };
}

/** Write a fault as one sentence with the fix. */
export function faultText(fault: Fault): string {
  const got = fault.got ? ` (${fault.got})` : "";
  return `${fault.problem}${got}${fault.fix ? `. ${fault.fix[0]?.toUpperCase()}${fault.fix.slice(1)}` : ""}.`;
}

function readReason(told: JsonObject): Reason {
  const text = (key: string): string => textOf(told.get(key));
  const fixes = listOf(told.get("fixes")).map((each): Fix => {
    const fix = objectOf(each);
    return { kind: textOf(fix.get("kind")), value: textOf(fix.get("value")), sentence: textOf(fix.get("sentence")) };
  });
  const applicable = fixes.filter((fix) => fix.kind !== "advice" && fix.value !== "");
  return { code: text("code"), sentence: text("sentence"), fix: text("fix"), ops: listOf(told.get("ops")).map(textOf), fixes: applicable };
}
