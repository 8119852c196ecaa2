import { describe, expect, it } from "vitest";
import { EMPTY, newNode } from "../src/model/document";
import { layOut, moved, seen, ticks, zoomed } from "../src/panels/timing/gantt";
import { groupRows, nodeRows, runRow, sorted, valueOf } from "../src/panels/timing/rows";
import { type TimedNode, wallClock } from "../src/panels/timing/timed";
import type { Phase } from "../src/run/messages";
import { NO_CATALOGUE } from "../src/model/nodeType";
import { ofReport, ofTab } from "../src/panels/timing/timed";
import { readJson } from "../src/formats/readJson";
import { readReport } from "../src/run/report";
import { NO_RUNS, tell } from "../src/run/runs";
import { readMessage } from "../src/run/messages";
import { heat } from "../src/run/spent";

function timed(id: string, lane: string, start: number, phases: Partial<Record<Phase, number>>, before: number | null = null): TimedNode {
  const known = new Map(Object.entries(phases) as [Phase, number][]);
  const seconds = [...known.values()].reduce((a, b) => a + b, 0);
  return { id, title: `Node ${id}`, state: "done", asked: "AUTO", ranOn: lane, lane, start, seconds, phases: known, steps: [], before };
}

describe("lanes over time", () => {
  const nodes = [
    timed("1", "CPU", 0, { wait: 1, compile: 2, compute: 1 }), // 1 to 4
    timed("2", "CPU", 2, { compute: 3 }), // 2 to 5: at the same time
    timed("3", "NPU", 0, { wait: 4, upload: 1, compute: 1 }), // 4 to 6
    timed("4", "CPU", 4, { host: 1 }), // 4 to 5: where 1 was
  ];
  const gantt = layOut(nodes);

  it("have a row for each node that ran at the same time, and no more", () => {
    expect(gantt.lanes).toEqual([{ name: "CPU", row: 0, rows: 2 }, { name: "NPU", row: 2, rows: 1 }]);
    expect(gantt.rows).toBe(3);
    expect(Object.fromEntries(gantt.bars.map((bar) => [bar.node.id, bar.row]))).toEqual({ 1: 0, 2: 1, 3: 2, 4: 0 });
  });

  it("begin where waiting ends, and their phases fill them", () => {
    const [first] = gantt.bars;
    expect([first?.start, first?.end]).toEqual([1, 4]);
    expect(first?.pieces).toEqual([{ phase: "compile", start: 1, end: 3 }, { phase: "compute", start: 3, end: 4 }]);
    for (const bar of gantt.bars) expect(bar.pieces.at(-1)?.end).toBeCloseTo(bar.end);
  });

  it("never overlap in a row", () => {
    for (const a of gantt.bars) for (const b of gantt.bars) expect(a === b || a.row !== b.row || a.end <= b.start || b.end <= a.start).toBe(true);
  });

  it("are drawn where they are seen", () => {
    expect(seen(gantt, { from: 5.5, to: 6 }).map((bar) => bar.node.id)).toEqual(["3"]);
    expect(gantt.end).toBe(6);
  });

  it("are nothing of nothing", () => {
    expect(layOut([])).toEqual({ lanes: [], bars: [], rows: 0, end: 0 });
  });
});

describe("the window on the time", () => {
  it("keeps the place under the pointer when it looks nearer", () => {
    const near = zoomed({ from: 0, to: 10 }, 2, 2.5, 10);
    expect(near).toEqual({ from: 1.25, to: 6.25 });
    expect((2.5 - near.from) / (near.to - near.from)).toBeCloseTo(0.25);
  });

  it("stays within the run", () => {
    expect(zoomed({ from: 0, to: 10 }, 0.1, 5, 10)).toEqual({ from: 0, to: 10 });
    expect(moved({ from: 6, to: 8 }, 100, 10)).toEqual({ from: 8, to: 10 });
    expect(moved({ from: 6, to: 8 }, -100, 10)).toEqual({ from: 0, to: 2 });
  });

  it("has round times", () => {
    expect(ticks({ from: 0, to: 1 }, 5)).toEqual([0, 0.2, 0.4, 0.6000000000000001, 0.8, 1]);
    expect(ticks({ from: 0.31, to: 0.94 }, 4)).toEqual([0.4, 0.6000000000000001, 0.8]);
    expect(ticks({ from: 1, to: 1 }, 4)).toEqual([]);
  });
});

