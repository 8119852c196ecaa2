/** (jobs, told) -> jobs: work on models, which the server fetches and converts. */
import { type JsonObject, numberOf, textOf } from "../model/json";

/** done of total, bytes or steps of `step`; total 0: not known. */
export interface Job {
  readonly id: string;
  readonly do: string;
  readonly name: string;
  readonly state: "waiting" | "running" | "done" | "failed" | "cancelled";
  readonly step: string;
  readonly done: number;
  readonly total: number;
  readonly bytes: number;
  readonly problem: string;
}

export type Jobs = ReadonlyMap<string, Job>;

const STATES = ["waiting", "running", "done", "failed", "cancelled"] as const;

/** Read a job as GET /vinode/models and `vinode_job` tell it. */
export function readJob(told: JsonObject): Job {
  const text = (key: string): string => textOf(told.get(key));
  const number = (key: string): number => numberOf(told.get(key)) ?? 0;
  const state = STATES.find((each) => each === told.get("state")) ?? "waiting";
  return {
    id: text("id"), do: text("do"), name: text("name"), state, step: text("step"),
    done: number("done"), total: number("total"), bytes: number("bytes"), problem: text("problem"),
  };
}

/** Give the jobs after one was told of. */
export function tellJob(jobs: Jobs, job: Job): Jobs {
  return new Map(jobs).set(job.id, job);
}
