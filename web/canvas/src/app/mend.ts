/** Puts nodes on devices, and applies the fixes that a run's reasons offer. Each is one thing to undo. */
import { fixPrompt, getPlacement } from "../api/devices";
import { changes } from "../formats/promptChanges";
import { toParts } from "../formats/ourFile";
import type { NodeId } from "../model/document";
import type { Event } from "../model/events";
import type { Json } from "../model/json";
import type { Fix } from "../run/messages";
import { say } from "../words/words";
import { tellProblem } from "./files";
import type { Preset } from "./presets";
import { app, change, notify, tab } from "./store";

/** Say where nodes are to run; "" or AUTO leaves that to the server. */
export function setDevice(nodes: readonly NodeId[], device: string): void {
  if (nodes.length > 0) change({ type: "set-meta", nodes, key: "device", value: device && device !== "AUTO" ? device : undefined });
}

/** Put nodes where a preset has their kind of model: the server knows what each preset means. */
export async function applyPreset(preset: Preset, nodes: readonly NodeId[]): Promise<void> {
  const asking = nodes.filter((id) => app().catalogue.types.get(tab().history.present.nodes.get(id)?.type ?? "")?.usesDevice);
  if (preset === "AUTO") {
    setDevice(asking, "");
    return;
  }
  const { prompt } = toParts(tab().history.present, app().catalogue);
  const bare = new Map([...prompt].map(([id, node]) => [id, asking.includes(id) ? withoutDevice(node) : node]));
  try {
    const placed = await getPlacement(bare, preset);
    const events = placed.nodes
      .filter((each) => asking.includes(each.node) && each.requested)
      .map((each): Event => ({ type: "set-meta", nodes: [each.node], key: "device", value: each.requested }));
    if (events.length > 0) change({ type: "all", events });
    else notify(say("devices.nobody"));
  } catch (error) {
    tellProblem(error);
  }
}

function withoutDevice(node: Json): Json {
  if (!(node instanceof Map)) return node;
  const meta = node.get("_meta");
  return meta instanceof Map ? new Map([...node, ["_meta", new Map([...meta].filter(([key]) => key !== "device"))]]) : node;
}

/** Change the workflow as a fix says; what was changed is told. */
export async function applyFix(node: NodeId, fix: Fix): Promise<void> {
  const { id, history } = tab();
  try {
    const { prompt } = toParts(history.present, app().catalogue);
    const fixed = await fixPrompt(prompt, node, fix);
    if (tab().id !== id || tab().history.present !== history.present) return; // somebody went on editing
    const events = changes(prompt, fixed.prompt);
    if (events.length === 0) notify(say("devices.unchanged"));
    else {
      change({ type: "all", events });
      notify(say("devices.changed", { what: fixed.done.join("; ") }));
    }
  } catch (error) {
    tellProblem(error);
  }
}
