/** The `parameters` text of A1111's pictures -> a workflow to begin with. */
import { type Document, EMPTY, type Given, newNode, type Node, type NodeId } from "../model/document";
import { Float, type Json, object } from "../model/json";

/** What such a text says; absent: what it leaves out. */
export interface Parameters {
  readonly positive: string;
  readonly negative: string;
  readonly settings: ReadonlyMap<string, string>;
  readonly loras: readonly { readonly name: string; readonly strength: number }[];
}

const SAMPLERS: Readonly<Record<string, string>> = {
  "euler a": "euler_ancestral", euler: "euler", heun: "heun", lms: "lms", dpm2: "dpm_2", "dpm2 a": "dpm_2_ancestral",
  "dpm++ 2s a": "dpmpp_2s_ancestral", "dpm++ 2m": "dpmpp_2m", "dpm++ sde": "dpmpp_sde", "dpm++ 2m sde": "dpmpp_2m_sde",
  "dpm++ 3m sde": "dpmpp_3m_sde", ddim: "ddim", unipc: "uni_pc", lcm: "lcm",
};
const SCHEDULES: Readonly<Record<string, string>> = {
  karras: "karras", exponential: "exponential", "sgm uniform": "sgm_uniform", simple: "simple", beta: "beta",
};
const LORA = /<lora:([^:>]+)(?::(-?[\d.]+))?[^>]*>/g;
const SETTING = /\s*([A-Za-z][\w ()/+-]*):\s*("(?:\\.|[^"\\])*"|[^,]*)(?:,|$)/g;

/** Say whether a text looks like one. */
export function isParameters(text: string): boolean {
  return /(^|\n)Steps: \d+, /.test(text);
}

export function readParameters(text: string): Parameters {
  const lines = text.replace(/\r/g, "").trim().split("\n");
  const last = lines.findLastIndex((line) => /^Steps: \d+/.test(line));
  const said = last >= 0 ? lines.slice(0, last).join("\n") : lines.join("\n");
  const [positive = "", negative = ""] = said.split(/(?:^|\n)Negative prompt: ?/);
  const settings = new Map([...(lines[last] ?? "").matchAll(SETTING)].map((found) => [found[1] as string, (found[2] ?? "").trim()]));
  const loras = [...positive.matchAll(LORA)].map((found) => ({ name: found[1] as string, strength: Number(found[2] ?? 1) }));
  return { positive: positive.replace(LORA, "").trim(), negative: negative.trim(), settings, loras };
}

/** Make the workflow that such a text describes, with ComfyUI's nodes. */
export function fromParameters(text: string): Document {
  const told = readParameters(text);
  const { settings } = told;
  const made = new Chain();
  const checkpoint = made.node("CheckpointLoaderSimple", { ckpt_name: `${settings.get("Model") ?? "model"}.safetensors` });
  let [model, clip] = [out(checkpoint, 0), out(checkpoint, 1)];
  for (const lora of told.loras) {
    const strength = { strength_model: fraction(lora.strength), strength_clip: fraction(lora.strength) };
    const loader = made.node("LoraLoader", { model, clip, lora_name: `${lora.name}.safetensors`, ...strength });
    [model, clip] = [out(loader, 0), out(loader, 1)];
  }
  const skip = Number(settings.get("Clip skip") ?? 1);
  if (skip > 1) clip = out(made.node("CLIPSetLastLayer", { clip, stop_at_clip_layer: -skip }), 0);
  const positive = made.node("CLIPTextEncode", { text: told.positive, clip });
  const negative = made.node("CLIPTextEncode", { text: told.negative, clip });
  const [width = 512, height = 512] = (settings.get("Size") ?? "512x512").split("x").map(Number);
  const latent = made.node("EmptyLatentImage", { width, height, batch_size: 1 });
  const sampled = made.node("KSampler", {
    model,
    seed: whole(settings.get("Seed")),
    steps: Number(settings.get("Steps") ?? 20),
    cfg: fraction(Number(settings.get("CFG scale") ?? 7)),
    ...sampling(settings),
    positive: out(positive, 0),
    negative: out(negative, 0),
    latent_image: out(latent, 0),
    denoise: fraction(1),
  });
  const picture = made.node("VAEDecode", { samples: out(sampled, 0), vae: out(checkpoint, 2) });
  made.node("SaveImage", { images: out(picture, 0), filename_prefix: "vinode" });
  return { ...EMPTY, nodes: made.nodes };
}

function sampling(settings: Parameters["settings"]): Record<string, Json> {
  const name = (settings.get("Sampler") ?? "Euler").toLowerCase();
  const schedule = (settings.get("Schedule type") ?? "").toLowerCase();
  // Older versions wrote both in one: "DPM++ 2M Karras".
  const tail = Object.keys(SCHEDULES).find((each) => name.endsWith(` ${each}`)) ?? "";
  const sampler = tail ? name.slice(0, -tail.length - 1) : name;
  return {
    sampler_name: SAMPLERS[sampler] ?? "euler",
    scheduler: SCHEDULES[schedule] ?? SCHEDULES[tail] ?? "normal",
  };
}

function whole(digits: string | undefined): Json {
  if (!digits || !/^\d{1,20}$/.test(digits)) return 0;
  const value = Number(digits);
  return Number.isSafeInteger(value) ? value : BigInt(digits);
}

function fraction(value: number): Json {
  const known = Number.isFinite(value) ? value : 1;
  return Number.isInteger(known) ? new Float(known) : known;
}

function out(node: NodeId, slot: number): Given {
  return { node, slot };
}

class Chain {
  readonly nodes = new Map<NodeId, Node>();

  node(type: string, inputs: Record<string, Given>): NodeId {
    const id = String(this.nodes.size + 1);
    const node = newNode(id, type, { x: NaN, y: NaN }, new Map(Object.entries(inputs)));
    const title = type === "CLIPTextEncode" ? (this.has(type) ? "Negative prompt" : "Prompt") : undefined;
    this.nodes.set(id, { ...node, meta: object({ title }) });
    return id;
  }

  private has(type: string): boolean {
    return [...this.nodes.values()].some((node) => node.type === type);
  }
}
