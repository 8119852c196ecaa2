/** A frame around nodes: its title is edited in place. */
import { type NodeProps, NodeResizer } from "@xyflow/react";
import { memo } from "react";
import { useTranslation } from "react-i18next";
import { change, send } from "../app/store";
import type { FrameNode } from "./flow";

export const Frame = memo(function Frame({ data, selected }: NodeProps<FrameNode>) {
  const { t } = useTranslation();
  const { group } = data;
  const set = (to: Partial<typeof group>, gesture: string): void => change({ type: "change-group", id: group.id, change: to }, gesture);
  return (
    <div className="frame" style={group.colour ? { borderColor: group.colour, background: `${group.colour}22` } : {}}>
      <NodeResizer
        isVisible={selected} minWidth={120} minHeight={80}
        onResize={(_, { x, y, width, height }) => set({ x, y, width, height }, `resize ${group.id}`)}
        onResizeEnd={() => send({ type: "settle" })}
      />
      <input
        className="frame-title nodrag" value={group.title} aria-label={t("group.title")}
        onChange={(event) => set({ title: event.target.value }, `title ${group.id}`)} onBlur={() => send({ type: "settle" })}
      />
      <input
        type="color" className="frame-colour nodrag" value={group.colour || "#607d8b"} aria-label={t("group.colour")}
        onChange={(event) => set({ colour: event.target.value }, `colour ${group.id}`)}
      />
    </div>
  );
});
