/** Lays nodes out in lanes over time. */
import { type Phase, PHASES, type Step } from "../../run/messages";
import { begun, ended, type TimedNode } from "./timed";

export interface Piece {
  readonly phase: Phase;
  readonly start: number;
  readonly end: number;
}

/** A node in its row. `pieces` lie one after the other: a report says how long each phase took, not when. */
export interface Bar {
  readonly node: TimedNode;
  readonly row: number;
  readonly start: number;
  readonly end: number;
  readonly pieces: readonly Piece[];
  readonly steps: readonly Step[];
}

/** A device, and how many rows its nodes need that ran at the same time. */
export interface Lane {
  readonly name: string;
  readonly row: number;
  readonly rows: number;
}

export interface Gantt {
  readonly lanes: readonly Lane[];
  readonly bars: readonly Bar[];
  readonly rows: number;
  readonly end: number;
}

/** The part of the time that is seen, in seconds. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** Give each node a row of its lane that is free; lanes in the order in which they began. */
export function layOut(nodes: readonly TimedNode[]): Gantt {
  const lanes = new Map<string, { ends: number[]; nodes: { node: TimedNode; row: number }[] }>();
  for (const node of [...nodes].sort((a, b) => begun(a) - begun(b))) {
    const lane = lanes.get(node.lane) ?? { ends: [], nodes: [] };
    lanes.set(node.lane, lane);
    const free = lane.ends.findIndex((taken) => taken <= begun(node));
    const row = free < 0 ? lane.ends.length : free;
    lane.ends[row] = ended(node);
    lane.nodes.push({ node, row });
  }
  let above = 0;
  const placed: Lane[] = [];
  const bars: Bar[] = [];
  for (const [name, lane] of lanes) {
    placed.push({ name, row: above, rows: lane.ends.length });
    bars.push(...lane.nodes.map(({ node, row }) => barOf(node, above + row)));
    above += lane.ends.length;
  }
  return { lanes: placed, bars, rows: above, end: Math.max(0, ...nodes.map(ended)) };
}

function barOf(node: TimedNode, row: number): Bar {
  let at = begun(node);
  const pieces: Piece[] = [];
  for (const phase of PHASES) {
    const seconds = phase === "wait" ? 0 : (node.phases.get(phase) ?? 0);
    if (seconds <= 0) continue;
    pieces.push({ phase, start: at, end: at + seconds });
    at += seconds;
  }
  return { node, row, start: begun(node), end: ended(node), pieces, steps: node.steps };
}

/** Give the bars that are seen. */
export function seen(gantt: Gantt, { from, to }: Window): Bar[] {
  return gantt.bars.filter((bar) => bar.end >= from && bar.start <= to);
}

/** Look nearer or from farther away; `at`, in seconds, stays where it is. */
export function zoomed({ from, to }: Window, factor: number, at: number, end: number): Window {
  const span = Math.min(end, Math.max(1e-4, (to - from) / factor));
  const share = to > from ? (at - from) / (to - from) : 0.5;
  return moved({ from: at - share * span, to: at + (1 - share) * span }, 0, end);
}

/** Move along by seconds, not past the ends. */
export function moved({ from, to }: Window, by: number, end: number): Window {
  const span = to - from;
  const start = Math.max(0, Math.min(end - span, from + by));
  return { from: start, to: start + span };
}

/** Give round times for an axis, at most `most` of them. */
export function ticks({ from, to }: Window, most: number): number[] {
  const rough = (to - from) / Math.max(1, most);
  if (!(rough > 0)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? rough;
  const first = Math.ceil(from / step - 1e-9);
  const count = Math.floor(to / step + 1e-9) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, index) => (first + index) * step);
}
