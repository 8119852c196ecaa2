/** How large a node is and where its ports are, known before it is drawn: what is off screen need not be. */
import { isCollapsed, type Node, REROUTE, REROUTE_INPUT, sizeOf, isLink } from "./document";
import { ANY } from "./kinds";
import type { Input, NodeType, Output } from "./nodeType";

export const TITLE = 30;
export const ROW = 24;
export const WIDGET = 30;
const [TEXT, PICTURE, PAD, WIDTH, DOT] = [96, 190, 8, 270, 16];
const WIDGET_KINDS = new Set(["INT", "FLOAT", "STRING", "BOOLEAN", "COMBO"]);

/** A port: y is its middle, from the node's upper edge. */
export interface Port {
  readonly side: "in" | "out";
  readonly id: string;
  readonly kind: string;
  readonly y: number;
}

/**
 * A node's shape.
 *
 * ports    inputs that are no widgets, in order
 * widgets  with upper edge and height
 * picture  height of the place for pictures; 0: there is none
 */
export interface Shape {
  readonly width: number;
  readonly height: number;
  readonly inputs: readonly Input[];
  readonly outputs: readonly Output[];
  readonly widgets: readonly { readonly input: Input; readonly height: number }[];
  readonly picture: number;
  readonly ports: readonly Port[];
}

/** Say whether an input is filled in on the node itself. */
export function isWidget(input: Input): boolean {
  return input.widget && WIDGET_KINDS.has(input.kind);
}

/** Say whether a node shows pictures: those it saves, or the one it loads. */
export function showsPictures(type: NodeType): boolean {
  return (type.isOutput && type.inputs.some((input) => input.kind === "IMAGE")) || type.inputs.some((input) => input.upload);
}

export function shapeOf(node: Node, type: NodeType | undefined): Shape {
  if (node.type === REROUTE) return dot();
  const known = type ?? guessed(node);
  const inputs = known.inputs.filter((input) => !isWidget(input));
  const widgets = known.inputs.filter(isWidget);
  const size = sizeOf(node);
  const rows = Math.max(inputs.length, known.outputs.length) * ROW;
  const texts = widgets.filter((input) => input.multiline).length;
  const picture = showsPictures(known) ? PICTURE : 0;
  const least = TITLE + rows + PAD + (widgets.length - texts) * WIDGET + texts * TEXT + picture;
  // What somebody gave the node in height goes to what can use it.
  const spare = Math.max(0, (size?.height ?? 0) - least);
  const share = texts + (picture ? 1 : 0) > 0 ? spare / (texts + (picture ? 1 : 0)) : 0;
  const heights = widgets.map((input) => ({ input, height: input.multiline ? TEXT + share : WIDGET }));
  const width = Math.max(size?.width ?? (texts > 0 ? WIDTH + 60 : WIDTH), 150);
  const open = { width, inputs, outputs: known.outputs, widgets: heights, picture: picture ? picture + share : 0 };
  if (isCollapsed(node)) return { ...open, width: 190, height: TITLE, ports: folded(known) };
  return { ...open, height: least + (share > 0 ? spare : 0), ports: unfolded(inputs, known.outputs, heights, rows) };
}

function unfolded(inputs: readonly Input[], outputs: readonly Output[], widgets: Shape["widgets"], rows: number): Port[] {
  const at = (index: number): number => TITLE + index * ROW + ROW / 2;
  const ports: Port[] = inputs.map((input, index) => ({ side: "in", id: input.name, kind: input.kind, y: at(index) }));
  ports.push(...outputs.map((output, index): Port => ({ side: "out", id: String(index), kind: output.kind, y: at(index) })));
  let top = TITLE + rows;
  for (const { input, height } of widgets) {
    ports.push({ side: "in", id: input.name, kind: input.kind, y: top + WIDGET / 2 });
    top += height;
  }
  return ports;
}

function folded(type: NodeType): Port[] {
  const y = TITLE / 2;
  return [
    ...type.inputs.map((input): Port => ({ side: "in", id: input.name, kind: input.kind, y })),
    ...type.outputs.map((output, index): Port => ({ side: "out", id: String(index), kind: output.kind, y })),
  ];
}

function dot(): Shape {
  const y = DOT / 2;
  const ports: Port[] = [{ side: "in", id: REROUTE_INPUT, kind: ANY, y }, { side: "out", id: "0", kind: ANY, y }];
  return { width: DOT, height: DOT, inputs: [], outputs: [], widgets: [], picture: 0, ports };
}

/** What an unknown node seems to have, by what it was given. Outputs: four, of which links use some. */
function guessed(node: Node): NodeType {
  const inputs = [...node.inputs].map(([name, given]): Input => ({
    name, kind: isLink(given) ? ANY : "STRING", widget: false, required: false, nullable: true, list: false, help: "",
    default: undefined, range: null, options: null, closed: false, upload: false, multiline: false, placeholder: "", seed: false,
  }));
  const outputs = Array.from({ length: 4 }, (_, index): Output => ({ name: String(index), kind: ANY, list: false, help: "" }));
  return { id: node.type, title: node.type, category: "", summary: "", help: "", isOutput: false, usesDevice: false, pack: "", inputs, outputs };
}
