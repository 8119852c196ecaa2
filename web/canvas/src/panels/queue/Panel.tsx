/** What runs, what waits and in which order, and what has ended. */
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { clearQueue } from "../../api/client";
import { cancelRun, moveRun, pauseQueue, pruneHistory } from "../../api/runs";
import { tellProblem } from "../../app/files";
import { choose, useApp } from "../../app/store";
import { type ListedRun, shortId } from "../../run/report";
import { useEnded, useQueue } from "../useQueue";
import { EndedRun } from "./EndedRun";
import "./queue.css";

const KEPT = 20; // runs that stay when the history is cleared

export default function Queue() {
  const { t } = useTranslation();
  const queue = useQueue();
  const follow = useApp((state) => state.settings.follow);
  if (!queue) return <p role="status">{t("bar.loading")}</p>;
  const { paused, running, pending } = queue;
  return (
    <div className="queue">
      <div className="queue-tools">
        <button type="button" aria-pressed={paused} onClick={() => void pauseQueue(!paused).catch(tellProblem)}>
          {t(paused ? "queue.resume" : "queue.pause")}
        </button>
        <button type="button" disabled={pending.length === 0} onClick={() => void clearQueue().catch(tellProblem)}>{t("queue.clear")}</button>
        <label><input type="checkbox" checked={follow} onChange={(event) => choose({ follow: event.target.checked })} /> {t("queue.follow")}</label>
      </div>
      {paused && <p role="status">{t("queue.paused")}</p>}
      <ol aria-label={t("queue.waiting")}>
        {running.map((run) => <Running key={run.id} run={run} />)}
        {pending.map((run, place) => <Waiting key={run.id} run={run} place={place} count={pending.length} />)}
      </ol>
      {running.length + pending.length === 0 && <p>{t("queue.empty")}</p>}
      <History />
    </div>
  );
}

function Running({ run }: { run: ListedRun }) {
  const { t } = useTranslation();
  const percent = useApp((state) => [...state.runs.tabs.values()].find((each) => each.id === run.id)?.percent) ?? run.percent;
  return (
    <li className="is-running">
      <span className="queue-name">{t("queue.run", { number: shortId(run) })}</span>
      <progress value={percent} max={100} aria-label={t("bar.percent", { percent: Math.round(percent) })} />
      <button type="button" onClick={() => void cancelRun(run.id).catch(tellProblem)} aria-label={t("queue.cancel", { number: shortId(run) })}>■</button>
    </li>
  );
}

function Waiting({ run, place, count }: { run: ListedRun; place: number; count: number }) {
  const { i18n, t } = useTranslation();
  const move = (to: number): void => void moveRun(run.id, to).catch(tellProblem);
  const about = { number: shortId(run) };
  return (
    <li>
      <span className="queue-name">{t("queue.run", about)} <small>{new Date(run.accepted * 1000).toLocaleTimeString(i18n.language)}</small></span>
      <button type="button" disabled={place === 0} onClick={() => move(0)} aria-label={t("queue.first", about)} title={t("queue.first", about)}>⤒</button>
      <button type="button" disabled={place === 0} onClick={() => move(place - 1)} aria-label={t("queue.up", about)} title={t("queue.up", about)}>↑</button>
      <button type="button" disabled={place === count - 1} onClick={() => move(place + 1)} aria-label={t("queue.down", about)} title={t("queue.down", about)}>↓</button>
      <button type="button" onClick={() => void cancelRun(run.id).catch(tellProblem)} aria-label={t("queue.cancel", about)} title={t("queue.cancel", about)}>×</button>
    </li>
  );
}

function History() {
  const { t } = useTranslation();
  const { runs, total, more } = useEnded();
  const [asking, setAsking] = useState(false);
  const prune = (): void => {
    setAsking(false);
    pruneHistory(KEPT).catch(tellProblem);
  };
  return (
    <section aria-label={t("queue.history")}>
      <h3>{t("queue.history")} <small>{total}</small></h3>
      {runs.length === 0 && <p>{t("queue.none")}</p>}
      <ul>{runs.map((run) => <EndedRun key={run.id} run={run} />)}</ul>
      {more && <button type="button" onClick={more}>{t("queue.more")}</button>}
      {total > KEPT && !asking && <button type="button" onClick={() => setAsking(true)}>{t("queue.prune", { count: KEPT })}</button>}
      {asking && (
        <p role="alert">
          {t("queue.sure", { count: total - KEPT })}{" "}
          <button type="button" onClick={prune}>{t("queue.yes")}</button> <button type="button" onClick={() => setAsking(false)}>{t("queue.no")}</button>
        </p>
      )}
    </section>
  );
}
