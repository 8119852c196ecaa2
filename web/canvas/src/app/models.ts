/** Models that a workflow lacks: fetched when somebody asks for it. */
import { pullModel } from "../api/models";
import { type Job, readJob, tellJob } from "../run/jobs";
import { type Json, objectOf } from "../model/json";
import { say } from "../words/words";
import { tellProblem } from "./files";
import { notify, useApp } from "./store";

/** Have the server fetch a model and convert it; the socket tells how far it is. */
export async function fetchModel(name: string): Promise<void> {
  try {
    keep(await pullModel(name));
  } catch (error) {
    tellProblem(error);
  }
}

/** Take in a job that the socket told of. */
export function jobTold(told: Json): void {
  const job = readJob(objectOf(told));
  keep(job);
  if (job.state === "done") notify(say("note.fetched", { name: job.name }));
  if (job.state === "failed") notify(job.problem, "error");
}

function keep(job: Job): void {
  useApp.setState((state) => ({ jobs: tellJob(state.jobs, job) }));
}
