/** The key map at work. */
import { useReactFlow } from "@xyflow/react";
import { useEffect, useMemo } from "react";
import { isWriting, listenToClipboard } from "../app/clipboard";
import { obey, type View } from "../app/commands";
import { app, show } from "../app/store";
import { commandOf } from "../keys/keyMap";
import type { Point } from "../model/document";

/** What is seen: its middle, and the commands that change it. */
export function useView(): View & { readonly center: () => Point } {
  const flow = useReactFlow();
  return useMemo(() => {
    const center = (): Point => {
      const box = document.querySelector(".canvas")?.getBoundingClientRect();
      return flow.screenToFlowPosition(box ? { x: box.x + box.width / 2, y: box.y + box.height / 2 } : { x: 0, y: 0 });
    };
    return {
      center,
      fit: (ids) => void flow.fitView({ padding: 0.15, maxZoom: 1, duration: 200, ...(ids?.length ? { nodes: ids.map((id) => ({ id })) } : {}) }),
      zoom: (factor) => void flow.zoomTo(flow.getZoom() * factor),
      palette: () => show({ kind: "palette", at: center(), on: null, loose: null }),
    };
  }, [flow]);
}

export function useKeys(): void {
  const view = useView();
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      // A key that an input method composes with is the input method's.
      if (event.isComposing || event.keyCode === 229 || event.defaultPrevented) return;
      const target = event.target as HTMLElement;
      const command = commandOf(event, isWriting(target), app().settings.keys);
      if (!command || (app().dialog && command !== "clear-selection")) return;
      // Tab and Space walk through and press what has the focus; on the bare canvas they are free.
      const isFree = target === document.body || target.closest(".react-flow") !== null;
      const isButton = target.closest("button, a, [role=tab]") !== null;
      if (command === "palette" && (!isFree || isButton)) return;
      if (command === "palette" && event.key === "Tab" && target.closest(".react-flow__node")) return;
      if (obey(command, view)) event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    const unlisten = listenToClipboard(view.center);
    return () => {
      document.removeEventListener("keydown", onKey);
      unlisten();
    };
  }, [view]);
}
