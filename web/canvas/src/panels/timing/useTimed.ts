/** Which run the timing panel shows, and its times. */
import { useEffect, useMemo, useState } from "react";
import { getHistory, getReport } from "../../api/runs";
import { tellProblem } from "../../app/files";
import { useApp, useRun, useTab } from "../../app/store";
import type { ListedRun, Report } from "../../run/report";
import { ofReport, ofTab, type TimedNode } from "./timed";

const NOTHING: readonly TimedNode[] = [];

/** Give the newest ended runs; asked for again when a run ends. */
export function useEndedRuns(): readonly ListedRun[] {
  const [runs, setRuns] = useState<readonly ListedRun[]>([]);
  const remaining = useApp((state) => state.runs.remaining);
  const connected = useApp((state) => state.connected);
  useEffect(() => {
    let wanted = connected;
    if (wanted) getHistory(100).then((page) => wanted && setRuns(page.runs), tellProblem);
    return () => {
      wanted = false;
    };
  }, [remaining, connected]);
  return runs;
}

/** Give the times of a run of the history; of "", those of the tab's own last run, while it runs too. */
export function useTimed(id: string): readonly TimedNode[] {
  const run = useRun();
  const document = useTab().history.present;
  const catalogue = useApp((state) => state.catalogue);
  const report = useReport(id);
  return useMemo(() => {
    if (id) return report ? ofReport(report) : NOTHING;
    return run ? ofTab(run, document, catalogue) : NOTHING;
  }, [id, report, run, document, catalogue]);
}

function useReport(id: string): Report | null {
  const [got, setGot] = useState<{ id: string; report: Report } | null>(null);
  useEffect(() => {
    let wanted = id !== "";
    if (wanted) getReport(id).then((report) => wanted && setGot({ id, report }), tellProblem);
    return () => {
      wanted = false;
    };
  }, [id]);
  return got?.id === id ? got.report : null;
}
