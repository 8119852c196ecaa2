/** After the socket was away: which runs have ended meanwhile, unseen. */
import type { QueueView } from "./report";
import type { Runs } from "./runs";

/** Name the runs to ask for, the earlier ones first: of each tab from the one it shows as under way. */
export function missed(runs: Runs, queue: QueueView): string[] {
  const alive = new Set([...queue.running, ...queue.pending].map((run) => run.id));
  const open = new Map<string, string>();
  for (const [tab, run] of runs.tabs) {
    if (run.state === "running" || run.state === "queued") open.set(tab, run.id);
  }
  const reached = new Set<string>();
  return [...runs.owners].filter(([id, tab]) => {
    if (open.get(tab) === id) reached.add(tab);
    return reached.has(tab) && !alive.has(id);
  }).map(([id]) => id);
}
