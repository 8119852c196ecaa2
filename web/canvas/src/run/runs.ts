/** (runs, event) -> runs: what the last run of each tab says of its nodes. */
import type { NodeId } from "../model/document";
import type { Entry, Fault, Message, NodeState, Phase, Placement, RunEnd, Shown, Step } from "./messages";

/**
 * What is known of a node. Times, placement and pictures of an earlier run stay until new ones come;
 * `before` are the seconds of the run before the last.
 */
export interface NodeRun {
  readonly state: NodeState;
  readonly done: number;
  readonly total: number;
  readonly note: string;
  readonly preview: string;
  readonly seconds: number | null;
  readonly before: number | null;
  readonly lane: string;
  readonly start: number | null;
  readonly phases: ReadonlyMap<Phase, number>;
  readonly steps: readonly Step[];
  readonly placement: Placement | null;
  readonly pictures: readonly Shown[];
  readonly texts: readonly string[];
  readonly outputs: readonly string[];
  readonly faults: readonly Fault[];
  readonly message: string;
}

/** The last run of a tab; `faults` are those of no node. */
export interface TabRun {
  readonly id: string;
  readonly state: "queued" | "running" | RunEnd | "refused";
  readonly percent: number;
  readonly seconds: number | null;
  readonly nodes: ReadonlyMap<NodeId, NodeRun>;
  readonly faults: readonly Fault[];
}

export interface Runs {
  readonly tabs: ReadonlyMap<string, TabRun>;
  readonly owners: ReadonlyMap<string, string>;
  readonly remaining: number;
  readonly paused: boolean;
  /** How often the queue has changed: whoever lists it asks again then. */
  readonly queued: number;
  readonly worker: { readonly phase: string; readonly problem: string; readonly devices: readonly string[] };
}

export type RunEvent =
  | { readonly type: "asked"; readonly run: string; readonly tab: string }
  | { readonly type: "refused"; readonly run: string; readonly faults: readonly Fault[]; readonly nodes: ReadonlyMap<NodeId, readonly Fault[]> }
  | { readonly type: "told"; readonly message: Message }
  | { readonly type: "preview"; readonly run: string; readonly node: NodeId; readonly url: string }
  | { readonly type: "forget"; readonly tab: string };

export const NO_RUNS: Runs = { tabs: new Map(), owners: new Map(), remaining: 0, paused: false, queued: 0, worker: { phase: "", problem: "", devices: [] } };

const UNKNOWN: NodeRun = {
  state: "waiting", done: 0, total: 0, note: "", preview: "", seconds: null, before: null, lane: "", start: null,
  phases: new Map(), steps: [], placement: null, pictures: [], texts: [], outputs: [], faults: [], message: "",
};

/** Give the runs after an event. */
export function tell(runs: Runs, event: RunEvent): Runs {
  switch (event.type) {
    case "asked":
      return asked(runs, event.run, event.tab);
    case "refused":
      return ofTab(runs, event.run, (run) => refused(run, event));
    case "told":
      return told(runs, event.message);
    case "preview":
      return ofTab(runs, event.run, (run) => ofNode(run, event.node, (node) => ({ ...node, preview: event.url })));
    case "forget": {
      const tabs = new Map(runs.tabs);
      tabs.delete(event.tab);
      return { ...runs, tabs, owners: new Map([...runs.owners].filter(([, tab]) => tab !== event.tab)) };
    }
  }
}

/** Say whether nodes of a run are still under way. */
export function cutOff(runs: Runs, id: string): boolean {
  const run = runs.tabs.get(runs.owners.get(id) ?? "");
  return run?.id === id && [...run.nodes.values()].some((node) => node.state === "running");
}

