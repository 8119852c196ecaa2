/** The models of the server: here or to be had, fetched, converted, removed, and put into the workflow. */
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { convertModel, getModels, type Model } from "../../api/models";
import { tellProblem } from "../../app/files";
import { loaderOf, placeLoader } from "../../app/loaders";
import { useApp } from "../../app/store";
import { score } from "../../model/search";
import { JobLine } from "./JobLine";
import { ModelLine } from "./ModelLine";
import "./models.css";

export default function Models() {
  const { t } = useTranslation();
  const [models, setModels] = useState<readonly Model[] | null>(null);
  const [query, setQuery] = useState("");
  const [turn, setTurn] = useState(0);
  const jobs = useApp((state) => state.jobs);
  const connected = useApp((state) => state.connected);
  const ended = [...jobs.values()].filter((job) => !["waiting", "running"].includes(job.state)).length;
  useEffect(() => {
    let wanted = connected;
    const keep = (found: { models: Model[]; jobs: typeof jobs }): void => {
      if (!wanted) return;
      setModels(found.models);
      useApp.setState((state) => ({ jobs: new Map([...found.jobs, ...state.jobs]) }));
    };
    if (wanted) getModels().then(keep, tellProblem);
    return () => {
      wanted = false;
    };
  }, [connected, ended, turn]);
  if (!models) return <p role="status">{t("bar.loading")}</p>;
  const found = models.filter((model) => !query || score(query, model.name) !== null || score(query, model.kind) !== null);
  return (
    <div className="models">
      <input type="search" aria-label={t("models.search")} placeholder={t("models.search")} value={query} onChange={(event) => setQuery(event.target.value)} />
      <ul aria-label={t("models.jobs")}>{[...jobs.values()].filter((job) => job.state !== "done").map((job) => <JobLine key={job.id} job={job} />)}</ul>
      <ul aria-label={t("models.title")}>{found.map((model) => <ModelLine key={model.name} model={model} onChange={() => setTurn(turn + 1)} />)}</ul>
      {found.length === 0 && <p>{t("models.none", { query })}</p>}
      <Checkpoints query={query} />
      <Convert />
    </div>
  );
}

/** Files that loaders offer by themselves: checkpoints are converted when they are first used. */
function Checkpoints({ query }: { query: string }) {
  const { t } = useTranslation();
  const catalogue = useApp((state) => state.catalogue);
  const loader = loaderOf(catalogue, "checkpoint");
  const names = (loader?.options ?? []).filter((name) => !query || score(query, name) !== null);
  if (names.length === 0) return null;
  return (
    <section aria-label={t("models.checkpoints")}>
      <h3>{t("models.checkpoints")}</h3>
      <ul>
        {names.map((name) => (
          <li key={name}><span className="models-name">{name}</span> <button type="button" onClick={() => placeLoader("checkpoint", name)}>{t("models.use")}</button></li>
        ))}
      </ul>
    </section>
  );
}

function Convert() {
  const { t } = useTranslation();
  const [file, setFile] = useState("");
  const start = (): void => void convertModel(file.trim()).then((job) => useApp.setState((state) => ({ jobs: new Map(state.jobs).set(job.id, job) })), tellProblem);
  return (
    <form className="models-convert" onSubmit={(event) => { event.preventDefault(); if (file.trim()) start(); }}>
      <input type="text" aria-label={t("models.file")} placeholder={t("models.file")} value={file} onChange={(event) => setFile(event.target.value)} />
      <button type="submit">{t("models.convert")}</button>
    </form>
  );
}
