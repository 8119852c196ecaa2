/** Where a node's time went, for drawing: shares of a bar, and words for those who do not see it. */
import type { NodeRun } from "./runs";
import { type Phase, PHASES, type Reason } from "./messages";

export interface Share {
  readonly phase: Phase;
  readonly seconds: number;
  readonly percent: number;
}

/** Give the phases of a node in their order, each with its share of the node's time. */
export function sharesOf(node: NodeRun): Share[] {
  const total = node.seconds ?? 0;
  if (total <= 0) return [];
  return PHASES.filter((phase) => (node.phases.get(phase) ?? 0) > 0).map((phase) => {
    const seconds = node.phases.get(phase) ?? 0;
    return { phase, seconds, percent: (100 * seconds) / total };
  });
}

/** Make what finds the largest of all nodes. Every node asks for it, so it is found once a state of the run. */
function largest(of: (node: NodeRun) => number): (nodes: ReadonlyMap<string, NodeRun>) => number {
  const found = new WeakMap<ReadonlyMap<string, NodeRun>, number>();
  return (nodes) => {
    const known = found.get(nodes);
    if (known !== undefined) return known;
    const most = [...nodes.values()].reduce((so, node) => Math.max(so, of(node)), 0);
    found.set(nodes, most);
    return most;
  };
}

/** Give the longest time of any node: bars are drawn against it. */
export const slowest = largest((node) => node.seconds ?? 0);
const hottest = largest(worked);

/** Give the seconds of a node without its waiting. */
function worked(node: NodeRun): number {
  return Math.max(0, (node.seconds ?? 0) - (node.phases.get("wait") ?? 0));
}

/** Say how hot a node is: its work against that of the node that worked longest, 0..1. Waiting warms nobody. */
export function heat(node: NodeRun, nodes: ReadonlyMap<string, NodeRun>): number {
  const most = hottest(nodes);
  return most > 0 ? worked(node) / most : 0;
}

/** Write a time in three digits: 0.4 ms, 12 ms, 1.23 s, 125 s. */
export function timeText(seconds: number): string {
  if (seconds < 0.01) return `${(seconds * 1e3).toFixed(1)} ms`;
  if (seconds < 1) return `${Math.round(seconds * 1e3)} ms`;
  if (seconds < 100) return `${seconds.toPrecision(3)} s`;
  return `${Math.round(seconds)} s`;
}

/** Say how much slower than before a node was, in percent; null where that says nothing. */
export function slower(node: NodeRun): number | null {
  const { seconds, before } = node;
  // What takes less than 5 ms varies by more than that tells of it.
  if (seconds === null || before === null || Math.max(seconds, before) < 0.005) return null;
  const change = Math.round(100 * (seconds / before - 1));
  return Math.abs(change) < 10 ? null : change;
}

/** Give the reasons why a node ran elsewhere than asked. Python of the node itself is no such reason. */
export function fallbacks(node: NodeRun): readonly Reason[] {
  return node.placement?.reasons.filter((reason) => reason.code !== "python-node") ?? [];
}

/** Say whether a node has been asked onto another device since it ran. */
export function isOtherwiseAsked(node: NodeRun, device: string): boolean {
  const before = node.placement?.requested ?? "";
  return before !== "" && device !== "" && before !== device;
}

/**
 * Name the device that a hint wants and this computer lacks; null where it has it, where nobody knows
 * yet, and where the hint refuses to run elsewhere: the run then says so.
 */
export function absentDevice(hint: string, here: readonly string[]): string | null {
  if (hint === "" || hint.endsWith("!") || here.length === 0) return null;
  const wanted = hint.replace(/^HETERO:/, "").split(",");
  const has = (device: string): boolean => here.some((each) => each === device || each.split(".")[0] === device);
  return wanted.find((device) => !["AUTO", "CPU"].includes(device) && !has(device)) ?? null;
}

/** Write a number of bytes: 512 B, 1.3 MB, 24 GB. */
export function sizeText(bytes: number): string {
  const power = Math.min(4, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  const value = bytes / 1000 ** power;
  return `${value >= 10 || power === 0 ? Math.round(value) : value.toFixed(1)} ${["B", "kB", "MB", "GB", "TB"][power]}`;
}