function asked(runs: Runs, id: string, tab: string): Runs {
  const last = runs.tabs.get(tab);
  const owners = new Map(runs.owners).set(id, tab);
  // While one runs, a further one only waits: what is drawn stays that of the one that runs.
  if (last && (last.state === "running" || last.state === "queued")) return { ...runs, owners };
  return { ...runs, owners, tabs: new Map(runs.tabs).set(tab, begun(last, id, "queued")) };
}

function begun(last: TabRun | undefined, id: string, state: TabRun["state"]): TabRun {
  const kept = [...(last?.nodes ?? [])].map(([node, known]): [NodeId, NodeRun] => [
    node,
    { ...known, state: "waiting", done: 0, total: 0, note: "", preview: "", faults: [], message: "" },
  ]);
  return { id, state, percent: 0, seconds: null, nodes: new Map(kept), faults: [] };
}

function ofTab(runs: Runs, id: string, change: (run: TabRun) => TabRun): Runs {
  const tab = runs.owners.get(id);
  if (tab === undefined) return runs;
  const last = runs.tabs.get(tab);
  const run = last?.id === id ? last : begun(last, id, "running");
  return { ...runs, tabs: new Map(runs.tabs).set(tab, change(run)) };
}

function ofNode(run: TabRun, id: NodeId, change: (node: NodeRun) => NodeRun): TabRun {
  return { ...run, nodes: new Map(run.nodes).set(id, change(run.nodes.get(id) ?? UNKNOWN)) };
}

function refused(run: TabRun, event: Extract<RunEvent, { type: "refused" }>): TabRun {
  let next: TabRun = { ...run, state: "refused", faults: event.faults };
  for (const [id, faults] of event.nodes) next = ofNode(next, id, (node) => ({ ...node, state: "failed", faults }));
  return next;
}

function told(runs: Runs, message: Message): Runs {
  switch (message.type) {
    case "queue":
      return { ...runs, remaining: message.remaining, paused: message.paused, queued: runs.queued + 1 };
    case "worker":
      return { ...runs, worker: { phase: message.phase, problem: message.problem, devices: message.devices } };
    case "run":
      return ofTab(runs, message.run, (run) => ({
        ...run, state: message.state, percent: message.percent, seconds: message.seconds ?? run.seconds,
      }));
    case "progress":
      return ofTab(runs, message.run, (run) => {
        const { done, total, note, percent } = message;
        return { ...ofNode(run, message.node, (node) => ({ ...node, state: "running", done, total, note })), percent };
      });
    case "node":
      return ofTab(runs, message.run, (run) => {
        const change = (node: NodeRun): NodeRun => (message.inner ? inside(node, message.entry) : entered(node, message.entry));
        return { ...ofNode(run, message.node, change), percent: message.percent };
      });
  }
}

/** A node that stands for others fails and runs as they do; its times come with its own end. */
function inside(node: NodeRun, entry: Entry): NodeRun {
  const faults = entry.faults.length > 0 ? entry.faults : node.faults;
  const pictures = entry.pictures.length > 0 ? entry.pictures : node.pictures;
  return { ...node, state: entry.state === "failed" ? "failed" : node.state, faults, pictures };
}

function entered(node: NodeRun, entry: Entry): NodeRun {
  const state = entry.state;
  if (state === "running") return { ...node, state, lane: entry.lane || node.lane, done: 0, total: 0, note: "" };
  const shows = entry.pictures.length > 0 || entry.texts.length > 0;
  const seen = shows ? { pictures: entry.pictures, texts: entry.texts } : {};
  if (state === "reused" || state === "blocked") return { ...node, ...seen, state, preview: "", message: entry.message };
  const timed = entry.seconds === null ? {} : {
    outputs: entry.outputs, seconds: entry.seconds, before: node.seconds, phases: entry.phases, steps: entry.steps, start: entry.start, lane: entry.lane || node.lane,
  };
  const placed = entry.placement ? { placement: entry.placement } : {};
  return { ...node, ...seen, ...timed, ...placed, state, preview: "", faults: entry.faults, message: entry.message, note: "" };
}
