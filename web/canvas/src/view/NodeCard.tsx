/** A node: title, ports, widgets, pictures. Its run is read from the runs, not from the workflow. */
import { Handle, type NodeProps, NodeResizeControl, Position } from "@xyflow/react";
import { memo, useState } from "react";
import { useTranslation } from "react-i18next";
import { change, send, useApp } from "../app/store";
import { deviceOf, isCollapsed, isLink, isPinned, type Node, titleOf } from "../model/document";
import type { NodeType } from "../model/nodeType";
import { ROW, type Shape, TITLE } from "../model/shape";
import type { NodeRun, TabRun } from "../run/runs";
import { heat } from "../run/spent";
import { type CardNode, kindColour } from "./flow";
import { Pictures } from "./Pictures";
import { Problems } from "./Problems";
import { Fallbacks, RanOn, Spent } from "./Spent";
import { Widget } from "./widgets/Widget";

export const NodeCard = memo(function NodeCard({ id, data, selected }: NodeProps<CardNode>) {
  const { node, type, shape } = data;
  const run = useApp((state) => state.runs.tabs.get(state.workspace.current)?.nodes.get(id));
  const warmth = useApp((state) => (state.settings.heat ? warmthOf(id, state.runs.tabs.get(state.workspace.current)) : null));
  const folded = isCollapsed(node);
  const marks = ["card", `is-${node.mode}`, type ? "" : "is-unknown", run ? `run-${run.state}` : "", warmth === null ? "" : "has-heat", selected ? "is-selected" : ""];
  return (
    <article className={marks.filter(Boolean).join(" ")} style={{ width: shape.width, height: shape.height, ...(warmth === null ? {} : { "--heat": `${warmth}%` }) }}>
      <Title node={node} type={type} run={run} />
      {shape.ports.map((port) => (
        <PortHandle key={`${port.side} ${port.id}`} port={port} name={port.side === "in" ? port.id : (shape.outputs[Number(port.id)]?.name ?? port.id)} />
      ))}
      {!folded && <Body node={node} shape={shape} run={run} />}
      <div className="below">
        {run && !folded && <Spent run={run} />}
        {!folded && <Fallbacks node={node} run={run} />}
        <Problems known={type !== undefined} run={run} />
        {!folded && shape.picture === 0 && <Pictures node={node} shape={shape} run={run} />}
      </div>
      {selected && !folded && (
        <NodeResizeControl
          className="resize" minWidth={150} minHeight={TITLE}
          onResize={(_, { width, height }) =>
            change({ type: "set-meta", nodes: [id], key: "size", value: [Math.round(width), Math.round(height)] }, `size ${id}`)}
          onResizeEnd={() => send({ type: "settle" })}
        />
      )}
    </article>
  );
});

/** Give how hot a node of a run is, in percent; null where it has no time. */
function warmthOf(id: string, run: TabRun | undefined): number | null {
  const node = run?.nodes.get(id);
  return run && node && node.seconds !== null ? Math.round(100 * heat(node, run.nodes)) : null;
}

function Title({ node, type, run }: { node: Node; type: NodeType | undefined; run: NodeRun | undefined }) {
  const { t } = useTranslation();
  const [editing, setEditing] = useState(false);
  const name = titleOf(node) || type?.title || node.type;
  const device = deviceOf(node);
  const set = (title: string): void => change({ type: "set-meta", nodes: [node.id], key: "title", value: title || undefined }, `title ${node.id}`);
  const end = (): void => {
    setEditing(false);
    send({ type: "settle" });
  };
  const colour = node.meta.get("colour");
  return (
    <header className="title" style={typeof colour === "string" ? { background: colour } : {}} onDoubleClick={() => setEditing(true)} title={type?.summary}>
      {editing ? (
        <input
          className="nodrag" autoFocus value={titleOf(node)} placeholder={type?.title} aria-label={t("node.title")}
          onChange={(event) => set(event.target.value)} onBlur={end}
          onKeyDown={(event) => !event.nativeEvent.isComposing && ["Enter", "Escape"].includes(event.key) && end()}
        />
      ) : (
        <span className="name">{name}</span>
      )}
      {isPinned(node) && <span aria-label={t("node.pinned")}>📌</span>}
      {node.mode !== "on" && <span className="mode">{t(node.mode === "mute" ? "node.muted" : "node.bypassed")}</span>}
      {run?.state === "reused" && <span title={t("node.reused")} role="img" aria-label={t("node.reused")}>↻</span>}
      {run && type?.usesDevice && <RanOn run={run} asked={device} />}
      {(device || type?.usesDevice) && <Device node={node} device={device} />}
      {run?.state === "running" && <progress aria-label={t("node.running")} {...(run.total > 0 ? { value: run.done, max: run.total } : {})} />}
    </header>
  );
}

/** Where the node is to run: what the worker has, and what the file says. */
function Device({ node, device }: { node: Node; device: string }) {
  const { t } = useTranslation();
  const known = useApp((state) => state.runs.worker.devices);
  const devices = [...new Set(["CPU", "GPU", "NPU", "NPU!", ...known, ...(device ? [device] : [])])];
  const set = (to: string): void => change({ type: "set-meta", nodes: [node.id], key: "device", value: to || undefined });
  return (
    <select className="device nodrag" aria-label={t("node.device")} title={t("node.device")} value={device} onChange={(event) => set(event.target.value)}>
      <option value="">AUTO</option>
      {devices.map((each) => (
        <option key={each} value={each}>{each}</option>
      ))}
    </select>
  );
}

function PortHandle({ port, name }: { port: Shape["ports"][number]; name: string }) {
  const { t } = useTranslation();
  const colour = useApp((state) => kindColour(state.catalogue, port.kind));
  const isInput = port.side === "in";
  return (
    <Handle
      id={port.id} type={isInput ? "target" : "source"} position={isInput ? Position.Left : Position.Right} className="port"
      style={{ top: port.y, background: colour }} title={t(isInput ? "node.input" : "node.output", { name, kind: port.kind })}
    />
  );
}

function Body({ node, shape, run }: { node: Node; shape: Shape; run: NodeRun | undefined }) {
  const rows = Math.max(shape.inputs.length, shape.outputs.length);
  return (
    <div className="body">
      <div className="ports" style={{ height: rows * ROW }}>
        <ul>
          {shape.inputs.map((input) => (
            <li key={input.name} title={`${input.kind} ${input.help}`} className={input.required && !isLink(node.inputs.get(input.name)) ? "is-open" : ""}>
              {input.name}
            </li>
          ))}
        </ul>
        <ul className="outputs">
          {shape.outputs.map((output, index) => (
            <li key={index} title={`${output.kind} ${output.help}`}>{output.name}</li>
          ))}
        </ul>
      </div>
      {shape.widgets.map(({ input, height }) => (
        <Widget key={input.name} node={node} input={input} height={height} />
      ))}
      {shape.picture > 0 && <Pictures node={node} shape={shape} run={run} />}
    </div>
  );
}
