/** Two pictures in one place, with an edge between them that is moved by mouse or arrow keys. */
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { viewUrl } from "../../api/client";
import { nameOf, type Result } from "./Panel";

export function Compare({ before, after, onClose }: { before: Result; after: Result; onClose: () => void }) {
  const { t } = useTranslation();
  const [share, setShare] = useState(50);
  const names = { before: before.picture.filename, after: after.picture.filename };
  return (
    <figure className="compare" aria-label={t("results.comparing", names)}>
      <div className="compare-pictures">
        <img key={nameOf(before)} src={viewUrl(before.picture)} alt={names.before} />
        <img key={nameOf(after)} src={viewUrl(after.picture)} alt={names.after} style={{ clipPath: `inset(0 0 0 ${share}%)` }} />
        <i style={{ left: `${share}%` }} />
        <input
          type="range" min={0} max={100} value={share} aria-label={t("results.edge")} aria-valuetext={`${share} %`}
          onChange={(event) => setShare(Number(event.target.value))}
        />
      </div>
      <figcaption><span>{names.before}</span><span>{names.after}</span></figcaption>
      <button type="button" onClick={onClose}>{t("results.close")}</button>
    </figure>
  );
}
