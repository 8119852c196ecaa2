/** Two runs beside each other, node by node: what got slower, in which phase, and where it ran. */
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { compareRuns } from "../../api/runs";
import { tellProblem } from "../../app/files";
import type { ComparedNode, Comparison as Compared, Difference } from "../../run/report";
import { timeText } from "../../run/spent";
import { COMPARED } from "./compared";
import { changeClass, changeText } from "./Table";

interface Properties {
  readonly before: string;
  readonly after: string;
  readonly onGo: (id: string) => void;
}

export function Comparison({ before, after, onGo }: Properties) {
  const { t } = useTranslation();
  const [found, setFound] = useState<Compared | null>(null);
  useEffect(() => {
    let wanted = true;
    compareRuns(before, after).then((comparison) => wanted && setFound(comparison), tellProblem);
    return () => {
      wanted = false;
    };
  }, [before, after]);
  if (!found) return <p role="status">{t("bar.loading")}</p>;
  return (
    <div className="timing-table" tabIndex={0} role="region" aria-label={t("timing.comparison")}>
      <table>
        <thead>
          <tr>
            {COMPARED.map((column) => (
              <th key={column} scope="col">{t(`timing.column.${column}`)}</th>
            ))}
          </tr>
        </thead>
        <tbody>{found.nodes.map((node) => <Line key={node.id} node={node} onGo={onGo} />)}</tbody>
        <tfoot><tr><th scope="row">{t("timing.whole")}</th><Cells of={found.run} /><td /><td /></tr></tfoot>
      </table>
      <ul>
        {found.remarks.map((remark) => <li key={remark}>{remark}</li>)}
        {found.onlyBefore.length > 0 && <li>{t("timing.onlyBefore", { nodes: found.onlyBefore.join(", ") })}</li>}
        {found.onlyAfter.length > 0 && <li>{t("timing.onlyAfter", { nodes: found.onlyAfter.join(", ") })}</li>}
      </ul>
    </div>
  );
}

function Line({ node, onGo }: { node: ComparedNode; onGo: (id: string) => void }) {
  const { t } = useTranslation();
  const [from, to] = node.where;
  const phases = [...node.phases]
    .filter(([, phase]) => Math.abs(phase.change ?? 0) >= 1e-3)
    .map(([name, phase]) => `${t(`phase.${name}`)} ${changeText(phase.change ?? 0)}`);
  return (
    <tr>
      <th scope="row"><button type="button" onClick={() => onGo(node.id)}>{node.title || node.id}</button></th>
      <Cells of={node} />
      <td>{from === to ? to : `${from || "?"} → ${to || "?"}`}</td>
      <td>{phases.join(", ")}</td>
    </tr>
  );
}

function Cells({ of }: { of: Difference }) {
  const time = (seconds: number | null): string => (seconds === null ? "" : timeText(seconds));
  return (
    <>
      <td>{time(of.before)}</td>
      <td>{time(of.after)}</td>
      <td className={changeClass(of.change)}>{of.change === null ? "" : changeText(of.change)}</td>
      <td>{of.ratio === null ? "" : `${of.ratio.toPrecision(3)} ×`}</td>
    </>
  );
}
