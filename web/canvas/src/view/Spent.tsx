/** Under a node: where its time went, and why it ran where it ran. */
import { memo } from "react";
import { useTranslation } from "react-i18next";
import { applyFix } from "../app/mend";
import { useApp } from "../app/store";
import { deviceOf, type Node } from "../model/document";
import type { NodeRun } from "../run/runs";
import { absentDevice, fallbacks, isOtherwiseAsked, sharesOf, slower, slowest, timeText } from "../run/spent";

const NO_NODES: ReadonlyMap<string, NodeRun> = new Map();

/** A bar by phase, as long as the node took against the slowest; and the same in words. */
export const Spent = memo(function Spent({ run }: { run: NodeRun }) {
  const { t } = useTranslation();
  const longest = useApp((state) => slowest(state.runs.tabs.get(state.workspace.current)?.nodes ?? NO_NODES));
  if (run.seconds === null) return null;
  const shares = sharesOf(run);
  const parts = shares.map((share) => `${t(`phase.${share.phase}`)} ${timeText(share.seconds)}`).join(", ");
  const change = slower(run);
  const total = timeText(run.seconds);
  return (
    <div className={run.state === "waiting" || run.state === "reused" ? "spent is-old" : "spent"}>
      <div className="spent-bar" role="img" aria-label={t("node.spent", { total, parts })} title={parts}>
        <div style={{ width: `${Math.max(4, longest > 0 ? (100 * run.seconds) / longest : 0)}%` }}>
          {shares.map((share) => (
            <i key={share.phase} className={`phase-${share.phase}`} style={{ width: `${share.percent}%` }} />
          ))}
        </div>
      </div>
      <span>{total}</span>
      {change !== null && <span className={change > 0 ? "is-slower" : "is-faster"} title={t("node.before", { time: timeText(run.before ?? 0) })}>{change > 0 ? `+${change}` : `−${-change}`} %</span>}
    </div>
  );
});

/** The device a node ran on; marked where it is not the one that was asked for. */
export function RanOn({ run, asked }: { run: NodeRun; asked: string }) {
  const { t } = useTranslation();
  const { placement } = run;
  if (!placement?.actual) return null;
  const isOld = isOtherwiseAsked(run, asked);
  const reasons = isOld ? [] : fallbacks(run);
  const said = [t(isOld ? "node.ranBefore" : "node.ranOn", { device: placement.actual }), ...reasons.map((reason) => reason.sentence)].join(". ");
  const device = placement.actual.split(/[^A-Z]/)[0]?.toLowerCase() ?? "";
  const marks = ["ran-on", `on-${device}`, reasons.length > 0 ? "is-fallback" : "", isOld ? "is-old" : ""];
  return (
    <span className={marks.filter(Boolean).join(" ")} role="img" aria-label={said} title={said}>
      {reasons.length > 0 && "⚠ "}{placement.actual}
    </span>
  );
}

/** Why a node does not run, or did not, where it is asked to; and what to do. */
export function Fallbacks({ node, run }: { node: Node; run: NodeRun | undefined }) {
  const { t } = useTranslation();
  const asked = deviceOf(node);
  const here = useApp((state) => state.runs.worker.devices);
  const reasons = run && !isOtherwiseAsked(run, asked) ? fallbacks(run) : [];
  const absent = reasons.length === 0 ? absentDevice(asked, here) : null;
  if (reasons.length === 0 && absent === null) return null;
  return (
    <ul className="fallbacks nodrag" aria-label={t("node.fallback", { requested: asked || "AUTO", actual: run?.placement?.actual ?? here.join(", ") })}>
      {absent !== null && <li>⚠ {t("node.absent", { device: absent, here: here.join(", ") })}</li>}
      {reasons.map((reason) => (
        <li key={`${reason.code} ${reason.sentence}`}>
          ⚠ {reason.sentence}{reason.fix && `. ${t("node.fix", { fix: reason.fix })}`}
          {asked && reason.fixes.map((fix) => (
            <button key={`${fix.kind} ${fix.value}`} type="button" title={fix.sentence} onClick={() => void applyFix(node.id, fix)}>{fix.kind === "device" ? fix.value : fix.sentence}</button>
          ))}
        </li>
      ))}
    </ul>
  );
}
