/** What the socket would have told, had it been open. */
import type { Message } from "../run/messages";
import { asMessages } from "../run/report";
import { missed } from "../run/resync";
import type { Runs } from "../run/runs";
import { ApiError } from "./client";
import { getQueue, getRun } from "./runs";

/** Give what became of the runs that ended meanwhile. Of those that still run the server tells by itself. */
export async function catchUp(runs: Runs): Promise<Message[]> {
  const found: Message[] = [];
  for (const run of missed(runs, await getQueue())) found.push(...(await whatBecameOf(run)));
  return found;
}

/** Give the end of a run, and of each of its nodes. */
export async function whatBecameOf(run: string): Promise<Message[]> {
  try {
    return asMessages(await getRun(run));
  } catch (error) {
    if (!(error instanceof ApiError) || error.message === "offline") throw error;
    return [{ type: "run", run, state: "cancelled", percent: 0, seconds: null }]; // taken off the queue, or forgotten
  }
}
