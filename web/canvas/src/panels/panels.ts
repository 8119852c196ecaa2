/** The panels beside the canvas. Each is loaded when it is first opened. */
import { type ComponentType, lazy } from "react";

export const PANELS = ["timing", "queue", "results", "devices", "models"] as const;
export type PanelId = (typeof PANELS)[number];
export type Edge = "right" | "bottom";

export interface PanelPlace {
  readonly edge: Edge;
  readonly Body: ComponentType;
}

export const PLACES: Readonly<Record<PanelId, PanelPlace>> = {
  timing: { edge: "bottom", Body: lazy(() => import("./timing/Panel")) },
  queue: { edge: "right", Body: lazy(() => import("./queue/Panel")) },
  results: { edge: "right", Body: lazy(() => import("./results/Panel")) },
  devices: { edge: "right", Body: lazy(() => import("./devices/Panel")) },
  models: { edge: "right", Body: lazy(() => import("./models/Panel")) },
};

/** What is open after a panel was asked for: one an edge, and asked for again it closes. */
export function toggled(open: readonly PanelId[], panel: PanelId): PanelId[] {
  const { edge } = PLACES[panel];
  const others = open.filter((each) => PLACES[each].edge !== edge);
  return open.includes(panel) ? open.filter((each) => each !== panel) : [...others, panel];
}
