import { describe, expect, it } from "vitest";
import { readFrame } from "../src/api/frames";
import { pause } from "../src/api/socket";
import { readJson } from "../src/formats/readJson";
import { objectOf } from "../src/model/json";
import { readJob, tellJob } from "../src/run/jobs";
import { readMessage } from "../src/run/messages";
import { asMessages, readComparison, readWhole } from "../src/run/report";
import { missed } from "../src/run/resync";
import { NO_RUNS, type RunEvent, type Runs, tell } from "../src/run/runs";

const told = (type: string, data: object): RunEvent => {
  const message = readMessage(readJson(JSON.stringify({ type, data })));
  if (!message) throw new Error(type);
  return { type: "told", message };
};
const after = (events: RunEvent[], from: Runs = NO_RUNS): Runs => events.reduce(tell, from);
const asked = (run: string, tab = "t"): RunEvent => ({ type: "asked", run, tab });
const entry = { prompt_id: "a", node: "1", state: "done", seconds: 2, percent: 50, phases: { compute: 1.5, wait: 0.5 }, lane: "CPU" };

describe("runs", () => {
  it("know of each node how far it is, what it shows and where its time went", () => {
    const shown = { images: [{ filename: "a.png", subfolder: "", type: "temp" }] };
    const placement = { requested: "NPU", where: "CPU", reasons: [{ code: "no-device", sentence: "there is none", fix: "" }] };
    const begun = after([
      asked("a"), told("vinode_run", { prompt_id: "a", state: "running", percent: 0 }),
      told("vinode_node", { prompt_id: "a", node: "1", state: "running", lane: "NPU", percent: 0 }),
      told("vinode_progress", { prompt_id: "a", node: "1", done: 3, total: 20, percent: 7 }),
      { type: "preview", run: "a", node: "1", url: "blob:x" },
    ]);
    expect(begun.tabs.get("t")?.nodes.get("1")).toMatchObject({ state: "running", done: 3, total: 20, preview: "blob:x" });
    expect(begun.tabs.get("t")?.percent).toBe(7);
    const ended = after([
      told("vinode_node", { ...entry, shown, placement }), told("vinode_run", { prompt_id: "a", state: "done", percent: 100, seconds: 2.5 }),
    ], begun);
    const node = ended.tabs.get("t")?.nodes.get("1");
    expect(node).toMatchObject({ state: "done", seconds: 2, preview: "", placement: { actual: "CPU", requested: "NPU" } });
    expect(node?.pictures.map((picture) => picture.filename)).toEqual(["a.png"]);
    expect([...node!.phases]).toEqual([["wait", 0.5], ["compute", 1.5]]);
    expect(ended.tabs.get("t")).toMatchObject({ state: "done", seconds: 2.5, percent: 100 });
  });

  it("keep the time before the last, and pictures until new ones come", () => {
    const once = after([asked("a"), told("vinode_node", entry), told("vinode_run", { prompt_id: "a", state: "done" })]);
    const twice = after([asked("b"), told("vinode_node", { ...entry, prompt_id: "b", seconds: 1 })], once);
    expect(twice.tabs.get("t")?.nodes.get("1")).toMatchObject({ before: 2, seconds: 1 });
  });

  it("show faults at their node, and tell nobody of runs of others", () => {
    const fault = { place: "node 1", problem: "too large", got: "9", fix: "", code: "bad-value" };
    const failed = after([asked("a"), told("vinode_node", { prompt_id: "a", node: "1", state: "failed", faults: [fault] })]);
    expect(failed.tabs.get("t")?.nodes.get("1")?.faults[0]).toEqual(fault);
    expect(after([told("vinode_node", entry)])).toEqual(NO_RUNS);
    const refused = after([asked("a"), { type: "refused", run: "a", faults: [], nodes: new Map([["2", [fault]]]) }]);
    expect(refused.tabs.get("t")).toMatchObject({ state: "refused" });
    expect(refused.tabs.get("t")?.nodes.get("2")?.state).toBe("failed");
  });

  it("know the queue and the worker", () => {
    const now = after([
      told("vinode_queue", { remaining: 3, paused: true }),
      told("vinode_worker", { phase: "ready", problem: "", devices: [{ name: "CPU" }, { name: "NPU" }] }),
    ]);
    expect(now).toMatchObject({ remaining: 3, paused: true, worker: { phase: "ready", devices: ["CPU", "NPU"] } });
    const job = readJob(objectOf(readJson('{"id": "j", "do": "pull", "name": "m", "state": "running", "done": 5, "total": 10}')));
    expect(tellJob(new Map(), job).get("j")).toMatchObject({ state: "running", done: 5, total: 10 });
  });
});

