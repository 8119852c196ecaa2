/** A dot on a wire. */
import { Handle, type NodeProps, Position } from "@xyflow/react";
import { memo } from "react";
import { useApp, useTab } from "../app/store";
import { REROUTE_INPUT } from "../model/document";
import { kindOf } from "../model/flow";
import { type CardNode, kindColour } from "./flow";

export const Dot = memo(function Dot({ id }: NodeProps<CardNode>) {
  const catalogue = useApp((state) => state.catalogue);
  const { history } = useTab();
  const colour = kindColour(catalogue, kindOf(history.present, catalogue, { node: id, slot: 0 }));
  return (
    <div className="dot" style={{ background: colour }}>
      <Handle type="target" position={Position.Left} id={REROUTE_INPUT} className="port" />
      <Handle type="source" position={Position.Right} id="0" className="port" />
    </div>
  );
});
