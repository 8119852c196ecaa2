/** Node by node: where it is asked to run, where it would, where it ran, and why not where it was asked. */
import { useReactFlow } from "@xyflow/react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { getPlacement, type Placed } from "../../api/devices";
import { tellProblem } from "../../app/files";
import { applyFix } from "../../app/mend";
import { send, useApp, useRun, useTab } from "../../app/store";
import { toParts } from "../../formats/ourFile";
import { type Node, titleOf } from "../../model/document";
import type { NodeRun } from "../../run/runs";
import { fallbacks } from "../../run/spent";

const PAUSE = 400; // ms without an edit, before the server is asked

export function Nodes() {
  const { t } = useTranslation();
  const document = useTab().history.present;
  const types = useApp((state) => state.catalogue.types);
  const run = useRun();
  const placed = usePlacement();
  const nodes = [...document.nodes.values()].filter((node) => types.get(node.type)?.usesDevice);
  if (nodes.length === 0) return null;
  return (
    <section>
      <table aria-label={t("devices.nodes")}>
        <thead><tr>{["node", "asked", "would", "ran"].map((column) => <th key={column} scope="col">{t(`devices.column.${column}`)}</th>)}</tr></thead>
        <tbody>
          {nodes.map((node) => <Line key={node.id} node={node} placed={placed.get(node.id)} run={run?.nodes.get(node.id)} />)}
        </tbody>
      </table>
    </section>
  );
}

/** Ask where each node would run, whenever the workflow has rested for a moment. */
function usePlacement(): ReadonlyMap<string, Placed> {
  const [placed, setPlaced] = useState<ReadonlyMap<string, Placed>>(new Map());
  const document = useTab().history.present;
  const catalogue = useApp((state) => state.catalogue);
  const devices = useApp((state) => state.runs.worker.devices);
  useEffect(() => {
    let wanted = true;
    const ask = (): void => {
      getPlacement(toParts(document, catalogue).prompt).then((found) => wanted && setPlaced(new Map(found.nodes.map((each) => [each.node, each]))), tellProblem);
    };
    const timer = setTimeout(ask, PAUSE);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [document, catalogue, devices]);
  return placed;
}

function Line({ node, placed, run }: { node: Node; placed: Placed | undefined; run: NodeRun | undefined }) {
  const { t } = useTranslation();
  const flow = useReactFlow();
  const title = useApp((state) => titleOf(node) || state.catalogue.types.get(node.type)?.title || node.type);
  const go = (): void => {
    send({ type: "select", ids: [node.id] });
    void flow.fitView({ nodes: [{ id: node.id }], maxZoom: 1, duration: 300 });
  };
  const shares = [...(run?.placement?.shares ?? [])].filter(([, share]) => share > 0);
  const ran = shares.length > 1 ? shares.map(([device, share]) => `${device} ${Math.round(100 * share)} %`).join(", ") : (run?.placement?.actual ?? "");
  const reasons = run ? fallbacks(run) : [];
  return (
    <>
      <tr className={reasons.length > 0 ? "is-elsewhere" : ""}>
        <th scope="row"><button type="button" onClick={go}>{title}</button></th>
        <td>{placed?.requested ?? ""}</td>
        <td>{placed?.lane ?? ""}</td>
        <td>{ran}</td>
      </tr>
      {(placed?.problem || reasons.length > 0) && (
        <tr>
          <td colSpan={4} className="devices-why">
            {placed?.problem && <p>{placed.problem}</p>}
            {reasons.map((reason) => (
              <div key={`${reason.code} ${reason.sentence}`}>
                <code>{reason.code}</code> {reason.sentence}
                {reason.ops.length > 0 && <details><summary>{t("devices.ops", { count: reason.ops.length })}</summary>{reason.ops.join(", ")}</details>}
                {reason.fix && <p>{t("node.fix", { fix: reason.fix })}</p>}
                {reason.fixes.map((fix) => (
                  <button key={`${fix.kind} ${fix.value}`} type="button" onClick={() => void applyFix(node.id, fix)}>{fix.sentence || fix.value}</button>
                ))}
              </div>
            ))}
          </td>
        </tr>
      )}
    </>
  );
}
