/** What the last run carried on the wires that are selected: kind, shape, dtype, bytes; with a picture where the node shows one. */
import { EdgeLabelRenderer, useStore } from "@xyflow/react";
import { useTranslation } from "react-i18next";
import { viewUrl } from "../api/client";
import { useRun, useTab } from "../app/store";
import { isLink } from "../model/document";
import { placeOf } from "./flow";

const MOST = 5; // wires told of at once

export function Carried() {
  const { t } = useTranslation();
  const { history, selected } = useTab();
  const run = useRun();
  const wires = [...selected].map(placeOf).filter((place) => place !== null).slice(0, MOST);
  if (wires.length === 0) return null;
  return (
    <EdgeLabelRenderer>
      {wires.map((to) => {
        const from = history.present.nodes.get(to.node)?.inputs.get(to.input);
        if (!isLink(from)) return null;
        const known = run?.nodes.get(from.node);
        const told = known?.outputs[from.slot];
        const picture = known?.pictures[0] ?? run?.nodes.get(to.node)?.pictures[0];
        return (
          <Label key={`${to.node} ${to.input}`} source={from.node} target={to.node}>
            {told ?? t("node.carriedNothing")}
            {told?.startsWith("IMAGE") && picture && <img src={viewUrl(picture, true)} alt="" />}
          </Label>
        );
      })}
    </EdgeLabelRenderer>
  );
}

function Label({ source, target, children }: { source: string; target: string; children: React.ReactNode }) {
  // Above the two nodes, wherever they are dragged: there it covers nothing that is worked with.
  const x = useStore((state) => middle(state.nodeLookup.get(source)?.internals.positionAbsolute.x, state.nodeLookup.get(target)?.internals.positionAbsolute.x));
  const y = useStore((state) => middle(state.nodeLookup.get(source)?.internals.positionAbsolute.y, state.nodeLookup.get(target)?.internals.positionAbsolute.y));
  return <div className="carried nodrag nopan" role="status" style={{ transform: `translate(-50%, -100%) translate(${x + 100}px, ${y - 8}px)` }}>{children}</div>;
}

function middle(a: number | undefined, b: number | undefined): number {
  return ((a ?? b ?? 0) + (b ?? a ?? 0)) / 2;
}
