/** The canvas: nodes, wires and frames of the workflow that is shown. */
import {
  Background, type Connection, Controls, type Edge, type EdgeChange, type FinalConnectionState, MiniMap, type NodeChange, ReactFlow, SelectionMode,
  useReactFlow,
} from "@xyflow/react";
import { type DragEvent, type MouseEvent, useCallback, useEffect, useMemo, useRef } from "react";
import { useTranslation } from "react-i18next";
import { isDark } from "../app/commands";
import { isWriting } from "../app/clipboard";
import { dropOnWire, unlink, wireProblem } from "../app/edits";
import { draggedPicture, pictureInputs, sendPicture } from "../app/pastRuns";
import { takeFile } from "../app/pictures";
import { app, change, type Loose, notify, send, show, tab, useApp, useTab } from "../app/store";
import { freeIds, type InputPlace, type NodeId, type Point } from "../model/document";
import { kindOf } from "../model/flow";
import { inGroup } from "../model/apply";
import { inputKind } from "../model/links";
import { say } from "../words/words";
import { Carried } from "./Carried";
import { Dot } from "./Dot";
import { type AnyNode, flowEdges, flowNodes, groupOf, kindColour, placeOf, sameEdges } from "./flow";
import { Frame } from "./Frame";
import { NodeCard } from "./NodeCard";
import { useFollow } from "./useFollow";
import { useKeys } from "./useKeys";

const NODE_TYPES = { card: NodeCard, dot: Dot, frame: Frame };
// A field that leaves the view loses the caret where nodes are drawn only while they are seen.
const MANY = 100;
const SNAP: [number, number] = [16, 16];
const FIT = { padding: 0.15, maxZoom: 1, duration: 200 };

export function Canvas() {
  const { t } = useTranslation();
  const flow = useReactFlow<AnyNode, Edge>();
  const { history, selected, view } = useTab();
  const catalogue = useApp((state) => state.catalogue);
  const settings = useApp((state) => state.settings);
  const nodes = useMemo(() => flowNodes(history.present, catalogue, selected), [history.present, catalogue, selected]);
  const lastEdges = useRef<Edge[]>([]);
  const edges = useMemo(() => {
    lastEdges.current = sameEdges(lastEdges.current, flowEdges(history.present, catalogue, selected));
    return lastEdges.current;
  }, [history.present, catalogue, selected]);
  useKeys();
  useFollow();
  const moved = useMoves();
  const onEdgesChange = useCallback((changes: EdgeChange[]) => select(changes), []);
  const wires = useWires();
  const empty = nodes.length === 0;
  useEffect(() => {
    // Files say no view: all of it is shown, once it has been laid out.
    if (!view && !empty) void flow.fitView({ ...FIT, duration: 0 });
  }, [view, empty, flow]);

  const onDoubleClick = (event: MouseEvent): void => {
    if (!(event.target as Element).classList.contains("react-flow__pane")) return;
    const on = { x: event.clientX, y: event.clientY };
    show({ kind: "palette", at: flow.screenToFlowPosition(on), on, loose: null });
  };
  const onMenu = (event: MouseEvent, node: AnyNode): void => {
    if (!tab().selected.has(node.id)) send({ type: "select", ids: [node.id] });
    openMenu(event);
  };
  const onPaneMenu = (event: MouseEvent | globalThis.MouseEvent): void => {
    const on = { x: event.clientX, y: event.clientY };
    event.preventDefault();
    show({ kind: "palette", at: flow.screenToFlowPosition(on), on, loose: null });
  };
  const onDrop = (event: DragEvent): void => {
    event.preventDefault();
    const at = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    const on = (event.target as Element).closest<HTMLElement>(".react-flow__node")?.dataset["id"] ?? null;
    const dragged = draggedPicture(event.dataTransfer);
    if (dragged) void sendPicture(dragged, on === null ? null : (pictureInputs().find((each) => each.node === on) ?? null));
    for (const file of event.dataTransfer.files) void takeFile(file, at, on);
  };
  return (
    <div className="canvas" onDoubleClick={onDoubleClick} onDrop={onDrop} onDragOver={(event) => event.preventDefault()}>
      <ReactFlow<AnyNode, Edge>
        nodes={nodes} edges={edges} nodeTypes={NODE_TYPES} {...moved} {...wires} onEdgesChange={onEdgesChange}
        onEdgeDoubleClick={(event, edge) => addDot(edge, flow.screenToFlowPosition({ x: event.clientX, y: event.clientY }))}
        onMoveEnd={(_, to) => send({ type: "view", view: to })} {...(view ? { defaultViewport: view } : {})}
        onNodeContextMenu={onMenu} onSelectionContextMenu={(event) => openMenu(event)} onPaneContextMenu={onPaneMenu}
        colorMode={isDark() ? "dark" : "light"} minZoom={0.05} maxZoom={3} onlyRenderVisibleElements={nodes.length > MANY} elevateNodesOnSelect
        zoomOnDoubleClick={false} deleteKeyCode={null} selectionMode={SelectionMode.Partial} snapToGrid={settings.snap} snapGrid={SNAP}
        panOnDrag={settings.drag === "pan" ? true : [1]} selectionOnDrag={settings.drag === "select"} panOnScroll={settings.drag === "select"}
        selectionKeyCode={["Control", "Meta"]} multiSelectionKeyCode={["Shift", "Control", "Meta"]} panActivationKeyCode={null} connectionRadius={28}
      >
        <Carried />
        <Background gap={24} />
        <Controls showInteractive={false} fitViewOptions={FIT} />
        {settings.minimap && <MiniMap<AnyNode> className="minimap" pannable zoomable nodeColor={(node) => miniColour(node)} ariaLabel={t("command.minimap")} />}
      </ReactFlow>
    </div>
  );
}

