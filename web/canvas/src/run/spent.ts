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

/** Give the longest time of any node: bars are drawn against it. */
export function slowest(nodes: Iterable<NodeRun>): number {
  let longest = 0;
  for (const node of nodes) longest = Math.max(longest, node.seconds ?? 0);
  return longest;
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
