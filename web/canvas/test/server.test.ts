/** The client against the real server, started for it on a port of its own. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { catchUp } from "../src/api/catchUp";
import * as client from "../src/api/client";
import { getDevices, getPlacement } from "../src/api/devices";
import { getModels } from "../src/api/models";
import * as runsApi from "../src/api/runs";
import { listen } from "../src/api/socket";
import { changeSettings, deleteWorkflow, getSettings, renameWorkflow } from "../src/api/userFiles";
import { openBytes } from "../src/formats/open";
import { fromJson, toParts, unknownTypes, write } from "../src/formats/ourFile";
import { readJson } from "../src/formats/readJson";
import { apply } from "../src/model/apply";
import type { Catalogue } from "../src/model/nodeType";
import { problemsOf } from "../src/model/problems";
import { readMessage } from "../src/run/messages";
import { NO_RUNS, type Runs, tell } from "../src/run/runs";
import { hasPython, serve } from "./python";

const SEED = 18446744073709551615n;
const GRAPH = `{"1": {"class_type": "EmptyImage", "inputs": {"width": 64, "height": 32, "batch_size": 1, "color": 255}},
  "2": {"class_type": "ImageInvert", "inputs": {"image": ["1", 0]}, "_meta": {"title": "Turn", "pos": [300, 0]}},
  "3": {"class_type": "PreviewImage", "inputs": {"images": ["2", 0]}},
  "9": {"class_type": "Unheard.Of", "inputs": {"seed": ${SEED}}}}`;
const document = fromJson(readJson(GRAPH));

describe.runIf(hasPython)("the server", () => {
  const folder = mkdtempSync(join(tmpdir(), "canvas-"));
  let server: Awaited<ReturnType<typeof serve>>;
  let catalogue: Catalogue;
  let runs: Runs = NO_RUNS;

  beforeAll(async () => {
    const places = ["input", "output", "state", "models"].flatMap((name) => [`--${name}`, join(folder, name)]);
    server = await serve(["--port", "0", ...places]);
    // Pages ask for relative addresses, which node has no page for.
    const ask = globalThis.fetch;
    vi.stubGlobal("fetch", (path: string, init?: RequestInit) => ask(new URL(path, server.address), init));
    vi.stubGlobal("window", { location: { href: `${server.address}/` } });
    catalogue = await client.getCatalogue();
  }, 60_000);

  afterAll(async () => {
    vi.unstubAllGlobals();
    const ended = new Promise((done) => server.process.on("exit", done));
    server.process.kill("SIGINT");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }, 30_000);

  const options = { client: "canvas-test", front: false, targets: [] };
  const hand = async (): Promise<string> => {
    const { prompt, extra } = toParts(document, catalogue);
    // As the page does: the socket may tell of a run before the answer to its request is here.
    const id = crypto.randomUUID();
    runs = tell(runs, { type: "asked", run: id, tab: "t" });
    await client.queuePrompt(prompt, extra, { ...options, id });
    return id;
  };

  it("tells its node types, and finds nothing wrong that the model finds nothing wrong with", () => {
    expect(catalogue.types.get("KSampler")?.inputs.find((input) => input.seed)?.range?.maximum).toBe(SEED);
    expect(unknownTypes(document, catalogue)).toEqual(["Unheard.Of"]);
    expect(problemsOf(document, catalogue).map((problem) => problem.code)).toEqual(["unknown-type"]);
    const file = readFileSync(new URL("../../../workflows/detect_faces.json", import.meta.url), "utf8");
    expect(problemsOf(fromJson(readJson(file)), catalogue)).toEqual([]);
  });

  it("runs a workflow and tells of it on the socket; a run that ended while it was away is caught up with", async () => {
    let opened = (): void => {};
    let ended: (state: string) => void = () => {};
    const isOpen = new Promise<void>((done) => (opened = done));
    const over = new Promise<string>((done) => (ended = done));
    const close = listen(options.client, {
      state: (open) => open && opened(),
      frame: (frame) => {
        const message = frame.type === "told" ? readMessage(frame.told) : null;
        if (message) runs = tell(runs, { type: "told", message });
        if (message?.type === "run" && message.state !== "running") ended(message.state);
      },
    });
    await isOpen;
    const first = await hand();
    expect(await over).toBe("done");
    const seen = runs.tabs.get("t");
    expect(seen).toMatchObject({ id: first, state: "done", percent: 100 });
    expect(seen?.nodes.get("2")).toMatchObject({ state: "done", placement: { actual: "CPU" } });
    close();

    const second = await hand();
    await vi.waitFor(async () => expect((await runsApi.getRun(second)).run.ended).toBeGreaterThan(0), { timeout: 20_000 });
    for (const message of await catchUp(runs)) runs = tell(runs, { type: "told", message });
    expect(runs.tabs.get("t")).toMatchObject({ id: second, state: "done" });
    expect(await catchUp(runs)).toEqual([]);

    const history = await runsApi.getHistory(1);
    expect([history.runs[0]?.id, history.total]).toEqual([second, 2]);
    expect((await runsApi.getHistory(1, history.next)).runs[0]?.id).toBe(first);
    expect((await runsApi.getReport(first)).nodes.map((node) => node.id).sort()).toEqual(["1", "2", "3"]);
    expect((await runsApi.compareRuns(first, second)).onlyAfter).toEqual([]);
    const [picture] = runs.tabs.get("t")?.nodes.get("3")?.pictures ?? [];
    const bytes = new Uint8Array(await (await fetch(client.viewUrl(picture!))).arrayBuffer());
    const again = await openBytes(bytes, catalogue);
    expect(again.nodes.get("2")?.meta.get("title")).toBe("Turn");
    expect(again.nodes.get("9")?.inputs.get("seed")).toBe(SEED);
  }, 60_000);

  it("says of each node what is wrong with it", async () => {
    const wrong = apply(document, { type: "set-input", to: { node: "1", input: "width" }, value: -5 });
    const refused = client.queuePrompt(toParts(wrong, catalogue).prompt, new Map(), options);
    const error = await refused.then(() => null, (reason: unknown) => reason);
    if (!(error instanceof client.ApiError)) throw new Error("it was not refused");
    expect([...error.nodes.keys()]).toEqual(["1"]);
    expect(error.nodes.get("1")?.[0]?.place).toContain("width");
    expect(problemsOf(wrong, catalogue).map((problem) => [problem.node, problem.code])).toContainEqual(["1", "too-small"]);
  });

  it("holds, moves, cancels and repeats runs", async () => {
    await runsApi.pauseQueue(true);
    const [a, b] = [await hand(), await hand()];
    const order = async () => (await runsApi.getQueue()).pending.map((run) => run.id);
    expect(await order()).toEqual([a, b]);
    await runsApi.moveRun(b, 0);
    expect(await order()).toEqual([b, a]);
    expect([await runsApi.cancelRun(a), await runsApi.cancelRun(a)]).toEqual([true, false]);
    const c = await runsApi.rerun(a, options.client);
    expect(await order()).toEqual([b, c]);
    expect((await runsApi.getQueue()).paused).toBe(true);
    await client.clearQueue();
    await runsApi.pauseQueue(false);
    await runsApi.pruneHistory(1);
    expect((await runsApi.getHistory()).total).toBe(1);
    expect((await catchUp(runs)).map((message) => message.type === "run" && message.state)).toContain("cancelled");
  });

  it("keeps workflows letter for letter, and settings", async () => {
    const text = write(document, catalogue);
    expect(await client.listWorkflows()).toEqual([]);
    await client.saveWorkflow("中文 a/b.json", text);
    await renameWorkflow("中文 a/b.json", "c.json");
    expect((await client.listWorkflows()).map((file) => file.path)).toEqual(["c.json"]);
    expect(new TextDecoder().decode(await client.readWorkflow("c.json"))).toBe(text);
    await deleteWorkflow("c.json");
    await expect(client.readWorkflow("c.json")).rejects.toThrow();
    await changeSettings({ "canvas.big": SEED });
    expect((await getSettings()).get("canvas.big")).toBe(SEED);
  });

  it("tells of devices, models and where nodes would run", async () => {
    await vi.waitFor(async () => expect((await getDevices()).devices.map((device) => device.name)).toContain("CPU"), { timeout: 30_000 });
    expect((await getModels()).models.length).toBeGreaterThan(0);
    const { nodes, faults } = await getPlacement(toParts(document, catalogue).prompt);
    expect(faults.map((fault) => fault.code)).toEqual(["unknown-node"]);
    expect(nodes.map((node) => [node.node, node.lane])).toEqual([["1", "host"], ["2", "host"], ["3", "host"]]);
  }, 40_000);

  it("takes a picture, and refuses what is none with a sentence", async () => {
    const { pictures } = runs.tabs.get("t")!.nodes.get("3")!;
    const bytes = await (await fetch(client.viewUrl(pictures[0]!))).arrayBuffer();
    expect(await client.uploadImage(new File([bytes], "a.png"))).toBe("a.png");
    await expect(client.uploadImage(new File(["no"], "b.png"))).rejects.toThrow(/\w/);
  });
});
