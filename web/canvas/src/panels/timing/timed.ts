/** A run as the timing panel shows it, be it the last one of a tab or one of the history. */
import { type Document, type NodeId, titleOf } from "../../model/document";
import type { Catalogue } from "../../model/nodeType";
import type { NodeState, Phase, Step } from "../../run/messages";
import type { Report } from "../../run/report";
import type { TabRun } from "../../run/runs";

/**
 * A node's time.
 *
 * start    seconds from the start of the run to when its inputs were there
 * seconds  from then to its end, waiting included
 * before   its seconds in the run before; null where there was none
 */
export interface TimedNode {
  readonly id: NodeId;
  readonly title: string;
  readonly state: NodeState;
  readonly asked: string;
  readonly ranOn: string;
  readonly lane: string;
  readonly start: number;
  readonly seconds: number;
  readonly phases: ReadonlyMap<Phase, number>;
  readonly steps: readonly Step[];
  readonly before: number | null;
}

/** Give the nodes of a tab's last run that took time, in the workflow's order; what was taken over took none. */
export function ofTab(run: TabRun, document: Document, catalogue: Catalogue): TimedNode[] {
  return [...document.nodes.values()].flatMap((node): TimedNode[] => {
    const known = run.nodes.get(node.id);
    if (!known || known.seconds === null || known.start === null || !["done", "failed"].includes(known.state)) return [];
    const { state, lane, start, seconds, phases, steps, before, placement } = known;
    const title = titleOf(node) || catalogue.types.get(node.type)?.title || node.type;
    return [{ id: node.id, title, state, asked: placement?.requested ?? "", ranOn: placement?.actual ?? "", lane, start, seconds, phases, steps, before }];
  });
}

/** Give the nodes of a report that took time. */
export function ofReport(report: Report): TimedNode[] {
  return report.nodes.flatMap((node): TimedNode[] => {
    if (node.seconds === null || node.start === null) return [];
    const { id, state, lane, start, seconds, phases, steps, placement } = node;
    const title = node.title || node.type;
    return [{ id, title, state, asked: placement?.requested ?? "", ranOn: placement?.actual ?? "", lane, start, seconds, phases, steps, before: null }];
  });
}

/** When a node had its lane: what went before was waiting. */
export function begun(node: TimedNode): number {
  return node.start + Math.min(node.seconds, node.phases.get("wait") ?? 0);
}

export function ended(node: TimedNode): number {
  return node.start + node.seconds;
}

/** Give the seconds from the first begin to the last end: nodes overlap, so their sum says nothing. */
export function wallClock(nodes: readonly TimedNode[]): number {
  if (nodes.length === 0) return 0;
  return Math.max(...nodes.map(ended)) - Math.min(...nodes.map(begun));
}
