/** The `parameters` text of A1111's pictures -> a workflow to begin with. */
import { type Document, EMPTY, type Given, newNode, type Node, type NodeId } from "../model/document";
import { Float, type Json, object } from "../model/json";
import type { Catalogue } from "../model/nodeType";

/** What such a text says; absent: what it leaves out. */
export interface Parameters {
  readonly positive: string;
  readonly negative: string;
  readonly settings: ReadonlyMap<string, string>;
  readonly loras: readonly { readonly name: string; readonly strength: number }[];
}

const LONGEST = 2 ** 20; // letters; of more nobody wrote a prompt
const SAMPLERS: ReadonlyMap<string, string> = new Map([
  ["euler a", "euler_ancestral"], ["euler", "euler"], ["heun", "heun"], ["lms", "lms"], ["dpm2", "dpm_2"], ["dpm2 a", "dpm_2_ancestral"],
  ["dpm++ 2s a", "dpmpp_2s_ancestral"], ["dpm++ 2m", "dpmpp_2m"], ["dpm++ sde", "dpmpp_sde"], ["dpm++ 2m sde", "dpmpp_2m_sde"],
  ["dpm++ 3m sde", "dpmpp_3m_sde"], ["ddim", "ddim"], ["ddpm", "ddpm"], ["unipc", "uni_pc"], ["lcm", "lcm"],
]);
const SCHEDULES: ReadonlyMap<string, string> = new Map([
  ["karras", "karras"], ["exponential", "exponential"], ["sgm uniform", "sgm_uniform"], ["simple", "simple"], ["beta", "beta"],
  ["normal", "normal"], ["ddim", "ddim_uniform"],
]);
/** What "Automatic" means to a sampler; "normal" to all others. */
const AUTOMATIC: ReadonlyMap<string, string> = new Map([
  ["dpm++ 2m", "karras"], ["dpm++ sde", "karras"], ["dpm++ 2s a", "karras"], ["dpm2", "karras"], ["dpm2 a", "karras"],
  ["dpm++ 2m sde", "exponential"], ["dpm++ 3m sde", "exponential"],
]);
const LORA = /<lora:([^:<>]+)(?::(-?[\d.]+))?[^<>]*>/g;
const SETTING = /\s*([A-Za-z][\w ()/+-]*):\s*("(?:\\.|[^"\\])*"|[^,]*)(?:,|$)/g;

/** Say whether a text looks like one. */
export function isParameters(text: string): boolean {
  return /(^|\n)Steps: \d+, /.test(text);
}

export function readParameters(text: string): Parameters {
  const lines = text.slice(0, LONGEST).replace(/\r/g, "").trim().split("\n");
  const last = lines.findLastIndex((line) => /^Steps: \d+/.test(line));
  const said = last >= 0 ? lines.slice(0, last).join("\n") : lines.join("\n");
  const [positive = "", negative = ""] = said.split(/(?:^|\n)Negative prompt: ?/);
  const settings = new Map([...(lines[last] ?? "").slice(0, 10_000).matchAll(SETTING)].map((found) => [found[1] as string, (found[2] ?? "").trim()]));
  const loras = [...positive.matchAll(LORA)].map((found) => ({ name: found[1] as string, strength: Number(found[2] ?? 1) }));
  return { positive: positive.replace(LORA, "").trim(), negative: negative.trim(), settings, loras };
}

/** Make the workflow that such a text describes, with ComfyUI's nodes. */
export function fromParameters(text: string, catalogue: Catalogue): Document {
  const told = readParameters(text);
  const { settings } = told;
  const made = new Chain();
  const file = (type: string, input: string, name: string): string => fileOf(catalogue, type, input, name);
  const checkpoint = made.node("CheckpointLoaderSimple", {
    ckpt_name: file("CheckpointLoaderSimple", "ckpt_name", settings.get("Model") ?? "model"),
  });
  let [model, clip] = [out(checkpoint, 0), out(checkpoint, 1)];
  for (const lora of told.loras) {
    const strength = { strength_model: fraction(lora.strength), strength_clip: fraction(lora.strength) };
    const loader = made.node("LoraLoader", { model, clip, lora_name: file("LoraLoader", "lora_name", lora.name), ...strength });
    [model, clip] = [out(loader, 0), out(loader, 1)];
  }
  const skip = count(settings.get("Clip skip"), 1);
  if (skip > 1) clip = out(made.node("CLIPSetLastLayer", { clip, stop_at_clip_layer: -skip }), 0);
  const positive = made.node("CLIPTextEncode", { text: told.positive, clip });
  const negative = made.node("CLIPTextEncode", { text: told.negative, clip });
  const [wide, high] = (settings.get("Size") ?? "").split("x");
  const [width, height] = [count(wide, 512), count(high, 512)];
  const latent = made.node("EmptyLatentImage", { width, height, batch_size: 1 });
  const sampled = made.node("KSampler", {
    model,
    seed: whole(settings.get("Seed")),
    steps: count(settings.get("Steps"), 20),
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

/** Find a file among those the server offers, by its name without folder and ending. */
function fileOf(catalogue: Catalogue, type: string, input: string, name: string): string {
  const offered = catalogue.types.get(type)?.inputs.find((each) => each.name === input)?.options ?? [];
  const stem = (path: string): string => (path.split(/[\\/]/).at(-1) ?? "").replace(/\.\w+$/, "").toLowerCase();
  // What looks like an ending may be a version: "dream.v2".
  const wanted = [stem(`${name}.x`), stem(name)];
  return offered.find((each) => wanted.includes(stem(each))) ?? `${name}.safetensors`;
}

function sampling(settings: Parameters["settings"]): Record<string, Json> {
  const name = (settings.get("Sampler") ?? "Euler").toLowerCase();
  const schedule = (settings.get("Schedule type") ?? "").toLowerCase();
  // Older versions wrote both in one: "DPM++ 2M Karras".
  const tail = [...SCHEDULES.keys()].find((each) => name.endsWith(` ${each}`)) ?? "";
  const sampler = tail ? name.slice(0, -tail.length - 1) : name;
  const automatic = schedule === "automatic" ? AUTOMATIC.get(sampler) : undefined;
  return {
    sampler_name: SAMPLERS.get(sampler) ?? "euler",
    scheduler: SCHEDULES.get(schedule) ?? SCHEDULES.get(tail) ?? automatic ?? "normal",
  };
}

/** Read a small whole number. */
function count(digits: string | undefined, otherwise: number): number {
  return /^\d{1,6}$/.test(digits ?? "") ? Number(digits) : otherwise;
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
