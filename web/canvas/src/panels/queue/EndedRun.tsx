/** A run of the history: how it went, its pictures, and what can be done with it. */
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { viewUrl } from "../../api/client";
import { getRun } from "../../api/runs";
import { tellProblem } from "../../app/files";
import { openRun } from "../../app/pastRuns";
import { runAgain } from "../../app/running";
import { faultText } from "../../run/messages";
import { type ListedRun, shortId } from "../../run/report";
import { timeText } from "../../run/spent";

const SHOWN = 4; // pictures of a run in the list

export function EndedRun({ run }: { run: ListedRun }) {
  const { i18n, t } = useTranslation();
  const [faults, setFaults] = useState<readonly string[] | null>(null);
  const name = t("queue.run", { number: shortId(run) });
  const why = async (): Promise<void> => {
    try {
      const { report } = await getRun(run.id);
      const told = report?.nodes.flatMap((node) => node.faults.map((fault) => `${node.title || node.type} (${node.id}): ${faultText(fault)}`)) ?? [];
      setFaults(told.length > 0 ? told : [t("queue.unknown")]);
    } catch (error) {
      tellProblem(error);
    }
  };
  return (
    <li className={`is-${run.state}`}>
      <span className="queue-name">
        {name} <small>{new Date(run.ended * 1000).toLocaleString(i18n.language)}</small>
        <small>{run.state === "done" ? timeText(run.seconds) : t(`queue.${run.state}`)}</small>
      </span>
      {run.state === "failed" && !faults && <button type="button" onClick={() => void why()}>{t("queue.why")}</button>}
      <button type="button" onClick={() => void openRun(run.id, name)}>{t("queue.open")}</button>
      <button type="button" onClick={() => void runAgain(run.id)}>{t("queue.again")}</button>
      {run.pictures.length > 0 && (
        <span className="queue-pictures">
          {run.pictures.slice(0, SHOWN).map((picture) => <img key={`${picture.subfolder}/${picture.filename}`} src={viewUrl(picture, true)} alt={picture.filename} loading="lazy" />)}
          {run.pictures.length > SHOWN && <small>+{run.pictures.length - SHOWN}</small>}
        </span>
      )}
      {faults && <ul className="queue-faults">{faults.map((fault) => <li key={fault}>{fault}</li>)}</ul>}
    </li>
  );
}
