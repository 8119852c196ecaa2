/** What holds of every workflow, tried on many that are made by chance from numbers that are the same each time. */
import { describe, expect, it } from "vitest";
import { fromJson, toParts, write } from "../src/formats/ourFile";
import { readJson } from "../src/formats/readJson";
import { apply } from "../src/model/apply";
import { type Document, EMPTY, freeIds, isLink, linksOf, newNode, REROUTE } from "../src/model/document";
import type { Event } from "../src/model/events";
import { leftOut } from "../src/model/flow";
import { copy, paste } from "../src/model/fragment";
import { begin, edit, redo, undo } from "../src/model/history";
import { insertion } from "../src/model/insertion";
import { objectOf } from "../src/model/json";
import { linkProblem, reaches } from "../src/model/links";
import { initialValue } from "../src/model/nodeType";
import { SOME } from "./catalogue";
import { hasPython, python } from "./python";

/** Give whole numbers below a bound, by chance. */
function chance(seed: number): (below: number) => number {
  let state = BigInt(seed) * 2n + 1n;
  return (below) => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & (2n ** 64n - 1n);
    return Number((state >> 33n) % BigInt(Math.max(1, below)));
  };
}

const TYPES = [...SOME.types.values()];

/** Make some event that somebody might cause. */
function someEvent(document: Document, draw: (below: number) => number): Event {
  const ids = [...document.nodes.keys()];
  const one = (): string => ids[draw(ids.length)] ?? "1";
  const wires = [...linksOf(document)].map((wire) => wire.to);
  const to = wires[draw(wires.length)] ?? { node: one(), input: "" };
  const pos = { x: draw(2000), y: draw(1000) };
  const [id] = freeIds(document, 1) as [string];
  const mode = (["on", "mute", "bypass"] as const)[draw(3)]!;
  switch (draw(9)) {
    case 0:
      return { type: "set-mode", nodes: [one()], mode };
    case 1:
      return { type: "delete", nodes: [one()], groups: [] };
    case 2:
      return { type: "reroute", id, to, pos };
    case 3:
      return { type: "move", nodes: new Map([[one(), pos]]) };
    case 4:
      return paste(document, copy(document, [one(), one()]), { x: 9, y: 9 }, draw(2) === 0);
    case 5:
      return insertion(document, SOME, one(), to) ?? { type: "all", events: [] };
    case 6:
    case 7:
      return someLink(document, one(), one(), draw) ?? { type: "all", events: [] };
    default: {
      const type = TYPES[draw(TYPES.length)]!;
      const given = type.inputs.map((input) => [input.name, initialValue(input)] as const).filter(([, value]) => value !== undefined);
      return { type: "add", nodes: [newNode(id, type.id, pos, new Map(given as [string, string][]))] };
    }
  }
}

function someLink(document: Document, from: string, to: string, draw: (below: number) => number): Event | null {
  const inputs = SOME.types.get(document.nodes.get(to)?.type ?? "")?.inputs ?? [];
  const wire = { from: { node: from, slot: draw(3) }, to: { node: to, input: inputs[draw(inputs.length)]?.name ?? "" } };
  return linkProblem(document, SOME, wire.from, wire.to) ? null : { type: "link", ...wire };
}

const MADE = Array.from({ length: 60 }, (_, seed) => {
  const draw = chance(seed + 1);
  const steps: Document[] = [EMPTY];
  let history = begin(EMPTY);
  for (let count = 0; count < 60; count += 1) {
    history = edit(history, someEvent(history.present, draw));
    if (history.present !== steps.at(-1)) steps.push(history.present);
  }
  return { steps, history, last: history.present };
});

describe("of every workflow", () => {
  it("undo gives back each step, and redo again", () => {
    for (const { steps, history } of MADE) {
      let now = history;
      for (const step of steps.toReversed()) {
        expect(now.present).toBe(step);
        now = undo(now);
      }
      for (const step of steps.slice(1)) {
        now = redo(now);
        expect(now.present).toBe(step);
      }
    }
  });

  it("no allowed edit closes a circle", () => {
    for (const { last } of MADE) {
      for (const { from, to } of linksOf(last)) expect(reaches(last, from.node, to.node)).toBe(false);
    }
  });

  it("the file comes back as it was drawn, and is written the same again", () => {
    expect(MADE.filter(({ last }) => [...last.nodes.values()].some((node) => node.type === REROUTE)).length).toBeGreaterThan(10);
    for (const { last } of MADE) {
      const text = write(last, SOME);
      const again = fromJson(readJson(text));
      const drawn = (document: Document) => new Map([...document.nodes].map(([id, node]) => [id, [node.type, node.mode, node.pos, new Map([...node.inputs].sort())]]));
      expect(drawn(again)).toEqual(drawn(last));
      expect(write(again, SOME)).toBe(text);
    }
  });

  it("what is handed in leads nowhere but to itself, and nothing muted or bypassed is in it", () => {
    expect(MADE.some(({ last }) => leftOut(last, SOME).size > 0)).toBe(true);
    for (const { last } of MADE) {
      const { prompt } = toParts(last, SOME);
      for (const [id, spec] of prompt) {
        expect(last.nodes.get(id)?.mode).toBe("on");
        for (const given of objectOf(objectOf(spec).get("inputs")).values()) {
          if (Array.isArray(given)) expect(prompt.has(given[0] as string), `${id} ${String(given[0])}`).toBe(true);
        }
      }
    }
  });

  it("a pasted part is the part, under other names", () => {
    for (const { last } of MADE) {
      const event = paste(last, copy(last, last.nodes.keys()), { x: 0, y: 0 }, false);
      const both = apply(last, event);
      expect(both.nodes.size).toBe(2 * last.nodes.size);
      const inner = event.nodes.flatMap((node) => [...node.inputs.values()].filter(isLink));
      expect(inner.length).toBe([...linksOf(last)].length);
      expect(inner.every((link) => !last.nodes.has(link.node))).toBe(true);
    }
  });

  it.runIf(hasPython)("the file is written as the server writes it", () => {
    const texts = MADE.map(({ last }) => write(last, SOME));
    const code = "import json,sys; from vinode.graph.workflow import parse, dump; print(json.dumps([dump(parse(t)) for t in json.load(sys.stdin)]))";
    expect(JSON.parse(python(code, JSON.stringify(texts)))).toEqual(texts);
  });
});
