/** What the server keeps of runs: lists, whole runs with their reports, and what got slower. */
import { type Json, type JsonObject, listOf, numberOf, objectOf, textOf } from "../model/json";
import { type Entry, type Message, PHASES, type Phase, readEntry, readShown, type RunEnd, type Shown } from "./messages";

/** A run in a list. Times in seconds since 1970; 0: not yet. `percent`, of what runs. */
export interface ListedRun {
  readonly id: string;
  readonly number: number;
  readonly client: string;
  readonly state: "pending" | "running" | RunEnd;
  readonly accepted: number;
  readonly started: number;
  readonly ended: number;
  readonly seconds: number;
  readonly percent: number;
  readonly pictures: readonly Shown[];
}

/** Name a run in a few letters. Its number tells its place in the queue, so it changes when the run is moved. */
export function shortId(run: ListedRun): string {
  return run.id.replaceAll("-", "").slice(-5);
}

export interface QueueView {
  readonly paused: boolean;
  readonly running: readonly ListedRun[];
  readonly pending: readonly ListedRun[];
}

/** next: what to ask for the page after this one; null: there is none. */
export interface HistoryPage {
  readonly runs: readonly ListedRun[];
  readonly next: number | null;
  readonly total: number;
}

/** A node's entry of a report. */
export interface ReportNode extends Entry {
  readonly id: string;
  readonly type: string;
  readonly title: string;
}

export interface Report {
  readonly state: RunEnd;
  readonly seconds: number;
  readonly nodes: readonly ReportNode[];
}

/** A run in full; no report: it has not begun, or ended with the server. */
export interface WholeRun {
  readonly run: ListedRun;
  readonly prompt: JsonObject;
  readonly extra: JsonObject;
  readonly report: Report | null;
}

/** Seconds before and after; null where there was nothing. */
export interface Difference {
  readonly before: number | null;
  readonly after: number | null;
  readonly change: number | null;
  readonly ratio: number | null;
}

export interface ComparedNode extends Difference {
  readonly id: string;
  readonly title: string;
  readonly where: readonly [string, string];
  readonly phases: ReadonlyMap<Phase, Difference>;
}

export interface Comparison {
  readonly run: Difference;
  readonly nodes: readonly ComparedNode[];
  readonly onlyBefore: readonly string[];
  readonly onlyAfter: readonly string[];
  readonly remarks: readonly string[];
}

const STATES = ["pending", "running", "done", "failed", "cancelled"] as const;

export function readListed(told: JsonObject): ListedRun {
  const number = (key: string): number => numberOf(told.get(key)) ?? 0;
  const outputs = [...objectOf(told.get("outputs")).values()].map(objectOf);
  return {
    id: textOf(told.get("prompt_id")),
    number: number("number"),
    client: textOf(told.get("client_id")),
    state: STATES.find((state) => state === told.get("state")) ?? "failed",
    accepted: number("accepted"),
    started: number("started"),
    ended: number("ended"),
    seconds: number("seconds"),
    percent: number("percent"),
    pictures: outputs.flatMap((shown) => listOf(shown.get("images")).map((each) => readShown(objectOf(each)))),
  };
}

export function readQueue(told: Json): QueueView {
  const queue = objectOf(told);
  const runs = (key: string): ListedRun[] => listOf(queue.get(key)).map((each) => readListed(objectOf(each)));
  return { paused: queue.get("paused") === true, running: runs("running"), pending: runs("pending") };
}

export function readHistory(told: Json): HistoryPage {
  const page = objectOf(told);
  const runs = listOf(page.get("runs")).map((each) => readListed(objectOf(each)));
  return { runs, next: numberOf(page.get("next")) ?? null, total: numberOf(page.get("total")) ?? 0 };
}

export function readReport(told: Json): Report {
  const report = objectOf(told);
  const nodes = listOf(report.get("nodes")).map((each): ReportNode => {
    const node = objectOf(each);
    const [id, type, title] = ["id", "type", "title"].map((key) => textOf(node.get(key))) as [string, string, string];
    return { id, type, title, ...readEntry(node) };
  });
  return { state: endOf(report.get("status")), seconds: numberOf(report.get("seconds")) ?? 0, nodes };
}

function endOf(state: Json | undefined): RunEnd {
  return state === "done" || state === "cancelled" ? state : "failed";
}

export function readWhole(told: Json): WholeRun {
  const run = objectOf(told);
  const report = run.get("report");
  return {
    run: readListed(run),
    prompt: objectOf(run.get("prompt")),
    extra: objectOf(run.get("extra_data")),
    report: report instanceof Map ? readReport(report) : null,
  };
}

export function readComparison(told: Json): Comparison {
  const found = objectOf(told);
  const names = (key: string): string[] => listOf(found.get(key)).map(textOf);
  return {
    run: readDifference(objectOf(found.get("run"))),
    nodes: listOf(found.get("nodes")).map((each) => readCompared(objectOf(each))),
    onlyBefore: names("only_before"),
    onlyAfter: names("only_after"),
    remarks: names("remarks"),
  };
}

function readCompared(node: JsonObject): ComparedNode {
  const [where, phases] = [objectOf(node.get("where")), objectOf(node.get("phases"))];
  const known = PHASES.filter((phase) => phases.has(phase));
  return {
    ...readDifference(node),
    id: textOf(node.get("id")),
    title: textOf(node.get("title")),
    where: [textOf(where.get("before")), textOf(where.get("after"))],
    phases: new Map(known.map((phase) => [phase, readDifference(objectOf(phases.get(phase)))])),
  };
}

function readDifference(told: JsonObject): Difference {
  const number = (key: string): number | null => numberOf(told.get(key)) ?? null;
  return { before: number("before"), after: number("after"), change: number("change"), ratio: number("ratio") };
}

/** Give the messages that the socket would have sent of a run that ended while nobody listened. */
export function asMessages(whole: WholeRun): Message[] {
  const { run, report, prompt } = whole;
  if (run.state === "pending") return [];
  const percent = run.state === "done" ? 100 : run.percent;
  const nodes = (report?.nodes ?? []).filter((node) => prompt.has(node.id));
  const seconds = report?.seconds ?? (run.ended ? run.seconds : null);
  return [
    ...nodes.map((entry): Message => ({ type: "node", run: run.id, node: entry.id, inner: false, entry, percent })),
    { type: "run", run: run.id, state: run.state, percent, seconds },
  ];
}
