/** Runs: handing in, stopping, and listening to what the server tells. */
import { catchUp, whatBecameOf } from "../api/catchUp";
import * as client from "../api/client";
import { getDevices } from "../api/devices";
import { rerun } from "../api/runs";
import { listen } from "../api/socket";
import { toParts } from "../formats/ourFile";
import { objectOf } from "../model/json";
import { moveSeeds } from "../model/seeds";
import { type Message, readMessage } from "../run/messages";
import { cutOff } from "../run/runs";
import { say } from "../words/words";
import { freshId } from "./ids";
import { tellProblem } from "./files";
import { jobTold } from "./models";
import { app, change, notify, send, sendRun, tab, useApp } from "./store";

const CLIENT = clientId();

/** The same for a reload, so that a run under way is still told of. */
function clientId(): string {
  const known = sessionStorage.getItem("vinode.client") ?? freshId();
  sessionStorage.setItem("vinode.client", known);
  return known;
}

/** Hand in what is shown. */
export async function run(front = false, targets: readonly string[] = []): Promise<void> {
  const shown = tab();
  const { catalogue } = app();
  const { prompt, extra } = toParts(shown.history.present, catalogue);
  if (prompt.size === 0) {
    notify(say("note.nothing"));
    return;
  }
  // The run is named here, for the socket tells of it before the answer comes.
  const id = freshId();
  sendRun({ type: "asked", run: id, tab: shown.id });
  try {
    const queued = await client.queuePrompt(prompt, extra, { id, client: CLIENT, front, targets });
    if (queued.nodes.size > 0) sendRun({ type: "refused", run: queued.id, faults: [], nodes: queued.nodes });
  } catch (error) {
    refused(id, error);
    return;
  }
  const seeds = moveSeeds(shown.history.present, catalogue);
  if (seeds && tab().id === shown.id) change(seeds);
  send({ type: "settle" });
}

function refused(id: string, error: unknown): void {
  if (error instanceof client.ApiError) sendRun({ type: "refused", run: id, faults: [], nodes: error.nodes });
  tellProblem(error);
}

/** Queue a run of the history anew; it is drawn in the tab that is shown. */
export async function runAgain(id: string): Promise<void> {
  try {
    const again = await rerun(id, CLIENT);
    sendRun({ type: "asked", run: again, tab: tab().id });
  } catch (error) {
    tellProblem(error);
  }
}

export function stop(): void {
  client.interrupt().catch(tellProblem);
}

/** Fetch the node types; again whenever the server was away, for it may have others then. */
async function load(): Promise<void> {
  try {
    useApp.setState({ catalogue: await client.getCatalogue(), problem: "" });
    // The socket tells of devices only when something changes.
    const { phase, problem, devices } = await getDevices();
    sendRun({ type: "told", message: { type: "worker", phase, problem, devices: devices.map((device) => device.name) } });
  } catch (error) {
    if (!(error instanceof client.ApiError)) throw error;
    useApp.setState({ problem: error.message });
  }
}

/** Listen to the server for as long as the page lives. Gives the first catalogue. */
export async function connect(): Promise<void> {
  let first = true;
  listen(CLIENT, {
    state: (open) => {
      useApp.setState({ connected: open });
      if (open && !first) void load().then(comeBack);
      first = false;
    },
    frame: (frame) => {
      if (frame.type === "preview") preview(frame.run, frame.node, frame.picture);
      else {
        if (objectOf(frame.told).get("type") === "vinode_job") jobTold(objectOf(frame.told).get("data") ?? null);
        const message = readMessage(frame.told);
        if (message) hear(message);
      }
    },
  });
  await load();
}

/** Of nodes whose worker died the socket tells no end; the run's report does. */
function hear(message: Message): void {
  const cut = message.type === "run" && message.state === "failed" && cutOff(app().runs, message.run);
  sendRun({ type: "told", message });
  if (cut) void whatBecameOf(message.run).then((told) => told.forEach((each) => sendRun({ type: "told", message: each })), tellProblem);
}

/** Learn what became of runs while the socket was away. */
async function comeBack(): Promise<void> {
  try {
    for (const message of await catchUp(app().runs)) sendRun({ type: "told", message });
  } catch (error) {
    if (!(error instanceof client.ApiError)) throw error; // away again: the next opening asks anew
  }
}

/** Pictures of the node shown before are let go, or the page would hold every one of them. */
function preview(run: string, node: string, picture: Blob): void {
  const { runs } = app();
  const last = runs.tabs.get(runs.owners.get(run) ?? "")?.nodes.get(node)?.preview;
  sendRun({ type: "preview", run, node, url: URL.createObjectURL(picture) });
  if (last) setTimeout(() => URL.revokeObjectURL(last), 1000);
}
