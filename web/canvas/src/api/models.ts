/** Models of the server, and the jobs that fetch and convert them. */
import { type JsonObject, listOf, numberOf, object, objectOf, textOf } from "../model/json";
import { type Job, type Jobs, readJob } from "../run/jobs";
import { call, send } from "./client";

export interface Model {
  readonly name: string;
  readonly kind: string;
  readonly state: string;
  readonly bytes: number;
  readonly licence: string;
  readonly source: string;
  readonly detail: string;
  /** Of what is converted: dtype of the weights, when it was made and by which OpenVINO; else "". */
  readonly dtype: string;
  readonly made: string;
  readonly openvino: string;
  readonly verification: Verification | null;
}

/** How far a converted model's answers are from its source's. snr: dB, null where they are the same. */
export interface Verification {
  readonly maxError: number;
  readonly snr: number | null;
  readonly cosine: number;
}

export async function getModels(): Promise<{ models: Model[]; jobs: Jobs }> {
  const told = objectOf(await call("/vinode/models"));
  const jobs = listOf(told.get("jobs")).map((each) => readJob(objectOf(each)));
  return { models: listOf(told.get("models")).map((each) => readModel(objectOf(each))), jobs: new Map(jobs.map((job) => [job.id, job])) };
}

function readModel(told: JsonObject): Model {
  const text = (key: string): string => textOf(told.get(key));
  const bytes = numberOf(told.get("bytes")) ?? 0;
  const checked = told.get("verification");
  return {
    name: text("name"), kind: text("kind"), state: text("state"), bytes, licence: text("licence"), source: text("source"), detail: text("detail"),
    dtype: text("dtype"), made: text("made"), openvino: text("openvino"), verification: checked instanceof Map ? readVerification(checked) : null,
  };
}

function readVerification(told: JsonObject): Verification {
  const number = (key: string): number | null => numberOf(told.get(key)) ?? null;
  return { maxError: number("max_error") ?? 0, snr: number("snr_db"), cosine: number("cosine") ?? 0 };
}

/** Fetch a model from its known source and convert it. */
export async function pullModel(name: string): Promise<Job> {
  return readJob(objectOf(await call("/vinode/models/pull", send(object({ name })))));
}

/** Convert a file that lies below a folder of models. */
export async function convertModel(file: string): Promise<Job> {
  return readJob(objectOf(await call("/vinode/models/convert", send(object({ file })))));
}

/** End a job; false: it neither waits nor runs. */
export async function cancelJob(id: string): Promise<boolean> {
  return objectOf(await call("/vinode/models/cancel", send(object({ id })))).get("cancelled") === true;
}

/** Remove a model's files; gives the bytes that are free then. */
export async function removeModel(name: string): Promise<number> {
  return numberOf(objectOf(await call("/vinode/models/remove", send(object({ name })))).get("freed")) ?? 0;
}