describe("the table", () => {
  const nodes = [timed("1", "CPU", 0, { wait: 1, compute: 2 }, 1), timed("2", "NPU", 1, { upload: 0.5, compute: 1, download: 0.5 })];

  it("sorts by any column, and what is not known comes last", () => {
    const rows = nodeRows(nodes);
    const order = (column: Parameters<typeof valueOf>[1], descending: boolean): string[] => sorted(rows, { column, descending }).map((row) => row.id);
    expect(order("seconds", true)).toEqual(["1", "2"]);
    expect(order("seconds", false)).toEqual(["2", "1"]);
    expect(order("moving", true)).toEqual(["2", "1"]);
    expect(order("change", true)).toEqual(["1", "2"]);
    expect(order("change", false)).toEqual(["1", "2"]);
    expect(order("title", true)).toEqual(["2", "1"]);
  });

  it("gives the three figures: compute, moving, waiting", () => {
    const [first, second] = nodeRows(nodes);
    expect(first && [valueOf(first, "compute"), valueOf(first, "moving"), valueOf(first, "waiting"), valueOf(first, "change")]).toEqual([2, 0, 1, 2]);
    expect(second && valueOf(second, "moving")).toBe(1);
  });

  it("counts frames and the run by the clock, not by the sum", () => {
    const at = (id: string, x: number) => [id, newNode(id, "T", { x, y: 10 }, new Map())] as const;
    const document = { ...EMPTY, nodes: new Map([at("1", 10), at("2", 5000)]), groups: [{ id: "g", title: "Left", x: 0, y: 0, width: 900, height: 900, colour: "" }] };
    expect(groupRows(nodes, document).map((row) => [row.title, row.seconds])).toEqual([["Left", 2]]);
    expect(runRow(nodes, "Run").seconds).toBe(2);
    expect(wallClock([])).toBe(0);
  });
});

describe("a run", () => {
  const entry = { state: "done", lane: "CPU", seconds: 2, start: 0.5, phases: { wait: 0.5, compute: 1.5 }, steps: [[1, 1.5], [1.5, 2.5]], placement: { requested: "NPU", where: "CPU", reasons: [] } };

  it("is the same from the socket and from the history", () => {
    const told = readMessage(readJson(JSON.stringify({ type: "vinode_node", data: { prompt_id: "r", node: "1", ...entry } })));
    const runs = [{ type: "asked", run: "r", tab: "t" } as const, ...(told ? [{ type: "told", message: told } as const] : [])].reduce(tell, NO_RUNS);
    const run = runs.tabs.get("t");
    const document = { ...EMPTY, nodes: new Map([["1", newNode("1", "T", { x: 0, y: 0 }, new Map())]]) };
    const live = run ? ofTab(run, document, NO_CATALOGUE) : [];
    const kept = ofReport(readReport(readJson(JSON.stringify({ status: "done", seconds: 3, nodes: [{ id: "1", type: "T", title: "", ...entry }] }))));
    expect(live).toEqual(kept);
    expect(live).toHaveLength(1);
    expect(live[0]?.steps).toEqual([[1, 1.5], [1.5, 2.5]]);
  });

  it("warms by work, not by waiting", () => {
    const node = (id: string, phases: Record<string, number>, seconds: number): object => ({ type: "vinode_node", data: { prompt_id: "r", node: id, state: "done", start: 0, seconds, phases } });
    const events = [node("1", { wait: 8, host: 1 }, 9), node("2", { compute: 2 }, 2)].map((told) => readMessage(readJson(JSON.stringify(told))));
    const runs = events.reduce((so, message) => (message ? tell(so, { type: "told", message }) : so), tell(NO_RUNS, { type: "asked", run: "r", tab: "t" }));
    const nodes = runs.tabs.get("t")?.nodes ?? new Map();
    expect(["1", "2"].map((id) => heat(nodes.get(id), nodes))).toEqual([0.5, 1]);
  });
});