function openMenu(event: MouseEvent): void {
  // Fields have the browser's own menu: for spelling, and to paste.
  if (isWriting(event.target)) return;
  event.preventDefault();
  show({ kind: "menu", on: { x: event.clientX, y: event.clientY } });
}

function miniColour(node: AnyNode): string {
  if (node.type === "frame") return "#8884";
  const output = node.data.shape.outputs[0];
  return output ? kindColour(app().catalogue, output.kind) : "#90a4ae";
}

function select(changes: readonly (NodeChange<AnyNode> | EdgeChange)[]): void {
  const marks = changes.filter((each) => each.type === "select");
  if (marks.length === 0) return;
  const ids = new Set(tab().selected);
  for (const mark of marks) {
    if (mark.selected) ids.add(mark.id);
    else ids.delete(mark.id);
  }
  send({ type: "select", ids });
}

/** Drags: one entry of the history each, and a frame takes along what lay in it when it was seized. */
function useMoves() {
  const inside = useRef(new Map<string, NodeId[]>());
  const onNodeDragStart = useCallback((_: unknown, __: AnyNode, dragged: AnyNode[]) => {
    send({ type: "settle" });
    const frames = dragged.map((node) => groupOf(node.id)).filter((id) => id !== null);
    inside.current = new Map(frames.map((id) => [id, inGroup(tab().history.present, id)]));
  }, []);
  const onNodesChange = useCallback((changes: NodeChange<AnyNode>[]) => {
    select(changes);
    const nodes = new Map<NodeId, Point>();
    const groups = new Map<string, Point>();
    const document = tab().history.present;
    for (const each of changes) {
      if (each.type !== "position" || !each.position) continue;
      const group = groupOf(each.id);
      if (group === null) nodes.set(each.id, each.position);
      else groups.set(group, each.position);
    }
    for (const [id, to] of groups) {
      const from = document.groups.find((group) => group.id === id);
      for (const node of inside.current.get(id) ?? []) {
        const at = document.nodes.get(node)?.pos;
        if (from && at && !nodes.has(node)) nodes.set(node, { x: at.x + to.x - from.x, y: at.y + to.y - from.y });
      }
    }
    if (nodes.size + groups.size > 0) change({ type: "move", nodes, groups }, "drag");
  }, []);
  const onNodeDragStop = useCallback((event: globalThis.MouseEvent | TouchEvent | MouseEvent, node: AnyNode, dragged: AnyNode[]) => {
    const to = dragged.length === 1 && "clientX" in event ? wireUnder(event.clientX, event.clientY) : null;
    if (to) dropOnWire(node.id, to);
    send({ type: "settle" });
  }, []);
  return { onNodeDragStart, onNodesChange, onNodeDragStop };
}

