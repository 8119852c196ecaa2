/** The server's queue, history, reports and comparisons. */
import { object, objectOf, textOf } from "../model/json";
import {
  type Comparison, type HistoryPage, type QueueView, readComparison, readHistory, readQueue, readReport, readWhole, type Report,
  type WholeRun,
} from "../run/report";
import { call, send } from "./client";

export async function getQueue(): Promise<QueueView> {
  return readQueue(await call("/vinode/queue"));
}

/** Begin no further run, or begin them again. */
export async function pauseQueue(paused: boolean): Promise<void> {
  await call(`/vinode/queue/${paused ? "pause" : "resume"}`, send(new Map()));
}

/** Put a waiting run at another place among those that wait, from 0. */
export async function moveRun(run: string, position: number): Promise<void> {
  await call("/vinode/queue/move", send(object({ prompt_id: run, position })));
}

/** Cancel a run; false: it neither waits nor runs. */
export async function cancelRun(run: string): Promise<boolean> {
  return objectOf(await call("/vinode/queue/cancel", send(object({ prompt_id: run })))).get("cancelled") === true;
}

/** Queue a run anew; gives its new id. */
export async function rerun(run: string, client: string): Promise<string> {
  return textOf(objectOf(await call("/vinode/queue/rerun", send(object({ prompt_id: run, client_id: client })))).get("prompt_id"));
}

/** Give a page of ended runs, the newest first; `before`: `next` of the page before. */
export async function getHistory(limit = 50, before: number | null = null): Promise<HistoryPage> {
  const further = before === null ? "" : `&before=${before}`;
  return readHistory(await call(`/vinode/history?limit=${limit}${further}`));
}

/** Forget all ended runs but the newest. */
export async function pruneHistory(keep: number): Promise<void> {
  await call("/vinode/history/prune", send(object({ keep })));
}

export async function getRun(run: string): Promise<WholeRun> {
  return readWhole(await call(`/vinode/runs/${encodeURIComponent(run)}`));
}

export async function getReport(run: string): Promise<Report> {
  return readReport(await call(`/vinode/timing/${encodeURIComponent(run)}`));
}

/** The address of a run's trace, for Perfetto. */
export function traceUrl(run: string): string {
  return `./vinode/trace/${encodeURIComponent(run)}`;
}

export async function compareRuns(before: string, after: string): Promise<Comparison> {
  return readComparison(await call(`/vinode/compare?${new URLSearchParams({ a: before, b: after })}`));
}
