/** Brings the node that runs into view, where somebody asked for that. */
import { useReactFlow } from "@xyflow/react";
import { useEffect } from "react";
import { type AppState, useApp } from "../app/store";

function runningNode(state: AppState): string | null {
  if (!state.settings.follow) return null;
  const nodes = state.runs.tabs.get(state.workspace.current)?.nodes ?? [];
  for (const [id, node] of nodes) if (node.state === "running") return id;
  return null;
}

export function useFollow(): void {
  const flow = useReactFlow();
  const id = useApp(runningNode);
  useEffect(() => {
    if (id !== null) void flow.fitView({ nodes: [{ id }], maxZoom: 1, duration: 300 });
  }, [flow, id]);
}
