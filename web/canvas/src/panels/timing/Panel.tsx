/** Where the time of a run went: lanes over time, a table, and what changed since another run. */
import { useReactFlow } from "@xyflow/react";
import { useCallback, useState } from "react";
import { useTranslation } from "react-i18next";
import { traceUrl } from "../../api/runs";
import { choose, send, tab, useApp, useRun } from "../../app/store";
import { type ListedRun, shortId } from "../../run/report";
import { timeText } from "../../run/spent";
import { Comparison } from "./Comparison";
import { GanttView } from "./GanttView";
import { Table } from "./Table";
import "./timing.css";
import { useEndedRuns, useTimed } from "./useTimed";

export default function Timing() {
  const { t } = useTranslation();
  const [shown, setShown] = useState("");
  const [before, setBefore] = useState("");
  const runs = useEndedRuns();
  const last = useRun();
  const nodes = useTimed(shown);
  const heat = useApp((state) => state.settings.heat);
  const go = useGo();
  const traced = shown || (runs.some((run) => run.id === last?.id) ? (last?.id ?? "") : "");
  return (
    <div className="timing">
      <div className="timing-tools">
        <RunChoice label={t("timing.run")} none={t("timing.last")} runs={runs} value={shown} onChange={setShown} />
        <RunChoice label={t("timing.compare")} none={t("timing.nothing")} runs={runs.filter((run) => run.id !== traced)} value={before} onChange={setBefore} />
        <label><input type="checkbox" checked={heat} onChange={(event) => choose({ heat: event.target.checked })} /> {t("timing.heat")}</label>
        {traced && <a href={traceUrl(traced)} download={`trace-${traced}.json`}>{t("timing.trace")}</a>}
      </div>
      {nodes.length === 0 ? <p>{t("timing.none")}</p> : (
        <div className="timing-views">
          <GanttView nodes={nodes} isLive={!shown && last?.state === "running"} onGo={go} />
          {before && traced ? <Comparison before={before} after={traced} onGo={go} /> : <Table nodes={nodes} ofTab={!shown} onGo={go} />}
        </div>
      )}
    </div>
  );
}

/** Give what selects a node and brings it into view. */
function useGo(): (id: string) => void {
  const flow = useReactFlow();
  return useCallback((id: string) => {
    if (!tab().history.present.nodes.has(id)) return;
    send({ type: "select", ids: [id] });
    void flow.fitView({ nodes: [{ id }], maxZoom: 1, duration: 300 });
  }, [flow]);
}

interface Choice {
  readonly label: string;
  readonly none: string;
  readonly runs: readonly ListedRun[];
  readonly value: string;
  readonly onChange: (id: string) => void;
}

function RunChoice({ label, none, runs, value, onChange }: Choice) {
  const { i18n, t } = useTranslation();
  const name = (run: ListedRun): string => {
    const when = new Date(run.ended * 1000).toLocaleTimeString(i18n.language);
    return `${shortId(run)} · ${when} · ${timeText(run.seconds)}${run.state === "done" ? "" : ` · ${t(`timing.${run.state}`)}`}`;
  };
  return (
    <label>
      {label}{" "}
      <select aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">{none}</option>
        {runs.map((run) => <option key={run.id} value={run.id}>{name(run)}</option>)}
      </select>
    </label>
  );
}
