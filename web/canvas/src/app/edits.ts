/** What people do to the nodes of the workflow that is shown. */
import { align, type Axis, distribute, type Edge } from "../model/align";
import { inGroup, toggleCollapsed } from "../model/apply";
import { type Document, freeIds, type InputPlace, isPinned, newNode, type Mode, type NodeId, type Point } from "../model/document";
import type { Event } from "../model/events";
import { copy, corner, type Fragment, freeGroupId, paste } from "../model/fragment";
import { insertion } from "../model/insertion";
import { firstInput, firstOutput, linkProblem } from "../model/links";
import { initialValue, type NodeType } from "../model/nodeType";
import { shapeOf } from "../model/shape";
import { frameId, groupOf, placeOf } from "../view/flow";
import { app, change, type Loose, send, tab } from "./store";
import { selectedNodes } from "./workspace";

const SHIFT = 32; // pixels between a node and its copy
const MARGIN = 24; // pixels between a frame and its nodes

/** Add a node of a type, wired to the port that a loose wire came from. */
export function addNode(type: NodeType, at: Point, loose: Loose | null): NodeId {
  const document = tab().history.present;
  const [id] = freeIds(document, 1) as [NodeId];
  const given = type.inputs.map((input) => [input.name, initialValue(input)] as const);
  const inputs = new Map(given.filter((pair): pair is [string, NonNullable<(typeof pair)[1]>] => pair[1] !== undefined));
  const node = newNode(id, type.id, { x: Math.round(at.x), y: Math.round(at.y) }, inputs);
  const events: Event[] = [{ type: "add", nodes: [node] }];
  const link = loose && looseLink(loose, type, id);
  if (link) events.push(link);
  change({ type: "all", events });
  send({ type: "select", ids: [id] });
  return id;
}

function looseLink(loose: Loose, type: NodeType, id: NodeId): Event | null {
  const { catalogue } = app();
  if (loose.end === "output") {
    const input = firstInput(catalogue, type.id, loose.kind);
    return input === null ? null : { type: "link", from: { node: loose.node, slot: loose.slot }, to: { node: id, input } };
  }
  const slot = firstOutput(catalogue, type.id, loose.kind);
  return slot === null ? null : { type: "link", from: { node: id, slot }, to: { node: loose.node, input: loose.input } };
}

/** Delete what is selected: nodes, frames and wires. */
export function deleteSelected(): void {
  const { history, selected } = tab();
  const groups = [...selected].map(groupOf).filter((id) => id !== null);
  const events: Event[] = [];
  for (const id of selected) {
    const to = placeOf(id);
    if (to) events.push(unlink(history.present, to.node, to.input));
  }
  events.push({ type: "delete", nodes: selectedNodes(tab()), groups });
  change({ type: "all", events });
  send({ type: "select", ids: [] });
}

/** A wire taken off a widget leaves the widget with its first value. */
export function unlink(document: Document, node: NodeId, input: string): Event {
  const type = app().catalogue.types.get(document.nodes.get(node)?.type ?? "");
  const port = type?.inputs.find((each) => each.name === input);
  return { type: "unlink", to: { node, input }, value: port && initialValue(port) };
}

/** Copy what is selected; frames take along what lies in them. */
export function selectedFragment(): Fragment {
  const { history, selected } = tab();
  const groups = [...selected].map(groupOf).filter((id) => id !== null);
  const inside = groups.flatMap((id) => inGroup(history.present, id));
  return copy(history.present, [...selectedNodes(tab()), ...inside], groups);
}

/** Put a fragment where `at` is, or a little beside where it was. */
export function pasteFragment(fragment: Fragment, outside: boolean, at: Point | null = null): void {
  if (fragment.nodes.length + fragment.groups.length === 0) return;
  const from = corner(fragment);
  const shift = at ? { x: Math.round(at.x - from.x), y: Math.round(at.y - from.y) } : { x: SHIFT, y: SHIFT };
  const event = paste(tab().history.present, fragment, shift, outside);
  change(event);
  send({ type: "select", ids: [...event.nodes.map((node) => node.id), ...(event.groups ?? []).map((group) => frameId(group.id))] });
}

