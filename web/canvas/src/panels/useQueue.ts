/** The server's queue and history, asked for again whenever the socket tells that they changed. */
import { useCallback, useEffect, useState } from "react";
import { getHistory, getQueue } from "../api/runs";
import { tellProblem } from "../app/files";
import { useApp } from "../app/store";
import type { ListedRun, QueueView } from "../run/report";

const PAGE = 30;

/** Give the queue; null: it has not been told yet. */
export function useQueue(): QueueView | null {
  const [queue, setQueue] = useState<QueueView | null>(null);
  const told = useApp((state) => state.runs.queued);
  const connected = useApp((state) => state.connected);
  useEffect(() => {
    let wanted = connected;
    if (wanted) getQueue().then((found) => wanted && setQueue(found), tellProblem);
    return () => {
      wanted = false;
    };
  }, [told, connected]);
  return queue;
}

export interface Ended {
  readonly runs: readonly ListedRun[];
  readonly total: number;
  /** Null: there is nothing older. */
  readonly more: (() => void) | null;
}

/** Give the ended runs, the newest first, as many pages as were asked for. */
export function useEnded(): Ended {
  const [pages, setPages] = useState(1);
  const [found, setFound] = useState<{ runs: readonly ListedRun[]; total: number; next: number | null }>({ runs: [], total: 0, next: null });
  const told = useApp((state) => state.runs.queued);
  const connected = useApp((state) => state.connected);
  useEffect(() => {
    let wanted = connected;
    if (wanted) getHistory(PAGE * pages).then((page) => wanted && setFound(page), tellProblem);
    return () => {
      wanted = false;
    };
  }, [told, connected, pages]);
  const further = useCallback(() => setPages((count) => count + 1), []);
  return { runs: found.runs, total: found.total, more: found.next === null ? null : further };
}
