import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fromJson, toParts, unknownTypes, write } from "../src/formats/ourFile";
import { readJson } from "../src/formats/readJson";
import { apply } from "../src/model/apply";
import { type Document, REROUTE } from "../src/model/document";
import { objectOf } from "../src/model/json";
import { SOME } from "./catalogue";
import { hasPython, python } from "./python";

const open = (text: string): Document => fromJson(readJson(text));

const CHAIN = `{
"vinode": 1,
"prompt": {
"10": {
 "class_type": "LoadImage",
 "inputs": {
  "image": "fox.png"},
 "_meta": {"title": "Fox", "pos": [0, 40.5], "device": "NPU"}},
"2": {
 "class_type": "ImageInvert",
 "inputs": {
  "image": ["10", 0]}},
"3": {
 "class_type": "Unheard.Of",
 "inputs": {
  "seed": 18446744073709551615,
  "scale": 8.0,
  "image": ["2", 0],
  "list": {"__value__": [1, 2]}},
 "_meta": {"pos": [300, 0]},
 "is_changed": "x"}
},
"extra_data": {
 "vinode": {
  "groups": [
   {
    "title": "All",
    "bounds": [
     0,
     0,
     500,
     300
    ],
    "colour": "#ff0000"
   }
  ],
  "view": {}
 },
 "extra_pnginfo": {}
},
"client_id": "somebody"
}
`;

const REWRITE = "import sys; from vinode.graph.workflow import parse, dump; " +
  "sys.stdout.buffer.write(dump(parse(sys.stdin.buffer.read())).encode())";

describe("our file", () => {
  it("is written letter for letter as it was read", () => {
    expect(write(open(CHAIN), SOME)).toBe(CHAIN);
  });

  it.runIf(hasPython)("is written as the server writes it", () => {
    const folder = new URL("../../../workflows/", import.meta.url);
    const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
    expect(files.length).toBeGreaterThan(0);
    const texts = [CHAIN, "{}", ...files.map((name) => readFileSync(new URL(name, folder), "utf8"))];
    for (const text of texts) expect(write(open(text), SOME)).toBe(python(REWRITE, text));
  });

  it.runIf(hasPython)("is the same after the server read it, with all that is only drawn", () => {
    const text = write(apply(open(CHAIN), { type: "set-mode", nodes: ["2"], mode: "bypass" }), SOME);
    expect(python(REWRITE, text)).toBe(text);
  });

  it("keeps nodes that nobody knows", () => {
    expect(unknownTypes(open(CHAIN), SOME)).toEqual(["Unheard.Of"]);
  });

  it("holds in prompt what runs: bypassed nodes are passed, muted ones cut", () => {
    const bypassed = apply(open(CHAIN), { type: "set-mode", nodes: ["2"], mode: "bypass" });
    const { prompt } = toParts(bypassed, SOME);
    expect([...prompt.keys()]).toEqual(["10", "3"]);
    expect(objectOf(objectOf(prompt.get("3")).get("inputs")).get("image")).toEqual(["10", 0]);
  });

  it("leaves out what needs a muted node, and cuts wires that an input can do without", () => {
    const muted = apply(open(CHAIN), { type: "set-mode", nodes: ["10"], mode: "mute" });
    expect([...toParts(muted, SOME).prompt.keys()]).toEqual([]);
    expect([...open(write(muted, SOME)).nodes]).toEqual([...muted.nodes]);
    const scaled = apply(open('{"1": {"class_type": "PrimitiveInt"}, "2": {"class_type": "Free", "inputs": {"width": ["1", 0]}}}'), {
      type: "set-mode", nodes: ["1"], mode: "mute",
    });
    const width = { ...SOME.types.get("ImageScale")!.inputs[1]!, required: false };
    const free = { ...SOME.types.get("ImageScale")!, id: "Free", inputs: [width] };
    const { prompt } = toParts(scaled, { ...SOME, types: new Map([...SOME.types, ["Free", free]]) });
    expect([...prompt.keys()]).toEqual(["2"]);
    expect(objectOf(objectOf(prompt.get("2")).get("inputs")).size).toBe(0);
  });

  it("comes back as it was drawn, with modes and reroutes", () => {
    let document = apply(open(CHAIN), { type: "reroute", id: "11", to: { node: "3", input: "image" }, pos: { x: 9, y: 9 } });
    document = apply(document, { type: "set-mode", nodes: ["2"], mode: "bypass" });
    const text = write(document, SOME);
    const again = open(text);
    expect(again.nodes.get("2")?.mode).toBe("bypass");
    expect(again.nodes.get("11")?.type).toBe(REROUTE);
    expect(again.nodes.get("3")?.inputs.get("image")).toEqual({ node: "11", slot: 0 });
    expect(again.nodes.get("11")?.inputs.get("")).toEqual({ node: "2", slot: 0 });
    expect(write(again, SOME)).toBe(text);
    const on = apply(again, { type: "set-mode", nodes: ["2"], mode: "on" });
    const straight = apply(on, { type: "delete", nodes: ["11"], groups: [] });
    expect(toParts(straight, SOME).extra).toEqual(open(CHAIN).extra);
  });

  it("lets a value that somebody wrote into the file since win over the drawn wire", () => {
    const text = write(apply(open(CHAIN), { type: "set-mode", nodes: ["2"], mode: "bypass" }), SOME);
    const edited = text.replace('"image": ["10", 0],', '"image": "other.png",');
    expect(open(edited).nodes.get("3")?.inputs.get("image")).toBe("other.png");
  });

  it("reads a bare graph, and refuses what is none", () => {
    expect(open('{"prompt": {"class_type": "A"}, "1": {"class_type": "B"}}').nodes.size).toBe(2);
    expect(() => open('{"vinode": 2, "prompt": {}}')).toThrow("too-new");
    expect(() => open("[]")).toThrow("no-workflow");
    expect(() => open('{"1": {"inputs": {}}}')).toThrow("no-class");
  });

  it("writes a node's new place, in whole pixels, and leaves the rest alone", () => {
    const moved = apply(open(CHAIN), { type: "move", nodes: new Map([["10", { x: 7.6, y: -1.2 }]]) });
    expect(write(moved, SOME)).toBe(CHAIN.replace("[0, 40.5]", "[8, -1]"));
  });
});
