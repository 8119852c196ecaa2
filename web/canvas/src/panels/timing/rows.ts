/** The rows of the timing table: nodes, frames, the whole run; and their order. */
import { inGroup } from "../../model/apply";
import type { Document } from "../../model/document";
import { type Phase, PHASES } from "../../run/messages";
import { type TimedNode, wallClock } from "./timed";

export const COLUMNS = ["title", "asked", "ranOn", "seconds", "change", "compute", "moving", "waiting", ...PHASES.filter((phase) => phase !== "compute" && phase !== "wait")] as const;
export type Column = (typeof COLUMNS)[number];

/** kind: a frame and the run are wall clock, first begin to last end. */
export interface Row {
  readonly kind: "node" | "group" | "run";
  readonly id: string;
  readonly title: string;
  readonly asked: string;
  readonly ranOn: string;
  readonly seconds: number;
  readonly before: number | null;
  readonly phases: ReadonlyMap<Phase, number>;
}

export interface Order {
  readonly column: Column;
  readonly descending: boolean;
}

export function nodeRows(nodes: readonly TimedNode[]): Row[] {
  return nodes.map(({ id, title, asked, ranOn, seconds, before, phases }) => ({ kind: "node", id, title, asked, ranOn, seconds, before, phases }));
}

/** Give a row for each frame that holds nodes of the run. */
export function groupRows(nodes: readonly TimedNode[], document: Document): Row[] {
  return document.groups.flatMap((group): Row[] => {
    const inside = new Set(inGroup(document, group.id));
    const own = nodes.filter((node) => inside.has(node.id));
    return own.length > 0 ? [sum("group", group.id, group.title, own)] : [];
  });
}

export function runRow(nodes: readonly TimedNode[], title: string): Row {
  return sum("run", "", title, nodes);
}

function sum(kind: Row["kind"], id: string, title: string, nodes: readonly TimedNode[]): Row {
  const phases = new Map(PHASES.map((phase) => [phase, nodes.reduce((all, node) => all + (node.phases.get(phase) ?? 0), 0)]));
  return { kind, id, title, asked: "", ranOn: [...new Set(nodes.map((node) => node.ranOn).filter(Boolean))].join(", "), seconds: wallClock(nodes), before: null, phases };
}

/** Give what stands in a column; null: nothing. Moving is to and from the device. */
export function valueOf(row: Row, column: Column): number | string | null {
  const phase = (name: Phase): number => row.phases.get(name) ?? 0;
  switch (column) {
    case "title":
    case "asked":
    case "ranOn":
      return row[column];
    case "seconds":
      return row.seconds;
    case "change":
      return row.before === null ? null : row.seconds - row.before;
    case "moving":
      return phase("upload") + phase("download");
    case "waiting":
      return phase("wait");
    default:
      return phase(column);
  }
}

/** Sort; what has no value comes last either way. */
export function sorted(rows: readonly Row[], { column, descending }: Order): Row[] {
  const sign = descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [one, other] = [valueOf(a, column), valueOf(b, column)];
    if (one === null || other === null) return Number(one === null) - Number(other === null);
    const order = typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other));
    return sign * order;
  });
}