/** The wire at a place of the page, or null. */
function wireUnder(x: number, y: number): InputPlace | null {
  const edge = document.elementsFromPoint(x, y).map((each) => each.closest(".react-flow__edge")).find((each) => each !== null);
  return placeOf(edge?.getAttribute("data-id") ?? "");
}

function ends(connection: Connection | Edge): { from: { node: string; slot: number }; to: { node: string; input: string } } {
  const { source, sourceHandle, target, targetHandle } = connection;
  return { from: { node: source, slot: Number(sourceHandle) }, to: { node: target, input: targetHandle ?? "" } };
}

/** Wires: drawn, moved to another port, taken off, or dropped where a node is to be. */
function useWires() {
  const flow = useReactFlow();
  const taken = useRef(false);
  const isValidConnection = useCallback((connection: Connection | Edge) => {
    const { from, to } = ends(connection);
    return wireProblem(from, to) === null;
  }, []);
  const onConnect = useCallback((connection: Connection) => change({ type: "link", ...ends(connection) }), []);
  const onConnectEnd = useCallback((event: globalThis.MouseEvent | TouchEvent, state: FinalConnectionState) => {
    if (state.isValid || !state.fromHandle || !state.fromNode) return;
    if (state.toHandle && state.toNode) {
      refuse(state);
      return;
    }
    const point = "changedTouches" in event ? event.changedTouches[0] : event;
    if (!point || !(event.target as Element).classList.contains("react-flow__pane")) return;
    const on = { x: point.clientX, y: point.clientY };
    const loose = looseOf(state.fromNode.id, state.fromHandle.id ?? "", state.fromHandle.type);
    show({ kind: "palette", at: flow.screenToFlowPosition(on), on, loose });
  }, [flow]);
  const onReconnectStart = useCallback(() => { taken.current = false; }, []);
  const onReconnect = useCallback((edge: Edge, connection: Connection) => {
    taken.current = true;
    const [before, now] = [ends(edge), ends(connection)];
    const same = before.to.node === now.to.node && before.to.input === now.to.input;
    const cut = unlink(tab().history.present, before.to.node, before.to.input);
    change({ type: "all", events: [...(same ? [] : [cut]), { type: "link", ...now }] });
  }, []);
  const onReconnectEnd = useCallback((event: globalThis.MouseEvent | TouchEvent, edge: Edge) => {
    const { to } = ends(edge);
    const onPane = (event.target as Element).classList.contains("react-flow__pane");
    if (!taken.current && onPane) change(unlink(tab().history.present, to.node, to.input));
  }, []);
  return { isValidConnection, onConnect, onConnectEnd, onReconnectStart, onReconnect, onReconnectEnd };
}

function looseOf(node: NodeId, handle: string, type: "source" | "target"): Loose {
  const [document, { catalogue }] = [tab().history.present, app()];
  if (type === "source") {
    const slot = Number(handle);
    return { end: "output", node, slot, kind: kindOf(document, catalogue, { node, slot }) };
  }
  return { end: "input", node, input: handle, kind: inputKind(document, catalogue, { node, input: handle }) ?? "*" };
}

/** Say why a wire was not taken. */
function refuse(state: FinalConnectionState): void {
  const { fromNode, fromHandle, toNode, toHandle } = state;
  if (!fromNode || !fromHandle || !toNode || !toHandle || fromHandle.type === toHandle.type) return;
  const forward = fromHandle.type === "source";
  const [out, into] = forward ? [[fromNode, fromHandle], [toNode, toHandle]] as const : [[toNode, toHandle], [fromNode, fromHandle]] as const;
  const problem = wireProblem({ node: out[0].id, slot: Number(out[1].id) }, { node: into[0].id, input: into[1].id ?? "" });
  if (problem) notify(say(`link.${problem.code}`, problem.about), "error");
}

/** A dot on a wire, where it was double-clicked. */
function addDot(edge: Edge, at: Point): void {
  const to = placeOf(edge.id);
  const [id] = freeIds(tab().history.present, 1);
  if (to && id) change({ type: "reroute", id, to, pos: { x: Math.round(at.x) - 8, y: Math.round(at.y) - 8 } });
}
