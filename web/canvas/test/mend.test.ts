import { describe, expect, it } from "vitest";
import { changes } from "../src/formats/promptChanges";
import { readJson } from "../src/formats/readJson";
import { objectOf } from "../src/model/json";

const prompt = (told: object) => objectOf(readJson(JSON.stringify(told)));
const node = (inputs: object, meta: object = {}): object => ({ class_type: "T", inputs, _meta: meta });

describe("what a fix changes", () => {
  it("is nothing where both are the same", () => {
    const same = prompt({ 1: node({ a: 1, b: ["2", 0] }, { device: "NPU" }), 2: node({}) });
    expect(changes(same, same)).toEqual([]);
  });

  it("is a value, a wire, a mark of the node; and what was there before is dropped where it is gone", () => {
    const before = prompt({ 1: node({ a: 1, b: ["2", 0] }, { device: "NPU", precision: "f16" }), 2: node({}) });
    const after = prompt({ 1: node({ a: 2, b: ["3", 0] }, { device: "CPU" }), 2: node({}), 3: node({ x: 5 }, { pos: [10, 20] }) });
    const found = changes(before, after);
    expect(found.map((event) => event.type)).toEqual(["add", "set-input", "set-input", "set-meta", "set-meta"]);
    expect(found.slice(1)).toEqual([
      { type: "set-input", to: { node: "1", input: "a" }, value: 2 },
      { type: "set-input", to: { node: "1", input: "b" }, value: { node: "3", slot: 0 } },
      { type: "set-meta", nodes: ["1"], key: "device", value: "CPU" },
      { type: "set-meta", nodes: ["1"], key: "precision", value: undefined },
    ]);
  });
});
