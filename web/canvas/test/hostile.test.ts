/** Files that mean harm, or are merely broken: a sentence each, never a crash, never for long. */
import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { FormatError } from "../src/formats/formatError";
import { openBytes, openText } from "../src/formats/open";
import { write } from "../src/formats/ourFile";
import { apply } from "../src/model/apply";
import { copy, corner } from "../src/model/fragment";
import { SOME } from "./catalogue";

const uuid = (number: number): string => `5b1e3e5c-0c3f-4b7e-9a53-00000000000${number}`;

/** Open a text and write it again; a refusal gives its code. */
function tried(text: string): string {
  try {
    const document = openText(text, SOME);
    write(apply(document, { type: "move", nodes: new Map([...document.nodes.keys()].map((id) => [id, { x: 1, y: 1 }])) }), SOME);
    return "opened";
  } catch (error) {
    if (error instanceof FormatError) return error.code;
    throw error;
  }
}

function chunk(kind: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(content.length);
  head.write(kind, 4, "latin1");
  return Buffer.concat([head, content, Buffer.alloc(4)]);
}
const png = (...chunks: Buffer[]): Uint8Array => new Uint8Array(Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), ...chunks]));

describe("hostile files", () => {
  it("with values of the wrong type are refused, or opened without them", () => {
    const strange = ["null", "5", '"x"', "[]", "{}", "[{}]", "true", "1.5", "1e300"];
    const said = new Set<string>();
    for (const value of strange) {
      for (const text of [
        value, `{"prompt": ${value}}`, `{"nodes": ${value}}`, `{"nodes": [${value}]}`, `{"1": ${value}}`, `{"1": {"class_type": ${value}}}`,
        `{"1": {"class_type": "A", "inputs": ${value}}}`, `{"1": {"class_type": "A", "_meta": ${value}}}`,
        `{"1": {"class_type": "A", "_meta": {"pos": ${value}, "size": ${value}, "title": ${value}}}}`,
        `{"vinode": 1, "prompt": {}, "extra_data": ${value}}`, `{"vinode": 1, "prompt": {}, "extra_data": {"vinode": ${value}}}`,
        `{"vinode": 1, "prompt": {}, "extra_data": {"vinode": {"groups": ${value}, "off": {}, "wires": ${value}}}}`,
        `{"vinode": 1, "prompt": {}, "extra_data": {"vinode": {"groups": [{"bounds": ${value}}]}}}`, `{"vinode": ${value}, "prompt": {}}`,
        `{"nodes": [{"id": 1, "type": "A", "pos": ${value}, "size": ${value}, "inputs": ${value}, "widgets_values": ${value}, "flags": ${value}, "mode": ${value}}], "links": ${value}}`,
        `{"nodes": [], "links": [[1, 1, ${value}, 2, 0, "X"]], "groups": ${value}, "definitions": ${value}, "extra": ${value}}`,
        `{"nodes": [{"id": 1, "type": "Reroute", "inputs": [${value}]}], "links": [${value}], "definitions": {"subgraphs": ${value}}}`,
      ]) said.add(tried(text));
    }
    expect([...said].sort()).toEqual(["no-class", "no-object", "no-workflow", "opened", "too-new"]);
  });

  it("with numbers beyond all measure are written again", () => {
    const huge = "9".repeat(390);
    for (const number of [huge, `-${huge}`, "1e308", "-1e308"]) {
      const bounds = `[${number}, ${number}, ${number}, 1]`;
      expect(tried(`{"vinode": 1, "prompt": {"1": {"class_type": "A", "_meta": {"pos": ${bounds}}}}, "extra_data": {"vinode": {"groups": [{"bounds": ${bounds}}]}}}`)).toBe("opened");
      expect(tried(`{"nodes": [{"id": 1, "type": "A", "pos": ${bounds}, "size": ${bounds}}], "groups": [{"bounding": ${bounds}}]}`)).toBe("opened");
    }
  });

  it("whose subgraphs double at every level are refused", () => {
    const use = (id: number, type: string) => ({ id, type });
    const bodies = Array.from({ length: 9 }, (_, at) => ({ id: uuid(at), nodes: Array.from({ length: 9 }, (_, id) => use(id, at < 8 ? uuid(at + 1) : "A")) }));
    expect(tried(JSON.stringify({ nodes: [use(1, uuid(0))], definitions: { subgraphs: bodies } }))).toBe("too-many-nodes");
    const itself = { id: uuid(0), nodes: [use(1, uuid(0)), use(2, uuid(0))] };
    expect(tried(JSON.stringify({ nodes: [use(1, uuid(0))], definitions: { subgraphs: [itself] } }))).toBe("too-many-nodes");
    const empty = { id: uuid(0), nodes: [], groups: [{ title: "G", bounding: [0, 0, 1, 1] }] };
    expect(tried(JSON.stringify({ nodes: [use(1, uuid(0))], definitions: { subgraphs: [empty] } }))).toBe("opened");
  });

  it("whose wires and reroutes run in circles are opened", () => {
    const dots = { reroutes: [{ id: 1, parentId: 2 }, { id: 2, parentId: 1 }, {}], linkExtensions: [{ id: 1, parentId: 1 }] };
    const node = (id: number) => ({ id, type: "ImageInvert", inputs: [{ name: "image", type: "IMAGE", link: id }] });
    const ring = { nodes: [node(1), node(2)], links: [[1, 2, 0, 1, 0, "IMAGE"], [2, 1, 0, 2, 0, "IMAGE"], [3, 1, -1, 2, 0.5, "IMAGE"]], extra: dots };
    expect(tried(JSON.stringify(ring))).toBe("opened");
  });

  it("of very many nodes are opened up to a bound", () => {
    const many = (count: number) => `{${Array.from({ length: count }, (_, id) => `"${id}":{"class_type":"A"}`).join(",")}}`;
    const document = openText(many(150_000), SOME);
    expect(document.nodes.size).toBe(150_000);
    expect(corner(copy(document, document.nodes.keys())).x).toBeNaN();
    expect(tried(many(200_001))).toBe("too-many-nodes");
    const drawn = Array.from({ length: 150_000 }, (_, id) => `{"id":${id},"type":"A"}`).join(",");
    expect(openText(`{"nodes":[${drawn}]}`, SOME).nodes.size).toBe(150_000);
  }, 30_000);

  it("of A1111 with strange names and numbers give a graph that can be written", () => {
    for (const line of ["Sampler: constructor, Schedule type: toString", "Size: axb, Clip skip: Infinity, CFG scale: x, Seed: -1", "Clip skip: 1e999", "Model: __proto__"]) {
      expect(tried(`x\nSteps: 20, ${line}`)).toBe("opened");
    }
    expect(tried(`${"<lora:".repeat(150_000)}\nSteps: 20, ${"a".repeat(200_000)}`)).toBe("opened");
  });

  it("of pictures: bombs, broken chunks and entries without end", async () => {
    const bomb = Buffer.concat([Buffer.from("prompt\0\0"), deflateSync(Buffer.alloc(80 * 2 ** 20, 32))]);
    const broken = Buffer.from("workflow\0\0not deflate");
    const bytes = png(...Array.from({ length: 50 }, () => chunk("zTXt", bomb)), chunk("zTXt", broken), chunk("tEXt", Buffer.from("nothing")));
    await expect(openBytes(bytes, SOME)).rejects.toThrow("no-workflow-in-picture");

    const count = 60_000;
    const tiff = Buffer.alloc(10 + 12 * count + 2 ** 20);
    tiff.write("II*\0", 0, "latin1");
    tiff.writeUInt32LE(8, 4);
    tiff.writeUInt16LE(count, 8);
    for (let at = 10; at < 10 + 12 * count; at += 12) {
      tiff.writeUInt16LE(2, at + 2);
      tiff.writeUInt32LE(2 ** 20, at + 4);
      tiff.writeUInt32LE(0, at + 8);
    }
    const size = Buffer.alloc(4);
    size.writeUInt32LE(tiff.length);
    const webp = Buffer.concat([Buffer.from("RIFF\0\0\0\0WEBPEXIF", "latin1"), size, tiff]);
    await expect(openBytes(new Uint8Array(webp), SOME)).rejects.toThrow("no-workflow-in-picture");
  }, 30_000);

  it("of ComfyUI's pictures may hold NaN", async () => {
    const text = 'prompt\0{"1": {"class_type": "A", "inputs": {"x": 1}, "is_changed": [NaN]}}';
    expect((await openBytes(png(chunk("tEXt", Buffer.from(text))), SOME)).nodes.get("1")?.other.get("is_changed")).toEqual([null]);
  });
});
