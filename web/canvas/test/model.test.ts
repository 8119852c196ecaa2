import { describe, expect, it } from "vitest";
import { apply, inGroup } from "../src/model/apply";
import { type Document, EMPTY, type Given, newNode, type Node } from "../src/model/document";
import { source } from "../src/model/flow";
import { copy, paste } from "../src/model/fragment";
import { begin, edit, redo, settle, undo } from "../src/model/history";
import { fits } from "../src/model/kinds";
import { firstInput, firstOutput, linkProblem } from "../src/model/links";
import { search } from "../src/model/search";
import { SOME } from "./catalogue";
import { hasPython, python } from "./python";

const at = (id: string, type: string, inputs: Record<string, Given> = {}, x = 0): Node =>
  newNode(id, type, { x, y: 0 }, new Map(Object.entries(inputs)));

const chain: Document = apply(EMPTY, {
  type: "add",
  nodes: [
    at("1", "LoadImage", { image: "a.png" }),
    at("2", "ImageInvert", { image: { node: "1", slot: 0 } }, 300),
    at("3", "SaveImage", { images: { node: "2", slot: 0 }, filename_prefix: "x" }, 600),
  ],
});

describe("links", () => {
  it("say why they are refused", () => {
    const problem = (node: string, slot: number, to: string, input: string) =>
      linkProblem(chain, SOME, { node, slot }, { node: to, input })?.code ?? null;
    expect(problem("1", 0, "3", "images")).toBeNull();
    expect(problem("1", 1, "3", "images")).toBe("kind");
    expect(problem("2", 0, "2", "image")).toBe("cycle");
    expect(problem("1", 7, "3", "images")).toBe("no-output");
    expect(problem("1", 0, "3", "nothing")).toBe("no-input");
    expect(problem("9", 0, "3", "images")).toBe("no-node");
  });

  it("see a cycle through many nodes", () => {
    const more = apply(chain, { type: "add", nodes: [at("4", "ImageInvert", { image: { node: "2", slot: 0 } })] });
    expect(linkProblem(more, SOME, { node: "4", slot: 0 }, { node: "2", input: "image" })?.code).toBe("cycle");
  });

  it("know the kind behind a reroute, on both sides", () => {
    const dotted = apply(chain, { type: "reroute", id: "9", to: { node: "3", input: "images" }, pos: { x: 0, y: 0 } });
    expect(linkProblem(dotted, SOME, { node: "9", slot: 0 }, { node: "3", input: "filename_prefix" })?.code).toBe("kind");
    expect(linkProblem(dotted, SOME, { node: "1", slot: 1 }, { node: "9", input: "" })?.code).toBe("kind");
    expect(linkProblem(dotted, SOME, { node: "1", slot: 0 }, { node: "9", input: "" })).toBeNull();
  });

  it("find the port that takes a kind", () => {
    expect(firstInput(SOME, "KSampler", "LATENT")).toBe("latent_image");
    expect(firstInput(SOME, "KSampler", "INT")).toBe("seed");
    expect(firstInput(SOME, "SaveImage", "MASK")).toBeNull();
    expect(firstOutput(SOME, "LoadImage", "MASK")).toBe(1);
  });
});

describe("kinds", () => {
  it.runIf(hasPython)("fit as they do on the server", () => {
    const names = ["INT", "FLOAT", "STRING", "COMBO", "BOOLEAN", "*", "IMAGE", "MASK"];
    const code = "import json,sys; from vinode.graph.kinds import Kind, fits; n=json.load(sys.stdin); " +
      "print(json.dumps([[fits(Kind(a,''),Kind(b,'')) for b in n] for a in n]))";
    const said: unknown = JSON.parse(python(code, JSON.stringify(names)));
    expect(names.map((a) => names.map((b) => fits(a, b)))).toEqual(said);
  });
});

describe("events", () => {
  it("deleting a node cuts its wires, deleting a reroute keeps them", () => {
    const cut = apply(chain, { type: "delete", nodes: ["2"], groups: [] });
    expect(cut.nodes.get("3")?.inputs.has("images")).toBe(false);
    const dotted = apply(chain, { type: "reroute", id: "9", to: { node: "3", input: "images" }, pos: { x: 0, y: 0 } });
    expect(apply(dotted, { type: "delete", nodes: ["9"], groups: [] }).nodes).toEqual(chain.nodes);
  });

  it("a bypassed node passes what fits, and never what does not", () => {
    const off = apply(chain, { type: "set-mode", nodes: ["2"], mode: "bypass" });
    expect(source(off, SOME, { node: "2", slot: 0 })).toEqual({ node: "1", slot: 0 });
    const noPicture = apply(chain, { type: "set-mode", nodes: ["1"], mode: "bypass" });
    expect(source(noPicture, SOME, { node: "1", slot: 0 })).toBeNull();
  });

  it("reroutes that bite their tails end nowhere", () => {
    const ring = apply(EMPTY, {
      type: "add",
      nodes: [at("1", "Reroute", { "": { node: "2", slot: 0 } }), at("2", "Reroute", { "": { node: "1", slot: 0 } })],
    });
    expect(source(ring, SOME, { node: "1", slot: 0 })).toBeNull();
  });

  it("a group holds what lies in it", () => {
    const group = { id: "g1", title: "", colour: "", x: 200, y: -10, width: 200, height: 50 };
    expect(inGroup(apply(chain, { type: "add", nodes: [], groups: [group] }), "g1")).toEqual(["2"]);
  });
});

describe("history", () => {
  const move = (x: number) => ({ type: "move", nodes: new Map([["1", { x, y: 0 }]]) }) as const;
  const x = (history: ReturnType<typeof begin>) => history.present.nodes.get("1")?.pos.x;

  it("undoes a whole gesture at once, and does it again", () => {
    let history = [10, 20, 30].reduce((now, to) => edit(now, move(to), "drag"), begin(chain));
    history = edit(settle(history), move(40), "drag");
    expect(history.past.length).toBe(2);
    history = undo(history);
    expect(x(history)).toBe(30);
    expect(x(undo(history))).toBe(0);
    expect(x(redo(redo(undo(history))))).toBe(40);
  });

  it("undoes nothing where nothing was done", () => {
    expect(undo(begin(chain)).present).toBe(chain);
    expect(edit(begin(chain), { type: "delete", nodes: [], groups: [] }).present.nodes).toEqual(chain.nodes);
  });
});

describe("paste", () => {
  const part = copy(chain, ["2", "3"]);

  it("gives new ids, keeps wires inside, and outside if asked", () => {
    const alone = paste(chain, part, { x: 10, y: 10 }, false);
    expect(alone.nodes.map((node) => node.id)).toEqual(["4", "5"]);
    expect(alone.nodes[1]?.inputs.get("images")).toEqual({ node: "4", slot: 0 });
    expect(alone.nodes[0]?.inputs.has("image")).toBe(false);
    expect(paste(chain, part, { x: 0, y: 0 }, true).nodes[0]?.inputs.get("image")).toEqual({ node: "1", slot: 0 });
  });
});

describe("search", () => {
  const found = (query: string) => search(SOME.types.values(), query).map((type) => type.id);

  it("finds by parts, by initials and not by anything", () => {
    expect(found("sampler")[0]).toBe("KSampler");
    expect(found("li")[0]).toBe("LoadImage");
    expect(found("vdec")[0]).toBe("VAEDecode");
    expect(found("zzz")).toEqual([]);
    expect(found("")).toHaveLength(SOME.types.size);
  });
});
