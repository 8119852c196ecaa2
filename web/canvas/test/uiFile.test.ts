import { describe, expect, it } from "vitest";
import { openText } from "../src/formats/open";
import { toParts } from "../src/formats/ourFile";
import type { Document } from "../src/model/document";
import { numberOf, type Json } from "../src/model/json";
import { SOME } from "./catalogue";

const uuid = "5b1e3e5c-0c3f-4b7e-9a53-000000000001";
const node = (id: number, type: string, more: object = {}): object => ({ id, type, pos: [id * 100, 50], size: [200, 100], mode: 0, ...more });
const port = (name: string, type: string, link: number | null, more: object = {}): object => ({ name, type, link, ...more });

function open(graph: object): Document {
  // A seed beyond 2^53 cannot be written by JSON.stringify.
  return openText(JSON.stringify({ version: 0.4, ...graph }).replace('"SEED"', "18446744073709551615"), SOME);
}

const inputsOf = (document: Document, id: string): Record<string, unknown> => Object.fromEntries(document.nodes.get(id)?.inputs ?? []);

describe("ComfyUI's editor format", () => {
  it("finds the names of widgets, past the control of a seed", () => {
    const values = ["SEED", "randomize", 20, 7.5, "euler", "normal", 0.8];
    const document = open({
      nodes: [node(3, "KSampler", { widgets_values: values, inputs: [port("model", "MODEL", null)], title: "Sampler" })],
      links: [],
    });
    const inputs = inputsOf(document, "3");
    expect(inputs).toEqual({ seed: 18446744073709551615n, steps: 20, cfg: 7.5, sampler_name: "euler", scheduler: "normal", denoise: 0.8 });
    expect(document.nodes.get("3")?.meta.get("after")).toEqual(new Map([["seed", "randomize"]]));
    expect(document.nodes.get("3")?.meta.get("title")).toBe("Sampler");
  });

  it("knows the widgets of unknown nodes where the file names them", () => {
    const widget = (name: string) => port(name, "INT", null, { widget: { name } });
    const document = open({ nodes: [node(1, "Unheard.Of", { inputs: [widget("a"), widget("b")], widgets_values: [1, 2] })], links: [] });
    expect(inputsOf(document, "1")).toEqual({ a: 1, b: 2 });
  });

  it("reads links as lists and as objects, reroutes old and new, modes and groups", () => {
    const nodes = [
      node(1, "LoadImage", { widgets_values: ["fox.png", "image"], pos: { "0": 5, "1": 6 } }),
      node(2, "Reroute", { inputs: [port("", "*", 1)] }),
      node(3, "ImageInvert", { inputs: [port("image", "IMAGE", 2)], mode: 4 }),
      node(4, "SaveImage", { inputs: [port("images", "IMAGE", 3)], widgets_values: ["out"], mode: 2 }),
    ];
    const tuples = [[1, 1, 0, 2, 0, "IMAGE"], [2, 2, 0, 3, 0, "IMAGE"], [3, 3, 0, 4, 0, "IMAGE"]];
    const extra = { reroutes: [{ id: 7, pos: [500, 60], linkIds: [3] }], linkExtensions: [{ id: 3, parentId: 7 }] };
    const groups = [{ title: "G", bounding: [0, 0, 10, 20], color: "#a1309b" }];
    const document = open({ nodes, links: tuples, extra, groups });
    expect(document.nodes.get("1")?.pos).toEqual({ x: 5, y: 6 });
    expect(inputsOf(document, "1")).toEqual({ image: "fox.png" });
    expect(inputsOf(document, "3")).toEqual({ image: { node: "2", slot: 0 } });
    expect(inputsOf(document, "4")["images"]).toEqual({ node: "r7", slot: 0 });
    expect(inputsOf(document, "r7")).toEqual({ "": { node: "3", slot: 0 } });
    expect([...document.nodes.values()].map((each) => each.mode)).toEqual(["on", "on", "bypass", "mute", "on"]);
    expect(document.groups[0]).toMatchObject({ title: "G", colour: "#a1309b", width: 10 });
    const objects = tuples.map(([id, origin_id, origin_slot, target_id, target_slot]) => ({ id, origin_id, origin_slot, target_id, target_slot }));
    expect(open({ nodes, links: objects, extra, groups })).toEqual(document);
  });

  it("copies a primitive's value to where its wire ends", () => {
    const document = open({
      nodes: [
        node(1, "PrimitiveNode", { widgets_values: [42, "fixed"] }),
        node(2, "ImageScale", { inputs: [port("image", "IMAGE", null), port("width", "INT", 5, { widget: { name: "width" } })], widgets_values: [1, 2] }),
      ],
      links: [[5, 1, 0, 2, 1, "INT"]],
    });
    expect([...document.nodes.keys()]).toEqual(["2"]);
    expect(inputsOf(document, "2")["width"]).toBe(42);
  });

  it("opens subgraphs out, with wires in, wires out and promoted widgets", () => {
    const body = {
      id: uuid,
      name: "Two",
      inputs: [{ id: "a", name: "pic" }, { id: "b", name: "wide" }],
      outputs: [{ id: "c", name: "IMAGE" }],
      nodes: [
        node(8, "ImageScale", { inputs: [port("image", "IMAGE", 1), port("width", "INT", 2, { widget: { name: "width" } })], widgets_values: [1, 2] }),
        node(9, "ImageInvert", { inputs: [port("image", "IMAGE", 3)] }),
      ],
      links: [
        { id: 1, origin_id: -10, origin_slot: 0, target_id: 8, target_slot: 0 },
        { id: 2, origin_id: -10, origin_slot: 1, target_id: 8, target_slot: 1 },
        { id: 3, origin_id: 8, origin_slot: 0, target_id: 9, target_slot: 0 },
        { id: 4, origin_id: 9, origin_slot: 0, target_id: -20, target_slot: 0 },
      ],
    };
    const instance = { inputs: [port("pic", "IMAGE", 1), port("wide", "INT", null, { widget: { name: "wide" } })], widgets_values: [640] };
    const document = open({
      nodes: [node(1, "LoadImage", { widgets_values: ["a"] }), node(10, uuid, instance), node(4, "SaveImage", { inputs: [port("images", "IMAGE", 2)] })],
      links: [[1, 1, 0, 10, 0, "IMAGE"], [2, 10, 0, 4, 0, "IMAGE"]],
      definitions: { subgraphs: [body] },
    });
    expect(new Set(document.nodes.keys())).toEqual(new Set(["1", "4", "10:8", "10:9"]));
    expect(inputsOf(document, "10:8")).toEqual({ image: { node: "1", slot: 0 }, width: 640, height: 2 });
    expect(inputsOf(document, "10:9")).toEqual({ image: { node: "10:8", slot: 0 } });
    expect(inputsOf(document, "4")["images"]).toEqual({ node: "10:9", slot: 0 });
    expect(document.groups.map((group) => group.title)).toEqual(["Two"]);
    expect([...toParts(document, SOME).prompt.keys()]).toHaveLength(4);
  });

  it("keeps the values of unknown nodes whose names nobody knows, and lists as lists", () => {
    const document = open({ nodes: [node(1, "Unheard.Of", { widgets_values: [1, "x"] }), node(2, "Other", { widgets_values: { list: [1, 2] } })], links: [] });
    expect(document.nodes.get("1")?.meta.get("widgets_values")).toEqual([1, "x"]);
    expect(inputsOf(document, "2")).toEqual({ list: new Map([["__value__", [1, 2]]]) });
  });

  it("finds the names of a use's values, where the use does not list all inputs", () => {
    const width = { name: "width", type: "INT", link: 2, widget: { name: "width" } };
    const body = {
      id: uuid, name: "S", inputs: [{ name: "wide", type: "INT" }, { name: "pic", type: "IMAGE" }],
      nodes: [node(8, "ImageScale", { inputs: [port("image", "IMAGE", 1), width], widgets_values: [1, 2] })],
      links: [[1, -10, 1, 8, 0, "IMAGE"], [2, -10, 0, 8, 1, "INT"]],
    };
    const opened = (use: object) => inputsOf(open({
      nodes: [node(1, "LoadImage", { widgets_values: ["a"] }), node(10, uuid, { inputs: [port("pic", "IMAGE", 1)], ...use })],
      links: [[1, 1, 0, 10, 0, "IMAGE"]], definitions: { subgraphs: [body] },
    }), "10:8");
    const image = { node: "1", slot: 0 };
    expect(opened({ widgets_values: [640] })).toEqual({ image, width: 640, height: 2 });
    expect(opened({ widgets_values: [] })).toEqual({ image, width: 1, height: 2 });
    expect(opened({ widgets_values: [640, 9], properties: { proxyWidgets: [["-1", "wide"], ["8", "height"]] } })).toEqual({ image, width: 640, height: 2 });
    expect(opened({ widgets_values: [], properties: { proxyWidgets: [["-1", "wide"]] } })).toEqual({ image, width: 1, height: 2 });
  });

  it("survives a subgraph that holds itself", () => {
    const body = { id: uuid, name: "Loop", inputs: [], outputs: [], nodes: [node(1, uuid)], links: [] };
    expect(open({ nodes: [node(1, uuid)], links: [], definitions: { subgraphs: [body] } }).nodes.size).toBe(0);
  });
});

