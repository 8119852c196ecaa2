import { describe, expect, it } from "vitest";
import { fromJson } from "../src/formats/ourFile";
import { readJson } from "../src/formats/readJson";
import { align, distribute } from "../src/model/align";
import { apply } from "../src/model/apply";
import { type Document, EMPTY, type Given, newNode } from "../src/model/document";
import { insertion } from "../src/model/insertion";
import { Float, type Json } from "../src/model/json";
import type { Input } from "../src/model/nodeType";
import { problemsOf, valueProblem } from "../src/model/problems";
import { SOME } from "./catalogue";

const graph = (nodes: Record<string, object>): Document => fromJson(readJson(JSON.stringify(nodes)));
const load = { class_type: "LoadImage", inputs: { image: "a.png" } };
const save = { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "x" } };
const codes = (document: Document): string[] =>
  problemsOf(document, SOME).map((each) => [each.node, each.input, each.code].filter(Boolean).join(" "));

describe("what is wrong before a run", () => {
  it("is nothing where nothing is", () => {
    expect(codes(graph({ 1: load, 2: { class_type: "ImageInvert", inputs: { image: ["1", 0] } }, 3: save }))).toEqual([]);
    expect(codes(EMPTY)).toEqual([]);
  });

  it("is said of each place", () => {
    expect(codes(graph({ 2: { class_type: "ImageInvert" }, 3: save }))).toEqual(["2 image missing-input"]);
    expect(codes(graph({ 2: { class_type: "Unheard.Of" }, 3: save }))).toEqual(["2 unknown-type"]);
    expect(codes(graph({ 1: load }))).toEqual(["no-output-node"]);
    expect(codes(graph({ 3: save }))).toEqual(["3 images no-node"]);
    expect(codes(graph({ 2: { class_type: "PrimitiveInt", inputs: { value: 1 } }, 3: save }))).toEqual(["3 images kind"]);
    const ring = { class_type: "ImageInvert", inputs: { image: ["2", 0] } };
    expect(codes(graph({ 2: ring, 3: save }))).toEqual(["2 image cycle"]);
    expect(codes(graph({ 2: { class_type: "ImageInvert", inputs: { image: "a" } }, 3: save }))).toEqual(["2 image needs-link"]);
  });

  it("is not asked of what does not run, but of who gets nothing from a bypassed node", () => {
    const chain = graph({ 2: { class_type: "LoadImage", inputs: { image: "a" } }, 3: save });
    expect(codes(apply(chain, { type: "set-mode", nodes: ["2"], mode: "bypass" }))).toEqual(["3 images not-fed"]);
    expect(codes(apply(chain, { type: "set-mode", nodes: ["2"], mode: "mute" }))).toEqual([]);
  });

  it("knows limits exactly, and numbers as the server reads them", () => {
    const seed = { ...SOME.types.get("KSampler")!.inputs[1]!, range: { minimum: 0, maximum: 2n ** 64n - 1n, step: null, unit: "" } };
    const code = (value: Json, input: Input = seed): string | null => valueProblem(input, value)?.code ?? null;
    for (const fine of [0, 2n ** 64n - 1n, new Float(512), "512", " +7 "]) expect(code(fine), String(fine)).toBeNull();
    expect([code(-1), code(2n ** 64n), code(20.7), code("x"), code(true)]).toEqual(
      ["too-small", "too-large", "not-whole", "not-a-number", "not-a-number"],
    );
    const name = { ...seed, kind: "COMBO", options: ["a", "b"], closed: true };
    expect([code("a", name), code("c", name), code("c", { ...name, closed: false })]).toEqual([null, "not-in-list", null]);
    expect([code(true, { ...seed, kind: "BOOLEAN" }), code("true", { ...seed, kind: "BOOLEAN" })]).toEqual([null, "not-true-or-false"]);
  });
});

describe("a node dropped onto a wire", () => {
  const at = (id: string, type: string, inputs: Record<string, Given> = {}) => newNode(id, type, { x: 0, y: 0 }, new Map(Object.entries(inputs)));
  const wire = apply(EMPTY, {
    type: "add",
    nodes: [at("1", "LoadImage"), at("3", "SaveImage", { images: { node: "1", slot: 0 } }), at("4", "ImageInvert"), at("5", "PrimitiveInt"), at("6", "Reroute")],
  });
  const to = { node: "3", input: "images" };

  it("goes into it where it fits", () => {
    const event = insertion(wire, SOME, "4", to)!;
    const after = apply(wire, event);
    expect(after.nodes.get("4")?.inputs.get("image")).toEqual({ node: "1", slot: 0 });
    expect(after.nodes.get("3")?.inputs.get("images")).toEqual({ node: "4", slot: 0 });
    expect(apply(wire, insertion(wire, SOME, "6", to)!).nodes.get("6")?.inputs.get("")).toEqual({ node: "1", slot: 0 });
  });

  it("is left alone where it does not", () => {
    expect(insertion(wire, SOME, "5", to)).toBeNull();
    expect(insertion(wire, SOME, "1", to)).toBeNull();
    expect(insertion(wire, SOME, "4", { node: "3", input: "filename_prefix" })).toBeNull();
    const used = apply(wire, { type: "link", from: { node: "3", slot: 0 }, to: { node: "4", input: "image" } });
    expect(insertion(used, SOME, "4", to)).toBeNull();
  });
});

describe("align and distribute", () => {
  const boxes = [
    { id: "a", x: 0, y: 0, width: 100, height: 50 },
    { id: "b", x: 150, y: 30, width: 50, height: 100 },
    { id: "c", x: 400, y: 10, width: 100, height: 20 },
  ];
  const places = (event: ReturnType<typeof align>, axis: "x" | "y"): number[] =>
    event.type === "move" ? boxes.map((box) => event.nodes.get(box.id)![axis]) : [];

  it("puts nodes in line", () => {
    expect(places(align(boxes, "left"), "x")).toEqual([0, 0, 0]);
    expect(places(align(boxes, "right"), "x")).toEqual([400, 450, 400]);
    expect(places(align(boxes, "bottom"), "y")).toEqual([80, 30, 110]);
    expect(places(align(boxes, "centre"), "y")).toEqual([40, 15, 55]);
    expect(places(align(boxes, "left"), "y")).toEqual([0, 30, 10]);
  });

  it("leaves the outermost and equal gaps between all", () => {
    expect(places(distribute(boxes, "across"), "x")).toEqual([0, 225, 400]);
    expect(apply(EMPTY, distribute([], "down"))).toBe(EMPTY);
  });
});
