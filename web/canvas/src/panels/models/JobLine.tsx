/** A model that is being fetched or converted: how far it is, and a way to end it. */
import { useTranslation } from "react-i18next";
import { cancelJob } from "../../api/models";
import { tellProblem } from "../../app/files";
import type { Job } from "../../run/jobs";

export function JobLine({ job }: { job: Job }) {
  const { t } = useTranslation();
  const works = job.state === "waiting" || job.state === "running";
  const name = job.name.split(/[\\/]/).at(-1) ?? job.name;
  return (
    <li className={`is-${job.state}`}>
      <span className="models-name">{name} <small>{job.step || t(`models.job.${job.state}`)}</small></span>
      {works && <progress aria-label={t("models.working", { name })} {...(job.total > 0 ? { value: job.done, max: job.total } : {})} />}
      {works && <button type="button" aria-label={t("models.cancel", { name })} onClick={() => void cancelJob(job.id).catch(tellProblem)}>×</button>}
      {job.problem && <p role="alert">{job.problem}</p>}
    </li>
  );
}
