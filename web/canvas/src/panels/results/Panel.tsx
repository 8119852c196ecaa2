/** The pictures of all runs, the newest first. One is looked at with its settings, two are compared. */
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { viewUrl } from "../../api/client";
import { dragPicture } from "../../app/pastRuns";
import { useApp } from "../../app/store";
import type { Shown } from "../../run/messages";
import type { ListedRun } from "../../run/report";
import { useEnded } from "../useQueue";
import { Compare } from "./Compare";
import { Picture } from "./Picture";
import "./results.css";

/** A picture, and the run that made it. */
export interface Result {
  readonly run: ListedRun;
  readonly picture: Shown;
}

/** Name a picture among all. */
export function nameOf({ picture }: Result): string {
  return [picture.type, picture.subfolder, picture.filename].filter(Boolean).join("/");
}

export default function Results() {
  const { t } = useTranslation();
  const { runs, more } = useEnded();
  const [mine, setMine] = useState(false);
  const [open, setOpen] = useState("");
  const [marked, setMarked] = useState<readonly Result[]>([]);
  const owners = useApp((state) => state.runs.owners);
  const current = useApp((state) => state.workspace.current);
  const shown = runs.filter((run) => !mine || owners.get(run.id) === current);
  // A preview that a later run wrote over stands once, at the later run.
  const results = [...new Map(shown.flatMap((run) => run.pictures.map((picture): Result => ({ run, picture }))).reverse().map((each) => [nameOf(each), each])).values()].reverse();
  const at = results.findIndex((each) => nameOf(each) === open);
  const mark = (result: Result): void => {
    const others = marked.filter((each) => nameOf(each) !== nameOf(result));
    setMarked(others.length < marked.length ? others : [...marked, result].slice(-2));
  };
  const [first, second] = marked;
  return (
    <div className="results">
      <label><input type="checkbox" checked={mine} onChange={(event) => setMine(event.target.checked)} /> {t("results.mine")}</label>
      {results.length === 0 && <p>{t("results.none")}</p>}
      {first && second ? <Compare before={first} after={second} onClose={() => setMarked([])} /> : first && <p role="status">{t("results.another")}</p>}
      <ul>
        {results.map((result) => (
          <li key={nameOf(result)}>
            <button
              type="button" className="results-picture" aria-label={t("results.look", { name: result.picture.filename })} draggable
              onDragStart={(event) => dragPicture(result.picture, event.dataTransfer)} onClick={() => setOpen(nameOf(result))}
            >
              <img src={viewUrl(result.picture, true)} alt="" loading="lazy" draggable={false} />
            </button>
            <label><input type="checkbox" checked={marked.some((each) => nameOf(each) === nameOf(result))} onChange={() => mark(result)} aria-label={t("results.mark", { name: result.picture.filename })} /> {t("results.compare")}</label>
          </li>
        ))}
      </ul>
      {more && <button type="button" onClick={more}>{t("results.more")}</button>}
      {results[at] && (
        <Picture
          result={results[at]} onClose={() => setOpen("")}
          onStep={(by) => setOpen(nameOf(results[(at + by + results.length) % results.length] as Result))}
        />
      )}
    </div>
  );
}