describe("A1111's parameters", () => {
  it("become a graph", () => {
    const text = "a fox, <lora:ink:0.8>\nin snow\nNegative prompt: blurry, bad\nSteps: 25, Sampler: DPM++ 2M Karras, CFG scale: 6.5, " +
      "Seed: 18446744073709551615, Size: 640x512, Model hash: abc, Model: dream, Clip skip: 2";
    const document = openText(text, SOME);
    const byType = (type: string) => [...document.nodes.values()].filter((each) => each.type === type);
    const sampler = Object.fromEntries(byType("KSampler")[0]?.inputs ?? []) as Record<string, Json>;
    expect(sampler).toMatchObject({ seed: 18446744073709551615n, steps: 25, cfg: 6.5, sampler_name: "dpmpp_2m", scheduler: "karras" });
    expect(byType("CLIPTextEncode").map((each) => each.inputs.get("text"))).toEqual(["a fox, \nin snow", "blurry, bad"]);
    expect(byType("CLIPSetLastLayer")[0]?.inputs.get("stop_at_clip_layer")).toBe(-2);
    expect(numberOf(byType("LoraLoader")[0]?.inputs.get("strength_model") as Json)).toBe(0.8);
    expect(byType("EmptyLatentImage")[0]?.inputs.get("width")).toBe(640);
  });
});