export function selectAll(): void {
  const { nodes, groups } = tab().history.present;
  send({ type: "select", ids: [...nodes.keys(), ...groups.map((group) => frameId(group.id))] });
}

/** Give the selected nodes a mode, or switch it off where all have it. */
export function toggleMode(mode: Mode): void {
  const nodes = selectedNodes(tab());
  const all = nodes.every((id) => tab().history.present.nodes.get(id)?.mode === mode);
  if (nodes.length > 0) change({ type: "set-mode", nodes, mode: all ? "on" : mode });
}

export function toggleSelectedCollapsed(): void {
  const nodes = selectedNodes(tab());
  if (nodes.length > 0) change(toggleCollapsed(tab().history.present, nodes));
}

export function togglePinned(): void {
  const [nodes, document] = [selectedNodes(tab()), tab().history.present];
  const all = nodes.every((id) => isPinned(document.nodes.get(id)!));
  if (nodes.length > 0) change({ type: "set-meta", nodes, key: "pinned", value: all ? undefined : true });
}

/** Say how large a node is drawn. */
export function drawnSize(document: Document, id: NodeId): { width: number; height: number } {
  const node = document.nodes.get(id)!;
  return shapeOf(node, app().catalogue.types.get(node.type));
}

/** Draw a frame around the selected nodes. */
export function groupSelected(title: string): void {
  const [nodes, document] = [selectedNodes(tab()), tab().history.present];
  if (nodes.length === 0) return;
  const boxes = nodes.map((id) => ({ ...document.nodes.get(id)!.pos, ...drawnSize(document, id) }));
  const x = Math.min(...boxes.map((box) => box.x)) - MARGIN;
  const y = Math.min(...boxes.map((box) => box.y)) - MARGIN - 24;
  const width = Math.max(...boxes.map((box) => box.x + box.width)) + MARGIN - x;
  const height = Math.max(...boxes.map((box) => box.y + box.height)) + MARGIN - y;
  const id = freeGroupId(new Set(document.groups.map((group) => group.id)));
  change({ type: "add", nodes: [], groups: [{ id, title, colour: "", x, y, width, height }] });
  send({ type: "select", ids: [frameId(id)] });
}

/** Put the selected nodes in line, or leave equal gaps between them. */
export function lineUp(how: Edge | Axis): void {
  const document = tab().history.present;
  const boxes = selectedNodes(tab()).map((id) => ({ id, ...document.nodes.get(id)!.pos, ...drawnSize(document, id) }));
  change(how === "across" || how === "down" ? distribute(boxes, how) : align(boxes, how));
}

/** Put a node into the wire onto which it was dropped, where it fits. */
export function dropOnWire(id: NodeId, to: InputPlace): void {
  const event = insertion(tab().history.present, app().catalogue, id, to);
  if (event) change(event, "drag");
}

/** Lay out nodes from left to right: the selected ones, or all where fewer than two are selected. */
export async function arrange(only: "missing" | "selected" | "all"): Promise<void> {
  const { arranged } = await import("./arrange");
  const document = tab().history.present;
  const chosen = selectedNodes(tab());
  const missing = [...document.nodes.values()].filter((node) => Number.isNaN(node.pos.x)).map((node) => node.id);
  const ids = only === "missing" ? missing : only === "selected" && chosen.length > 1 ? chosen : [...document.nodes.keys()];
  if (ids.length > 0) change({ type: "move", nodes: arranged(document, ids, (id) => drawnSize(document, id)) });
}

/** Say why a wire may not be drawn, or null. */
export function wireProblem(from: { node: NodeId; slot: number }, to: { node: NodeId; input: string }) {
  return linkProblem(tab().history.present, app().catalogue, from, to);
}
