/** Under a node: what is wrong with it, in one sentence with the fix; and the fix itself where it is a click. */
import { useTranslation } from "react-i18next";
import { fetchModel } from "../app/models";
import { useApp } from "../app/store";
import { type Fault, faultText } from "../run/messages";
import type { NodeRun } from "../run/runs";

export function Problems({ known, run }: { known: boolean; run: NodeRun | undefined }) {
  const { t } = useTranslation();
  const faults = run?.faults ?? [];
  const said = [...(known ? [] : [t("node.unknown")]), ...(run?.message ? [run.message] : [])];
  if (said.length + faults.length === 0) return null;
  return (
    <ul className="problems nodrag" aria-label={t("node.problem")}>
      {said.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
      {faults.map((fault) => (
        <li key={`${fault.place} ${fault.problem} ${fault.got}`}>
          {faultText(fault)}
          {fault.code === "model-missing" && <Fetch fault={fault} />}
        </li>
      ))}
    </ul>
  );
}

function Fetch({ fault }: { fault: Fault }) {
  const { t } = useTranslation();
  const name = fault.got;
  const job = useApp((state) => [...state.jobs.values()].filter((each) => each.name === name).at(-1));
  if (job?.state === "done") return <p role="status">{t("note.fetched", { name })}</p>;
  if (job?.state === "waiting" || job?.state === "running") {
    return (
      <p role="status">
        {job.step} <progress aria-label={job.step} {...(job.total > 0 ? { value: job.done, max: job.total } : {})} />
      </p>
    );
  }
  return <button type="button" onClick={() => void fetchModel(name)}>{t("node.fetch", { name })}</button>;
}
