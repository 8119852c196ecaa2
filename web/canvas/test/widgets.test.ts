import { describe, expect, it } from "vitest";
import { sameEdges } from "../src/view/flow";
import { commandOf, KEY_MAP, nameOf, type Press } from "../src/keys/keyMap";
import { apply } from "../src/model/apply";
import { EMPTY, isLink, newNode } from "../src/model/document";
import { Float, object } from "../src/model/json";
import { type Input, type Range } from "../src/model/nodeType";
import { shown, stepped, typed } from "../src/model/numbers";
import { moveSeeds, nextSeed, randomSeed } from "../src/model/seeds";
import { shapeOf } from "../src/model/shape";
import { SOME } from "./catalogue";

const number = (kind: string, range: Partial<Range> = {}): Input => ({
  name: "n", kind, widget: true, required: true, nullable: false, list: false, help: "", default: 0, options: null, closed: true, upload: false,
  multiline: false, placeholder: "", seed: false, range: { minimum: null, maximum: null, step: null, unit: "", ...range },
});

describe("numbers", () => {
  const seed = number("INT", { minimum: 0, maximum: 18446744073709551615n });

  it("are read exactly, and held within limits", () => {
    expect(typed("18446744073709551615", seed)).toBe(18446744073709551615n);
    expect(typed("18446744073709551616", seed)).toBe(18446744073709551615n);
    expect(typed("-4", seed)).toBe(0);
    expect(typed(" 7,5 ", number("FLOAT"))).toBe(7.5);
    for (const wrong of ["", "x", "1e", "7.5"]) expect(typed(wrong, seed), wrong).toBeNull();
    expect(typed("NaN", number("FLOAT"))).toBeNull();
  });

  it("go by steps without dust", () => {
    expect(stepped(0.1, 2, number("FLOAT", { step: 0.1 }))).toBe(0.3);
    expect(stepped(new Float(8), -1, number("FLOAT", { step: 0.5 }))).toBe(7.5);
    expect(stepped(18446744073709551614n, 5, seed)).toBe(18446744073709551615n);
    expect(shown(new Float(8))).toBe("8");
  });
});

describe("seeds", () => {
  it("go around at their ends", () => {
    expect(nextSeed(18446744073709551615n, "increment")).toBe(0);
    expect(nextSeed(0, "decrement")).toBe(18446744073709551615n);
    expect(nextSeed(9007199254740991, "increment")).toBe(9007199254740992n);
    expect(randomSeed(0n)).toBe(0);
  });

  it("move after a run where they are to, and never where a wire gives them", () => {
    const meta = object({ after: object({ seed: "increment" }) });
    const node = (id: string, seed: number | { node: string; slot: number }) => ({ ...newNode(id, "KSampler", { x: 0, y: 0 }, new Map([["seed", seed]])), meta });
    const document = apply(EMPTY, { type: "add", nodes: [node("1", 5), node("2", { node: "1", slot: 0 }), { ...node("3", 5), meta: new Map() }] });
    const event = moveSeeds(document, SOME);
    const after = event ? apply(document, event) : document;
    expect(after.nodes.get("1")?.inputs.get("seed")).toBe(6);
    expect(isLink(after.nodes.get("2")?.inputs.get("seed"))).toBe(true);
    expect(after.nodes.get("3")?.inputs.get("seed")).toBe(5);
  });
});

describe("keys", () => {
  const press = (key: string, more: Partial<Press> = {}): Press => ({
    key, code: "", ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...more,
  });

  it("give commands, on a Mac too", () => {
    expect(commandOf(press("Enter", { ctrlKey: true }), false)).toBe("run");
    expect(commandOf(press("Enter", { metaKey: true, shiftKey: true }), false)).toBe("run-front");
    expect(commandOf(press("Z", { ctrlKey: true, shiftKey: true }), false)).toBe("redo");
    expect(commandOf(press("ç", { altKey: true, code: "KeyC" }), false)).toBe("collapse");
    expect(commandOf(press("?", { shiftKey: true }), false)).toBe("help");
    expect(nameOf(press(" "))).toBe("Space");
  });

  it("are a field's own while somebody writes", () => {
    for (const key of ["Backspace", "Delete", "p", "."]) expect(commandOf(press(key), true), key).toBeNull();
    expect(commandOf(press("v", { ctrlKey: true }), true)).toBeNull();
    expect(commandOf(press("Enter", { ctrlKey: true }), true)).toBe("run");
  });

  it("are each given once", () => {
    const keys = KEY_MAP.flatMap((each) => each.keys);
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe("shapes", () => {
  it("have a port for every input and output, inside the node", () => {
    for (const type of SOME.types.values()) {
      const node = newNode("1", type.id, { x: 0, y: 0 }, new Map());
      for (const each of [node, { ...node, meta: object({ collapsed: true }) }, { ...node, meta: object({ size: [500, 900] }) }]) {
        const shape = shapeOf(each, type);
        expect(shape.ports).toHaveLength(type.inputs.length + type.outputs.length);
        for (const port of shape.ports) expect(port.y).toBeLessThan(shape.height);
      }
    }
  });

  it("guess the ports of an unknown node", () => {
    const shape = shapeOf(newNode("1", "Unheard.Of", { x: 0, y: 0 }, new Map([["a", 1], ["b", 2]])), undefined);
    expect(shape.ports.filter((port) => port.side === "in").map((port) => port.id)).toEqual(["a", "b"]);
  });
});

describe("wires", () => {
  it("stay the same objects where nothing of them changed", () => {
    const wire = (id: string, source: string, selected = false) => ({ id, source, target: "9", sourceHandle: "0", targetHandle: "x", selected, style: { stroke: "#fff" } });
    const before = [wire("a", "1"), wire("b", "2")];
    expect(sameEdges(before, [wire("a", "1"), wire("b", "2")])).toBe(before);
    const moved = sameEdges(before, [wire("a", "1"), wire("b", "3")]);
    expect(moved[0]).toBe(before[0]);
    expect(moved[1]).not.toBe(before[1]);
    expect(sameEdges(before, [wire("a", "1", true), wire("b", "2")])[0]).not.toBe(before[0]);
    expect(sameEdges(before, [wire("a", "1")])).toHaveLength(1);
  });
});