describe("after the socket was away", () => {
  const listed = (id: string) => ({ id, number: 0, client: "", state: "pending", accepted: 0, started: 0, ended: 0, seconds: 0, percent: 0, pictures: [] }) as const;

  it("asks for the runs that are neither shown as ended nor alive, the earlier ones first", () => {
    const runs = after([
      asked("done", "t"), told("vinode_run", { prompt_id: "done", state: "done" }),
      asked("a", "t"), told("vinode_run", { prompt_id: "a", state: "running" }), asked("b", "t"), asked("c", "t"), asked("x", "u"),
    ]);
    const queue = { paused: false, running: [listed("b")], pending: [listed("c")] };
    expect(missed(runs, queue)).toEqual(["a", "x"]);
    expect(missed(runs, { paused: false, running: [], pending: [] })).toEqual(["a", "b", "c", "x"]);
    expect(missed(NO_RUNS, queue)).toEqual([]);
  });

  it("draws a run that ended unseen as if it had been told", () => {
    const whole = readWhole(readJson(JSON.stringify({
      prompt_id: "a", state: "failed", seconds: 3, prompt: { "1": {} },
      report: { status: "failed", seconds: 2.5, nodes: [{ id: "1", type: "A", title: "A", ...entry }, { id: "1/inner", state: "done", seconds: 1 }] },
    })));
    const events = asMessages(whole).map((message): RunEvent => ({ type: "told", message }));
    const run = after([asked("a"), ...events]).tabs.get("t");
    expect(run).toMatchObject({ state: "failed", seconds: 2.5 });
    expect([...run!.nodes.keys()]).toEqual(["1"]);
    expect(run!.nodes.get("1")).toMatchObject({ state: "done", seconds: 2, lane: "CPU" });
  });

  it("waits longer each time, up to a bound, and never all pages at once", () => {
    expect([0, 1, 2, 3].map((tries) => pause(tries, 1))).toEqual([500, 1000, 2000, 4000]);
    expect(pause(60, 1)).toBe(15_000);
    expect(pause(3, 0)).toBe(2000);
  });
});

describe("frames", () => {
  const binary = (...parts: (number | Uint8Array)[]): ArrayBuffer => {
    const bytes = parts.map((part) => (typeof part === "number" ? [part >>> 24, part >>> 16, part >>> 8, part].map((byte) => byte & 255) : [...part]));
    return new Uint8Array(bytes.flat()).buffer;
  };
  const about = new TextEncoder().encode('{"prompt_id": "a", "node_id": "1.2", "display_node_id": "1", "image_type": "image/jpeg"}');

  it("of previews say whose they are", async () => {
    const frame = readFrame(binary(4, about.length, about, new Uint8Array([9, 8])));
    if (frame?.type !== "preview") throw new Error("no preview");
    expect([frame.run, frame.node, frame.picture.type]).toEqual(["a", "1", "image/jpeg"]);
    expect([...new Uint8Array(await frame.picture.arrayBuffer())]).toEqual([9, 8]);
    expect(readFrame(binary(1, 1, new Uint8Array([7])))).toMatchObject({ type: "preview", run: "" });
  });

  it("that are cut short or of another kind are passed over", () => {
    for (const frame of [binary(), binary(1), binary(4, 4_000_000_000), binary(9, 1)]) expect(readFrame(frame)).toBeNull();
    for (const strange of ["null", "[]", "{}", '{"type": 5}', '{"type": "vinode_other", "data": {}}']) expect(readMessage(readJson(strange))).toBeNull();
  });

  it("of numbers that are none leave nothing undefined", () => {
    expect(readComparison(readJson("[]"))).toMatchObject({ nodes: [], remarks: [], run: { before: null } });
    expect(readMessage(readJson('{"type": "vinode_node", "data": {"phases": [], "placement": 1, "shown": "x", "faults": {}}}'))).toMatchObject({ type: "node", node: "" });
  });
});
